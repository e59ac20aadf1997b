"""What a report was made of, so that one of which nothing has changed is not made again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import svmbench
from svmbench.durable import write_text

#: Beside the page; it is no part of the results.
MARK = ".report.json"

#: The files that a report is made of.
_INPUTS = ("config.yaml", "runs.csv", "traces.csv", "environment.json")


def written_before(folder: Path) -> list[Path]:
    """The files of a report that is as this version would write it again; none otherwise."""
    try:
        known = json.loads((folder / MARK).read_text(encoding="utf-8"))
        files = {folder / name: state for name, state in known["files"].items()}
        same = known["made_of"] == _made_of(folder) and all(
            _state(path) == state for path, state in files.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return list(files) if same else []


def remember(folder: Path, written: Iterable[Path]) -> None:
    """Take note of what a report was made of, and of its files."""
    files = {path.relative_to(folder).as_posix(): _state(path) for path in written}
    known = {"made_of": _made_of(folder), "files": files}
    write_text(folder / MARK, json.dumps(known) + "\n")


def _state(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_mtime_ns, found.st_size]


def _made_of(folder: Path) -> str:
    """A hash of the results, and of when the code was changed last."""
    found = hashlib.sha256(svmbench.__version__.encode())
    code = Path(svmbench.__file__).parent
    for path in sorted(
        path for kind in ("*.py", "*.html", "*.css", "*.js") for path in code.rglob(kind)
    ):
        found.update(f"{path}{path.stat().st_mtime_ns}".encode())
    for name in _INPUTS:
        path = folder / name
        found.update(path.read_bytes() if path.exists() else b"-")
        found.update(name.encode())
    return found.hexdigest()
