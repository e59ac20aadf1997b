"""The fits of all folds of a cross-validation at once.

At each C, dual descent takes steps on up to eight folds for each row it reads (kernels/folds.pyx).
Where a few passes are not enough, the folds are trained one by one from where it has come.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.data.liblinear_model import classes_of
from svmbench.engine.descents import BIAS_VALUE
from svmbench.engine.effort import Effort
from svmbench.engine.fit import AT_START, Fit
from svmbench.kernels.folds import SINGLE, WIDTH, FoldDescent
from svmbench.memory import available_memory
from svmbench.names import HINGES
from svmbench.problem import UNIT, rounding_of
from svmbench.proof import LEAST, DualSums, proven_by_sums
from svmbench.train.classes import (
    Trained,
    drop_empty_columns,
    may_merge,
    model_of,
    order_by_length,
    run_in_threads,
)
from svmbench.train.examples import Examples, scaled
from svmbench.train.objective import Objective

#: Rows visited at one C, as a multiple of all, after which folds are trained one by one: what was
#: done by then has cost no more than that will.
MOST_PASSES = 6

#: A pass counts for one row of so many at least: it has costs besides its visits.
FEWEST_VISITS = 64

#: As many times more rows are visited at the first C, where other methods begin from nothing, too.
FROM_NOTHING = 3

#: Largest relative gap from which a fold is trained on by itself. From weights that are farther
#: from the best, other methods may take many times as long as from w = 0.
NEAR = 1.0

#: The relative gap after a pass, over the estimate of that before it which the pass has made. The
#: first is used until a certificate has shown it, and the second is the largest that is used.
FIRST_RATIO, LARGEST_RATIO = 0.2, 1.0

#: Passes over the rows that shrinking has left end once their estimate is this share of the
#: tolerance; with 0.3, there were twice as many on adult and w8a.
ENOUGH = 0.7

#: Kinds of passes, whose ratios differ: the first and the second at one C, later ones over all
#: rows, and those over the rows that are left.
_FIRST, _SECOND, _WHOLE, _PARTIAL = range(4)

#: Bytes for each row and for each feature of a class and eight folds, and the share of the free
#: memory that they may take.
ROW_BYTES, FEATURE_BYTES, ROOM = 48, 96, 0.25

#: How many sums `FoldDescent.certify` has, and where that of the weights is; what stands for the
#: vectors of fits that are known by their certificates only.
_SUMS, _COUNTS, _NONE = 7, 5, np.zeros(0)


class FoldFits:
    """Fits of all folds, at one C after the other, as long as `train` certifies all of them."""

    def __init__(
        self, examples: Examples, objective: Objective, of_row: Array, folds: int, effort: Effort
    ) -> None:
        order = order_by_length(examples.rows)
        if order is not None:  # that of each fold's rows when they are trained on by themselves
            examples, of_row = examples.chosen(order), of_row[order]
        self._order, self._examples, self._of_row = order, examples, of_row
        self._objective, self._effort = objective, effort
        used, _ = drop_empty_columns(examples)
        groups = [range(first, min(first + WIDTH, folds)) for first in range(0, folds, WIDTH)]
        self._lanes = [
            [_Lanes(used, label, objective, of_row, group, effort.seed) for group in groups]
            for label in examples.fitted
        ]

    @classmethod
    def suit(cls, examples: Examples, objective: Objective, folds: int) -> bool:
        """Whether the folds can be trained at once, and this is expected to be faster.

        Dense rows have vector instructions already, and of equal rows each fold has what differs.
        """
        rows = examples.rows
        size = ROW_BYTES * rows.n_samples + FEATURE_BYTES * rows.n_features
        size *= len(examples.fitted) * math.ceil(folds / WIDTH)
        return (
            rows.indices is not None
            and rows.nnz > 0
            and (examples.row_weights is None or bool(examples.row_weights.all()))
            and not rows.mapped_bytes
            and size <= ROOM * (available_memory() or math.inf)
            and not may_merge(examples, objective)
        )

    def train(self, C: float, tolerance: float, left: Sequence[int]) -> bool:
        """Train all classes of the folds that are left; whether all are certified."""
        until, failed = time.monotonic() + self._effort.time_limit, threading.Event()

        def due() -> bool:
            if failed.is_set() or self._effort.given_up():
                raise InterruptedError("the fits were given up")
            return time.monotonic() >= until

        objective = replace(self._objective, C=C)
        lanes = [group for of_class in self._lanes for group in of_class]

        def train(k: int) -> bool:
            with np.errstate(all="ignore"):  # what is out of range is not certified
                return lanes[k].train(objective, tolerance, left, due)

        threads = min(self._effort.threads, len(lanes))
        return all(run_in_threads(train, range(len(lanes)), threads, failed))

    def last(self, fold: int) -> Trained | None:
        """What a fold has come to, to train on by itself; None if that is far from the best."""
        with np.errstate(all="ignore"):
            fits = tuple(lanes[fold // WIDTH].state(fold) for lanes in self._lanes)
        finite = all(np.isfinite(fit.w).all() and math.isfinite(fit.primal) for fit in fits)
        if not finite or max(fit.gap for fit in fits) > NEAR:
            return None
        return Trained(model_of(self._examples.classes, self._objective, fits), fits)

    def certified(self, fold: int) -> tuple[Fit, ...]:
        """A fold's last fits, one for each class, without their vectors."""
        return tuple(of_class[fold // WIDTH].fits[fold] for of_class in self._lanes)

    def wrong(self) -> Array:
        """Rows that the models without their folds predict wrongly, as they were given."""
        values = np.stack([sum(each.values for each in of_class) for of_class in self._lanes], 1)
        wrong: Array = classes_of(self._examples.classes, values) != self._examples.labels
        if self._order is not None:
            wrong[self._order] = wrong.copy()
        return wrong

    def learning(self, fold: int) -> Examples:
        """The rows that a fold is trained on."""
        return self._examples.chosen(np.flatnonzero(self._of_row != fold))


class _Lanes:
    """The fits of one class, for up to eight folds; lanes without a fold mean nothing."""

    def __init__(
        self,
        examples: Examples,
        label: int,
        objective: Objective,
        of_row: Array,
        folds: range,
        seed: int,
    ) -> None:
        rows, weights = examples.against_rest(label)
        self._exponent, self._free = 0, objective.bias == "free"
        if weights is not None:
            weights, self._exponent = scaled(weights)
        self._first, self._of_row = folds.start, of_row
        inside = (of_row >= folds.start) & (of_row < folds.stop)
        self._lane = np.where(inside, of_row - folds.start, -1).astype(np.int8)
        self._m = rows.n_samples - np.bincount(self._lane[inside], minlength=WIDTH)
        norms2 = np.asarray(rows.rows.norms2())
        constant = 1.0 if objective.bias == "regularised" else 0.0
        self._longest = math.sqrt(float(norms2.max()) + constant)
        self._entries = int(rows.rows.lengths().max()) + constant
        if self._free:
            constant = self._least = BIAS_VALUE * (math.sqrt(float(norms2.mean())) or 1.0)
        loss = objective.as_loss()
        hinge = loss.name in HINGES
        self._curvature: float = loss.nu if hinge else 0.0
        self._inexact: float = 0.0 if hinge else SINGLE
        self._most = loss.upper
        self._descent = FoldDescent(
            rows.rows, self._lane, loss, weights, constant, self._free, seed
        )
        if self._free:
            self._descent.shift(_first_bias(objective.loss, self._shares(rows.labels, weights)))
        self._sums = np.zeros((_SUMS, WIDTH))  # of the last certificate
        self._ratios = [FIRST_RATIO] * (_PARTIAL + 1)
        self.values = np.zeros(rows.n_samples)
        self.fits: dict[int, Fit] = {}

    def train(
        self,
        objective: Objective,
        tolerance: float,
        left: Sequence[int],
        due: Callable[[], bool],
    ) -> bool:
        """Certify the fits of the folds that are left; whether all are within the tolerance."""
        descent, C = self._descent, self._constant(objective)
        work = np.array([self._first + k in left for k in range(WIDTH)])
        passes = MOST_PASSES
        if not self._sums.any():
            passes *= FROM_NOTHING
            descent.C[:] = C
            self._certify(work, math.inf)  # its weights may be kept, and values are theirs
        times = self._best_multiples(C)
        work &= ~(self._note(work, times, C, AT_START, tolerance) <= tolerance)
        if work.any():
            # What an estimate is multiplied by to be relative to D from before the passes.
            relative = C * self._lam(C) / self._bounds(times, C)[1]
            descent.active[:] = work
            if self._free:
                # A step of the multiplier then moves b by up to one.
                largest = 1.0 / np.sqrt(C * self._sums[_COUNTS, work].max())
                descent.constant = max(self._least, float(largest))
            descent.begin(times, np.full(WIDTH, C))
            self._descend(work, relative, tolerance, passes, due)
        return not work.any()

    def _descend(
        self,
        work: Array,
        relative: FloatArray,
        tolerance: float,
        passes: int,
        due: Callable[[], bool],
    ) -> None:
        """Make passes until the lanes in ``work`` are certified, which leave it, or many were made.

        Once rows are shrunk, a certificate follows only a pass over all of them.
        """
        descent, kind = self._descent, _FIRST
        room = passes * len(self.values)
        while work.any():
            before = descent.visits
            estimate = descent.advance() * relative
            room -= max(descent.visits - before, len(self.values) // FEWEST_VISITS + 1)
            expected, last = float(estimate[work].max()), due() or room <= 0
            if last or (kind != _PARTIAL and self._ratios[kind] * expected <= tolerance):
                gaps = self._certify(work, tolerance)
                ratio = float((gaps / estimate)[work].max())
                self._ratios[kind] = min(ratio, LARGEST_RATIO) if ratio > 0.0 else FIRST_RATIO
                work &= ~(gaps <= tolerance)
                descent.active[:] = work
            if last:
                return
            if kind == _PARTIAL and expected <= ENOUGH * tolerance:
                descent.restore()
                kind = _WHOLE
            else:
                kind = _SECOND if kind == _FIRST else _PARTIAL

    def state(self, fold: int) -> Fit:
        """What a fold's fit has come to, certified or not."""
        k, descent, C = fold - self._first, self._descent, self._descent.C
        primal, dual = self._bounds(np.ones(WIDTH), C)
        alpha = descent.alpha[self._of_row != fold, k].astype(np.float64)
        w = descent.w[:, k].copy()
        lam, bias = float(self._lam(C)[k]), float(descent.bias[k])
        return Fit(w, bias, float(primal[k]), float(dual[k]), 1, 0.0, "dcd", lam, alpha)

    def _shares(self, labels: Array, weights: FloatArray | None) -> FloatArray:
        """The share of the positive label in the weight of each lane's rows."""
        weight = np.ones(len(labels)) if weights is None else weights
        inside = self._lane >= 0
        parts = [
            each.sum() - np.bincount(self._lane[inside], each[inside], WIDTH)
            for each in (weight * (labels > 0), weight)
        ]
        return np.asarray(parts[0] / parts[1])

    def _constant(self, objective: Objective) -> float:
        """1/(lambda m), if the weights had a mean of one."""
        m = len(self.values)
        return float(np.ldexp(1.0 / (objective.regularisation(m) * m), self._exponent))

    def _lam(self, C: float | FloatArray) -> FloatArray:
        """Lambda, with weights scaled to a mean of one."""
        lam: FloatArray = 1.0 / (C * self._sums[_COUNTS])
        return lam

    def _certify(self, lanes: Array, tolerance: float) -> FloatArray:
        """The relative gaps of the present dual variables and w(alpha)."""
        self._sums, values = self._descent.certify()
        gaps = self._note(lanes, np.ones(WIDTH), self._descent.C, "dcd", tolerance)
        fresh = lanes & (gaps <= tolerance)
        own = (self._lane >= 0) & fresh[self._lane]
        self.values[own] = values[own]
        return gaps

    def _note(
        self, lanes: Array, times: FloatArray, C: float | FloatArray, method: str, tolerance: float
    ) -> FloatArray:
        """Keep the fits of these lanes that are within the tolerance; the relative gaps."""
        primal, dual = self._bounds(times, C)
        lam = self._lam(C)
        gaps = np.where(dual > 0.0, (primal - dual) / dual, np.inf)
        for k in np.flatnonzero(lanes & (gaps <= tolerance)).tolist():
            self.fits[self._first + k] = Fit(
                _NONE, 0.0, float(primal[k]), float(dual[k]), 1, 0.0, method, float(lam[k]), _NONE
            )
        return gaps

    def _bounds(self, times: FloatArray, C: float | FloatArray) -> tuple[FloatArray, FloatArray]:
        """P of the last certificate's w, at most, and what multiples of its alpha prove."""
        loss, conjugates, alphas, squares, norm2, counts, signed = self._sums
        m, lam, d = self._m, self._lam(C), len(self._descent.w)
        mean, nu = counts / m, self._curvature
        # q is concave and q(0) = 0, so that q(t alpha) >= t q(alpha); with a hinge it is known.
        total = times * conjugates + 0.5 * nu * times * (1.0 - times) * squares
        # Sums of m terms, in order: each may be off by m u times the sum of the terms' sizes.
        sizes = times * (alphas + nu * times * squares) + np.abs(total)
        total = (total - (m + 8.0) * UNIT * sizes - self._inexact * np.abs(total)) / mean
        # By this share, one label's dual variables still have to be scaled down.
        share = np.zeros(WIDTH)
        if self._free:
            off = np.abs(signed) + (m + 8.0) * UNIT * alphas
            share = 2.0 * off / (alphas + np.abs(signed)) + 4.0 * UNIT
        regular = 0.5 * lam * (times * C / self._descent.C) ** 2 * norm2
        dual = total / m - regular
        lost = LEAST * len(self.values) * (1.0 + self._longest)
        proven = [
            proven_by_sums(
                DualSums(
                    total[k] - share[k] * sizes[k] / mean[k], sizes[k] / mean[k],
                    times[k] * alphas[k] / mean[k], lost, share[k],
                ),
                lam[k], (m[k], d), dual[k], self._longest,
            )
            for k in range(WIDTH)
        ]  # fmt: skip
        primal = 0.5 * lam * norm2 + loss / counts
        reach = np.sqrt(norm2) * self._longest + np.abs(self._descent.bias)
        off = (self._entries + 3.0) * UNIT * reach
        primal = primal + rounding_of(primal, off, nu, len(self.values) + d)
        return primal, np.array(proven)

    def _best_multiples(self, C: float) -> FloatArray:
        """The multiples of the last certificate's alpha that have the largest D at this C."""
        _, conjugates, _, squares, norm2, _, _ = self._sums
        curved = self._curvature * squares
        steepness = C * curved + (C / self._descent.C) ** 2 * norm2
        times = C * (conjugates + 0.5 * curved) / steepness
        return np.where(np.isfinite(times), np.minimum(times, self._most), 1.0)


def _first_bias(loss: str, positive: FloatArray) -> FloatArray:
    """The best b where w = 0, from the share of the positive label."""
    if loss == "hinge":
        return np.where(positive >= 0.5, 1.0, -1.0)
    if loss == "squared-hinge":
        return 2.0 * positive - 1.0
    return np.log(positive) - np.log1p(-positive)
