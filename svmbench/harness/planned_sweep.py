"""A sweep as one of many: where its data come from, its folder, and which of its runs exist."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from svmbench.config import Sweep, dump_sweep
from svmbench.data.dataset import scale_in
from svmbench.durable import is_own_file
from svmbench.errors import ConfigError
from svmbench.harness.environment import fingerprint
from svmbench.harness.plan import for_each_horizon
from svmbench.harness.sources import Source
from svmbench.harness.store import config_in, listed_in
from svmbench.records.states import RERUN
from svmbench.solvers.checked import checked
from svmbench.solvers.registry import find_solver

#: What differs between a run's build and the present one, by its key; the first counts.
_CHANGED = {
    "source_sha256": "with other sources of their solvers",
    "flags": "compiled with other flags",
    "compiler": "compiled by another compiler",
    "libraries": "with other versions of NumPy or SciPy",
}


@dataclass(frozen=True)
class PlannedSweep:
    """One sweep of a series, such as a paper's."""

    # paper, item, name: keys of the paper and of its item, and of the sweep within the item; a
    # sweep of its own has no paper
    paper: str
    item: str
    name: str
    sweep: Sweep  # as the item describes it, at the requested size
    folder: Path  # of its results
    sources: tuple[Source, ...]  # one per data set
    offline: bool = True  # do not look for its data on the network
    # fingerprint of the machine that carries out its runs; empty for this machine
    machine: str = ""

    @property
    def title(self) -> str:
        return f"{self.paper}/{self.item}: {self.name}" if self.paper else self.name

    @property
    def place(self) -> str:
        """The beginning of messages about it; empty for a sweep of its own."""
        return f"{self.paper}/{self.item}, {self.name}: " if self.paper else ""

    def about(self, datasets: Collection[str]) -> PlannedSweep:
        """The sweep on these data sets, and on those that its folder has results of."""
        listed = listed_in(self.folder)
        kept = {*datasets, *(() if listed is None else listed["dataset"])}
        sources = tuple(source for source in self.sources if source.dataset.label in kept)
        return replace(self, sweep=_on(self.sweep, kept), sources=sources)

    @cached_property
    def runnable(self) -> Sweep | None:
        """The sweep on the data sets that are available; None if none is."""
        here = tuple(source.dataset for source in self.sources if not source.unavailable)
        return self.sweep.model_copy(update={"datasets": here}) if here else None

    @property
    def stand_ins(self) -> dict[str, float]:
        """Scales by the labels of those data sets that are stand-ins."""
        return {
            source.dataset.label: source.scale
            for source in self.sources
            if source.scale is not None and not source.unavailable
        }

    @property
    def problems(self) -> int:
        """Number of its problems: available data sets times regularisation constants."""
        constants = len(self.sweep.lambdas or self.sweep.C or ())
        return constants * sum(not source.unavailable for source in self.sources)

    @property
    def cells(self) -> int:
        return self.problems * len(self.sweep.solvers)

    @cached_property
    def runs_a_repeat(self) -> int:
        """Runs of one repeat of every cell, all horizons counted."""
        solvers, stop = self.sweep.solvers, self.sweep.stop
        return self.problems * sum(len(for_each_horizon(solver, stop)) for solver in solvers)

    @property
    def runs(self) -> int:
        return self.runs_a_repeat * self.sweep.at_least

    @property
    def most_runs(self) -> int:
        """Runs if no question about the sweep is ever decided."""
        return self.runs_a_repeat * self.sweep.at_most

    @property
    def found(self) -> int:
        """Runs that are finished in its folder, as far as its files show without the data."""
        return len(self._found)

    def missing(self, repeats: int) -> int:
        """Missing runs of the first ``repeats`` repeats."""
        return max(0, self.runs_a_repeat * repeats - sum(at < repeats for at in self._found))

    @property
    def unused(self) -> Counter[str]:
        """Finished runs of this sweep in its folder that it would not find, by the reason."""
        return Counter(why for _, why in self._finished if why)

    @cached_property
    def _found(self) -> list[int]:
        """Repeats of the runs that are found."""
        return [repeat for repeat, why in self._finished if not why]

    @cached_property
    def _finished(self) -> list[tuple[int, str]]:
        """Repeats of the listed runs, each with why the run does not count; empty if it does."""
        counted = self._listed()
        if counted is None:
            return []
        of_scale = {
            source: scale_in(source) if stand_in else None
            for source, stand_in in set(
                zip(counted["data_source"], counted["stand_in"], strict=True)
            )
        }

        def why(run: str, dataset: str, source: str, state: str) -> str:
            if of_scale[source] != self.stand_ins.get(dataset):
                return "on other rows"
            return "" if state == "skipped" else self._why_not(run)

        columns = (counted[name] for name in ("id", "dataset", "data_source", "state"))
        reasons = (why(*row) for row in zip(*columns, strict=True))
        return list(zip(map(int, counted["repeat"]), reasons, strict=True))

    def _why_not(self, run: str) -> str:
        path = self.folder / "runs" / f"{run}.jsonl"
        return _why_not(path, self.machine or fingerprint())

    @property
    def outdated(self) -> bool:
        """Whether its folder holds runs that it would not find, or that are gone."""
        counted = self._listed()
        if counted is None:
            return (self.folder / "runs.csv").exists()
        return len(counted) != self.found

    def _listed(self) -> pd.DataFrame | None:
        """The runs that runs.csv lists; None if it cannot be read, or is of another sweep."""
        text, table = config_in(self.folder), listed_in(self.folder)
        if self.runnable is None or table is None:
            return None
        # With --only, the sweep was on some of its data sets.
        here = self.runnable, _on(self.runnable, set(table["dataset"]))
        same = any(text == dump_sweep(sweep) for sweep in here if sweep.datasets)
        return table[~table["state"].isin(RERUN)] if same else None

    @property
    def longest(self) -> float:
        missing = self.missing(self.sweep.at_least)
        references = self.problems * self.sweep.reference.time_limit if missing else 0.0
        return missing * self.sweep.stop.time_limit + references


def _on(sweep: Sweep, datasets: Collection[str]) -> Sweep:
    kept = tuple(data for data in sweep.datasets if data.label in datasets)
    return sweep.model_copy(update={"datasets": kept})


def _why_not(path: Path, machine: str) -> str:
    """Why a run does not count on that machine with the present build; empty if it does."""
    if not is_own_file(path):
        return "that cannot be read"
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
        solver = find_solver(header["solver"])
        parameters = checked(solver.schema, header["parameters"])
        built, recorded = solver.build_with(parameters), header["build"]
        if header["machine"] != machine:
            return "on another machine"
        if recorded == built:
            return ""
        changed = (why for key, why in _CHANGED.items() if recorded.get(key) != built.get(key))
        return next(changed, _CHANGED["source_sha256"])
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError, ConfigError):
        return "that cannot be read"
