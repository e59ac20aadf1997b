"""Pages of papers and benchmarks: the record of what they were made of, and writing them again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from svmbench.durable import is_own_file, write_text
from svmbench.errors import SvmbenchError
from svmbench.verify.outcome import Verification

_RECORD = "page.json"


def remember(root: Path, facts: dict[str, Any]) -> None:
    """Record what the page of a folder was made of, besides the results below it."""
    write_text(root / _RECORD, json.dumps(facts, indent=2) + "\n")


def verified_pages(root: Path, folders: Iterable[Path], plots: bool) -> Iterator[Verification]:
    """Verify the pages above results folders, by writing them again from a copy.

    Descriptions in files of somebody else's are not read: they may name plug-ins.
    """
    above = {place for each in folders for place in each.parents if place.is_relative_to(root)}
    for folder in sorted(place for place in above if (place / "index.html").exists()):
        name = str(folder / "index.html")
        try:
            if not is_own_file(folder / _RECORD):
                raise ValueError(f"{_RECORD} is missing")
            if any(path.is_symlink() for path in folder.rglob("*")):
                raise ValueError("there are links, whose files may be anybody's")
            facts = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
            with TemporaryDirectory() as temporary:
                again = Path(temporary) / folder.resolve().name
                left = shutil.ignore_patterns("*.weights.npz", "index.html", "tables", "plots")
                shutil.copytree(folder, again, symlinks=True, ignore=left)
                made = {path.relative_to(again) for path in _written(again, facts, plots)}
                found = {path.relative_to(folder) for path in _around(folder)}
                for place in sorted(made | found):
                    own = folder / place
                    known = place in made and is_own_file(own)
                    if not known or own.read_bytes() != (again / place).read_bytes():
                        reason = "is not what this version writes from the results below it"
                        yield Verification("file", str(own), "does not hold", reason)
        except (SvmbenchError, OSError, ValueError, LookupError, TypeError) as error:
            reason = f"what it was made of is not known ({error}); write it again"
            yield Verification("file", name, "not verified", reason)


def _written(root: Path, facts: dict[str, Any], plots: bool) -> list[Path]:
    if "asked" in facts:
        from svmbench.papers.model import papers
        from svmbench.papers.report.write import write_papers

        if facts["from"] is not None:
            raise ValueError(f"papers of {facts['from']!r:.80}")
        asked = [(key, name) for key, name in facts["asked"]]
        return write_papers(root, papers(), None if plots else [], asked=asked).files
    from svmbench.bench.plan import plan
    from svmbench.bench.profile import load_profile, profiles
    from svmbench.bench.stated_bounds import load_bounds, measured_by
    from svmbench.bench.write import write_bench
    from svmbench.harness.environment import fingerprint

    if facts["profile"] not in profiles() or facts["machine"] != fingerprint():
        raise ValueError("a profile of its own, or another machine")
    chosen = load_profile(facts["profile"])
    write_bench(plan(chosen, root, None), measured_by(chosen, load_bounds()))
    return [*_around(root), root / "environment.json"]


def _around(root: Path) -> list[Path]:
    """The page, and what is beside it and in its folders that a browser opens or that it shows."""
    return [
        root / "index.html",
        *(path for name in ("tables", "plots") for path in (root / name).glob("*")),
    ]
