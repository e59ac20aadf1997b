"""Pictures over C: validation errors, and a path's objective and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.durable import replacing
from svmbench.train.path import Point
from svmbench.train.validation import Validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _BLACK = "#0072B2", "#D55E00", "#222222"


def plot_path(model: Path) -> Path:
    """Path of the picture that belongs to a model."""
    return model.with_name(f"{model.name}.cv.svg")


def save_plot(path: Path, validation: Validation) -> None:
    """Draw the validation error over C with its intervals, and the chosen C.

    Parameters
    ----------
    path : Path
        Where the SVG goes.
    validation : Validation

    Raises
    ------
    UnwritableError
        When the file cannot be written.
    """
    with _figure(path, 4.0) as figure:
        axes = figure.subplots()
        _draw_validation(axes, validation)
        axes.set_xlabel(f"C; chosen: {validation.best:g}")
        axes.set_ylabel("validation error (%), with 95 % intervals")


def save_path_plot(
    path: Path, points: Sequence[Point], validation: Validation | None = None
) -> None:
    """Draw the objective and the errors over C.

    Parameters
    ----------
    path : Path
        Where the SVG goes.
    points : sequence of Point
    validation : Validation, optional

    Raises
    ------
    UnwritableError
        When the file cannot be written.
    """
    values = [each.C for each in points]
    with _figure(path, 6.4) as figure:
        above, below = figure.subplots(2, sharex=True)
        shares = [_percent(each.share_of_zero) for each in points]
        above.plot(values, shares, color=_BLACK, marker="o", markersize=3.0)
        above.set_ylabel("objective (% of that of w = 0)")
        above.set_ylim(bottom=0.0)
        errors = [_percent(each.training_error) for each in points]
        below.plot(values, errors, color=_ORANGE, marker="s", markersize=3.0, label="training")
        if validation is not None:
            _draw_validation(below, validation)
        below.set_xscale("log", base=2)
        below.set_xlabel("C" if validation is None else f"C; chosen: {validation.best:g}")
        below.set_ylabel("error (%)" + ("" if validation is None else ", with 95 % intervals"))
        below.legend()


@contextmanager
def _figure(path: Path, height: float) -> Iterator[Figure]:
    """A figure, written once it is drawn; the same figures give the same file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Without a date and random names.
    with mpl.rc_context({"svg.hashsalt": "svmbench", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, height), layout="constrained")
        yield figure
        with replacing(path, "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None})


def _draw_validation(axes: Axes, validation: Validation) -> None:
    errors, low, high = zip(*(map(_percent, each) for each in validation.shares()), strict=True)
    axes.fill_between(validation.values, low, high, color=_BLUE, alpha=0.2, linewidth=0.0)
    axes.plot(
        validation.values, errors, color=_BLUE, marker="o", markersize=3.0, label="validation"
    )
    axes.axvline(validation.best, color="#555555", linestyle=":")
    axes.set_xscale("log", base=2)


def _percent(share: float) -> float:
    return 100.0 * share
