"""The cases that two sides have in common, and the samples of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from svmbench.errors import ConfigError, DataError, nearest
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.samples import measured, pairs, samples
from svmbench.records.spelling import short
from svmbench.report.comparison.model import Side
from svmbench.report.pairing import samples_together

#: Data set, whether it is a stand-in, λ, and the label (empty if any label matches).
CellKey = tuple[str, bool, float, str]


@dataclass(frozen=True)
class Match:
    """One row of runs on both sides."""

    key: CellKey
    one: Group
    other: Group

    @property
    def label(self) -> str:
        """Both labels if they differ."""
        if self.one.label == self.other.label:
            return self.one.label
        return f"{self.one.label} -> {self.other.label}"


@dataclass(frozen=True)
class Samples:
    """What both sides of a match needed to reach one accuracy."""

    match: Match
    accuracy: float
    a: tuple[float, ...]  # a, b: by repeat, +inf if the accuracy was not reached
    b: tuple[float, ...]
    paired: bool  # whether the two runs of each pair were executed at about the same time
    missing: str  # which repeats were not measured, in words; empty if all were


def groups_of(side: Side) -> dict[CellKey, Group]:
    """The groups of a side by the key that must match: a single label matches any label."""
    labels = list(dict.fromkeys(side.results.runs["label"]))
    if side.label is not None and side.label not in labels:
        raise ConfigError(
            f"{side.results.folder}: no label {side.label!r}; {nearest(side.label, labels)}"
        )
    return {
        (group.dataset, group.stand_in, group.lam, group.label if side.label is None else ""): group
        for groups in side.results.groups.values()
        for group in groups
        if side.label in (None, group.label)
    }


def matches(
    a: Side, b: Side, left: Mapping[CellKey, Group], right: Mapping[CellKey, Group]
) -> list[Match]:
    """The groups that both sides have."""
    common = [Match(key, left[key], right[key]) for key in left if key in right]
    if not common or not accuracies(a, b):
        what = "accuracy" if common else "cell (data set, λ and label)"
        raise ConfigError(
            f"{a.results.folder} and {b.results.folder} have no {what} in common; "
            "compare results of one configuration"
        )
    for match in common:
        _check_same_problem(match.one, match.other, a, b)
    return common


def accuracies(a: Side, b: Side) -> list[float]:
    """The accuracies that both sides have, the loosest first."""
    return [t for t in a.results.accuracies if t in b.results.accuracies]


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


def samples_of(
    match: Match, accuracy: float, metric: str, sides: tuple[Side, Side], machines_differ: bool
) -> Samples:
    """The comparable samples of a match."""
    for group, side in zip((match.one, match.other), sides, strict=True):
        _check_metric(group, accuracy, metric, side)
    asked = Asked(metric, accuracy)
    found = samples_together(
        match.one,
        match.other,
        asked,
        same_sweep=sides[0].results.folder == sides[1].results.folder,
        same_machine=not machines_differ,
    )
    missing = "; ".join(_missing(match, asked))
    return Samples(match, accuracy, found.pairs.a, found.pairs.b, found.paired, missing)


def _missing(match: Match, asked: Asked) -> Iterator[str]:
    """Which repeats have no samples that can be paired, and why."""
    known = []
    for name, group in (("A", match.one), ("B", match.other)):
        planned = set(group.runs["repeat"])
        known.append(set(samples(group, asked)))
        if absent := len(planned - known[-1]):
            yield f"{name}: {absent} of {len(planned)} repeats not measured"
    if doubtful := len((known[0] & known[1]) - set(pairs(match.one, match.other, asked).repeats)):
        yield f"{doubtful} skipped at a time limit near what the other side took"


def _check_metric(group: Group, accuracy: float, metric: str, side: Side) -> None:
    """Refuse runs that reached the accuracy but lack what the metric needs."""
    asked = Asked(metric, accuracy)
    if measured(group, Asked("seconds", accuracy)).keys() <= measured(group, asked).keys():
        return
    raise DataError(
        f"{side.results.folder / 'runs.csv'}: no column {asked.measure.needs or asked.column!r}; "
        "run the sweep again with --fresh, or choose another --metric"
    )
