"""What a benchmark found: its sweeps' results and its tasks' files, and their arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import pandas as pd

from svmbench.bench.champion import champion
from svmbench.bench.profile import SetSpec
from svmbench.bench.run import Plan
from svmbench.bench.tasks import read_task
from svmbench.config import Sweep
from svmbench.harness.plan import for_each_horizon
from svmbench.records.groups import Group, group_runs
from svmbench.records.read import Results, read_results
from svmbench.records.statistics import Ratio, median, paired_ratio
from svmbench.report.tables import threshold_summary
from svmbench.solvers.registry import find_solver

#: Bytes of a stored entry, column and value, by storage.
ENTRY_BYTES = {
    "uint16+ones": 2,
    "uint16+float32": 6,
    "uint16+float64": 10,
    "int32+ones": 4,
    "int32+float32": 8,
    "int32+float64": 12,
    "dense float32": 4,
    "dense float64": 8,
}


Standing = Literal["champion ahead", "peer ahead", "no peer arrived", "nobody arrived"]


@dataclass(frozen=True)
class Versus:
    """The champion beside the fastest of some programs, on one problem and to one accuracy.

    Parameters
    ----------
    set, stand_in, held_out : str, bool, bool
    lam, threshold : float
    ours, theirs : float
        Median seconds, +inf where it did not arrive.
    program : str
        The fastest in the median; empty where none arrived.
    ratio : Ratio
        Theirs over ours.
    at_least : bool
        Whether none arrived, and the ratio is that of what they had spent by then.
    among : tuple of str
        Labels of the programs that were run.
    """

    set: str
    stand_in: bool
    held_out: bool
    lam: float
    threshold: float
    ours: float
    theirs: float
    program: str
    ratio: Ratio
    at_least: bool
    among: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """Who is ahead, by the estimate of the ratio."""
        if math.isinf(self.ours):
            return "nobody arrived" if self.at_least else "peer ahead"
        if self.at_least:
            return "no peer arrived"
        return "champion ahead" if self.ratio.estimate >= 1.0 else "peer ahead"

    @property
    def sure(self) -> bool:
        """Whether the whole interval of the ratio says so."""
        if self.standing == "peer ahead":
            return math.isinf(self.ours) or self.ratio.high < 1.0
        return self.ratio.low >= 1.0


@dataclass(frozen=True)
class Swept:
    """The results of one part's sweep of one set.

    Parameters
    ----------
    part, kind : str
    spec : SetSpec
    results : Results
    cut_short : int
        Repeats left out because the budget had ended before all their runs were made.
    """

    part: str
    kind: str
    spec: SetSpec
    results: Results
    cut_short: int = 0

    def groups(self) -> list[Group]:
        """All rows of its tables."""
        return [group for groups in group_runs(self.results).values() for group in groups]


@dataclass(frozen=True)
class Found:
    """All that was found.

    Parameters
    ----------
    plan : Plan
    sweeps : list of Swept
        Those of which there are runs.
    """

    plan: Plan
    sweeps: list[Swept]

    def of_kind(self, kind: str) -> list[Swept]:
        """The sweeps of the parts of that kind."""
        return [swept for swept in self.sweeps if swept.kind == kind]

    @cached_property
    def physics(self) -> dict[str, Any]:
        """What the machine can do; empty where it was not measured."""
        return next(iter(self._task("physics")), {})

    @cached_property
    def epochs(self) -> dict[str, dict[str, Any]]:
        """Epochs by set."""
        return {result["set"]: result for result in self._tasks("epochs")}

    @cached_property
    def readings(self) -> list[dict[str, Any]]:
        """Every repeat of every reader on every set."""
        return [each for each in self._tasks("reading") if each["kind"] == "reading"]

    @property
    def openings(self) -> list[dict[str, Any]]:
        """The openings of the cached rows of every set."""
        return [each for each in self._tasks("reading") if each["kind"] == "opening"]

    @cached_property
    def texts(self) -> list[dict[str, Any]]:
        """Every repeat of every program on every text."""
        return list(self._tasks("text"))

    @cached_property
    def growth(self) -> dict[str, list[dict[str, Any]]]:
        """The points of each kind of rows."""
        found: dict[str, list[dict[str, Any]]] = {}
        for result in self._tasks("growth"):
            found.setdefault(result["label"], []).append(result)
        return found

    @cached_property
    def unmade(self) -> list[str]:
        """Measurements that did not end well, in words."""
        tasks = self.plan.tasks
        ended = [
            f"{task.name}, {result['label']}: {result['state']}, {result['reason']}"
            for task in tasks
            for result in read_task(self.plan.parts, task.name)
            if result["state"] != "ok"
        ]
        none = [task.name for task in tasks if not read_task(self.plan.parts, task.name)]
        return [*dict.fromkeys(ended), *(f"{name}: not measured yet" for name in none)]

    def _task(self, name: str) -> Iterator[dict[str, Any]]:
        return (r for r in read_task(self.plan.parts, name) if r["state"] == "ok")

    def _tasks(self, kind: str) -> Iterator[dict[str, Any]]:
        for task in self.plan.tasks:
            if task.name.partition("-")[0] == kind:
                yield from self._task(task.name)


def read_found(plan: Plan) -> Found:
    """Read what lies in the results of a benchmark.

    Raises
    ------
    DataError
        When results cannot be read.
    """
    sweeps = []
    specs = {each.label: each for each in plan.profile.sets}
    for job in plan.jobs:
        if (job.folder / "runs.csv").exists():
            kind = plan.profile.sweeps[job.name].kind
            results, cut_short = without_unfinished(read_results(job.folder), job.sweep)
            if len(results.runs):
                sweeps.append(Swept(job.name, kind, specs[job.item], results, cut_short))
    return Found(plan, sweeps)


def without_unfinished(results: Results, sweep: Sweep) -> tuple[Results, int]:
    """The results without the repeats of which some run is still to be made, and their number.

    A solver that is run for one horizon after another has not failed to arrive when the budget
    ended between two of them. A ladder is at its end where a run had the tightest accuracy, did
    not come to its horizon or met the time limit.
    """
    horizons = {
        spec.label: [horizon for _, horizon in for_each_horizon(spec, sweep.stop)]
        for spec in sweep.solvers
    }
    kept, left = [], 0
    for (label, _, _), runs in results.runs.groupby(["label", "lambda", "repeat"], sort=False):
        known = horizons.get(str(label), [None])
        whole = len(runs) >= len(known) or (
            find_solver(str(runs["solver"].iloc[0])).ladder and _at_its_end(results, runs)
        )
        if whole:
            kept.append(runs)
        else:
            left += 1
    together = pd.concat(kept).sort_index() if kept else results.runs.iloc[:0]
    return replace(results, runs=together), left


def _at_its_end(results: Results, runs: pd.DataFrame) -> bool:
    over = (runs["state"] != "converged") | (runs["train_seconds"] > runs["limit_seconds"])
    if results.thresholds:
        over |= runs[f"seconds_to_{results.thresholds[-1]!r}"].notna()
    return bool(over.any())


# ---------------------------------------------------------------- seconds to an accuracy


def seconds_by_repeat(group: Group, threshold: float) -> dict[int, float]:
    """Seconds to an accuracy, +inf where a repeat did not arrive; without those not made."""
    told = group.told(threshold).repeats
    unmade = ("interrupted", "not_installed")
    return {
        int(repeat): math.inf if math.isnan(value) else float(value)
        for repeat, value, state in zip(
            told["repeat"], told[f"seconds_to_{threshold!r}"], told["state"], strict=True
        )
        if state not in unmade or not math.isnan(value)
    }


def peers(groups: Sequence[Group]) -> list[str]:
    """Names of the programs from outside among the solvers of some rows."""
    return [name for name in dict.fromkeys(g.solver for g in groups) if find_solver(name).foreign]


def versus(found: Found, than: Sequence[str] | None = None) -> list[Versus]:
    """The champion beside programs, on every problem of the oracle's sweeps and to every accuracy.

    Parameters
    ----------
    found : Found
    than : sequence of str, optional
        Names of solvers, of whose rows the fastest counts in every repeat; all that are from
        outside unless given.
    """
    compared = []
    for swept in found.of_kind("oracle"):
        everything = swept.groups()
        for lam in dict.fromkeys(group.lam for group in everything):
            rows = [group for group in everything if group.lam == lam]
            ours = [group for group in rows if group.label == champion()]
            theirs = [g for g in rows if g.solver in (peers(rows) if than is None else than)]
            if ours and theirs:
                compared += [
                    one
                    for threshold in swept.results.thresholds
                    if (one := side_by_side(swept.spec, ours[0], theirs, threshold)) is not None
                ]
    return _one_a_problem(compared, _best_of_the_others if than is None else _most_pairs)


def _one_a_problem(
    compared: Sequence[Versus], choose: Callable[[Sequence[Versus]], Versus]
) -> list[Versus]:
    """Of sweeps that pose the same problem, one for each accuracy."""
    cells: dict[tuple[str, float, float], list[Versus]] = {}
    for one in compared:
        cells.setdefault((one.set, one.lam, one.threshold), []).append(one)
    return [choose(members) for members in cells.values()]


def _most_pairs(members: Sequence[Versus]) -> Versus:
    return max(members, key=lambda one: one.ratio.pairs)


def _best_of_the_others(members: Sequence[Versus]) -> Versus:
    """The sweep in which a program does best: each has runs of the champion of its own beside it.

    Where none arrived in any, the one in which they had spent most.
    """
    arrived = [one for one in members if not one.at_least]
    if arrived:
        chosen = min(arrived, key=lambda one: one.ratio.estimate)
    else:
        chosen = max(members, key=lambda one: (math.isinf(one.ours), one.ratio.estimate))
    among = dict.fromkeys(label for one in members for label in one.among)
    return replace(chosen, among=tuple(among))


def side_by_side(
    spec: SetSpec, ours: Group, theirs: Sequence[Group], threshold: float
) -> Versus | None:
    """One row of a sweep's tables beside others, to an accuracy; None without common repeats."""
    mine = seconds_by_repeat(ours, threshold)
    others = {group.label: seconds_by_repeat(group, threshold) for group in theirs}
    others = {label: times for label, times in others.items() if times}
    # Where one of the programs is still to be run, it is not known which is the fastest.
    repeats = [r for r in mine if all(r in times for times in others.values())]
    if not repeats or not others:
        return None
    fastest = [min(times[r] for times in others.values()) for r in repeats]
    own = [mine[repeat] for repeat in repeats]
    middles = {label: median(list(times.values())) for label, times in others.items()}
    program = min(middles, key=lambda label: middles[label])
    arrived = math.isfinite(min(fastest))
    ratio = paired_ratio(own, fastest)
    if not arrived and math.isfinite(max(own)):
        spent = min(threshold_summary(g, threshold, "time").at_least for g in theirs)
        least = spent / median(own)
        ratio = Ratio(least, least, math.inf, math.nan, len(repeats), "none", math.nan)
    return Versus(
        set=spec.label,
        stand_in=ours.stand_in,
        held_out=spec.held_out,
        lam=ours.lam,
        threshold=threshold,
        ours=median(own),
        theirs=middles[program],
        program=program if math.isfinite(middles[program]) else "",
        ratio=ratio,
        at_least=not arrived,
        among=tuple(others),
    )


