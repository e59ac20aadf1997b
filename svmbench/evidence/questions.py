"""Questions: whether the ratio of paired measurements lies in a claimed region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import le

import numpy as np


@dataclass(frozen=True)
class Question:
    """Whether the median of the distribution of some log-ratios lies in a region."""

    # log-ratios of the informative pairs, in the order measured; -inf and +inf are legal
    logs: tuple[float, ...]
    # low, high: claimed region of the ratio: 0 <= low < high <= +inf, and not both without a bound
    low: float = 0.0
    high: float = math.inf
    # standard deviation of a shift that all log-ratios have in common and that more pairs do not
    # average out, as between two days; 0 for pairs of one block
    shift_sd: float = 0.0
    # upper bounds of the log-ratios, if ``logs`` are lower bounds. Evidence that the ratio is above
    # a boundary comes from ``logs``, evidence that it is below from ``upper_logs``, so that neither
    # can be larger than the evidence of the unknown log-ratios in between.
    upper_logs: tuple[float, ...] | None = None
    # lower and upper bounds of the log-ratios on another problem. The region is then that of the
    # change: of the ratio divided by the one on that problem.
    before: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    # whether a and b may be exchanged in every pair if their ratio is 1, as two runs of a block may
    # whose order is random; a constant and a run may not. This is what evidence at the boundary 1
    # uses beside signs.
    exchangeable: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.low < self.high:
            raise ValueError("a region has ends 0 <= low < high")
        if self.low == 0.0 and self.high == math.inf:
            raise ValueError("a region without a bound contains every ratio")
        if not 0.0 <= self.shift_sd < math.inf:
            raise ValueError("a standard deviation is a finite number of at least 0")
        if self.before is not None and self.shift_sd > 0.0:
            raise ValueError("the pairs of a change have no shift in common")
        for lowers, uppers in filter(None, ((self.logs, self.uppers), self.before)):
            if any(math.isnan(log) for log in lowers):
                raise ValueError("a log-ratio is nan")
            if len(uppers) != len(lowers) or not all(map(le, lowers, uppers)):
                raise ValueError("every log-ratio has an upper bound, which is at least as large")

    @property
    def uppers(self) -> tuple[float, ...]:
        """Upper bounds of the log-ratios; the log-ratios themselves if they are known."""
        return self.logs if self.upper_logs is None else self.upper_logs


def log_ratios(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    """Log-ratios log(b_i / a_i) of the informative pairs: not both are +inf.

    They are +inf if only b is +inf or only a is 0, -inf in the opposite case, 0 if both are 0.
    """
    if len(a) != len(b):
        raise ValueError("samples come in pairs")
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not (np.all(left >= 0) and np.all(right >= 0)):
        raise ValueError("samples are numbers from 0 to +inf")
    informative = np.isfinite(left) | np.isfinite(right)
    left, right = left[informative], right[informative]
    logs = np.zeros(left.size)
    with np.errstate(divide="ignore"):
        np.subtract(np.log(right), np.log(left), out=logs, where=left != right)
    return tuple(logs.tolist())


def factor_of(log: float) -> float:
    """The ratio that has a logarithm; +inf where it exceeds all numbers."""
    return math.inf if log > 709.0 else math.exp(log)


def paired(
    a: Sequence[float],
    b: Sequence[float],
    low: float = 0.0,
    high: float = math.inf,
    *,
    a_least: Sequence[float] | None = None,
    b_least: Sequence[float] | None = None,
    exchangeable: bool = False,
) -> Question:
    """Ask whether the ratio b/a of samples of the same blocks lies in a region.

    ``a_least`` and ``b_least`` are lower bounds of samples that are +inf because a limit ended the
    run. For a bound that is a constant, let a be that constant.
    """
    known = [math.isfinite(x) or math.isfinite(y) for x, y in zip(a, b, strict=True)]
    lowest = _chosen(a if a_least is None else a_least, known)
    least = _chosen(b if b_least is None else b_least, known)
    most, highest = _chosen(a, known), _chosen(b, known)
    lowers, uppers = log_ratios(most, least), log_ratios(lowest, highest)
    above = None if lowers == uppers else uppers
    return Question(lowers, low, high, upper_logs=above, exchangeable=exchangeable)


def changing(
    before: Question, after: Question, low: float = 0.0, high: float = math.inf
) -> Question:
    """Ask by which factor a ratio changes from one problem to another."""
    return Question(
        after.logs, low, high, upper_logs=after.upper_logs, before=(before.logs, before.uppers)
    )


def _chosen(values: Sequence[float], wanted: Sequence[bool]) -> list[float]:
    return [value for value, is_wanted in zip(values, wanted, strict=True) if is_wanted]


def reaching(reached: Sequence[bool]) -> Question:
    """Ask whether a method reaches its target in most runs: a ratio of 0 if so, +inf if not."""
    return Question(tuple(-math.inf if done else math.inf for done in reached), high=1.0)


def unpaired(
    a: Sequence[float],
    b: Sequence[float],
    shift_sd: float,
    low: float = 0.0,
    high: float = math.inf,
) -> Question:
    """Ask about the ratio of samples measured at different times.

    The machine may have shifted all of b against all of a. The shift of log(b/a) is taken to be
    normal with mean 0 and the given standard deviation, and `judge` widens the interval
    accordingly.
    """
    pairs = min(len(a), len(b))
    logs = log_ratios(a[:pairs], b[:pairs])
    return Question(logs, low, high, shift_sd, exchangeable=True)
