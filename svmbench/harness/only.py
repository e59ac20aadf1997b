"""The runs of a sweep that ``--only`` names."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from itertools import product

from svmbench.config import Sweep
from svmbench.errors import ConfigError, nearest
from svmbench.harness.plan import Run
from svmbench.records.spelling import meant, short, spellings

#: A pattern of ``--only`` with a number for lambda or C.
_NUMBER = re.compile(
    r"(?P<before>[^/]*/)?(?P<number>([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)(?P<after>/.*)?"
)


def chosen_runs(sweep: Sweep, runs: Sequence[Run], patterns: tuple[str, ...]) -> list[Run]:
    """The runs that one of the patterns matches; all without a pattern.

    Raises ConfigError when there are none, or a number may stand for several values.
    """
    only = spelled_out(patterns, {each for run in runs for each in _constants(sweep, run)})
    chosen = [
        run
        for run in runs
        if not only
        or is_named(only, run.cell[0], run.solver.name, run.cell[2], *_constants(sweep, run))
    ]
    if not chosen:
        raise _no_match(" ".join(patterns))
    return chosen


def _constants(sweep: Sweep, run: Run) -> tuple[float, ...]:
    """Lambda of a run, and C if that is what the sweep has."""
    problem = run.instance.problem
    C = () if sweep.C is None else (1.0 / (problem.lam * problem.data.n_samples),)
    return problem.lam, *C


def spelled_out(patterns: tuple[str, ...], constants: Collection[float]) -> tuple[str, ...]:
    """Patterns of ``--only`` whose numbers, which may be rounded, are written as planned.

    Raises ConfigError when a number may stand for several of them.
    """
    found = []
    for pattern in patterns:
        match = _NUMBER.fullmatch(pattern)
        values = meant(match["number"], constants) if match else []
        if len(values) > 1:
            several = " or ".join(map(short, values))
            raise ConfigError(f"--only {pattern}: may mean {several}; write more digits")
        if match and values:
            pattern = f"{match['before'] or ''}{short(values[0])}{match['after'] or ''}"
        found.append(pattern)
    return tuple(found)


def is_named(
    patterns: tuple[str, ...], dataset: str, solver: str, label: str, *constants: float
) -> bool:
    """Whether one of the patterns of ``--only``, `spelled_out`, matches a cell of a sweep."""
    written = [each for constant in constants for each in spellings(constant)]
    cells = [f"{dataset}/{each}/{label}" for each in written]
    names = (dataset, solver, label, *written, *cells)
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def require_match(sweep: Sweep, patterns: tuple[str, ...]) -> None:
    """Refuse patterns that match no run, before data are read and references computed.

    Raises ConfigError: with the nearest name. If the sweep has C, lambda is known only once the
    rows are, and a pattern that may be of lambda is let pass.
    """
    lambdas = sweep.lambdas or ()
    for pattern in patterns:
        if sweep.lambdas is None and not _plain_name(pattern):
            continue
        cells = product(sweep.datasets, lambdas or (math.nan,), sweep.solvers)
        if not any(
            is_named(spelled_out((pattern,), lambdas), data.label, spec.name, spec.label, lam)
            for data, lam, spec in cells
        ):
            raise _no_match(pattern, _names(sweep, "/" in pattern))


def _plain_name(pattern: str) -> bool:
    """Whether a pattern can be nothing but the name of a data set, solver or label."""
    return not set(pattern) & set("/*?[") and not re.match(r"[0-9.]", pattern)


def _names(sweep: Sweep, of_cells: bool) -> list[str]:
    """What ``--only`` may name."""
    lambdas = [short(lam) for lam in sweep.lambdas or ()]
    labels = [spec.label for spec in sweep.solvers]
    datasets = [data.label for data in sweep.datasets]
    if of_cells:
        return ["/".join(cell) for cell in product(datasets, lambdas, labels)]
    return list(dict.fromkeys([*labels, *(spec.name for spec in sweep.solvers), *datasets,
                               *lambdas]))  # fmt: skip


def _no_match(pattern: str, names: Collection[str] = ()) -> ConfigError:
    listing = "svmbench run CONFIG --dry-run"
    advice = nearest(pattern, names, listing) if names else f"'{listing}' lists all"
    return ConfigError(f"--only {pattern}: matches no run; {advice}")
