"""The champion compared with the fastest of several programs, in pairs of the same repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Swept, grouped
from svmbench.evidence import Question, RatioEvidence, log_ratios
from svmbench.evidence.processes import evidence_of
from svmbench.harness.plan import Cell
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import least, samples, without_doubtful
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
    """

    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    spent: tuple[float, ...] = ()

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
    """The champion against the fastest of some programs, on one problem and to one accuracy.

    Parameters
    ----------
    part : str
        The sweep that they were run in.
    set, stand_in, held_out : str, bool, bool
    lam, threshold : float
    pairs : PairedRatio
        Seconds of the champion, and of the fastest program of each repeat.
    program : str
        The fastest in the median; empty if none reached the accuracy.
    theirs : float
        Its median seconds.
    among : tuple of str
        Labels of the programs that were run.
    """

    part: str
    set: str
    stand_in: bool
    held_out: bool
    lam: float
    threshold: float
    pairs: PairedRatio
    program: str
    theirs: float
    among: tuple[str, ...] = ()

    @property
    def ours(self) -> float:
        """Median seconds of the champion, +inf if it did not reach the accuracy."""
        return median(self.pairs.ours)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the sweep that it compares."""
        return tuple((self.set, self.lam, label) for label in (champion(), *self.among))

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


def comparisons(found: Found, than: Sequence[str] | None = None) -> list[Versus]:
    """The champion against programs in every oracle's sweep, on every problem, to every accuracy.

    Parameters
    ----------
    found : Found
    than : sequence of str, optional
        Names of solvers; the fastest of their rows counts in every repeat. All solvers from
        outside unless given.
    """
    compared = []
    for swept in found.of_kind("oracle"):
        groups = swept.groups()
        for ours in (group for group in groups if group.label == champion()):
            theirs = [group for group in groups if group.lam == ours.lam and _asked(group, than)]
            for threshold in swept.results.thresholds:
                one = side_by_side(swept, ours, theirs, threshold)
                if one is not None:
                    compared.append(one)
    return compared


def _asked(group: Group, than: Sequence[str] | None) -> bool:
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
    swept: Swept, ours: Group, theirs: Sequence[Group], threshold: float
) -> Versus | None:
    """One row of a sweep's tables against others, to an accuracy; None without common repeats."""
    asked = Asked("seconds", threshold)
    others = {group.label: samples(group, asked) for group in theirs}
    others = {label: times for label, times in others.items() if times}
    # As long as one of the programs has not been run, the fastest is unknown.
    common = set.intersection(*map(set, others.values())) if others else set()
    fastest = {r: min(times[r] for times in others.values()) for r in common}
    slowest = max(filter(math.isfinite, fastest.values()), default=math.inf)
    mine = without_doubtful(ours, samples(ours, asked), slowest)
    repeats = in_order(mine.keys() & common, ours, *theirs)
    if not repeats:
        return None
    middles = {label: median(list(times.values())) for label, times in others.items()}
    program = min(middles, key=lambda label: middles[label])
    spent = [least(group, asked) for group in theirs if group.label in others]
    pairs = PairedRatio(
        tuple(mine[r] for r in repeats),
        tuple(fastest[r] for r in repeats),
        tuple(min(each[r] for each in spent) for r in repeats),
    )
    return Versus(
        part=swept.part,
        set=swept.spec.label,
        stand_in=ours.stand_in,
        held_out=swept.spec.held_out,
        lam=ours.lam,
        threshold=threshold,
        pairs=pairs,
        program=program if math.isfinite(middles[program]) else "",
        theirs=middles[program],
        among=tuple(others),
    )
