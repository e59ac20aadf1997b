"""Numbers as text, with the digits that their intervals support."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from svmbench.records.spelling import short

#: Significant digits of a double that can be relied on, and the number of zeros after the decimal
#: point up to which a number is written without an exponent.
_DIGITS, _MOST_ZEROS = 15, 5


def format_value(value: float, low: float, high: float) -> str:
    """Print a number with as many digits as its interval supports.

    The last digit printed has the place of the interval's leading digit, with at least
    2 and at most 4 significant digits; 4 if the interval has no width, 3 if it has no
    end. A count is printed in full. The ends of an interval are printed in the same way, by
    ``format_value(low, low, high)``.
    """
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    leading = math.floor(math.log10(abs(value)))
    counts = (low, high, 2 * value)  # of which a median may lie half-way between two
    if 1 <= leading < 7 and all(float(each).is_integer() for each in counts):
        return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"
    width = high - low
    if not math.isfinite(width):
        digits = 3
    elif width <= 0:
        digits = 4
    else:
        digits = min(max(leading - math.floor(math.log10(width)) + 1, 2), 4)
    if not -4 <= leading < 7:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    decimals = digits - 1 - leading
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def number_text(value: float) -> str:
    """Print a number of which no interval is known."""
    return format_value(value, math.nan, math.nan)


def interval_text(value: float, low: float, high: float) -> str:
    """Print ``1.23 [1.20, 1.31]``; the value alone if the digits printed show no width."""
    if low == high:
        return number_text(value)
    middle, *ends = (format_value(number, low, high) for number in (value, low, high))
    if ends == [middle, middle]:
        return middle
    return f"{middle} [{ends[0]}, {ends[1]}{']' if math.isfinite(high) else ')'}"


def enclosure_text(low: float, high: float) -> str:
    """Print an interval with its ends rounded outwards, so that no value falls out of it."""
    lower, upper = Decimal(low), Decimal(high)
    leading = max((end.adjusted() for end in (lower, upper) if end), default=0)
    width = upper - lower
    wanted = 1 - width.adjusted() if width else _DIGITS - 1 - leading
    last = Decimal(1).scaleb(-min(max(wanted, 3 - leading), _DIGITS - leading))
    ends = lower.quantize(last, ROUND_FLOOR), upper.quantize(last, ROUND_CEILING)
    form = "f" if _is_readable(leading) else "e"
    return f"[{', '.join(f'{end:{form}}' if end else '0' for end in ends)}]"


def rounded_up(bound: float) -> str:
    """Print an upper bound with two digits, rounded up."""
    if bound <= 0:
        return "0"
    exponent = math.floor(math.log10(bound))
    return short(float(Decimal(bound).quantize(Decimal(1).scaleb(exponent - 1), ROUND_CEILING)), 2)


def digits_apart(value: float, other: float) -> str:
    """Print a number with enough digits to show two digits of its difference from another."""
    leading = math.floor(math.log10(abs(value))) if value else 0
    difference = abs(value - other)
    wanted = 1 - math.floor(math.log10(difference)) if difference > 0 else _DIGITS
    places = min(max(wanted, 3 - leading), _DIGITS - 1 - leading)
    if _is_readable(leading):
        return f"{value:.{max(places, 0)}f}"
    return f"{value:.{places + leading}e}"


def _is_readable(leading: int) -> bool:
    """Whether a number of that leading power of ten is readable without an exponent."""
    return -_MOST_ZEROS <= leading <= _DIGITS


def or_null(value: Any) -> Any:
    """A value as JSON has it: None for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def finite(value: float) -> float:
    """Replace infinity by nan: a file has an empty field in its place."""
    return value if math.isfinite(value) else math.nan
