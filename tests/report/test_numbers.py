"""Numbers are printed with the digits that their intervals support."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.report.numbers import digits_apart, enclosure_text, format_value

TIMES = st.floats(1e-6, 1e6)

#: Numbers of every magnitude that a double has, the smallest subnormal ones and zero among them.
MAGNITUDES = st.floats(min_value=0.0, allow_infinity=False)


def ends(printed: str) -> tuple[Decimal, Decimal]:
    low, high = printed.removeprefix("[").removesuffix("]").split(", ")
    return Decimal(low), Decimal(high)


def assert_encloses(low: float, high: float) -> None:
    printed = enclosure_text(low, high)
    lower, upper = ends(printed)
    assert lower <= Decimal(low) <= Decimal(high) <= upper
    # Rounding outwards widens it by little, beside its own width or the numbers themselves.
    width, scale = Decimal(high) - Decimal(low), Decimal(max(abs(low), abs(high)))
    assert upper - lower - width <= max(Decimal("0.2") * width, Decimal("2e-14") * scale)
    assert len(printed) <= 60


@given(MAGNITUDES, MAGNITUDES)
def test_a_printed_interval_encloses_the_exact_one(one, other):
    assert_encloses(min(one, other), max(one, other))


@given(st.floats(min_value=0.0, max_value=1e300), st.floats(min_value=0.0, max_value=1e-6))
def test_a_narrow_printed_interval_encloses_the_exact_one(low, share):
    assert_encloses(low, low * (1.0 + share))


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    [
        (1e-30, 1.0, "[0, 1.000]"),
        (1e-30, 1.05e-30, "[1.000e-30, 1.051e-30]"),
        (0.0, 2e-30, "[0, 2.001e-30]"),
        (0.35652432999, 0.35652433001, "[0.356524329989, 0.356524330011]"),
        (0.5, 0.5, "[0.500000000000000, 0.500000000000000]"),
        (0.0, 0.0, "[0, 0]"),
    ],
)
def test_intervals_are_printed_with_the_digits_that_tell_their_ends_apart(low, high, printed):
    assert enclosure_text(low, high) == printed


@given(MAGNITUDES, MAGNITUDES)
def test_a_number_of_any_magnitude_is_printed_apart_from_another(value, other):
    printed = digits_apart(value, other)
    assert float(printed) == pytest.approx(value, rel=2e-3, abs=0.0)
    assert len(printed) <= 25


@pytest.mark.parametrize(
    ("value", "low", "high", "printed"),
    [
        (1.23456, 1.2, 1.3, "1.2"),
        (1.23456, 1.22, 1.25, "1.23"),
        (1.23456, 1.2345, 1.2346, "1.235"),
        (1.23456, 0.1, 90.0, "1.2"),
        (1.23456, 1.23456, 1.23456, "1.235"),
        (1.23456, math.nan, math.nan, "1.23"),
        (1.23456, 1.0, math.inf, "1.23"),
        (1234.56, 1100.0, 1300.0, "1200"),
        (127.0, 110.0, 150.0, "127"),
        (127.5, 110.0, 150.0, "127.5"),
        (1234.56, 1234.0, 1235.0, "1235"),
        (0.00123456, 0.0012, 0.0013, "0.0012"),
        (1.23456e-7, 1.2e-7, 1.3e-7, "1.2e-7"),
        (1.23456e9, 1.2e9, 1.3e9, "1.2e9"),
        (9.96, 9.0, 10.0, "10.0"),
        (0.0, 0.0, 1.0, "0"),
        (-1.23456, -1.3, -1.2, "-1.2"),
        (math.inf, 1.0, math.inf, "∞"),
        (math.nan, math.nan, math.nan, "nan"),
    ],
)
def test_as_many_digits_as_the_interval_supports(value, low, high, printed):
    assert format_value(value, low, high) == printed


@given(TIMES, TIMES, TIMES)
def test_printed_value_is_right_to_its_last_digit(a, b, c):
    low, value, high = sorted((a, b, c))
    printed = format_value(value, low, high)
    assert float(printed) == pytest.approx(value, rel=0.051)  # two digits at the least
    digits = printed.split("e")[0].replace(".", "").strip("0")
    assert len(digits) <= 4
    # Rounding to the interval's own leading place moves the value by less than its width.
    assert abs(float(printed) - value) <= max(high - low, 0.051 * value)