# ---------------------------------------------------------------- epochs and their bounds


def nanoseconds(epochs: dict[str, Any], label: str) -> dict[int, float]:
    """Nanoseconds a stored nonzero by repeat, without stretches that took no measurable time."""
    for entry in epochs["epochs"]:
        if entry["label"] == label:
            return {
                repeat: seconds / (passes * epochs["nnz"]) * 1e9
                for repeat, (seconds, passes) in enumerate(
                    zip(entry["seconds"], entry["passes"], strict=True)
                )
                if seconds > 0 and passes > 0
            }
    return {}


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Ratio | None:
    """Theirs over ours, of the repeats that both have; None where they have none."""
    common = sorted(set(ours) & set(theirs))
    return paired_ratio([ours[r] for r in common], [theirs[r] for r in common]) if common else None


@dataclass(frozen=True)
class Bound:
    """What an epoch takes at least, in nanoseconds a stored nonzero.

    Parameters
    ----------
    stream : float
        Reading the entries from memory once, in order.
    core : float
        One gather and one gathered addition a nonzero, at the level of the memory that w fits
        in were its columns drawn evenly; 0 for dense rows, whose columns are in order.
    level : str
        That level.
    """

    stream: float
    core: float
    level: str

    @property
    def least(self) -> float:
        """The larger of the two: they overlap."""
        return max(self.stream, self.core)


