"""A paper's figures: curves along the runs, measures across them, regret and decision lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.claims.measured import MeasuredRow
from svmbench.claims.places import same
from svmbench.papers.model import FigureShape
from svmbench.papers.report.curves import Curves, curves_of
from svmbench.papers.report.drawing import (
    AcrossPlot,
    Drawer,
    Panel,
    Planes,
    Regrets,
    Series,
    axis_words,
)
from svmbench.papers.results import ItemResults
from svmbench.records.groups import heading
from svmbench.records.measures import MEASURES
from svmbench.records.spelling import place_words, short
from svmbench.report.curves import remarks
from svmbench.report.sheet import PANEL, PANELS_ACROSS, Sheet, save_figure, uniform_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_figures(source: ItemResults, folder: Path, key: str | None = None) -> list[Path]:
    written: list[Path] = []
    with uniform_style():
        for at, shape in enumerate(source.item.figures):
            name = f"figure-{at + 1}"
            if key not in (None, name) or not _rows(source, shape):
                continue
            written.append(save_figure(draw(source, shape), folder / name))
    return written


def caption(source: ItemResults, shape: FigureShape) -> str:
    x, y = axis_words(shape)
    what = {"lines": "decision lines", "regret": "regret against steps"}.get(
        shape.kind, f"{y} against {x}"
    )
    stand_ins = source.stand_ins(_rows(source, shape))
    mark = f". STAND-IN for {', '.join(stand_ins)}" if stand_ins else ""
    return f"{source.item.number}: {shape.title or what}{f', {what}' if shape.title else ''}{mark}"


#: What to look at in each kind of figure.
_LOOKS = {
    "curve": "Look at which curve is lowest at each place of the horizontal axis.",
    "across": "Look at how each line rises or falls from left to right.",
    "regret": "Look at whether a curve stays below its dashed bound, and which grows slowest.",
    "lines": "Compare the panels of a data set: methods that agree draw the same lines.",
}


def look(shape: FigureShape) -> str:
    return _LOOKS[shape.kind]


def _rows(source: ItemResults, shape: FigureShape) -> list[MeasuredRow]:
    return [row for row in source.rows if row.lies_in(shape.of)]


# ---------------------------------------------------------------- panels


def panels(source: ItemResults, shape: FigureShape) -> list[Panel]:
    """The panels of a figure, each with its curves; a name looks the same in all of them."""
    from svmbench.report.style import looks_of

    split: dict[tuple[str, ...], list[MeasuredRow]] = {}
    for row in _rows(source, shape):
        split.setdefault(tuple(_panel_words(row, name) for name in shape.panels), []).append(row)
    if shape.kind == "lines":  # one solver per panel, or its lines would hide each other
        split = {
            (*key, row.group.label): [row] for key, members in split.items() for row in members
        }
    named = {key: _named(members, shape) for key, members in split.items()}
    looks = looks_of(name for series in named.values() for name in series)
    return [
        Panel(
            ", ".join(dict.fromkeys(key)),
            [Series(name, rows, looks[name]) for name, rows in series.items()],
        )
        for key, series in named.items()
    ]


def _panel_words(row: MeasuredRow, name: str) -> str:
    if name == "dataset":
        return heading(row.group.dataset, row.group.stand_in)
    if name == "lambda":
        return place_words(row.group.written_lambda)
    value = row.axis(name)
    return value if isinstance(value, str) else f"{name} = {short(value, 4)}"


def _named(rows: Sequence[MeasuredRow], shape: FigureShape) -> dict[str, list[MeasuredRow]]:
    """Rows by the name of their curve; a chain along an axis is one."""
    chained = shape.kind == "across"
    # Sizes are separate data sets: a figure along m puts no others into the panel.
    alongs = {"lambda": ("lambda", "C"), "C": ("lambda", "C"), "m": ("m", "dataset")}
    along: tuple[str, ...] = alongs.get(shape.x, ())
    if chained and not along:
        along = ("lambda", "C", "m", "dataset", "sweep")
    members: dict[str, list[MeasuredRow]] = {}
    for row in rows:
        alike = [other for other in rows if other.group.label == row.group.label]
        apart = _apart(row, alike, along if chained else ())
        members.setdefault(", ".join([row.group.label, *apart]), []).append(row)
    return members


def _apart(row: MeasuredRow, alike: Sequence[MeasuredRow], along: Sequence[str]) -> Iterator[str]:
    """Axes that distinguish a row from others with the same label: as few as possible."""
    left = list(alike)
    for name in ("dataset", "lambda", "sweep"):
        if name in along or len(left) == 1:
            continue
        if name == "sweep" and along and not _same_place(left, along):
            continue
        if any(not same(other.axis(name), row.axis(name)) for other in left):
            yield _panel_words(row, name)
            left = [other for other in left if same(other.axis(name), row.axis(name))]


def _same_place(rows: Sequence[MeasuredRow], along: Sequence[str]) -> bool:
    """Whether two of the rows share a place along an axis."""
    places = [tuple(row.axis(name) for name in along) for row in rows]
    return len(set(places)) < len(places)


# ---------------------------------------------------------------- the sheet


def draw(source: ItemResults, shape: FigureShape) -> Figure:
    found = panels(source, shape)
    title = f"{source.item.number}: {shape.title or source.item.title}"
    stand_ins = source.stand_ins(_rows(source, shape))
    drawer = _drawer(source, shape, found)
    sheet = Sheet(
        len(found),
        title + (f" (STAND-IN for {', '.join(stand_ins)})" if stand_ins else ""),
        remarks=_remarks(source, shape),
        warns=bool(stand_ins),
        legend=drawer.legend(),
        panel=(PANEL[0], PANEL[0]) if shape.kind == "lines" else PANEL,
    )
    x, y = axis_words(shape)
    for at, (axes, panel) in enumerate(zip(sheet.axes, found, strict=True)):
        axes.set_xlabel(x, labelpad=2)
        axes.set_ylabel(y if at % PANELS_ACROSS == 0 else "")
        axes.set_title(_titled(panel), loc="left", fontsize=8.5)
        drawer.draw(axes, panel)
    return sheet.figure


def _titled(panel: Panel) -> str:
    """A panel's title, with the number of rows of the stand-ins it shows."""
    sizes = sorted(
        {
            int(row.group.runs["m"].iloc[0])
            for each in panel.series
            for row in each.rows
            if row.group.stand_in
        }
    )
    if not sizes:
        return panel.title
    least, most = f"{sizes[0]:,}", f"{sizes[-1]:,}"
    rows = f"m = {least}" if len(sizes) == 1 else f"m = {least} to {most}"
    return f"{panel.title}, {rows}" if panel.title else f"stand-in, {rows}"


