"""Pictures over C: validation errors, and a path's objective and errors."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.train.path import Point
from svmbench.train.validation import Validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _BLACK = "#0072B2", "#D55E00", "#222222"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plot_file(model: Path) -> Path:
    """Path of the picture of cross-validation that belongs to a model."""
    return model.with_name(f"{model.name}.cv.svg")


def validation_plot(validation: Validation) -> bytes:
    """Draw the validation error over C with its intervals, and the chosen C.

    Returns
    -------
    bytes
        An SVG.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _draw_validation(axes, validation)
        axes.set_xlabel(f"C; chosen: {validation.best:g}")
        axes.set_ylabel("validation error (%), with 95 % intervals")

    return _as_svg(4.0, draw)


def path_plot(points: Sequence[Point], validation: Validation | None = None) -> bytes:
    """Draw the objective and the errors over C.

    Returns
    -------
    bytes
        An SVG.
    """
    values = [each.C for each in points]

    def draw(figure: Figure) -> None:
        above, below = figure.subplots(2, sharex=True)
        shares = [_percent(each.share_of_zero) for each in points]
        above.plot(values, shares, color=_BLACK, marker="o", markersize=3.0)
        above.set_ylabel("objective (% of that of w = 0)")
        above.set_ylim(bottom=0.0)
        errors = [_percent(each.training_error) for each in points]
        below.plot(values, errors, color=_ORANGE, marker="s", markersize=3.0, label="training")
        if validation is not None:
            _draw_validation(below, validation)
        _scale_by_powers(below)
        below.set_xlabel("C" if validation is None else f"C; chosen: {validation.best:g}")
        below.set_ylabel("error (%)" + ("" if validation is None else ", with 95 % intervals"))
        below.legend()

    return _as_svg(6.4, draw)


def _as_svg(height: float, draw: Callable[[Figure], None]) -> bytes:
    """A figure as text; the same figures give the same text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Without a date and random names.
    with mpl.rc_context({"svg.hashsalt": "svmbench", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, height))
        draw(figure)
        # Fixed margins in inches: a layout that measures the labels draws the figure twice.
        figure.subplots_adjust(left=0.12, right=0.98, bottom=0.5 / height, top=1 - 0.1 / height)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


def _draw_validation(axes: Axes, validation: Validation) -> None:
    errors, low, high = zip(*(map(_percent, each) for each in validation.shares()), strict=True)
    axes.fill_between(validation.values, low, high, color=_BLUE, alpha=0.2, linewidth=0.0)
    axes.plot(
        validation.values, errors, color=_BLUE, marker="o", markersize=3.0, label="validation"
    )
    axes.axvline(validation.best, color="#555555", linestyle=":")
    _scale_by_powers(axes)


def _scale_by_powers(axes: Axes) -> None:
    """Number C by powers of two.

    The exponents are characters. The library's own labels go through its parser of formulas, which
    takes longer than the rest of the drawing.
    """
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda C, _: "2" + str(round(math.log2(C))).translate(_RAISED))
    axes.xaxis.set_minor_formatter(lambda C, _: "")


def _percent(share: float) -> float:
    return 100.0 * share
