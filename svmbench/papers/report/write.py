"""Writes the papers' tables and figures, and the page of all papers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from svmbench.claims.parts import ClaimResult
from svmbench.durable import write_text
from svmbench.papers.model import Paper
from svmbench.papers.plan import left_out
from svmbench.papers.report.figures import caption, look, write_figures
from svmbench.papers.report.page import ItemView, PaperView, to_page
from svmbench.papers.report.tables import build_paper_table
from svmbench.papers.results import ItemResults, judged, read_item, sweep_folders
from svmbench.report.html import Figure, figure_of
from svmbench.report.made import remember, written_before
from svmbench.report.markup import write_tables
from svmbench.report.table import Table

#: The mark of an item's tables and figures, in its folder.
MARK = "written.json"


class Written(NamedTuple):
    """The files written, and by paper and item the results of the claims and the tables."""

    files: list[Path]
    claims: dict[tuple[str, str], list[ClaimResult]]
    tables: dict[tuple[str, str], list[Table]]


def write_papers(
    root: Path,
    papers: Mapping[str, Paper],
    items: Sequence[tuple[str, str]] | None = None,
    *,
    asked: Collection[tuple[str, str]] | None = None,
) -> Written:
    """Write tables and figures of items, and the page of all papers, from the existing runs.

    - ``root``: runs of a sweep lie in ``root/KEY/ITEM/SWEEP/``; tables and figures of an item are
      written to ``root/KEY/ITEM/``, the page to ``root/index.html``.
    - ``items``: paper and item whose files are rewritten; all unless given. For other items, the
      page shows the existing figures.
    - ``asked``: items that the page shows in any case, all unless given. It leaves out others
      without runs, and names them: their claims would count as open, although nobody has asked for
      them.

    Raises DataError if results cannot be read.
    """
    sources = [read_item(root, paper, name) for paper in papers.values() for name in paper.items]
    page = root / "index.html"
    written: list[Path] = []
    views: dict[tuple[str, str], ItemView] = {}
    claims = judged(sources)
    for source in sources:
        place, results = source.place, claims[source.place]
        if not (source.rows or asked is None or place in asked):
            continue
        folder = root / source.paper.key / source.name
        views[place] = view = _view(source, results)
        if items is None or place in items:
            files = write_tables(view.tables, folder) + write_figures(source, folder)
            _drop_stale(folder, files)
            sweeps = sweep_folders(root, source.paper, source.name)
            remember(folder / MARK, sweeps.values(), files, repr(source.item))
            written += files
        view.figures.extend(_figures(source, folder))
    missing = left_out(papers, views)
    text = to_page(_by_paper(views.values()), left_out=missing)
    write_text(page, text)
    tables = {place: view.tables for place, view in views.items()}
    return Written([*written, page], claims, tables)


def outdated(
    root: Path, papers: Mapping[str, Paper], items: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The items whose tables and figures would not be the same if they were written again."""
    return [
        (key, name)
        for key, name in items
        if not written_before(
            root / key / name / MARK,
            sweep_folders(root, papers[key], name).values(),
            repr(papers[key].items[name]),
        )
    ]


def _by_paper(views: Iterable[ItemView]) -> list[PaperView]:
    members: dict[str, list[ItemView]] = defaultdict(list)
    for view in views:
        members[view.source.paper.key].append(view)
    return [PaperView(items[0].source.paper, items) for items in members.values()]


def _view(source: ItemResults, claims: list[ClaimResult]) -> ItemView:
    view = ItemView(source, claims=claims)
    for number in range(len(source.item.tables)):
        table, shown = build_paper_table(source, number)
        view.tables.append(table)
        view.shown.extend(shown)
    return view


def _drop_stale(folder: Path, written: Sequence[Path]) -> None:
    """Remove earlier tables and figures that the item no longer has."""
    for pattern in ("table-*.*", "figure-*.*"):
        for path in folder.glob(pattern):
            if path not in written:
                path.unlink()


def _figures(source: ItemResults, folder: Path) -> Iterator[Figure]:
    """The figures of an item that has runs; they are drawn now if there are none yet."""
    for at, shape in enumerate(source.item.figures):
        path = folder / f"figure-{at + 1}.png"
        if not path.exists() and source.rows:
            write_figures(source, folder, path.stem)
        if path.exists():
            yield figure_of(path, caption(source, shape), look(shape))