def _remarks(source: ItemResults, shape: FigureShape) -> str:
    rows = _rows(source, shape)
    most = max(len(row.group.repeats) for row in rows)
    parts: list[str] = []
    if shape.kind == "curve":
        grey = "Grey: the accuracies asked for." if shape.y == "accuracy" else ""
        if MEASURES[shape.y].objective:
            grey = "Grey: the certified optimum."
        *first, joined = remarks([row.group for row in rows], grey)
        parts += filter(None, [*first, *_published_words(source, shape, rows), joined])
    elif shape.kind == "across":
        several = f"Medians of up to {most} runs with their intervals."
        parts.append(several if most > 1 else "Single runs.")
        parts.append("Triangle: not reached, the value is at least this.")
    elif shape.kind == "regret":
        parts.append(
            f"Certified upper end of the regret, median and range of up to {most} runs; dotted: "
            "the proved bound. If the regret is not positive, nothing is drawn."
        )
    else:
        parts.append(
            "Circles: +1; crosses: −1. Solid: score 0; dashed: scores −1 and +1. Final weights of "
            "the first repeat."
        )
    return " ".join(parts)


def _published_words(
    source: ItemResults, shape: FigureShape, rows: Sequence[MeasuredRow]
) -> list[str]:
    """Where the published curves that a figure shows come from."""
    sources = [each.source for each in source.item.published if curves_of(each, shape, rows)]
    return [f"Dashed, with dots: published ({'; '.join(sources)})."] if sources else []


def _drawer(source: ItemResults, shape: FigureShape, found: Sequence[Panel]) -> Drawer:
    kinds: dict[str, type[Drawer]] = {
        "curve": Curves, "across": AcrossPlot, "regret": Regrets, "lines": Planes
    }  # fmt: skip
    return kinds[shape.kind](source, shape, found)
