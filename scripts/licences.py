"""Print svmbench's dependencies with their licences and conditions (docs/licences.md).

    python scripts/licences.py

It reads the licences of installed packages. A licence that is not known to be compatible with
svmbench's 3-clause BSD licence is an error.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

#: Families of accepted licences, by patterns that identify them in packages' metadata.
FAMILIES = {
    r"MIT-CMU|HPND": "MIT-CMU",
    r"0BSD": "0BSD",
    r"BSD": "BSD",
    r"MIT": "MIT",
    r"Apache": "Apache-2.0",
    r"PSF|Python Software Foundation": "PSF",
    r"MPL|Mozilla": "MPL-2.0",
    r"Zlib": "Zlib",
    r"CC0": "CC0-1.0",
    # For packages that print the text of the licence without its name.
    r"Redistribution and use in source and binary forms": "BSD",
}

#: Conditions for redistribution of the package; 0BSD and CC0 have none.
ASKS = {
    "Apache-2.0": "notices with copies; a patent licence that ends if the user sues",
    "BSD": "its notice with copies",
    "MIT": "its notice with copies",
    "MIT-CMU": "its notice with copies",
    "MPL-2.0": "changed files of its own stay under it; svmbench changes and carries none",
    "PSF": "its notice with copies, changes stated",
    "Zlib": "changes stated",
}


@dataclass(frozen=True)
class Package:
    """An installed package."""

    name: str
    # families of its licences, in the order of its metadata; empty if none is known
    families: tuple[str, ...]


def package(name: str) -> Package:
    """Read the licences of an installed package; a missing one raises PackageNotFoundError."""
    about = metadata.metadata(name)
    classifiers = [
        text.rpartition("::")[2]
        for text in about.get_all("Classifier") or []
        if text.startswith("License ::")
    ]
    expressions, texts = (about.get_all(field) or [] for field in ("License-Expression", "License"))
    for stated in (*expressions, *classifiers, *texts):
        known = families(stated)
        if known:
            return Package(about["Name"], known)
    return Package(about["Name"], ())


def families(stated: str) -> tuple[str, ...]:
    """Families that a package's licence statement names, in order."""
    found: dict[str, int] = {}
    rest = stated
    for words, family in FAMILIES.items():
        match = re.search(rf"(?<![\w-])(?:{words})", rest)
        if match:
            found.setdefault(family, match.start())
            rest = rest.replace(match.group(), "#" * len(match.group()))
    return tuple(sorted(found, key=lambda family: found[family]))


def direct() -> list[str]:
    """Names that pyproject.toml requires, sorted; an installed svmbench may be older."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return sorted(canonicalize_name(Requirement(line).name) for line in project["dependencies"])


def needed(name: str) -> list[str]:
    """Names that an installed package requires on this machine, without extras."""
    wanted = (Requirement(line) for line in metadata.requires(name) or [])
    return [
        canonicalize_name(each.name)
        for each in wanted
        if each.marker is None or each.marker.evaluate({"extra": ""})
    ]


def brought(names: list[str]) -> list[str]:
    """Names that these packages require, directly or indirectly, sorted."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        for name in needed(waiting.pop()):
            if name not in seen | set(names):
                seen.add(name)
                waiting.append(name)
    return sorted(seen)


def table(names: list[str]) -> list[str]:
    """Lines of a table of packages.

    Raises SystemExit if the licence of a package is unknown.
    """
    lines = ["| package | licence | asks |", "|---|---|---|"]
    for name in names:
        found = package(name)
        if not found.families:
            sys.exit(f"{name}: unknown licence; check it and add it to FAMILIES")
        asks = "; ".join(dict.fromkeys(ASKS[each] for each in found.families if each in ASKS))
        lines.append(f"| {found.name} | {', '.join(found.families)} | {asks or 'nothing'} |")
    return lines


def main() -> None:
    """Print the tables."""
    print("\n".join(["Needed:", "", *table(direct()), "", "Needed by these:", ""]))
    print("\n".join(table(brought(direct()))))


if __name__ == "__main__":
    main()