def bound(physics: dict[str, Any], epochs: dict[str, Any]) -> Bound | None:
    """The bound of a set's epoch by this machine's own speeds; None where they are not known."""
    if not physics:
        return None
    entry = ENTRY_BYTES[epochs["storage"]] + epochs["m"] * 8 / epochs["nnz"]
    if epochs["storage"].startswith("dense"):
        entry = ENTRY_BYTES[epochs["storage"]]
    stream = entry / median(physics["stream_gb_per_second"])
    level = next(
        (g for g in physics["gathers"] if 8 * epochs["d"] <= g["bytes"]), physics["gathers"][-1]
    )
    core = median(level["sum_ns"]) + median(level["add_ns"])
    dense = epochs["storage"].startswith("dense")
    return Bound(stream, 0.0 if dense else core, level["level"])


# ---------------------------------------------------------------- reading, texts and growth


def mb_per_second(result: dict[str, Any]) -> float:
    """MB/s of one reading."""
    return float(result["text_bytes"] / result["seconds"] / 1e6)


def total_seconds(result: dict[str, Any]) -> float:
    """Seconds from a text to the accuracy, +inf where it was not reached."""
    parts = [result[f"{part}_seconds"] for part in ("read", "convert", "train")]
    return math.inf if None in parts else float(sum(parts))


