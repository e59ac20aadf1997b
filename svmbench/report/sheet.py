"""The sheet that every figure is drawn on: a title, a grid of panels, remarks below.

Matplotlib's constrained layout gives each part its room. The names of curves form a column to the
right of their panel, so that they cover neither each other nor a curve.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svmbench.durable import replacing
from svmbench.records.spelling import short
from svmbench.report.svg import with_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

#: Panels side by side.
PANELS_ACROSS = 3

#: Inches: a panel's frame; the room for its ticks and labels beside and below; a line of the title
#: and of the remarks.
PANEL, _TICKS, _TITLE_LINE, _LINE = (2.75, 2.5), (0.62, 0.68), 0.19, 0.165

#: Largest width of a character in inches: in the title, in small text.
_TITLE_CHARACTER, _CHARACTER = 0.088, 0.066

#: Points: size of small text and of a name, space from a panel to its column of names, and height
#: of a line of that column. A page shows 4/3 pixels per point, so that no text is below 11 pixels.
SMALL, NAME_SIZE, _BESIDE, _LEADING = 8.25, 8.25, 12.0, 10.5

#: What each format says of its origin; no dates, since the bytes must not change.
_METADATA: Mapping[str, dict[str, str | None]] = {
    "png": {"Software": "svmbench"},
    "svg": {"Creator": "svmbench", "Date": None},
    "pdf": {"Creator": "svmbench", "CreationDate": None},
}

#: Suffixes of the files of a figure.
FORMATS = tuple(_METADATA)

#: Width of the narrowest sheet in inches: 600 pixels on a page.
_NARROWEST = 6.25


@dataclass(frozen=True)
class CurveName:
    """The name of a curve, and where the curve ends.

    Parameters
    ----------
    x, y : float
        The end, in the units of the axes.
    colour, ink : str
        Of the line to the end, and of the text.
    gid : str
        Id of the text in the SVG, ``CURVE-name``; empty for none. All groups whose ids start with
        ``CURVE-`` are parts of the curve, which a page can hide together.
    """

    x: float
    y: float
    text: str
    colour: str
    ink: str
    gid: str = ""


@contextmanager
def uniform_style() -> Iterator[None]:
    """Draw with svmbench's settings, whatever the user's own are."""
    import matplotlib

    from svmbench.report.style import RC

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


class Sheet:
    """A figure with a title, panels in rows and remarks.

    Parameters
    ----------
    title : str
        Wrapped to the width.
    remarks : str
        Below the panels; every line is wrapped.
    warns : bool
        Whether the title is a warning: it is then printed in red.
    names : sequence of str
        The names of curves beside a panel, of the panel that has most.
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
        names: Sequence[str] = (),
        across: int = PANELS_ACROSS,
        panel: tuple[float, float] = PANEL,
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from svmbench.report.style import DPI

        across = max(1, min(panels, across))
        down = -(-panels // across)
        beside = max((_CHARACTER * len(name) + _BESIDE / 72 for name in names), default=0.0)
        width = max(_NARROWEST, across * (panel[0] + _TICKS[0] + beside) + 0.2)
        above = textwrap.wrap(title, int(width / _TITLE_CHARACTER))
        below = _wrapped(remarks, int(width / _CHARACTER))
        tall = max(panel[1], len(names) * _LEADING / 72)
        height = down * (tall + _TICKS[1]) + _TITLE_LINE * len(above) + _LINE * len(below) + 0.15
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
        self._columns: list[tuple[Axes, list[Annotation], list[float]]] = []

    def name_curves(self, axes: Axes, names: Sequence[CurveName]) -> None:
        """Write the names of curves in a column beside a panel, each tied to its curve's end.

        Call it once the panel has its final limits.
        """
        if not names:
            return
        to_axes = axes.transData + axes.transAxes.inverted()
        low, high = sorted(axes.get_ylim())
        ends = [replace(name, y=min(max(name.y, low), high)) for name in names]
        heights = [float(np.clip(to_axes.transform((n.x, n.y))[1], 0.0, 1.0)) for n in ends]
        order = sorted(range(len(names)), key=lambda at: -heights[at])
        texts = [_write(axes, ends[at], heights[at]) for at in order]
        self._columns.append((axes, texts, [heights[at] for at in order]))

    def finish(self) -> Figure:
        """Lay out the sheet, and spread the names so that none covers another."""
        engine = self.figure.get_layout_engine()
        assert engine is not None
        # Names cannot be spread before a panel's height is known; their widths stay as they are.
        engine.execute(self.figure)
        for axes, texts, heights in self._columns:
            points = axes.get_position().height * self.figure.get_figheight() * 72
            for text, height in zip(texts, spread(heights, _LEADING / points), strict=True):
                text.set_y(height)
        self.figure.set_layout_engine(None)
        return self.figure


def _wrapped(text: str, characters: int) -> list[str]:
    return [line for part in text.splitlines() for line in textwrap.wrap(part, characters)]


def _write(axes: Axes, name: CurveName, height: float) -> Annotation:
    from matplotlib.transforms import offset_copy

    figure = axes.get_figure(root=True)
    beside = offset_copy(axes.transAxes, fig=figure, x=_BESIDE, units="points")
    text = axes.annotate(
        name.text,
        xy=(name.x, name.y),
        xytext=(1.0, height),
        textcoords=beside,
        fontsize=NAME_SIZE,
        color=name.ink,
        ha="left",
        va="center",
        parse_math=False,
        annotation_clip=False,
        arrowprops={
            "arrowstyle": "-",
            "color": name.colour,
            "linewidth": 0.5,
            "alpha": 0.6,
            "shrinkA": 1.0,
            "shrinkB": 2.0,
            "relpos": (0.0, 0.5),
        },
    )
    if name.gid:
        text.set_gid(name.gid)
        assert text.arrow_patch is not None
        text.arrow_patch.set_gid(name.gid.removesuffix("name") + "tie")
    return text


def spread(ends: Sequence[float], apart: float) -> list[float]:
    """Heights for names that belong at ``ends`` (descending) but must be kept apart.

    Names that would touch are spread evenly about the mean of their ends, from 0 to 1 where there
    is room.

    Parameters
    ----------
    ends : sequence of float
        Descending.
    apart : float
        Least difference between two heights.
    """
    blocks: list[tuple[float, int]] = []  # sum of ends, number of names
    for end in ends:
        blocks.append((end, 1))
        while len(blocks) > 1 and _bottom(blocks[-2], apart) - apart < _top(blocks[-1], apart):
            total, count = blocks.pop()
            blocks[-1] = blocks[-1][0] + total, blocks[-1][1] + count
    places = [_top(block, apart) - apart * at for block in blocks for at in range(block[1])]
    for at, place in enumerate(places):
        places[at] = min(place, 1.0 if at == 0 else places[at - 1] - apart)
    for at in range(len(places) - 1, -1, -1):
        least = 0.0 if at == len(places) - 1 else places[at + 1] + apart
        places[at] = max(places[at], least)
    return places


def _top(block: tuple[float, int], apart: float) -> float:
    return block[0] / block[1] + apart * (block[1] - 1) / 2


def _bottom(block: tuple[float, int], apart: float) -> float:
    return block[0] / block[1] - apart * (block[1] - 1) / 2


def log_ticks(axis: Axis, *, most: int = 9, plain_below: float = 100.0) -> None:
    """Plain numbers on a logarithmic axis: powers of ten, and 1, 2, 5 on a short one.

    Parameters
    ----------
    axis : Axis
        Of which the limits are set.
    most : int
        Number of powers of ten at most.
    plain_below : float
        Ratio of the limits below which an axis is short.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = axis.get_view_interval()
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_formatter(NullFormatter())
    if max(low, high) < plain_below * min(low, high):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(numticks=most))


def save_figure(figure: Figure, path: Path, titles: Mapping[str, str]) -> Iterator[Path]:
    """Write a figure as PNG, SVG and PDF.

    Parameters
    ----------
    path : Path
        Without a suffix.
    titles : mapping of str to str
        Texts that the SVG shows when the pointer rests on an artist, by its id.

    Yields
    ------
    Path
        Each file that was written. The same figure gives the same bytes.
    """
    from svmbench.report.style import DPI

    for suffix in FORMATS:
        content = picture(figure, suffix, DPI)
        if suffix == "svg":
            content = with_titles(content.decode(), titles, _named_curves(figure)).encode()
        elif suffix == "png":
            content = _with_palette(content)
        file_path = path.with_name(f"{path.name}.{suffix}")
        with replacing(file_path, "wb") as file:
            file.write(content)
        yield file_path


def picture(figure: Figure, suffix: str, dpi: float) -> bytes:
    """A figure as a file's bytes; the same figure gives the same bytes.

    Parameters
    ----------
    dpi : float
        Of a PNG.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format=suffix, dpi=dpi, metadata=_METADATA[suffix])
    return drawn.getvalue()


def _named_curves(figure: Figure) -> dict[str, str]:
    """The names of curves by the prefix of their ids (see `CurveName`)."""
    from matplotlib.text import Annotation

    named = {}
    for text in figure.findobj(Annotation):
        gid = text.get_gid() or ""
        if isinstance(text, Annotation) and gid.endswith("-name"):
            named[gid.removesuffix("-name")] = text.get_text()
    return named


def _with_palette(content: bytes) -> bytes:
    """A PNG with a palette of 256 colours, which takes a third of the bytes."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    from svmbench.report.style import DPI

    chunks = PngInfo()
    for key, value in _METADATA["png"].items():
        chunks.add_text(key, value or "")
    opaque = Image.open(BytesIO(content)).convert("RGB")
    reduced = BytesIO()
    opaque.quantize(256, dither=Image.Dither.NONE).save(
        reduced, "png", optimize=True, dpi=(DPI, DPI), pnginfo=chunks
    )
    return reduced.getvalue()
