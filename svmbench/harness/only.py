"""The runs of a sweep that ``--only`` names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import product

from svmbench.config import Sweep
from svmbench.errors import ConfigError, nearest
from svmbench.harness.plan import Run
from svmbench.records.spelling import short, spellings

_LISTING = "svmbench run CONFIG --dry-run"


def is_named(
    patterns: Sequence[str], dataset: str, solver: str, label: str, *constants: float
) -> bool:
    """Whether one of the patterns matches a cell: by a name, by λ or C, or by all three parts."""
    # As a configuration has a number, and as tables round it.
    values = [value for each in constants for value in (each, float(f"{each:.3g}"))]
    written = [each for value in values for each in spellings(value)]
    cells = [f"{dataset}/{each}/{label}" for each in written]
    names = (dataset, solver, label, *written, *cells)
    return any(name == each or fnmatchcase(name, each) for name in names for each in patterns)


def chosen_runs(sweep: Sweep, runs: Sequence[Run], patterns: Sequence[str]) -> list[Run]:
    """The runs that one of the patterns matches; all without a pattern."""

    def constants(run: Run) -> tuple[float, ...]:
        lam, m = run.instance.problem.lam, run.instance.problem.data.n_samples
        return (lam,) if sweep.C is None else (lam, 1.0 / (lam * m))

    chosen = [
        run
        for run in runs
        if not patterns
        or is_named(patterns, run.cell[0], run.solver.name, run.cell[2], *constants(run))
    ]
    if not chosen:
        raise ConfigError(f"--only {' '.join(patterns)}: matches no run; '{_LISTING}' lists all")
    return chosen


def require_match(sweep: Sweep, patterns: Sequence[str]) -> None:
    """Refuse patterns that match no run, before data are read."""
    lambdas = sweep.lambdas or ()
    cells = list(product(sweep.datasets, lambdas or (math.nan,), sweep.solvers))
    for pattern in patterns:
        if not lambdas and (set(pattern) & set("/*?[") or pattern[:1] in set("0123456789.")):
            continue  # It may be of λ, which C gives only once the rows are known.
        if not any(is_named((pattern,), d.label, s.name, s.label, lam) for d, lam, s in cells):
            names = [name for d, _, s in cells for name in (s.label, s.name, d.label)]
            known = list(dict.fromkeys([*names, *map(short, lambdas)]))
            advice = nearest(pattern, known, _LISTING)
            raise ConfigError(f"--only {pattern}: matches no run; {advice}")
