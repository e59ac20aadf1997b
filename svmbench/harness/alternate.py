"""Runs the two sides of a comparison alternately, so that both meet the same machine state.

A side is an environment's Python with the results folder that it writes. Each block is one more
repeat of every cell that is still open, on one side and then on the other; the order changes from
block to block. The sides are started as ``PYTHON -m svmbench run``, so that an environment may
contain another version of svmbench.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from svmbench.config import find_config
from svmbench.document import Dumper, parse_document
from svmbench.durable import write_text
from svmbench.errors import ConfigError, DataError

#: Exit codes of ``svmbench run`` after which its results can be read: success, some runs failed.
_READABLE = (0, 1)

#: How the last line of its complaints begins after an error of svmbench itself, with exit code 1.
_INTERNAL = "svmbench: internal error"

#: File in a side's folder with the ids of its first repeat, which tell builds apart.
_FIRST = "first-repeat.json"

#: Columns of runs.csv that tell which runs there are, and their types.
_READ: dict[str, Any] = {"dataset": str, "label": str, "id": str, "lambda": float, "repeat": int}

#: Where a virtual environment, or a checkout with one, keeps its Python.
_PYTHONS = ("bin/python", ".venv/bin/python", "Scripts/python.exe", ".venv/Scripts/python.exe")


@dataclass(frozen=True)
class AlternateSide:
    """One side: the Python that executes the runs, and their folder.

    Parameters
    ----------
    python : str
        Executable of the environment.
    folder : Path
        Results folder. Two sides of one environment may share it.
    labels : tuple of str
        Labels of the configuration that take part; empty for all of them.
    """

    python: str
    folder: Path
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpenCell:
    """A cell that needs another repeat.

    Parameters
    ----------
    dataset : str
    lam : float
    labels : tuple of str
        Its label on either side.
    """

    dataset: str
    lam: float
    labels: tuple[str, ...]


#: The open cells after a block, given the number of blocks; empty once nothing is open.
Undecided = Callable[[int], Sequence[OpenCell]]


def find_python(place: Path) -> str:
    """The Python that a path stands for: itself, or that of an environment or a checkout.

    Parameters
    ----------
    place : Path
        An executable, a virtual environment, or a folder that holds one as ``.venv``.

    Raises
    ------
    ConfigError
        If there is none, or svmbench is not installed for it.
    """
    found = [place] if place.is_file() else [place / name for name in _PYTHONS]
    pythons = [path for path in found if path.is_file()]
    if not pythons:
        raise ConfigError(
            f"{place}: no Python there; name an environment's python, its folder, or a checkout "
            "with a .venv"
        )
    python = str(pythons[0].absolute())
    _answer(python, "--version")
    return python


def alternate(
    sides: Sequence[AlternateSide],
    config: Path,
    undecided: Undecided,
    *,
    most: int,
    budget: float = math.inf,
) -> int:
    """Run one block after another until nothing is open; resume where an earlier call stopped.

    Parameters
    ----------
    sides : sequence of AlternateSide
    config : Path
        The configuration; its ``repeats`` does not matter here.
    undecided : callable
        Called after each block.
    most : int
        Maximum number of blocks.
    budget : float
        Seconds; a block that is expected to exceed them is not started.

    Returns
    -------
    int
        Number of blocks.

    Raises
    ------
    ConfigError
        If ``svmbench run`` of a side refuses the configuration, or the folders hold results of
        another build.
    DataError
        If what the folders hold cannot be read.
    """
    begun = time.monotonic()
    blocks, last = _resume(sides, config), 0.0
    while blocks < most:
        patterns = [_everything(side) for side in sides]
        if blocks:
            cells = undecided(blocks)
            if not cells or time.monotonic() - begun + last > budget:
                break
            patterns = [_those(cells, side) for side in sides]
        started = time.monotonic()
        _make_block(sides, config, blocks, patterns)
        if not blocks:
            _note_first(sides)
        last = time.monotonic() - started
        blocks += 1
    return blocks


def _resume(sides: Sequence[AlternateSide], config: Path) -> int:
    """How many blocks the folders hold; their tables are rewritten for all of these."""
    before = [_repeats(side.folder) for side in sides]
    if not all(before):
        return 0
    if not all((side.folder / _FIRST).exists() for side in sides):
        _note_first(sides)
    first = [_noted(side.folder / _FIRST) for side in sides]
    _make_block(sides, config, 0, [_everything(side) for side in sides])
    now = [_ids_of_first(side) for side in sides]
    # The first block may have been interrupted: it may gain runs, but must not lose any.
    if not all(old <= new for old, new in zip(first, now, strict=True)):
        raise ConfigError(
            f"{sides[0].folder.parent}: holds results of another build or configuration; name "
            "another folder with --results (the tables here now list a first repeat alone)"
        )
    _note_first(sides)
    blocks = min(map(len, before))
    # Cells that were decided early have fewer repeats, and get no more.
    latest = [
        [_pattern(*cell) for cell in {cell for cell, _ in runs[blocks - 1]}] for runs in before
    ]
    _make_block(sides, config, blocks - 1, latest)
    return blocks


def _note_first(sides: Sequence[AlternateSide]) -> None:
    for side in sides:
        write_text(side.folder / _FIRST, json.dumps(sorted(_ids_of_first(side))) + "\n")


def _noted(path: Path) -> set[str]:
    """The ids that `_note_first` has written."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, list) and all(isinstance(name, str) for name in found):
            return set(found)
    except (ValueError, RecursionError):
        pass
    raise DataError(f"{path}: not the ids of a first repeat; remove it, then run again")


