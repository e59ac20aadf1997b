"""Run under callgrind by test_instructions: passes of the hot kernels, counted one by one.

Prints a JSON object: label -> nonzeros touched by the counted call. The instructions are in
callgrind's files, by the same labels; those of an equal call that takes no step are "LABEL 0".
"""

import ctypes
import json
import sys

import numpy as np

from svmbench.kernels import dcd, pegasos, sgd_primal
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows
from svmbench.kernels.scaled import ScaledState

LAMBDA = 1e-4
FEATURES = 500


def sparse(m, length, with_values):
    """Rows of ``length`` entries on average, as in texts, or as in rows of indicators."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(length // 2, length + length // 2 + 1, m)
    columns = [np.sort(rng.choice(FEATURES, n, replace=False)) for n in lengths]
    indices = np.concatenate(columns).astype(np.uint16)
    values = rng.normal(size=len(indices)).astype(np.float32) if with_values else None
    w = rng.normal(size=FEATURES)
    scores = [w[j].sum() + rng.normal() for j in columns]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return CompactRows(
        FEATURES, indptr, indices, values, np.where(np.array(scores) > 0, 1, -1).astype(np.int8)
    )


def dense(m, d):
    """Dense rows in single precision."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(m, d)).astype(np.float32)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0, 1, -1)
    return CompactRows(d, None, None, X, y.astype(np.int8))


class DualPhase:
    """Passes of the champion's dual phase, called as the other kernels' are."""

    def __init__(self, rows):
        self._state, self._rng, self.position = Descent(rows, LAMBDA), Generator(1), 0

    @property
    def nonzeros(self):
        """Those touched so far."""
        return self._state.nonzeros

    def advance(self, target):
        """A pass, unless that many rows have been presented."""
        if self._state.presentations < target:
            self._state.descend(self._rng, 32, False)


def passes(rows):
    """For each kernel, its state at the start and what goes on from it to a target."""
    m, d = rows.m, rows.d
    order = np.random.default_rng(3).permutation(m).astype(np.int32)
    norms2, alpha, nothing = rows.norms2(), np.zeros(m), np.zeros(0)
    dual, primal, scaled = dcd.ShrinkState(m), sgd_primal.PassState(), ScaledState()
    w, a, v = np.zeros(d), np.zeros(d), np.zeros(d)
    champion = DualPhase(rows)
    return {
        "auto": (champion, champion.advance),
        "dcd": (dual, lambda target: dcd.advance_pass(
            rows, w, alpha, order, norms2, dual, LAMBDA, 0, 1.0, False, target)),
        "sgd-s": (primal, lambda target: sgd_primal.advance_pass(
            rows, a, order, nothing, primal, LAMBDA, target)),
        "pegasos": (scaled, lambda target: pegasos.advance(
            rows, v, nothing, order, scaled, LAMBDA, False, target)),
    }  # fmt: skip


def main():
    """Count the second pass of every kernel over every kind of rows."""
    callgrind = ctypes.CDLL(sys.argv[1])
    touched = {}
    kinds = {
        "texts": sparse(1000, 60, True),
        "indicators": sparse(3000, 14, False),
        "dense": dense(1000, 54),
    }
    for kind, rows in kinds.items():
        for name, (state, advance) in passes(rows).items():
            label = f"{name} {kind}"
            advance(rows.m)
            callgrind.count_from_here()
            advance(rows.m)
            callgrind.count_to_here(f"{label} 0".encode())
            before, state.position = state.nonzeros, 0
            callgrind.count_from_here()
            advance(2 * rows.m)
            callgrind.count_to_here(label.encode())
            touched[label] = state.nonzeros - before
    print(json.dumps(touched))


if __name__ == "__main__":
    main()
