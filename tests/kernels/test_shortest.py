"""The shortest text of doubles is that of Python's repr, for numbers of every size and kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmbench.kernels.shortest import text_of_rows

N = 20_000

#: Numbers with 17 digits and with few, ties between two decimals, and neighbours of powers.
KINDS = {
    "normal": lambda rng: rng.normal(size=N),
    "any bits": lambda rng: rng.integers(-(2**63), 2**63 - 1, size=N).view(np.float64),
    "every size": lambda rng: 10.0 ** rng.uniform(-6.0, 17.0, size=N) * rng.choice([-1.0, 1.0], N),
    "few digits": lambda rng: np.round(rng.normal(size=N) * 10.0 ** rng.integers(-5, 10, N), 4),
    "ties": lambda rng: rng.integers(1, 2**53, size=N) / 2.0 ** rng.integers(0, 66, size=N),
    "powers of ten": lambda rng: np.nextafter(
        10.0 ** rng.integers(-5, 17, N).astype(float), rng.choice([0.0, 1e18], N)
    ),
    "powers of two": lambda rng: np.nextafter(
        2.0 ** rng.integers(-16, 56, N).astype(float), rng.choice([0.0, 1.0, 1e18], N)
    ),
}


def by_python(rows):
    return "".join("".join(f"{number!r} " for number in row) + "\n" for row in rows.tolist())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 5])
def test_text_is_that_of_repr(kind, columns):
    rows = KINDS[kind](np.random.default_rng(0)).reshape(-1, columns)
    assert text_of_rows(rows).decode() == by_python(rows)


@given(arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(0, 5)), elements=st.floats()))
def test_text_of_any_numbers_is_that_of_repr(rows):
    assert text_of_rows(rows).decode() == by_python(rows)
