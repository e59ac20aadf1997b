"""Pictures over C: validation errors, and a path's objective and errors.

They are SVG that this module writes by itself: loading a library of plots takes longer than
choosing C on many a set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svmbench.train.path import Point
    from svmbench.train.validation import Validation

_BLUE, _ORANGE, _BLACK, _GREY = "#0072B2", "#D55E00", "#222222", "#555555"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

#: Sizes in pixels: of the picture, and of what is beside a panel and above it.
_WIDTH, _LEFT, _RIGHT, _ABOVE = 640, 70, 15, 15

#: Share of a panel's width and height that is free beside what it shows.
_MARGIN = 0.05

#: Most numbers beside a panel, and below it.
_NUMBERS, _POWERS = 8, 13


def validation_plot(validation: Validation) -> bytes:
    """Draw the validation error over C with its intervals, and the chosen C."""
    panel = _Panel(validation.values, _ABOVE, 335, _ends(_edges(validation)))
    label = "validation error (%), with 95 % intervals"
    lines = [
        *panel.frame(label),
        *panel.powers(f"C; chosen: {validation.best:g}"),
        *_validated(panel, validation),
    ]
    return _as_svg(400, lines)


def path_plot(points: Sequence[Point], validation: Validation | None = None) -> bytes:
    """Draw the objective and the errors over C."""
    values = tuple(each.C for each in points)
    tried = values if validation is None else tuple(sorted({*values, *validation.values}))
    shares = [_percent(each.share_of_zero) for each in points]
    above = _Panel(tried, _ABOVE, 265, (0.0, (1.0 + _MARGIN) * max(shares)))
    errors = [_percent(each.training_error) for each in points]
    edges = [] if validation is None else _edges(validation)
    below = _Panel(tried, 305, 285, _ends([*errors, *edges]))
    what = "error (%)" + ("" if validation is None else ", with 95 % intervals")
    lines = [
        *above.frame("objective (% of that of w = 0)"),
        *above.curve(values, shares, _BLACK),
        *below.frame(what),
        *below.powers("C" if validation is None else f"C; chosen: {validation.best:g}"),
    ]
    known = {"training": _ORANGE}
    if validation is not None:
        lines += _validated(below, validation)
        known["validation"] = _BLUE
    lines += [*below.curve(values, errors, _ORANGE), *below.legend(known)]
    return _as_svg(640, lines)


class _Panel:
    """A frame in a picture: percents over C, which is scaled by powers of two.

    - ``values``: all C, ascending.
    - ``top, height``: place of the frame, in pixels.
    - ``ends``: the percents at its lower and upper side.
    """

    def __init__(
        self, values: tuple[float, ...], top: float, height: float, ends: tuple[float, float]
    ) -> None:
        self._top, self._height, self._ends = top, height, ends
        self._exponents = math.log2(values[0]), math.log2(values[-1])
        self._beyond = _MARGIN * (self._exponents[1] - self._exponents[0]) or 1.0

    def frame(self, label: str) -> Iterator[str]:
        """The frame, and the numbers beside it."""
        size = f'width="{_WIDTH - _LEFT - _RIGHT}" height="{self._height}"'
        yield f'<rect x="{_LEFT}" y="{self._top}" {size} fill="none" stroke="{_BLACK}"/>'
        for number in _round_numbers(*self._ends):
            y = self._y(number)
            yield f'<path d="M{_LEFT - 4},{y:.1f}h4" stroke="{_BLACK}"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number:g}</text>'
        place = f"translate(16,{self._top + self._height / 2:.1f}) rotate(-90)"
        yield f'<text transform="{place}" text-anchor="middle">{label}</text>'

    def powers(self, label: str) -> Iterator[str]:
        """The powers of two below the frame."""
        bottom = self._top + self._height
        first, last = (round(each) for each in self._exponents)
        step = -(-(last - first + 1) // _POWERS)
        for exponent in range(-(-first // step) * step, last + 1, step):
            x, power = self._x(2.0**exponent), "2" + str(exponent).translate(_RAISED)
            yield f'<path d="M{x:.1f},{bottom}v4" stroke="{_BLACK}"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{power}</text>'
        middle = (_LEFT + _WIDTH - _RIGHT) / 2.0
        yield f'<text x="{middle:.1f}" y="{bottom + 38}" text-anchor="middle">{label}</text>'

    def curve(
        self, values: Sequence[float], percents: Sequence[float], colour: str
    ) -> Iterator[str]:
        """A line with a dot at each C."""
        points = self._points(values, percents)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        for x, y in (point.split(",") for point in points.split()):
            yield f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>'

    def band(
        self, values: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str
    ) -> str:
        """What is between two curves."""
        around = self._points([*values, *values[::-1]], [*low, *high[::-1]])
        return f'<polygon points="{around}" fill="{colour}" fill-opacity="0.2"/>'

    def mark(self, C: float) -> str:
        """A vertical line at a C."""
        x, dots = self._x(C), 'stroke-dasharray="2,3"'
        return f'<path d="M{x:.1f},{self._top}v{self._height}" stroke="{_GREY}" {dots}/>'

    def legend(self, known: dict[str, str]) -> Iterator[str]:
        """The names of the curves in their colours, above the frame."""
        for k, (name, colour) in enumerate(known.items()):
            place = f'x="{_WIDTH - _RIGHT - 80 * k}" y="{self._top - 7}"'
            yield f'<text {place} text-anchor="end" fill="{colour}">{name}</text>'

    def _points(self, values: Sequence[float], percents: Sequence[float]) -> str:
        both = zip(values, percents, strict=True)
        return " ".join(f"{self._x(C):.1f},{self._y(percent):.1f}" for C, percent in both)

    def _x(self, C: float) -> float:
        first, last = self._exponents
        share = (math.log2(C) - first + self._beyond) / (last - first + 2.0 * self._beyond)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def _y(self, percent: float) -> float:
        low, high = self._ends
        return self._top + self._height * (high - percent) / (high - low)


def _validated(panel: _Panel, validation: Validation) -> Iterator[str]:
    errors, low, high = zip(*(map(_percent, each) for each in validation.shares()), strict=True)
    yield panel.band(validation.values, low, high, _BLUE)
    yield panel.mark(validation.best)
    yield from panel.curve(validation.values, errors, _BLUE)


def _edges(validation: Validation) -> list[float]:
    """The ends of the intervals, in percent."""
    return [_percent(each) for _, *ends in validation.shares() for each in ends]


def _ends(percents: Sequence[float]) -> tuple[float, float]:
    """A range that has room for all percents."""
    low, high = min(percents), max(percents)
    beyond = _MARGIN * (high - low) or 1.0
    return low - beyond, high + beyond


def _round_numbers(low: float, high: float) -> list[float]:
    """Some numbers of few digits in a range, at equal distances."""
    least = (high - low) / _NUMBERS
    unit = 10.0 ** math.floor(math.log10(least))
    step = next(unit * each for each in (1.0, 2.0, 5.0, 10.0) if unit * each >= least)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _as_svg(height: int, lines: Sequence[str]) -> bytes:
    head = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    text = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {head} font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        *lines,
        "</svg>\n",
    ]
    return "\n".join(text).encode()


def _percent(share: float) -> float:
    return 100.0 * share