def _ids_of_first(side: AlternateSide) -> set[str]:
    """Ids of the runs of the first repeat; there are none if no run was started."""
    return {name for _, name in next(iter(_repeats(side.folder)), ())}


def _repeats(folder: Path) -> list[frozenset[tuple[tuple[str, float, str], str]]]:
    """The runs of each repeat that runs.csv lists: their cells and their ids."""
    path = folder / "runs.csv"
    try:
        runs = pd.read_csv(path, usecols=list(_READ), dtype=_READ)
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, OverflowError):  # no table, or one of something else
        raise _no_table(path) from None
    if runs.empty:
        return []
    if not 0 <= runs["repeat"].min() <= runs["repeat"].max() < len(runs):
        raise _no_table(path)  # every repeat has a run
    cells = zip(runs["dataset"], runs["lambda"], runs["label"], strict=True)
    listed = list(zip(runs["repeat"], cells, runs["id"], strict=True))
    return [
        frozenset((cell, name) for repeat, cell, name in listed if repeat == number)
        for number in range(int(runs["repeat"].max()) + 1)
    ]


def _no_table(path: Path) -> DataError:
    return DataError(
        f"{path}: not a table of runs; remove it, or name another folder with --results"
    )


def _make_block(
    sides: Sequence[AlternateSide], config: Path, block: int, patterns: Sequence[Sequence[str]]
) -> None:
    """One more repeat on each side, B first in every other block."""
    written = _with_repeats(config, sides[0].folder.parent, block + 1)
    turns = list(zip(sides, patterns, strict=True))
    for side, only in turns if block % 2 == 0 else reversed(turns):
        _make(side, written, only)


def _everything(side: AlternateSide) -> list[str]:
    return [f"*/*/{escape(label)}" for label in side.labels]


def _those(cells: Sequence[OpenCell], side: AlternateSide) -> list[str]:
    patterns = [
        _pattern(cell.dataset, cell.lam, label)
        for cell in cells
        for label in cell.labels
        if not side.labels or label in side.labels
    ]
    return list(dict.fromkeys(patterns))


def _pattern(dataset: str, lam: float, label: str) -> str:
    return f"{escape(dataset)}/{lam:g}/{escape(label)}"


def _make(side: AlternateSide, config: Path, patterns: Sequence[str]) -> None:
    """One call of ``svmbench run``, which reuses the repeats that are there."""
    only = [word for pattern in patterns for word in ("--only", pattern)]
    _answer(side.python, "run", str(config), "--out", str(side.folder), "--quiet", *only)


def _answer(python: str, *words: str) -> None:
    """Run a command of the svmbench that is installed for a Python."""
    # -P: nothing in the current folder may shadow the installed package. A session of its own:
    # Ctrl-C is passed on below, once.
    try:
        process = subprocess.Popen(
            [python, "-P", "-m", "svmbench", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ConfigError(
            f"{python}: cannot be started ({error.strerror}); name an environment's python"
        ) from None
    try:
        _, complaints = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    said = complaints.strip().splitlines() or [f"exit code {process.returncode}"]
    readable = process.returncode in _READABLE and not said[-1].startswith(_INTERNAL)
    if not readable or (words[0] != "run" and process.returncode):
        raise ConfigError(f"{python} -m svmbench {words[0]}: {said[-1]}")


def _with_repeats(config: Path, folder: Path, repeats: int) -> Path:
    """The configuration with another number of repeats, and without tables and plots.

    It is written as its author wrote it, not as this version resolves it, because another version
    reads it too.
    """
    found = find_config(config)
    document: dict[str, Any] = dict(parse_document(found).value)
    entries = document.get("datasets")
    document["datasets"] = [
        _absolute(entry, found.parent) for entry in (entries if isinstance(entries, list) else [])
    ]
    document |= {"repeats": repeats, "tables": [], "plots": []}
    path = folder / "blocks.yaml"
    text = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    write_text(path, text)
    return path


def _absolute(entry: Any, folder: Path) -> Any:
    """A data set whose files have absolute paths, because the configuration moves."""
    if not isinstance(entry, dict):
        return entry
    files = {
        key: str((folder / entry[key]).absolute())
        for key in ("path", "test")
        if isinstance(entry.get(key), str)
    }
    return entry | files
