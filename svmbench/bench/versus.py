"""A row compared with the fastest of several others, in pairs of the same repeat."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Measured, grouped
from svmbench.evidence import Question, RatioEvidence, log_ratios
from svmbench.evidence.processes import evidence_of
from svmbench.harness.plan import Cell
from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import least, states, without_doubtful
from svmbench.records.states import LIMITED
from svmbench.records.statistics import median
from svmbench.solvers.registry import find_solver

Standing = Literal[
    "champion ahead", "peer ahead", "open", "no peer reached it", "nobody reached it"
]  # fmt: skip


@dataclass(frozen=True)
class PairedRatio:
    """What ours and theirs took in the repeats that both have.

    Parameters
    ----------
    ours, theirs : tuple of float
        +inf if the accuracy was not reached.
    spent : tuple of float
        What theirs had spent at least when it ended. It is a lower bound of their time if they
        did not reach the accuracy.
    by_time : bool
        Whether the time limit ended all of theirs that did not reach it.
    """

    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    spent: tuple[float, ...] = ()
    by_time: bool = True

    @property
    def censored(self) -> bool:
        """Whether the estimate is only a lower bound, as theirs did not reach the accuracy.

        A few such repeats far from the median leave the estimate as it is.
        """
        return bool(self.logs) and self.lower.median != self.upper.median

    @cached_property
    def logs(self) -> tuple[float, ...]:
        """Log-ratios of theirs to ours, with the time spent if the time needed is unknown."""
        return log_ratios(
            self.ours,
            [
                spent if bound else time
                for bound, time, spent in zip(self._bounds(), self.theirs, self._spent, strict=True)
            ],
        )

    @cached_property
    def upper_logs(self) -> tuple[float, ...]:
        """Upper bounds of the log-ratios: +inf if the time that theirs needed is unknown."""
        return log_ratios(self.ours, self.theirs)

    @property
    def estimate(self) -> float:
        """Median ratio, or a lower bound of it (see `censored`); nan without informative pairs."""
        return math.exp(self.lower.median) if self.logs else math.nan

    @property
    def lower(self) -> RatioEvidence:
        """The evidence that their ratio is above a boundary."""
        return evidence_of(self.logs)

    @property
    def upper(self) -> RatioEvidence:
        """The evidence that their ratio is below a boundary."""
        return evidence_of(self.upper_logs)

    def interval(self, threshold: float) -> tuple[float, float]:
        """Interval of the ratio by the evidence that decides questions at this threshold."""
        if not self.logs:
            return 0.0, math.inf
        low, high = self.lower.interval(threshold)[0], self.upper.interval(threshold)[1]
        return math.exp(low), math.exp(high)

    def question(self, low: float = 0.0, high: float = math.inf) -> Question:
        """Whether the ratio lies in a region."""
        return Question(self.logs, low, high, upper_logs=self.upper_logs)

    def deciding_limit(self, boundary: float) -> float | None:
        """Seconds after which every ratio is known, or known to be above a boundary.

        Returns
        -------
        float or None
            None if theirs had as much time in some repeat and did not reach the accuracy.
        """
        unknown = [
            (boundary * our, spent)
            for bound, our, spent in zip(self._bounds(), self.ours, self._spent, strict=True)
            if bound
        ]
        limit = max((needed for needed, spent in unknown if needed > spent), default=0.0)
        return limit if limit > max((spent for _, spent in unknown), default=0.0) else None

    @property
    def _spent(self) -> tuple[float, ...]:
        return self.spent or self.theirs

    def _bounds(self) -> list[bool]:
        """For each pair, whether ours was reached and theirs was not, with what it had spent."""
        return [
            math.isfinite(our) and math.isinf(their) and math.isfinite(spent)
            for our, their, spent in zip(self.ours, self.theirs, self._spent, strict=True)
        ]


@dataclass(frozen=True)
class Versus:
    """A row against the fastest of some others, on one problem and to one accuracy.

    Parameters
    ----------
    part : str
        The sweep or task that they were run in.
    set, stand_in, held_out : str, bool, bool
    lam : float
    threshold : float or None
        None if something else than the time to an accuracy is compared.
    label : str
        The row.
    pairs : PairedRatio
        What it took, and what the fastest other one took in each repeat.
    program : str
        The fastest other one in the median; empty if none reached the accuracy.
    theirs : float
        What it took in the median.
    among : tuple of str
        Labels of the others.
    """

    part: str
    set: str
    stand_in: bool
    held_out: bool
    lam: float
    threshold: float | None
    label: str
    pairs: PairedRatio
    program: str
    theirs: float
    among: tuple[str, ...] = ()

    @property
    def ours(self) -> float:
        """What the row took in the median, +inf if it did not reach the accuracy."""
        return median(self.pairs.ours)

    @property
    def place(self) -> str:
        """The problem in words."""
        words = [heading(self.set, self.stand_in)]
        if self.threshold is not None:
            words += [f"λ = {short(self.lam)}", f"ε = {short(self.threshold)}"]
        return ", ".join(words)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the sweep that it compares."""
        return tuple((self.set, self.lam, label) for label in (self.label, *self.among))

    def standing(self, threshold: float) -> Standing:
        """Who is ahead, by the interval of the evidence at this threshold."""
        if not self.pairs.logs:
            return "nobody reached it"
        low, high = self.pairs.interval(threshold)
        if high <= 1.0:
            return "peer ahead"
        if not math.isfinite(min(self.pairs.theirs)):
            return "no peer reached it"
        return "champion ahead" if low >= 1.0 else "open"


