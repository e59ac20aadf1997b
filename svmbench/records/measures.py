"""What can be measured of a run: one table for all other modules.

One entry of `MEASURES` adds a measure. Papers' configurations can then use it in
tables, figures and claims; `svmbench.records.states` determines what a repeat without a
value counts as.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from svmbench.errors import nearest

#: Columns of runs.csv by name; those of an accuracy, ``seconds_to_E``, are called ``seconds_to``.
RunColumns = Mapping[str, Any]

Taken = Literal["to accuracy", "at end", "spent", "of data", "along"]


@dataclass(frozen=True)
class Measure:
    """One row of the table of measures."""

    name: str  # its name in configurations and columns of CSV files
    words: str  # its name on axes and in headings; "to 0.01" follows if it is taken to an accuracy
    # until an accuracy is first reached; at the last checkpoint; over the whole run, which is
    # informative only if the run ended by its own rule; a fact of the data; or along a run and in
    # no other way
    taken: Taken
    # its values from the columns of runs.csv, or, if it can be drawn along a run, from those of
    # traces.csv together with the facts of the problem
    formula: Callable[[RunColumns], Any]
    unit: str = ""  # empty for pure numbers, and if the words name it
    # whether it is a share of the rows, printed in per cent; its worst value is then 0 or 1
    share: bool = False
    more_is_better: bool = False
    # whether it is a setting that a method works with, of which no value is the best
    setting: bool = False
    # whether it is a cost of training: tables also show its ratio to another solver's
    cost: bool = False
    # whether it depends on the machine, as seconds do. Other measures (a count, an error after some
    # steps) depend on the seed alone.
    per_machine: bool = False
    # whether it is the objective in some unit, with the certified optimum drawn next to it
    objective: bool = False
    along: bool = False  # whether it can be drawn along a run
    # whether it is a distance from the optimum, which is known only down to the certified gap
    distance: Literal["", "relative", "absolute"] = ""
    needs: str = ""  # column of its unit: if that is empty, the measure is unknown
    spent: str = ""  # if it is taken to an accuracy: the measure of the whole run, in its unit
    limit: str = ""  # if it is taken to an accuracy: the column of the sweep's limit in its unit
    processor: str = ""  # if it is wall time: the measure of the same in processor time
    # whether it is the upper end of an interval that certainly holds the true value; the formula
    # gives the lower end with D_ref in the place of P_ref
    certified: bool = False

    def __post_init__(self) -> None:
        if self.to_accuracy and not self.spent:
            raise ValueError(f"measure {self.name!r} is taken to an accuracy: name its spent")

    @property
    def to_accuracy(self) -> bool:
        return self.taken == "to accuracy"

    @property
    def worst(self) -> float:
        """What it counts as if the run has failed."""
        if self.share:
            return 0.0 if self.more_is_better else 1.0
        return math.inf

    @property
    def heading(self) -> str:
        """Its words with the unit in which it is printed."""
        unit = "%" if self.share else self.unit
        return f"{self.words} [{unit}]" if unit else self.words

    @property
    def scale(self) -> float:
        return 100.0 if self.share else 1.0

    def optimum(self, dual: float, lam: float, m: float) -> float | None:
        """The certified lower bound D_ref in its unit; None unless it is an objective."""
        if not self.objective:
            return None
        return float(self.formula({"primal": dual, "lambda": lam, "m": m}))


def _train_seconds_after_setup(runs: RunColumns) -> Any:
    return runs["train_seconds"] - runs["setup_seconds"]


def _train_steps(runs: RunColumns) -> Any:
    return runs["epochs"] * runs["m"] / runs["step_rows"]


#: Every measure by name.
MEASURES = {
    measure.name: measure
    for measure in (
        # until an accuracy is first reached
        Measure(
            "seconds", "seconds", "to accuracy", lambda runs: runs["seconds_to"],
            cost=True, per_machine=True, spent="train_seconds", limit="limit_seconds",
            processor="cpu_seconds",
        ),
        Measure(
            "seconds_after_setup", "seconds after set-up", "to accuracy",
            lambda runs: runs["seconds_to"] - runs["setup_seconds"],
            cost=True, per_machine=True, spent="train_seconds_after_setup",
        ),
        Measure(
            "cpu_seconds", "processor seconds", "to accuracy", lambda runs: runs["cpu_seconds_to"],
            cost=True, per_machine=True, spent="train_cpu_seconds",
        ),
        Measure(
            "epochs", "epochs", "to accuracy", lambda runs: runs["epochs_to"],
            cost=True, spent="train_epochs",
        ),
        Measure(
            "data_passes", "passes over the data", "to accuracy",
            lambda runs: runs["data_passes_to"], cost=True, spent="train_data_passes",
        ),
        Measure(
            "steps", "steps", "to accuracy",
            lambda runs: runs["epochs_to"] * runs["m"] / runs["step_rows"],
            cost=True, needs="step_rows", spent="train_steps",
        ),
        # what the whole run took
        Measure(
            "train_seconds", "training time", "spent", lambda runs: runs["train_seconds"],
            unit="s", cost=True, per_machine=True, processor="train_cpu_seconds",
        ),
        Measure(
            "train_seconds_after_setup", "training time after set-up", "spent",
            _train_seconds_after_setup, unit="s", cost=True, per_machine=True,
        ),
        Measure(
            "train_cpu_seconds", "processor time", "spent", lambda runs: runs["train_cpu_seconds"],
            unit="s", cost=True, per_machine=True,
        ),
        Measure(
            "train_epochs", "epochs run", "spent", lambda runs: runs["epochs"], cost=True,
        ),
        Measure(
            "train_data_passes", "passes made over the data", "spent",
            lambda runs: runs["data_passes"], cost=True,
        ),
        Measure(
            "train_steps", "steps taken", "spent",
            _train_steps, cost=True, needs="step_rows",
        ),
        Measure(
            "seconds_with_evaluation", "time with the cost evaluated at every step", "spent",
            lambda runs: runs["train_seconds"]
            + runs["evaluation_seconds"] * _train_steps(runs),
            unit="s", cost=True, per_machine=True, needs="step_rows",
        ),
        # at the last checkpoint
        Measure(
            "seconds_a_pass", "time per pass", "at end",
            lambda runs: _train_seconds_after_setup(runs) / runs["epochs"],
            unit="s", cost=True, per_machine=True,
        ),
        Measure(
            "seconds_a_step", "time per step", "at end",
            lambda runs: _train_seconds_after_setup(runs) / _train_steps(runs),
            unit="s", cost=True, per_machine=True, needs="step_rows",
        ),
        Measure(
            "seconds_a_step_with_evaluation", "time per step with the cost evaluated", "at end",
            lambda runs: _train_seconds_after_setup(runs) / _train_steps(runs)
            + runs["evaluation_seconds"],
            unit="s", cost=True, per_machine=True, needs="step_rows",
        ),
        Measure(
            "primal", "P(w)", "at end", lambda runs: runs["primal"], objective=True, along=True,
        ),
        Measure(
            "J", "J = P/λ", "at end", lambda runs: runs["primal"] / runs["lambda"],
            objective=True, along=True,
        ),
        Measure(
            "sum_objective", "m P(w)", "at end", lambda runs: runs["primal"] * runs["m"],
            objective=True, along=True,
        ),
        Measure(
            "accuracy", "(P(w) − D_ref) / D_ref", "at end", lambda runs: runs["accuracy"],
            along=True, distance="relative",
        ),
        Measure(
            "suboptimality", "P(w) − D_ref", "at end",
            lambda runs: runs["primal"] - runs["reference_dual"], along=True, distance="absolute",
        ),
        Measure(
            "gap", "own gap P/D − 1", "at end", lambda runs: runs["gap"],
            along=True, distance="relative",
        ),
        Measure(
            "test_error", "test error", "at end", lambda runs: runs["test_error"],
            share=True, along=True,
        ),
        Measure(
            "test_accuracy", "test accuracy", "at end", lambda runs: 1.0 - runs["test_error"],
            share=True, more_is_better=True, along=True,
        ),
        Measure(
            "train_error", "training error", "at end", lambda runs: runs["train_error"],
            share=True, along=True,
        ),
        Measure(
            "t0", "t0 of the schedule of step lengths", "at end", lambda runs: runs["t0"],
            setting=True, needs="t0",
        ),
        # along a run only; regret.csv has its points
        Measure("regret", "regret", "along", lambda runs: runs["regret_high"]),
        # facts of the data
        Measure(
            "optimal_primal", "certified P*", "of data", lambda runs: runs["reference_primal"],
            certified=True,
        ),
        Measure(
            "optimal_J", "certified J* = P*/λ", "of data",
            lambda runs: runs["reference_primal"] / runs["lambda"], certified=True,
        ),
        Measure("rows", "rows", "of data", lambda runs: runs["m"]),
        Measure("features", "features", "of data", lambda runs: runs["d"]),
        Measure(
            "nonzeros_a_row", "nonzeros per row", "of data", lambda runs: runs["nnz"] / runs["m"],
        ),
    )
}  # fmt: skip

#: Names of the measures that are taken to an accuracy: what `svmbench compare` can compare.
TO_ACCURACY = tuple(name for name, measure in MEASURES.items() if measure.to_accuracy)

#: Names of the measures that can be drawn along a run.
ALONG = tuple(name for name, measure in MEASURES.items() if measure.along)


@dataclass(frozen=True)
class Asked:
    """A requested measure, with the accuracy if it needs one."""

    name: str  # one of `MEASURES`
    at: float | None = None

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise ValueError(f"unknown measure {self.name!r}; {nearest(self.name, list(MEASURES))}")
        if self.measure.to_accuracy and self.at is None:
            raise ValueError(f"{self.name} to which accuracy? write {{{self.name}: 1e-2}}")
        if not self.measure.to_accuracy and self.at is not None:
            raise ValueError(f"{self.name} is not taken at an accuracy; leave the accuracy out")

    @property
    def measure(self) -> Measure:
        return MEASURES[self.name]

    @property
    def words(self) -> str:
        """Its words, with the unit; shares as pure numbers."""
        unit = f" [{self.measure.unit}]" if self.measure.unit else ""
        return f"{self.measure.words}{unit}{self._accuracy}"

    @property
    def heading(self) -> str:
        """Its words above a column of printed numbers: shares in per cent."""
        return f"{self.measure.heading}{self._accuracy}"

    @property
    def column(self) -> str:
        """Its name as the column of a CSV file."""
        return self.name if self.at is None else f"{self.name}_to_{self.at!r}"

    @property
    def _accuracy(self) -> str:
        return "" if self.at is None else f" to {self.at:g}"