def by_repeat(
    results: Sequence[dict[str, Any]],
    value: Callable[[dict[str, Any]], float],
    label: str,
    name: str,
) -> dict[int, float]:
    """A value of the results of one reader or program on a set, by repeat."""
    return {
        result["repeat"]: value(result)
        for result in results
        if result["set"] == label and result["label"] == name
    }


@dataclass(frozen=True)
class Step:
    """From one size of rows to the next.

    Parameters
    ----------
    rows : str
        Kind of rows.
    axis : {'m', 'd'}
        What grows.
    grown : float
        Factor by which the entries grow.
    slowed : float
        Factor by which an epoch takes longer.
    bytes : int
        Of the smaller rows.
    """

    rows: str
    axis: str
    grown: float
    slowed: float
    bytes: int

    @property
    def deviation(self) -> float:
        """How far it is from linear: a factor of at least 1."""
        factor = self.slowed / self.grown
        return max(factor, 1.0 / factor)


def steps(points: Sequence[dict[str, Any]]) -> list[Step]:
    """The steps from each size to the next along m, and along d from the first size."""
    found = []
    ordered = sorted(points, key=lambda point: point["point"])
    along_m = [p for p in ordered if p["d"] == ordered[0]["d"]]
    along_d = [p for p in ordered if p["m"] == ordered[0]["m"]]
    for axis, line in (("m", along_m), ("d", along_d)):
        for small, large in pairwise(line):
            found.append(
                Step(
                    small["label"],
                    axis,
                    large["nnz"] / small["nnz"],
                    median(large["seconds_per_epoch"]) / median(small["seconds_per_epoch"]),
                    small["array_bytes"],
                )
            )
    return found


def memory_share(point: dict[str, Any]) -> float:
    """All memory that rows and solver took over the bytes of the rows."""
    return float(point["peak_bytes"] / point["array_bytes"])
