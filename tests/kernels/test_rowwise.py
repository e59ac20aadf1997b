"""What all row-wise kernels promise: arrays of their own, and no array of another type."""

import numpy as np
import pytest

from problems import PRECISIONS, dataset, dyadic
from svmbench.kernels.asdca import Asdca
from svmbench.kernels.ball import ProjectedSubgradient
from svmbench.kernels.dcd import Dcd
from svmbench.kernels.decaying import DecayingSgd, Schedule
from svmbench.kernels.mpu import MarginPerceptron
from svmbench.kernels.olbfgs import Olbfgs
from svmbench.kernels.online import Adagrad, SegPm, Smd
from svmbench.kernels.pegasos import Pegasos
from svmbench.kernels.pegasos_batch import PegasosBatch
from svmbench.kernels.sdca import Sdca
from svmbench.kernels.sgd_bias import SgdWithBias
from svmbench.kernels.sgd_primal import Perceptron
from svmbench.kernels.sgd_qn import Sgd, SgdQn, SgdQnCorrected, Svmsgd2
from svmbench.problem import Loss

HINGE = Loss("hinge")
#: Kernels of either precision that are given an order, and what they are given besides.
ORDERED = {
    Pegasos: (0.5, True),
    PegasosBatch: (0.5, True, 2),
    ProjectedSubgradient: (0.5, 1.0, 2.0, False, 2),
    DecayingSgd: (0.5, Schedule(1.0, 0.5, 4), True, 0.1),
    SgdWithBias: (2, 10.0, 1.0, 0.5, 0.0),
    Perceptron: (0.5,),
    Sgd: (0.5, 8.0, HINGE),
    Svmsgd2: (0.5, 8.0, 2, HINGE),
    SgdQn: (0.5, 8.0, 2, HINGE),
    SgdQnCorrected: (0.5, 8.0, 2, HINGE),
    Olbfgs: (0.5, 8.0, 0.1, Loss("squared-hinge"), 3),
    Asdca: (2, 0.5, 1.0, 0.5),
}
#: Those of double precision alone.
DOUBLE = {Smd: (0.5, 1.0, 1.0), SegPm: (0.5, 1.0, 1.0), Adagrad: (0.5, 1.0, 1.0, True)}
#: Those that take all rows but zero ones, in an order of their own.
DUAL = {Sdca: (0.5, HINGE), Dcd: (0.5, HINGE, True), MarginPerceptron: ()}

name = {"ids": lambda kernel: kernel.__name__}
ordered = pytest.mark.parametrize("kernel", [*ORDERED, *DOUBLE], **name)


def rows_of(m=12, d=5):
    return dataset(*dyadic(3, m, d)).rows


def constructed(kernel, order, *precision, rows=None):
    rows = rows_of() if rows is None else rows
    if kernel in DUAL:
        return kernel(rows, *DUAL[kernel], *precision)
    return kernel(rows, order, *{**ORDERED, **DOUBLE}[kernel], *precision)


@ordered
def test_the_order_is_read_where_the_caller_draws_it(kernel):
    # Twice the same two rows, in an order that is drawn anew, or in one that holds them twice.
    first, second = (constructed(kernel, np.zeros(n, dtype=np.int32)) for n in (2, 4))
    first.order[:] = 7, 3
    second.order[:] = 7, 3, 3, 7
    first.advance(2)
    assert (first.position, first.presentations) == (2, 2)
    first.advance(10)  # the order has ended
    assert (first.position, first.presentations) == (2, 2)
    first.order[:] = 3, 7
    first.position = 0
    first.advance(4)
    second.advance(4)
    assert first.presentations == second.presentations == 4
    assert (first.updates, first.nonzeros) == (second.updates, second.nonzeros)
    assert weights(first).any()
    np.testing.assert_array_equal(weights(first), weights(second))


def weights(kernel):
    """The vector a kernel keeps, under whichever name."""
    return next(getattr(kernel, name) for name in ("v", "w", "a", "x") if hasattr(kernel, name))


@pytest.mark.parametrize("kernel", [*ORDERED, *DOUBLE, *DUAL], **name)
def test_no_rows_and_no_features_are_legal(kernel):
    run = constructed(kernel, np.zeros(0, dtype=np.int32))
    run.advance(5)
    bare = constructed(kernel, np.arange(4, dtype=np.int32), rows=rows_of(4, 0))
    bare.advance(4)
    assert weights(bare).shape == (0,)


@pytest.mark.parametrize("kernel", DUAL, **name)
def test_zero_rows_are_not_presented(kernel):
    X, y = dyadic(3, 12, 5)
    X[[0, 4, 11]] = 0.0
    run = kernel(dataset(X, y).rows, *DUAL[kernel])
    assert run.order.tolist() == np.flatnonzero(X.any(axis=1)).tolist()
    np.testing.assert_array_equal(run.norms2, np.sum(X**2, axis=1))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_sum_of_iterates_begins_when_it_is_asked_for(precision):
    kernel = Pegasos(rows_of(), np.arange(12, dtype=np.int32), 0.5, False, precision)
    kernel.advance(3)
    assert kernel.summed == 0
    iterates = []
    kernel.begin_sum()
    for t in range(4, 10):
        iterates.append(kernel.iterate)
        kernel.advance(t)
    assert kernel.summed == 6
    assert np.abs(kernel.total).max() > 0.1
    tolerance = {"float64": 1e-12, "float32": 1e-5}[precision]
    np.testing.assert_allclose(kernel.total, np.sum(iterates, axis=0), rtol=0.0, atol=tolerance)
