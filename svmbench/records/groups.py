"""The runs of a results folder by row of its tables: data set, λ and label."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from svmbench.records.columns import accuracies_in, over_horizons
from svmbench.records.spelling import regularisation
from svmbench.records.states import HORIZON, LIMITED, RERUN
from svmbench.records.statistics import median

if TYPE_CHECKING:
    from svmbench.records.read import Results

#: Columns of runs.csv that the repeats of a row share; fields of `Group` in this order.
ROW = ("dataset", "stand_in", "lambda", "solver", "label")


@dataclass(frozen=True, eq=False)
class Group:
    """The repeats of one row: data set, λ and label."""

    dataset: str
    stand_in: bool
    lam: float
    solver: str
    label: str
    # in the order of the repeats; several per repeat if the solver has a horizon
    runs: pd.DataFrame
    by_c: bool = False  # whether the configuration chose values of C, and not of λ

    @cached_property
    def repeats(self) -> pd.DataFrame:
        """One row per repeat.

        Of a solver that is run once for each horizon, it has the least time to each accuracy, ends
        with the most accurate of its runs, and has spent what the longest took.
        """
        if not self.separate_runs:
            return self.runs
        merged = [_merged(runs) for _, runs in self.runs.groupby("repeat", sort=True)]
        return pd.DataFrame(merged).reset_index(drop=True)

    @cached_property
    def seconds_of_repeat(self) -> float:
        """Mean seconds that a repeat took, with evaluation; nan if none was run."""
        runs = self.runs[self.runs["state"] != "skipped"]
        elapsed = runs["train_seconds"]
        if "elapsed_seconds" in runs:
            elapsed = runs["elapsed_seconds"].fillna(elapsed)
        if runs.empty:
            return math.nan
        return float(elapsed.groupby(runs["repeat"]).sum(min_count=1).mean())

    @cached_property
    def skipped(self) -> frozenset[int]:
        """The repeats of which a run was skipped."""
        runs = zip(self.runs["repeat"], self.runs["state"], strict=True)
        return frozenset(int(repeat) for repeat, state in runs if state == "skipped")

    @cached_property
    def ends(self) -> dict[int, str]:
        """How each repeat ended, a name of `svmbench.records.states.STATES`."""
        repeats = self.repeats
        return {
            int(repeat): str(state)
            for repeat, state in zip(repeats["repeat"], repeats["state"], strict=True)
        }

    @cached_property
    def separate_runs(self) -> bool:
        """Whether the solver was run for one horizon after another."""
        return bool(self.runs["horizon"].notna().any())

    @property
    def written_lambda(self) -> str:
        return regularisation(self.lam, float(self.runs["C"].iloc[0]), self.by_c)

    def column(self, name: str) -> list[float]:
        if name not in self._columns:  # a page asks for each of them hundreds of times
            self._columns[name] = [float(value) for value in self.repeats[name]]
        return list(self._columns[name])

    def middle(self, name: str) -> float:
        known = [value for value in self.column(name) if not math.isnan(value)]
        return median(known) if known else math.nan

    @cached_property
    def first(self) -> pd.Series:
        """The first run, for what all runs share."""
        return self.runs.iloc[0]

    @cached_property
    def _columns(self) -> dict[str, list[float]]:
        return {}


def group_runs(results: Results) -> dict[tuple[str, bool], list[Group]]:
    """The rows of every table: runs by data set, then λ (descending), then label."""
    groups = []
    for _, members in results.runs.groupby(list(ROW), sort=False):
        first = members.iloc[0]
        dataset, stand_in, lam, solver, label = (first[name] for name in ROW)
        runs = members.sort_values("repeat", kind="stable")
        groups.append(Group(dataset, stand_in, lam, solver, label, runs, results.by_c))
    groups.sort(
        key=lambda group: (
            results.datasets.index(group.dataset),
            group.stand_in,
            -group.lam,
            results.solvers.index(group.solver),
            len(group.label),
            group.label,
        )
    )
    by_dataset: dict[tuple[str, bool], list[Group]] = {}
    for group in groups:
        by_dataset.setdefault((group.dataset, group.stand_in), []).append(group)
    return by_dataset


def _merged(runs: pd.DataFrame) -> pd.Series:
    """The runs of one repeat for its horizons as one."""
    row = runs.sort_values("accuracy", kind="stable").iloc[0].copy()  # nan comes last
    row["state"] = _state(runs)
    for column in runs.columns:
        rule = over_horizons(column)
        if rule == "none":
            row[column] = math.nan
        elif rule != "most accurate":
            row[column] = runs[column].min() if rule == "least" else runs[column].max()
    return row


def _state(runs: pd.DataFrame) -> str:
    """How the repeat as a whole ended: 'converged' refers to the tightest accuracy only."""
    accuracies = accuracies_in(runs.columns)
    if accuracies and runs[f"seconds_to_{min(accuracies, key=float)}"].notna().any():
        return "converged"
    states = Counter(runs["state"])
    for state in (*RERUN, *LIMITED):  # a horizon that was not run might have been enough
        if state in states:
            return state
    return HORIZON if "converged" in states else states.most_common(1)[0][0]


def heading(dataset: str, stand_in: bool) -> str:
    """A data set's name, marked if it is not the real one."""
    return f"{dataset} (STAND-IN)" if stand_in else dataset
