"""What figures are drawn on: a sheet of panels with a title, a legend and remarks; their curves."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svmbench.durable import replacing
from svmbench.records.spelling import short
from svmbench.report.curves import Curve
from svmbench.report.style import DPI, Look, named

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Panels side by side.
PANELS_ACROSS = 3

#: Inches: a panel's frame; the room for its ticks and labels beside and below; a line of the title
#: and of the remarks.
PANEL, _TICKS, _TITLE_LINE, _LINE = (2.75, 2.5), (0.72, 0.68), 0.19, 0.165

#: Inches: of the room below a panel, what is below its frame; the edge of the sheet.
_BELOW, _EDGE = 0.43, 0.08

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
    """A figure with a title, red if it warns, panels in rows, a legend to the right and remarks."""

    def __init__(
        self,
        panels: int,
        title: str,
        *,
        remarks: str = "",
        warns: bool = False,
        legend: Mapping[str, Look] | None = None,
        panel: tuple[float, float] = PANEL,
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        names = legend or {}
        across = max(1, min(panels, PANELS_ACROSS))
        down = -(-panels // across)
        longest = max(map(len, names), default=0)
        beside = 2 * _EDGE + (_SAMPLE + _CHARACTER * longest if names else 0.0)
        width = max(_NARROWEST, across * (panel[0] + _TICKS[0]) + beside)
        above = textwrap.wrap(title, int(width / _TITLE_CHARACTER))
        below = _wrapped(remarks, int(width / _CHARACTER))
        tall = max(down * (panel[1] + _TICKS[1]), 1.2 * _LINE * len(names))
        head = _TITLE_LINE * len(above) + _EDGE
        foot = _LINE * len(below) + _EDGE
        height = head + tall + foot
        self.figure: Figure = Figure(figsize=(width, height), dpi=DPI)
        FigureCanvasAgg(self.figure)
        self.figure.suptitle(
            "\n".join(above),
            x=_EDGE / width,
            y=1.0 - 0.5 * _EDGE / height,
            ha="left",
            va="top",
            fontsize=9.5,
            weight="bold",
            color="#B00000" if warns else "black",
            parse_math=False,  # names are the user's: a $ in them is a $
        )
        if below:
            self.figure.supxlabel(
                "\n".join(below),
                x=_EDGE / width,
                y=0.5 * _EDGE / height,
                ha="left",
                va="bottom",
                fontsize=SMALL,
                color="#444444",
                parse_math=False,
                linespacing=1.3,
            )
        # Laid out by these sizes: to measure every text would take as long as to draw it.
        wide = (width - beside) / across - _TICKS[0]
        grid = self.figure.subplots(down, across, squeeze=False, gridspec_kw={
            "left": _TICKS[0] / width,
            "right": 1.0 - beside / width,
            "bottom": (foot + tall - down * (panel[1] + _TICKS[1]) + _BELOW) / height,
            "top": 1.0 - (head + _TICKS[1] - _BELOW) / height,
            "wspace": _TICKS[0] / wide,
            "hspace": _TICKS[1] / panel[1],
        })  # fmt: skip
        for spare in grid.flat[panels:]:
            spare.remove()
        self.axes: list[Axes] = list(grid.flat[:panels])
        if names:
            shown = self.figure.legend(
                _samples(names), list(map(named, names)), loc="upper right",
                bbox_to_anchor=(1.0 - _EDGE / width, 1.0 - head / height),
                borderaxespad=0.0, borderpad=0.0, handlelength=2.6,
            )  # fmt: skip
            for text in shown.get_texts():
                text.set_parse_math(False)


def _wrapped(text: str, characters: int) -> list[str]:
    return [line for part in text.splitlines() for line in textwrap.wrap(part, characters)]


def _samples(names: Mapping[str, Look]) -> list[Artist]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=look.colour, linestyle=look.dash, marker=look.marker, markersize=4)
        for look in names.values()
    ]


def log_ticks(axis: Axis, *, most: int = 9) -> None:
    """Plain numbers on a logarithmic axis: powers of ten, and 1, 2, 5 on a short one."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axis.get_view_interval()
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_locator(NullLocator())  # small ticks take most of the time of a figure
    if max(low, high) < 100.0 * min(low, high):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    else:
        axis.set_major_locator(LogLocator(numticks=most))


# ---------------------------------------------------------------- panels

_MARKERS = {"reached": "o", "limit": "o", "diverged": "x", "cut": ""}


def limit_abscissa(axes: Axes, curves: Sequence[Curve]) -> None:
    """From where the first curve becomes visible to where the last one ends."""
    _, top = axes.get_ylim()
    views = [curve.x[curve.middle <= top] for curve in curves]
    first = min((float(x[0]) for x in views if x.size), default=float(curves[0].x[0]))
    last = max(float(curve.x[-1]) for curve in curves)
    if last <= first:
        first, last = last / 2, last * 2
    axes.set_xlim(first, last * (last / first) ** 0.03)


def draw_curve(
    axes: Axes, curve: Curve, look: Look, name: str, size: float = 3.5, width: float | None = None
) -> None:
    """Draw a curve with its band and its end on axes with final limits; sizes are in points."""
    if (curve.high > curve.low).any():
        axes.fill_between(
            curve.x, curve.low, curve.high, color=look.colour, alpha=0.16, linewidth=0, zorder=2
        )
    axes.plot(
        curve.x,
        curve.middle,
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markersize=size,
        linewidth=width,
        markevery=max(1, len(curve.x) // 6),
        zorder=3,
        label=named(name),
    )
    axes.plot(
        *_tip(axes, curve),
        marker=_MARKERS[curve.fate],
        markersize=size + 0.5,
        markeredgewidth=1.0,
        color=look.colour,
        markerfacecolor="white" if curve.fate == "limit" else look.colour,
        clip_on=False,
        zorder=4,
    )


def _tip(axes: Axes, curve: Curve) -> tuple[float, float]:
    """Where a curve ends, or leaves the panel; if it is never visible, above its end."""
    (bottom, top), right = axes.get_ylim(), axes.get_xlim()[1]
    last = max(0, int(np.searchsorted(curve.x, right, side="right")) - 1)
    if curve.middle[last] > top:
        inside = np.flatnonzero(curve.middle[: last + 1] <= top)
        at = int(inside[-1]) + 1 if inside.size else last
        return float(curve.x[at]), top
    return float(curve.x[last]), max(float(curve.middle[last]), bottom)


def set_ticks(axes: Axes) -> None:
    """Plain numbers on an axis of less than two decades, powers of ten on longer ones."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        log_ticks(axis, most=7)
        if high < 4 * low:
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
            axis.set_minor_locator(NullLocator())


# ---------------------------------------------------------------- files


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG; the same figure gives the same bytes."""
    file_path = path.with_name(f"{path.name}.png")
    with replacing(file_path, "wb") as file:
        file.write(picture(figure, "png", DPI))
    return file_path


def picture(figure: Figure, suffix: str, dpi: float) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn = BytesIO()
    if suffix == "png":  # `savefig` draws twice
        figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(figure)
        canvas.print_png(drawn, metadata=_METADATA[suffix])  # type: ignore[no-untyped-call]
    else:
        figure.savefig(drawn, format=suffix, dpi=dpi, metadata=_METADATA[suffix])
    return drawn.getvalue()
