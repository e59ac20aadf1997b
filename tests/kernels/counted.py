"""Run under callgrind by test_instructions: passes of the hot kernels, counted one by one.

Prints a JSON object: label -> nonzeros touched by the counted call. The instructions are in
callgrind's files, by the same labels; those of an equal call that takes no step are "LABEL 0".
"""

import ctypes
import json
import sys
from typing import NamedTuple

import numpy as np

from svmbench.kernels import dcd, pegasos, sgd_primal
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows

LAMBDA = 1e-4
FEATURES = 500


class Loss(NamedTuple):
    """What kernels read of a `svmbench.problem.Loss`, which the portable build has not."""

    code: int
    gamma: float


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
    """Each kernel at its start."""
    order = np.random.default_rng(3).permutation(rows.m).astype(np.int32)
    dual = dcd.Dcd(rows, LAMBDA, Loss(0, 1.0), shrinking=False)
    dual.order[:] = order
    return {
        "auto": DualPhase(rows),
        "dcd": dual,
        "sgd-s": sgd_primal.Perceptron(rows, order, LAMBDA),
        "pegasos": pegasos.Pegasos(rows, order, LAMBDA),
    }


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
        for name, kernel in passes(rows).items():
            label = f"{name} {kind}"
            kernel.advance(rows.m)
            callgrind.count_from_here()
            kernel.advance(rows.m)
            callgrind.count_to_here(f"{label} 0".encode())
            before, kernel.position = kernel.nonzeros, 0
            callgrind.count_from_here()
            kernel.advance(2 * rows.m)
            callgrind.count_to_here(label.encode())
            touched[label] = kernel.nonzeros - before
    print(json.dumps(touched))


if __name__ == "__main__":
    main()
