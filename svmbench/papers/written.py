"""Remembers what an item's tables and figures were generated from, to avoid drawing them again.

An item's folder contains `NAME`, with a hash of its description and of its runs, and the names of
the generated files. Tables and figures are up to date as long as that hash is the same and the
files exist.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import svmbench
from svmbench.durable import is_own_file, write_text
from svmbench.papers.model import Paper
from svmbench.papers.results import sweep_folder

NAME = "written.json"

_INPUTS = ("config.yaml", "runs.csv", "traces.csv", "regret.csv")


def outdated(
    root: Path, papers: Mapping[str, Paper], items: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The items whose tables and figures are out of date."""
    return [item for item in items if not _is_current(root, papers, *item)]


def remember(
    root: Path,
    papers: Mapping[str, Paper],
    items: Iterable[tuple[str, str]],
    files: Sequence[Path],
) -> None:
    """Record that these files have just been written for these items."""
    for key, name in items:
        folder = root / key / name
        own = sorted(
            path.relative_to(folder).as_posix() for path in files if folder in path.parents
        )
        facts = {"made_of": _made_of(root, papers[key], name), "files": own}
        write_text(folder / NAME, json.dumps(facts, indent=2) + "\n")


def _is_current(root: Path, papers: Mapping[str, Paper], key: str, name: str) -> bool:
    folder = root / key / name
    try:
        if not is_own_file(folder / NAME):
            return False
        facts = json.loads((folder / NAME).read_text(encoding="utf-8"))
        known = facts["made_of"] == _made_of(root, papers[key], name)
        return known and all((folder / file).exists() for file in facts["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False  # absent or damaged: they are simply written again


def _made_of(root: Path, paper: Paper, name: str) -> str:
    digest = hashlib.sha256(f"{svmbench.__version__} {paper.items[name]!r}".encode())
    for sweep in paper.items[name].sweeps:
        for file in _INPUTS:
            path = sweep_folder(root, paper, name, sweep) / file
            content = path.read_bytes() if is_own_file(path) else b""
            digest.update(f"{sweep} {file} {len(content)} ".encode() + content)
    return digest.hexdigest()
