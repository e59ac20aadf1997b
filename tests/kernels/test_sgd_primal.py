"""The closed multiple update against single presentations, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from problems import PRECISIONS, dataset
from svmbench.kernels.sgd_primal import Perceptron


def step_by_step(x, y, a, lam, t, ell):
    """Plus-steps among ell single presentations of x running, and the a they lead to."""
    x, a = [Fraction(v) for v in x], [Fraction(v) for v in a]
    lam, plus = Fraction(lam), 0
    for _ in range(ell):
        if y * sum(u * v for u, v in zip(x, a, strict=True)) <= lam * t:
            a = [v + y * u for u, v in zip(x, a, strict=True)]
            plus += 1
        t += 1
    return plus, a


def in_one_go(x, y, a, lam, t, ell, precision):
    """The same by one call of the kernel."""
    run = Perceptron(dataset([x], [y]).rows, np.zeros(1, np.int32), lam, precision)
    run.begin_pass(ell)
    run.presentations, run.a[:] = t, a
    run.advance(t + 1)
    assert run.presentations == t + ell
    return run.updates, run.a


vectors = st.lists(st.integers(-24, 24).map(lambda k: k / 16.0), min_size=3, max_size=3)


@pytest.mark.parametrize("precision", PRECISIONS)
@given(
    x=vectors,
    y=st.sampled_from([-1, 1]),
    a=st.lists(st.integers(-4096, 4096).map(lambda k: k / 16.0), min_size=3, max_size=3),
    lam=st.integers(-12, 4).map(lambda k: 2.0**k),
    t=st.integers(0, 5000),
    ell=st.integers(1, 40),
)
@example(x=[0.0] * 3, y=1, a=[1.0] * 3, lam=0.5, t=7, ell=5)  # a zero row errs every time
@example(x=[0.5, 0.0, 0.0], y=1, a=[4.0, 0.0, 0.0], lam=1.0, t=0, ell=9)  # ||x||^2 < lam
@example(x=[1.0, 0.0, 0.0], y=1, a=[4.0, 0.0, 0.0], lam=1.0, t=0, ell=9)  # ||x||^2 = lam
@example(x=[1.5, 0.0, 0.0], y=1, a=[2.0, 0.0, 0.0], lam=0.25, t=8, ell=40)  # ||x||^2 > lam
def test_closed_multiple_update_is_step_by_step(precision, x, y, a, lam, t, ell):
    plus, expected = step_by_step(x, y, a, lam, t, ell)
    updates, moved = in_one_go(x, y, a, lam, t, ell, precision)
    assert updates == plus
    assert moved.tolist() == [float(v) for v in expected]


@given(vectors, st.integers(-12, 4).map(lambda k: 2.0**k), st.integers(0, 99), st.data())
def test_ties_are_margin_errors(x, lam, t, data):
    # a is chosen so that y a.x - lam t is 0 exactly at one of the ell presentations.
    ell = data.draw(st.integers(1, 12))
    x[0] = 0.5
    later = data.draw(st.integers(0, ell - 1))
    a = [2.0 * lam * (t + later), 0.0, 0.0]
    plus, _ = step_by_step(x, 1, a, lam, t, ell)
    assert plus >= 1
    assert in_one_go(x, 1, a, lam, t, ell, "float64")[0] == plus


floats = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("precision", PRECISIONS)
@given(
    st.lists(floats, min_size=3, max_size=3),
    st.lists(floats, min_size=3, max_size=3),
    st.floats(1e-9, 1e3),
    st.integers(0, 2**40),
    st.integers(1, 1000),
)
def test_rounding_cannot_leave_the_box(precision, x, a, lam, t, ell):
    updates, moved = in_one_go(x, 1, a, lam, t, ell, precision)
    assert 0 <= updates <= ell
    assert np.isfinite(moved).all()


def test_presentations_of_a_row_in_succession_are_not_split():
    run = Perceptron(dataset(np.eye(3), [1, 1, -1]).rows, np.arange(3, dtype=np.int32), 0.5)
    run.begin_pass(5)
    run.advance(6)
    assert (run.presentations, run.position) == (10, 2)
    run.advance(10)
    assert (run.presentations, run.position) == (10, 2)
    run.advance(10**9)
    assert (run.presentations, run.position) == (15, 3)
