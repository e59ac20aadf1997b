"""The sheet that every figure is drawn on: a title, a grid of panels, a legend, remarks below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.durable import replacing
from svmbench.records.spelling import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from svmbench.report.style import Look

#: Panels side by side.
PANELS_ACROSS = 3

#: Inches: a panel's frame; the room for its ticks and labels beside and below; a line of the title
#: and of the remarks.
PANEL, _TICKS, _TITLE_LINE, _LINE = (2.75, 2.5), (0.62, 0.68), 0.19, 0.165

#: Largest width of a character in inches: in the title, in small text.
_TITLE_CHARACTER, _CHARACTER = 0.088, 0.066

#: Points. A page shows 4/3 pixels per point, so that no text is below 11 pixels.
SMALL = 8.25

#: Inches: the line of a legend before its name.
_SAMPLE = 0.5

#: Width of the narrowest sheet in inches: 600 pixels on a page.
_NARROWEST = 6.25

#: What each format says of its origin; no dates, since the bytes must not change.
_METADATA: Mapping[str, dict[str, str | None]] = {
    "pdf": {"Creator": "svmbench", "CreationDate": None},
    "png": {"Software": "svmbench"},
    "svg": {"Creator": "svmbench", "Date": None},
}

#: Formats of a figure.
FORMATS = tuple(_METADATA)


@contextmanager
def uniform_style() -> Iterator[None]:
    """Draw with svmbench's settings, whatever the user's own are."""
    from matplotlib import style

    with style.context(Path(__file__).with_name("svmbench.mplstyle"), after_reset=True):
        yield


class Sheet:
    """A figure with a title, panels in rows, a legend and remarks.

    Parameters
    ----------
    title : str
        Wrapped to the width.
    remarks : str
        Below the panels; every line is wrapped.
    warns : bool
        Whether the title is a warning: it is then printed in red.
    legend : mapping of str to Look
        The curves by name, in a column to the right.
    across : int
        Panels in a row.
    panel : (float, float)
        Inches: width and height of a panel's frame.

    Attributes
    ----------
    axes : list of Axes
        One per panel, row by row.
    """

    def __init__(
        self,
        panels: int,
        title: str,
        *,
        remarks: str = "",
        warns: bool = False,
        legend: Mapping[str, Look] | None = None,
        across: int = PANELS_ACROSS,
        panel: tuple[float, float] = PANEL,
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from svmbench.report.style import DPI

        names = legend or {}
        across = max(1, min(panels, across))
        down = -(-panels // across)
        beside = max((_CHARACTER * len(name) + _SAMPLE for name in names), default=0.0)
        width = max(_NARROWEST, across * (panel[0] + _TICKS[0]) + beside + 0.2)
        above = textwrap.wrap(title, int(width / _TITLE_CHARACTER))
        below = _wrapped(remarks, int(width / _CHARACTER))
        tall = max(down * (panel[1] + _TICKS[1]), 1.2 * _LINE * len(names))
        height = tall + _TITLE_LINE * len(above) + _LINE * len(below) + 0.15
        self.figure: Figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
        FigureCanvasAgg(self.figure)
        left = 0.08 / width
        self.figure.suptitle(
            "\n".join(above),
            x=left,
            ha="left",
            fontsize=9.5,
            weight="bold",
            color="#B00000" if warns else "black",
            parse_math=False,  # names are the user's: a $ in them is a $
        )
        if below:
            self.figure.supxlabel(
                "\n".join(below),
                x=left,
                ha="left",
                fontsize=SMALL,
                color="#444444",
                parse_math=False,
                linespacing=1.3,
            )
        grid = self.figure.subplots(down, across, squeeze=False)
        for spare in grid.flat[panels:]:
            spare.remove()
        self.axes: list[Axes] = list(grid.flat[:panels])
        if names:
            _add_legend(self.figure, names)

    def finish(self) -> Figure:
        """Lay out the sheet, once for all formats."""
        engine = self.figure.get_layout_engine()
        assert engine is not None
        engine.execute(self.figure)
        self.figure.set_layout_engine("none")
        return self.figure


def _wrapped(text: str, characters: int) -> list[str]:
    return [line for part in text.splitlines() for line in textwrap.wrap(part, characters)]


def _add_legend(figure: Figure, names: Mapping[str, Look]) -> None:
    from matplotlib.lines import Line2D

    samples = [
        Line2D([], [], color=look.colour, linestyle=look.dash, marker=look.marker, markersize=4)
        for look in names.values()
    ]
    legend = figure.legend(samples, list(names), loc="outside right upper", handlelength=2.6)
    for text in legend.get_texts():
        text.set_parse_math(False)


def log_ticks(axis: Axis, *, most: int = 9, plain_below: float = 100.0) -> None:
    """Plain numbers on a logarithmic axis: powers of ten, and 1, 2, 5 on a short one."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axis.get_view_interval()
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_locator(NullLocator())  # small ticks take most of the time of a figure
    if max(low, high) < plain_below * min(low, high):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    else:
        axis.set_major_locator(LogLocator(numticks=most))


def save_figure(figure: Figure, path: Path, formats: tuple[str, ...] = ("png",)) -> Iterator[Path]:
    """Write a figure, and yield each file; the same figure gives the same bytes."""
    from svmbench.report.style import DPI

    for suffix in formats:
        file_path = path.with_name(f"{path.name}.{suffix}")
        content = picture(figure, suffix, DPI)
        with replacing(file_path, "wb") as file:
            file.write(content)
        yield file_path


def picture(figure: Figure, suffix: str, dpi: float) -> bytes:
    """A figure as a file's bytes; the same figure gives the same bytes."""
    drawn = BytesIO()
    figure.savefig(drawn, format=suffix, dpi=dpi, metadata=_METADATA[suffix])
    return drawn.getvalue()
