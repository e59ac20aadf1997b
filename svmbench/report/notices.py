"""What a reader of a results folder has to know: warnings, and plain information."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from svmbench.records.disturbance import CAUSES
from svmbench.records.groups import ROW
from svmbench.records.off_clock import OFF_CLOCK_CAUSES
from svmbench.records.read import Results
from svmbench.records.spelling import counted, regularisation, short
from svmbench.records.states import ENDED_BADLY, counted_states, in_words
from svmbench.records.statistics import OUTLIER_FACTOR, outliers
from svmbench.report.questions import order

#: Load at the start of a run that is the sweep's own: its threads, and the run before it.
_OWN_LOAD = 1.0


@dataclass(frozen=True)
class Notice:
    """One warning, or a piece of information."""

    text: str  # a sentence
    details: tuple[str, ...] = ()  # the runs concerned
    of_time: bool = False  # whether it casts doubt on times and nothing else
    informs: bool = False  # whether it casts doubt on nothing


def notices(
    results: Results, samples: Iterable[Sequence[float]], *, of_stand_ins: bool = True
) -> list[Notice]:
    """Collect what a reader has to know before reading the numbers."""
    runs = results.runs
    return [
        *(_stand_ins(runs) if of_stand_ins else ()),
        *_untested(runs),
        *_contended(runs),
        *_remarks(results),
        *_unfinished(results),
        *_unwell(results),
        *_not_installed(runs),
        *_killed(results),
        *_skipped(results),
        *_references(results),
        *_noise(samples),
        *_off_clock(runs),
        *_disturbed(runs),
        *_unsteady(results),
        *_load(results),
    ]


def _unsteady(results: Results) -> Iterator[Notice]:
    if caution := order(results).caution:
        yield Notice(caution, of_time=True)


def _stand_ins(runs: pd.DataFrame) -> Iterator[Notice]:
    if names := list(dict.fromkeys(runs.loc[runs["stand_in"], "dataset"])):
        yield Notice(stand_in_warning(names))


def stand_in_warning(names: Sequence[str]) -> str:
    """The warning that these data sets are not the real ones."""
    return (
        f"{', '.join(names)}: a STAND-IN, generated in the shape of the real data set, "
        "not the data set itself."
    )


def _untested(runs: pd.DataFrame) -> Iterator[Notice]:
    """Data sets without test errors in a sweep where others have them."""
    ended = runs[runs["primal"].notna()]
    tested = ended["test_error"].notna().groupby(ended["dataset"], sort=False).any()
    if tested.any() and not tested.all():
        yield Notice(
            f"{', '.join(tested.index[~tested])}: no test rows, so no test error.", informs=True
        )


def _contended(runs: pd.DataFrame) -> Iterator[Notice]:
    if contended := int(runs["contended"].sum()):
        yield Notice(
            f"{contended} of {len(runs)} runs shared the machine with others (contended): their "
            "times are not comparable."
        )


def _remarks(results: Results) -> Iterator[Notice]:
    """What solvers report about their choices, once per cell."""
    runs = results.runs
    said = runs[runs["remark"] != ""].drop_duplicates([*ROW, "remark"])
    if not said.empty:
        yield Notice(
            f"{', '.join(dict.fromkeys(said['label']))}: remarks on the training.",
            tuple(
                f"{dataset}, {label}, λ = {regularisation(lam, C, results.by_c)}: {remark}"
                for dataset, label, lam, C, remark in zip(
                    said["dataset"],
                    said["label"],
                    said["lambda"],
                    said["C"],
                    said["remark"],
                    strict=True,
                )
            ),
            informs=True,
        )


def _unfinished(results: Results) -> Iterator[Notice]:
    repeats = results.runs.groupby(list(ROW))["repeat"].nunique()
    short_of = int((repeats < results.repeats).sum())
    if short_of and results.repeats > 1:
        yield Notice(
            f"The sweep is not finished: {short_of} of {len(repeats)} rows have fewer than "
            f"{results.repeats} repeats."
        )


def _unwell(results: Results) -> Iterator[Notice]:
    runs = results.runs
    ill = runs[runs["state"].isin(ENDED_BADLY)]
    if not ill.empty:
        yield Notice(
            f"{len(ill)} of {len(runs)} runs did not end well: {counted_states(ill['state'])}.",
            tuple(_described(ill, results.by_c, with_state=True)),
        )


def _not_installed(runs: pd.DataFrame) -> Iterator[Notice]:
    absent = runs.loc[runs["state"] == "not_installed", ["label", "reason"]].drop_duplicates()
    if not absent.empty:
        yield Notice(
            f"Not installed, and therefore not measured: {', '.join(absent['label'].unique())}.",
            tuple(f"{label}: {reason}" for label, reason in absent.itertuples(index=False)),
        )


def _killed(results: Results) -> Iterator[Notice]:
    """Runs stopped from outside at a limit: their traces end before it."""
    runs = results.runs
    killed = runs[(runs["state"] == "time_limit") & (runs["reason"] != "")]
    if not killed.empty:
        yield Notice(
            f"{len(killed)} of {len(runs)} runs had to be killed: their last checkpoint is "
            "before the limit.",
            tuple(_described(killed, results.by_c)),
        )


def _skipped(results: Results) -> Iterator[Notice]:
    runs = results.runs
    skipped = runs[runs["state"] == "skipped"]
    if not skipped.empty:
        yield Notice(
            f"{len(skipped)} of {len(runs)} runs were skipped, because a repeat of the same cell "
            "had met the time limit.",
            tuple(_described(skipped, results.by_c)),
        )


def _described(runs: pd.DataFrame, by_c: bool, with_state: bool = False) -> Iterator[str]:
    """A line for each data set, label and cause: how many runs, and at which λ."""
    keys = ["dataset", "label", "state", "reason"]
    for (dataset, label, state, reason), members in runs.groupby(keys, sort=False):
        lambdas = members[["lambda", "C"]].drop_duplicates().sort_values("lambda", ascending=False)
        pairs = lambdas.itertuples(index=False)
        named = ", ".join(regularisation(lam, C, by_c) for lam, C in pairs)
        count = counted(len(members), "run")
        cause = ": ".join(filter(None, [in_words(str(state)) * with_state, str(reason)]))
        yield f"{label} on {dataset}, λ = {named}: {count}" + (f", {cause}" if cause else "")


def _references(results: Results) -> Iterator[Notice]:
    """Certified optima with a larger gap than requested, or without a relative one."""
    asked = reference_gap_asked(results)
    problems = results.runs.drop_duplicates(["dataset", "stand_in", "lambda"])
    wide, absolute = [], []
    for row in problems.to_dict("records"):
        place = f"{row['dataset']}, λ = {regularisation(row['lambda'], row['C'], results.by_c)}"
        if row["reference_dual"] <= 0:
            absolute.append(place)
        elif asked is not None and not row["reference_gap"] <= asked:
            known = not math.isnan(row["reference_gap"])
            wide.append(f"{place}: {short(row['reference_gap'], 2) if known else 'no finite gap'}")
    if wide and asked is not None:
        yield Notice(
            f"{len(wide)} of {len(problems)} references did not reach the requested relative gap "
            f"of {short(asked)}: accuracies near it are only bounded.",
            tuple(wide),
        )
    if absolute:
        yield Notice(
            "The certified lower bound is 0 for some problems: their accuracy is absolute.",
            tuple(absolute),
        )


def reference_gap_asked(results: Results) -> float | None:
    """The relative gap that the sweep asks of its references; None if it is not recorded."""
    reference = results.config.get("reference")
    gap = reference.get("gap") if isinstance(reference, dict) else None
    if isinstance(gap, int | float) and 0 < gap <= sys.float_info.max:
        return float(gap)
    return min(results.accuracies) / 100 if results.accuracies else None


def _noise(samples: Iterable[Sequence[float]]) -> Iterator[Notice]:
    """Cells with a run far above the median, and how many of those runs came first."""
    cells = noisy = first = 0
    for times in samples:
        if sum(map(math.isfinite, times)) < 3:
            continue
        cells += 1
        slow = outliers(times)
        noisy += bool(slow)
        first += bool(slow) and slow[0] == 0
    if noisy:
        yield Notice(
            f"{noisy} of {cells} times include a run above {OUTLIER_FACTOR:g} × their median; "
            f"in {first} of them it is the first repeat. All samples are kept.",
            of_time=True,
        )


def _off_clock(runs: pd.DataFrame) -> Iterator[Notice]:
    """Runs that took much time off the clock, with the cells concerned."""
    for cause, words in OFF_CLOCK_CAUSES.items():
        found = runs[[cause in causes.split("; ") for causes in runs["off_clock"]]]
        if found.empty:
            continue
        cells = Counter(zip(found["dataset"], found["label"], strict=True)).items()
        yield Notice(
            f"{', '.join(dict.fromkeys(found['label']))}: {words}, in {len(found)} of {len(runs)} "
            "runs. Their times are in doubt.",
            tuple(
                f"{label} on {dataset}: {counted(count, 'run')}"
                for (dataset, label), count in cells
            ),
            of_time=True,
        )


def _disturbed(runs: pd.DataFrame) -> Iterator[Notice]:
    if said := disturbed_runs(runs):
        yield Notice(f"{said} All samples are kept.", tuple(_disturbed_cells(runs)), of_time=True)


def disturbed_runs(runs: pd.DataFrame) -> str:
    """How many runs were disturbed and by what, in a sentence; empty if none was."""
    disturbed = runs.loc[runs["disturbed"] != "", "disturbed"]
    if disturbed.empty:
        return ""
    counts = Counter(cause for causes in disturbed for cause in causes.split("; "))
    causes = ", ".join(f"{counts[cause]} {CAUSES[cause]}" for cause in CAUSES if counts[cause])
    return f"{len(disturbed)} of {len(runs)} runs were disturbed: {causes}."


def _disturbed_cells(runs: pd.DataFrame) -> Iterator[str]:
    for (dataset, label), members in runs.groupby(["dataset", "label"], sort=False):
        if count := int((members["disturbed"] != "").sum()):
            yield f"{label} on {dataset}: {count} of {len(members)} runs"


def _load(results: Results) -> Iterator[Notice]:
    runs = results.runs[results.runs["load_average"].notna()]
    if runs.empty:
        yield from _load_of_sweep(results)
        return
    busy = runs[runs["load_average"] > runs["threads"] + _OWN_LOAD]
    if not busy.empty:
        yield Notice(
            f"{len(busy)} of {len(runs)} runs began at a load average above their threads + "
            f"{_OWN_LOAD:g} (at worst {short(busy['load_average'].max(), 2)}): the machine was "
            "busy with other things.",
            of_time=True,
        )


def _load_of_sweep(results: Results) -> Iterator[Notice]:
    """From the environment's record, for results that do not record the load of each run."""
    loads = results.environment.get("load_average")
    load = loads[0] if isinstance(loads, list) and loads else 0.0
    if isinstance(load, int | float) and _OWN_LOAD < load <= sys.float_info.max:
        yield Notice(
            f"The machine was busy when the sweep began: load average {short(load, 2)}.",
            of_time=True,
        )
