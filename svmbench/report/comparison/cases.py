"""The cases that two sides have in common: their samples, and what these show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from svmbench.errors import ConfigError, DataError, nearest
from svmbench.evidence.forecast import FEWEST
from svmbench.evidence.page import Answer, judge
from svmbench.evidence.questions import Question, log_ratios
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import measured, pairs, samples
from svmbench.records.spelling import counted, short
from svmbench.report.pairing import ASSUMED_SHIFT, samples_together

Conclusion = Literal["faster", "slower", "alike", "open"]

#: A region needs a width: the least is beyond what a clock can resolve.
_LEAST_MARGIN = 1 + 1e-9

#: Data set, whether it is a stand-in, λ, and the label (empty if any label matches).
CellKey = tuple[str, bool, float, str]


@dataclass(frozen=True)
class Side:
    results: Results
    # the only label that takes part; None for all, each matched with the same label
    label: str | None = None


@dataclass(frozen=True)
class ComparedCase:
    """What both sides needed to reach one accuracy: a data set, a λ, an accuracy and a label."""

    one: Group
    other: Group
    accuracy: float
    a: tuple[float, ...]  # a, b: by repeat, +inf if the accuracy was not reached
    b: tuple[float, ...]
    paired: bool  # whether the two runs of each pair were executed at about the same time
    missing: str  # which repeats were not measured, in words; empty if all were
    # estimate and interval of B over A, and the evidence that they lie within the margin; None
    # until all cases are judged
    judged: Answer | None = None

    @property
    def answer(self) -> Answer:
        assert self.judged is not None
        return self.judged

    @property
    def label(self) -> str:
        """Both labels if they differ."""
        if self.one.label == self.other.label:
            return self.one.label
        return f"{self.one.label} -> {self.other.label}"

    @property
    def conclusion(self) -> Conclusion:
        """About B."""
        if self.answer.verdict == "holds":
            return "alike"
        if self.answer.verdict == "open":
            return "open"
        return "slower" if self.answer.estimate > 1 else "faster"

    @property
    def why(self) -> str:
        """Why an open case is open, and what it takes."""
        if self.conclusion != "open":
            return ""
        if self.answer.pairs == 0:
            takes = "neither reached it" if self.a else "no pairs"
        elif self.answer.pairs < FEWEST:
            takes = "too few pairs for a forecast"
        elif self.answer.more is not None:
            takes = f"about {counted(self.answer.more, 'more repeat')}"
        elif not self.paired:
            takes = "measured at different times: more repeats do not help"
        else:
            takes = "more repeats than can be run"
        return "; ".join(filter(None, [takes, self.missing]))


def groups_of(side: Side) -> dict[CellKey, Group]:
    """The groups of a side by the key that must match: a single label matches any label."""
    labels = list(dict.fromkeys(side.results.runs["label"]))
    if side.label is not None and side.label not in labels:
        raise ConfigError(
            f"{side.results.folder}: no label {side.label!r}; {nearest(side.label, sorted(labels))}"
        )
    return {
        (group.dataset, group.stand_in, group.lam, group.label if side.label is None else ""): group
        for groups in side.results.groups.values()
        for group in groups
        if side.label in (None, group.label)
    }


def cases_of(
    a: Side,
    b: Side,
    left: Mapping[CellKey, Group],
    right: Mapping[CellKey, Group],
    metric: str,
    other_machine: bool,
) -> list[ComparedCase]:
    """The samples of all that both sides have, at the accuracies of both, the loosest first."""
    common = [(left[key], right[key]) for key in left if key in right]
    accuracies = [t for t in a.results.accuracies if t in b.results.accuracies]
    if not common or not accuracies:
        what = "accuracy" if common else "cell (data set, λ and label)"
        raise ConfigError(
            f"{a.results.folder} and {b.results.folder} have no {what} in common; "
            "compare results of one configuration"
        )
    for one, other in common:
        _check_same_problem(one, other, a, b)
    return [
        _case(one, other, Asked(metric, accuracy), (a, b), other_machine)
        for one, other in common
        for accuracy in accuracies
    ]


def judge_cases(cases: Sequence[ComparedCase], margin: float) -> list[ComparedCase]:
    """All cases with their answers, judged together."""
    margin = max(margin, _LEAST_MARGIN)
    questions = [
        Question(
            log_ratios(case.a, case.b),
            1 / margin,
            margin,
            0.0 if case.paired else ASSUMED_SHIFT,
            exchangeable=True,
        )
        for case in cases
    ]
    return [
        replace(case, judged=answer) for case, answer in zip(cases, judge(questions), strict=True)
    ]


def _check_same_problem(one: Group, other: Group, a: Side, b: Side) -> None:
    """Refuse to compare times to the optimum of two different problems."""
    first, second = one.runs.iloc[0], other.runs.iloc[0]
    for column in ("loss", "bias", "l1_radius", "m", "d", "nnz"):
        if _known(first[column]) != _known(second[column]):
            raise ConfigError(
                f"{one.dataset}, λ = {short(one.lam)}: {column} is {_printed(first[column])} in "
                f"{a.results.folder} and {_printed(second[column])} in {b.results.folder}; "
                "compare results on the same data"
            )
    lows = (one.middle("reference_dual"), other.middle("reference_dual"))
    highs = (one.middle("reference_primal"), other.middle("reference_primal"))
    if max(lows) > min(highs) * (1 + 1e-9):  # False with nan: then nothing is known
        raise ConfigError(
            f"{one.dataset}, λ = {short(one.lam)}: the certified optima of {a.results.folder} and "
            f"{b.results.folder} exclude each other; compare results on the same problem"
        )


def _known(value: Any) -> Any:
    """A radius that is not recorded is infinite."""
    return math.inf if isinstance(value, float) and math.isnan(value) else value


def _printed(value: Any) -> str:
    if isinstance(value, str):
        return value or "none"
    return "infinite" if math.isnan(value) else f"{value:,.12g}"


def _case(
    one: Group, other: Group, asked: Asked, sides: tuple[Side, Side], machines_differ: bool
) -> ComparedCase:
    for group, side in zip((one, other), sides, strict=True):
        _check_metric(group, asked, side)
    found, paired = samples_together(
        one,
        other,
        asked,
        same_sweep=sides[0].results.folder == sides[1].results.folder,
        same_machine=not machines_differ,
    )
    missing = "; ".join(_missing(one, other, asked))
    assert asked.at is not None
    return ComparedCase(one, other, asked.at, found.a, found.b, paired, missing)


def _missing(one: Group, other: Group, asked: Asked) -> Iterator[str]:
    """Which repeats have no samples that can be paired, and why."""
    known = []
    for name, group in (("A", one), ("B", other)):
        planned = set(group.runs["repeat"])
        known.append(set(samples(group, asked)))
        if absent := len(planned - known[-1]):
            yield f"{name}: {absent} of {len(planned)} repeats not measured"
    if doubtful := len((known[0] & known[1]) - set(pairs(one, other, asked).repeats)):
        yield f"{doubtful} skipped at a time limit near what the other side took"


def _check_metric(group: Group, asked: Asked, side: Side) -> None:
    """Refuse runs that reached the accuracy but lack what the metric needs."""
    if measured(group, Asked("seconds", asked.at)).keys() <= measured(group, asked).keys():
        return
    raise DataError(
        f"{side.results.folder / 'runs.csv'}: no column {asked.measure.needs or asked.column!r}; "
        "run the sweep again with --fresh, or choose another --metric"
    )
