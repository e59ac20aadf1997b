"""What files were made of, so that those of which nothing has changed are not made again.

A mark beside them has a hash of what they were made of, and how each was left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import svmbench
from svmbench.durable import is_own_file, write_text

#: The mark of a sweep's report, beside its page; it is no part of the results.
MARK = ".report.json"

#: The files of a sweep that tables and pictures are made of.
_INPUTS = ("config.yaml", "runs.csv", "traces.csv", "regret.csv", "environment.json")


def written_before(mark: Path, sweeps: Iterable[Path], more: str = "") -> list[Path]:
    """The files that this version would write again as they are; none otherwise.

    - ``sweeps``: the folders of the runs.
    - ``more``: what else they are made of.
    """
    if not is_own_file(mark):
        return []
    try:
        known = json.loads(mark.read_text(encoding="utf-8"))
        files = {mark.parent / name: state for name, state in known["files"].items()}
        same = known["made_of"] == _made_of(sweeps, more) and all(
            _state(path) == state for path, state in files.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
    return list(files) if same else []


def remember(mark: Path, sweeps: Iterable[Path], written: Iterable[Path], more: str = "") -> None:
    """Take note of what files were made of, and of how they were left."""
    files = {path.relative_to(mark.parent).as_posix(): _state(path) for path in written}
    known = {"made_of": _made_of(sweeps, more), "files": files}
    write_text(mark, json.dumps(known) + "\n")


def _state(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_mtime_ns, found.st_size]


def _made_of(sweeps: Iterable[Path], more: str) -> str:
    found = hashlib.sha256(f"{_code()} {more}".encode())
    for sweep in sweeps:
        for name in _INPUTS:
            path = sweep / name
            content = path.read_bytes() if is_own_file(path) else b""
            found.update(f"{name} {len(content)} ".encode() + content)
    return found.hexdigest()


@lru_cache(maxsize=1)
def _code() -> str:
    """The version, and when each file of the code was changed last."""
    folder = Path(svmbench.__file__).parent
    paths = sorted(
        path for kind in ("py", "html", "css", "js") for path in folder.rglob(f"*.{kind}")
    )
    changed = [f"{path}{path.stat().st_mtime_ns}" for path in paths]
    return f"{svmbench.__version__} {''.join(changed)}"