def comparisons(
    found: Found,
    than: Collection[str] | None = None,
    kind: str = "oracle",
    labels: Collection[str] | None = None,
) -> list[Versus]:
    """Rows against programs in every part of a kind, on every problem, to every accuracy.

    Parameters
    ----------
    found : Found
    than : collection of str, optional
        Names of solvers or readers; the fastest of their rows counts in every repeat. All solvers
        from outside unless given.
    kind : str
    labels : collection of str, optional
        Of the rows; the champion's unless given.
    """
    own = (champion(),) if labels is None else labels
    compared = []
    for part in found.of_kind(kind):
        for ours in (group for group in part.groups if group.label in own):
            theirs = [
                group
                for group in part.groups
                if _same(group.lam, ours.lam) and _asked(group, than) and group is not ours
            ]
            for threshold in part.thresholds or (None,):
                one = side_by_side(part, ours, theirs, threshold)
                if one is not None:
                    compared.append(one)
    return compared


def _same(lam: float, other: float) -> bool:
    return lam == other or (math.isnan(lam) and math.isnan(other))


def _asked(group: Group, than: Collection[str] | None) -> bool:
    return find_solver(group.solver).foreign if than is None else group.solver in than


def by_problem(compared: Sequence[Versus]) -> list[list[Versus]]:
    """Comparisons of one set, λ and accuracy together: several sweeps may pose one problem."""
    return list(grouped(compared, lambda one: (one.set, one.lam, one.threshold)).values())


def most_pairs(members: Sequence[Versus]) -> Versus:
    """The comparison with the most pairs."""
    return max(members, key=lambda one: len(one.pairs.logs))


def best_of_theirs(members: Sequence[Versus]) -> Versus:
    """The sweep in which a program does best: each has its own runs of the champion.

    If no program reached the accuracy in any, the one in which they had spent most.
    """
    reached = [one for one in members if math.isfinite(min(one.pairs.theirs))]
    if reached:
        chosen = min(reached, key=lambda one: one.pairs.estimate)
    else:
        chosen = max(members, key=lambda one: (not one.pairs.logs, one.pairs.estimate))
    among = dict.fromkeys(label for one in members for label in one.among)
    return replace(chosen, among=tuple(among))


def side_by_side(
    part: Measured, ours: Group, theirs: Sequence[Group], threshold: float | None
) -> Versus | None:
    """One row of a part against others; None without common repeats."""
    others = {group.label: (group, part.values(group, threshold)) for group in theirs}
    mine = part.values(ours, threshold)
    if threshold is not None:
        slowest = max(filter(math.isfinite, mine.values()), default=math.inf)
        others = {
            label: (group, without_doubtful(group, times, slowest))
            for label, (group, times) in others.items()
        }
    others = {label: found for label, found in others.items() if found[1]}
    # As long as one of the programs has not been run, the fastest is unknown.
    common = set.intersection(*(set(times) for _, times in others.values())) if others else set()
    fastest = {r: min(times[r] for _, times in others.values()) for r in common}
    if threshold is not None:
        slowest = max(filter(math.isfinite, fastest.values()), default=math.inf)
        mine = without_doubtful(ours, mine, slowest)
    repeats = in_order(mine.keys() & common, ours, *theirs)
    if not repeats:
        return None
    middles = {label: median(list(times.values())) for label, (_, times) in others.items()}
    program = min(middles, key=lambda label: middles[label])
    pairs = PairedRatio(tuple(mine[r] for r in repeats), tuple(fastest[r] for r in repeats))
    if threshold is not None:
        spent = [least(group, Asked("seconds", threshold)) for group, _ in others.values()]
        unreached = [r for r in repeats if math.isinf(fastest[r])]
        ends = {states(group)[r] for group, _ in others.values() for r in unreached}
        pairs = replace(
            pairs,
            spent=tuple(min(each[r] for each in spent) for r in repeats),
            by_time=ends.issubset(LIMITED),
        )
    return Versus(
        part=part.part,
        set=part.set,
        stand_in=ours.stand_in,
        held_out=part.held_out,
        lam=ours.lam,
        threshold=threshold,
        label=ours.label,
        pairs=pairs,
        program=program if math.isfinite(middles[program]) else "",
        theirs=middles[program],
        among=tuple(others),
    )
