"""What a reader of a results folder has to know: warnings, and plain information."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

import pandas as pd

from svmbench.records.disturbance import CAUSES, OFF_CLOCK_CAUSES
from svmbench.records.groups import ROW
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.spelling import counted, regularisation, short
from svmbench.records.states import ENDED_BADLY, counted_states, in_words
from svmbench.records.statistics import OUTLIER_FACTOR, outliers
from svmbench.records.summaries import summary
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


@dataclass(frozen=True)
class _OfRuns:
    """A notice about the runs that a condition selects."""

    selected: Callable[[pd.DataFrame], pd.Series]
    words: str
    why: str = "reason"
    of_time: bool = False
    informs: bool = False

    def of(self, runs: pd.DataFrame, by_c: bool) -> Iterator[Notice]:
        """The notice, if there are such runs, with a line for each data set, label and cause."""
        found = runs[self.selected(runs)]
        if found.empty:
            return
        causes = Counter(cause for text in found["disturbed"] for cause in text.split("; "))
        text = self.words.format(
            runs=f"{len(found)} of {len(runs)} runs",
            labels=", ".join(dict.fromkeys(found["label"])),
            states=counted_states(found["state"]),
            causes=", ".join(f"{causes[each]} {CAUSES[each]}" for each in CAUSES if causes[each]),
        )
        details = []
        why_of = found[self.why].map(in_words)
        if self.why == "state":
            why_of = why_of.str.cat(found["reason"], ": ").str.removesuffix(": ")
        for (dataset, label, why), members in found.groupby(
            ["dataset", "label", why_of], sort=False
        ):
            ends = members[["lambda", "C"]].drop_duplicates().sort_values("lambda")[::-1]
            lambdas = ", ".join(
                regularisation(lam, C, by_c)
                for lam, C in zip(ends["lambda"], ends["C"], strict=True)
            )
            count = counted(len(members), "run")
            details.append(f"{label} on {dataset}, λ = {lambdas}: {count}" + f", {why}" * bool(why))
        yield Notice(text, tuple(details), self.of_time, self.informs)


def _ended(state: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda runs: runs["state"] == state


def _has(column: str, cause: str = "") -> Callable[[pd.DataFrame], pd.Series]:
    return lambda runs: runs[column].str.contains(cause, regex=False) & (runs[column] != "")


#: Notices about runs, in the order of the page.
_OF_RUNS = (
    _OfRuns(
        lambda runs: runs["contended"],
        "{runs} shared the machine with others (contended): their times are not comparable.",
    ),
    _OfRuns(_has("remark"), "{labels}: remarks on the training.", "remark", informs=True),
    _OfRuns(
        lambda runs: runs["state"].isin(ENDED_BADLY), "{runs} did not end well: {states}.", "state"
    ),
    _OfRuns(_ended("not_installed"), "Not installed, and therefore not measured: {labels}."),
    _OfRuns(
        lambda runs: (runs["state"] == "time_limit") & (runs["reason"] != ""),
        "{runs} had to be killed: their last checkpoint is before the limit.",
    ),
    _OfRuns(
        _ended("skipped"),
        "{runs} were skipped, because a repeat of the same cell had met the time limit.",
    ),
    *(
        _OfRuns(
            _has("off_clock", cause),
            f"{{labels}}: {words}, in {{runs}}. Their times are in doubt.",
            of_time=True,
        )
        for cause, words in OFF_CLOCK_CAUSES.items()
    ),
    _OfRuns(
        _has("disturbed"),
        "{runs} were disturbed: {causes}. All samples are kept.",
        "disturbed",
        of_time=True,
    ),
    _OfRuns(
        lambda runs: runs["load_average"] > runs["threads"] + _OWN_LOAD,
        f"{{runs}} began at a load average above their threads + {_OWN_LOAD:g}: the machine was "
        "busy with other things.",
        of_time=True,
    ),
)


def notices(results: Results, *, in_a_paper: bool = False) -> list[Notice]:
    """All that a reader has to know; a paper's page says by itself what its stand-ins are."""
    return [
        *(() if in_a_paper else _stand_ins(results.runs)),
        *_untested(results.runs),
        *_unfinished(results),
        *_references(results),
        *(() if in_a_paper else _noise(results)),
        *(notice for kind in _OF_RUNS for notice in kind.of(results.runs, results.by_c)),
        *_unsteady(results),
    ]


def _unsteady(results: Results) -> Iterator[Notice]:
    if caution := order(results).caution:
        yield Notice(caution, of_time=True)


def _stand_ins(runs: pd.DataFrame) -> Iterator[Notice]:
    if names := list(dict.fromkeys(runs.loc[runs["stand_in"], "dataset"])):
        yield Notice(stand_in_warning(names))


def stand_in_warning(names: Sequence[str]) -> str:
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


def _unfinished(results: Results) -> Iterator[Notice]:
    repeats = results.runs.groupby(list(ROW))["repeat"].nunique()
    short_of = int((repeats < results.repeats).sum())
    if short_of and results.repeats > 1:
        yield Notice(
            f"The sweep is not finished: {short_of} of {len(repeats)} rows have fewer than "
            f"{results.repeats} repeats."
        )


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


def _noise(results: Results) -> Iterator[Notice]:
    """Cells with a run far above the median, and how many of those runs came first."""
    cells = noisy = first = 0
    groups = chain.from_iterable(results.groups.values())
    for group, accuracy in product(groups, results.accuracies):
        times = summary(group, Asked("seconds", accuracy))
        if times.reached < 3:
            continue
        cells += 1
        slow = outliers(times.samples)
        noisy += bool(slow)
        first += bool(slow) and slow[0] == 0
    if noisy:
        yield Notice(
            f"{noisy} of {cells} cells have a repeat that took above {OUTLIER_FACTOR:g} × the "
            f"median ({first} of them the first one). All samples are kept.",
            of_time=True,
        )


def disturbed_runs(runs: pd.DataFrame) -> str:
    """How many runs were disturbed and by what, in a sentence; empty if none was."""
    return "".join(notice.text for notice in _OF_RUNS[-2].of(runs, False))
