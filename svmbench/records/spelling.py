"""Numbers and parameters as one would write them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any


def short(number: float, digits: int = 6, plain_from: float = 1e-3) -> str:
    """A parameter as one would write it: ``0.01``, ``1e-4``, ``250``."""
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    if plain_from <= abs(number) < 1e6:
        rounded = float(f"{number:.{digits}g}")
        return f"{rounded:.{max(digits, 7)}g}"  # 210 of two digits, and not 2.1e+02
    mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"


def written_apart(numbers: Iterable[float], plain_from: float = 1e-3) -> dict[float, str]:
    """Different parameters as `short` has them, with as many more digits as tell them apart."""
    different = set(numbers)
    found: dict[float, str] = {}
    for digits in range(6, 18):  # 17 tell any two doubles apart
        found = {number: short(number, digits, plain_from) for number in different}
        if len(set(found.values())) == len(different):
            break
    return found


def as_written(value: Any) -> str:
    """A value of a configuration as one writes it: a text as it is, and all else in JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 run``, ``2 runs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A duration in a suitable unit: ``90 s``, ``30 min``, ``2.5 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def spellings(number: float) -> tuple[str, ...]:
    """How a user may have written a parameter, as a configuration or a table has it."""
    found = (short(number), short(number, plain_from=1.0), f"{number:g}")
    return tuple(dict.fromkeys(found))


def meant(written: str, values: Iterable[float]) -> list[float]:
    """The values that a written number may stand for.

    If none is written so, those that are equal to the number when rounded to its digits, three at
    least: tables print no more.
    """
    distinct = {short(value): value for value in values}
    number = float(written)
    exact = [v for v in distinct.values() if v == number or written in spellings(v)]
    mantissa = re.split("[eE]", written)[0].replace(".", "").lstrip("0")
    places = max(3, len(mantissa)) - 1
    return exact or [v for v in distinct.values() if float(f"{v:.{places}e}") == number]


def place_words(written: str) -> str:
    """A place on the axis of λ, with C first where that is what a user wrote."""
    match = re.fullmatch(r"(\S+) \(C = (\S+)\)", written)
    return f"C = {match[2]} (λ = {match[1]})" if match else f"λ = {written}"


def regularisation(lam: float, C: float, by_c: bool = False) -> str:
    """λ, with C next to it if a configuration chose values of C, or if C has fewer digits."""
    plain = short(lam, 3, plain_from=0.1)
    if not by_c and math.isclose(float(plain), lam, rel_tol=1e-9) and _digits(lam) <= _digits(C):
        return plain
    return f"{plain} (C = {short(C, 4)})"


def _digits(value: float) -> int:
    """How many significant digits a number has, of nine."""
    return len(f"{value:.8e}".partition("e")[0].replace(".", "").rstrip("0"))


def in_file_names(text: str) -> str:
    """A text as names of files have it: other characters than those of plain names are dashes."""
    return re.sub(r"[^A-Za-z0-9.=-]+", "-", text)
