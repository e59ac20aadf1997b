"""Pictures over C: validation errors, and a path's objective and errors."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.train.path import Point
    from svmbench.train.validation import Validation

_BLUE, _ORANGE, _BLACK = "#0072B2", "#D55E00", "#222222"


def validation_plot(validation: Validation) -> bytes:
    """Draw the validation error over C with its intervals, and the chosen C, as SVG."""
    figure, (axes,) = _panels(1, 4.2)
    _draw_validated(axes, validation)
    axes.set_ylabel("validation error (%), with 95 % intervals")
    return _as_svg(figure, axes, validation)


def path_plot(points: Sequence[Point], validation: Validation | None = None) -> bytes:
    """Draw the objective and the errors over C, as SVG."""
    figure, (above, below) = _panels(2, 6.4)
    values = [each.C for each in points]
    above.plot(values, [100.0 * each.share_of_zero for each in points], "o-", color=_BLACK)
    above.set_ylabel("objective (% of that of w = 0)")
    above.set_ylim(bottom=0.0)
    errors = [100.0 * each.training_error for each in points]
    if validation is not None:
        _draw_validated(below, validation)
    below.plot(values, errors, "o-", color=_ORANGE, label="training")
    below.set_ylabel("error (%)" + ("" if validation is None else ", with 95 % intervals"))
    below.legend(frameon=False)
    return _as_svg(figure, below, validation)


def _panels(rows: int, height: float) -> tuple[Figure, list[Axes]]:
    # Deferred: to load it takes longer than to choose C on many a set.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, height), layout="constrained")
    return figure, list(figure.subplots(rows, 1, sharex=True, squeeze=False).flat)


def _draw_validated(axes: Axes, validation: Validation) -> None:
    errors, low, high = (
        [100.0 * share for share in each] for each in zip(*validation.shares(), strict=True)
    )
    axes.fill_between(validation.values, low, high, color=_BLUE, alpha=0.2, linewidth=0)
    axes.plot(validation.values, errors, "o-", color=_BLUE, label="validation")
    axes.axvline(validation.best, color="grey", linestyle=":")


def _as_svg(figure: Figure, lowest: Axes, validation: Validation | None) -> bytes:
    from matplotlib import rc_context

    lowest.set_xscale("log", base=2)
    lowest.set_xlabel("C" if validation is None else f"C; chosen: {validation.best:g}")
    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "svmbench"}):  # the same model gives the same bytes
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
