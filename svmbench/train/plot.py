"""A picture of cross-validation: the error at each C."""

from __future__ import annotations

from pathlib import Path

from svmbench.durable import replacing
from svmbench.train.path import Validation


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
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Without a date and random names, the same figures give the same file.
    with mpl.rc_context({"svg.hashsalt": "svmbench", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        errors, low, high = zip(*(map(_percent, each) for each in validation.shares()), strict=True)
        axes.fill_between(validation.values, low, high, color="#0072B2", alpha=0.2, linewidth=0.0)
        axes.plot(validation.values, errors, color="#0072B2", marker="o", markersize=3.0)
        axes.axvline(validation.best, color="#555555", linestyle=":")
        axes.set_xscale("log", base=2)
        axes.set_xlabel(f"C; chosen: {validation.best:g}")
        axes.set_ylabel("validation error (%), with 95 % intervals")
        with replacing(path, "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None})


def _percent(share: float) -> float:
    return 100.0 * share
