"""Writes the papers' tables and figures, and the page of all papers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from svmbench.claims.parts import ClaimResult
from svmbench.durable import write_text
from svmbench.evidence.questions import Question
from svmbench.evidence.steadiness import unsteady
from svmbench.papers.model import Item, Paper
from svmbench.papers.plan import left_out
from svmbench.papers.report.figures import caption, look, write_figures
from svmbench.papers.report.layout import Quoted, axis_name, axis_text, quotations
from svmbench.papers.report.numbers import published_text
from svmbench.papers.report.tables import MARKS, READING, build_paper_table
from svmbench.papers.results import ItemResults, judged, named_once, read_item, sweep_folders
from svmbench.records.read import Results
from svmbench.records.spelling import counted
from svmbench.report.html import SIGNS, Figure, environment_facts, figure_of, render
from svmbench.report.made import remember, written_before
from svmbench.report.markup import write_tables
from svmbench.report.notices import stand_in_warning
from svmbench.report.table import Table
from svmbench.report.tables.words import header

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


# ---------------------------------------------------------------- the page


@dataclass(frozen=True)
class Finding:
    result: ClaimResult
    anchor: str
    table: str  # such as ``sgd-qn, Table 4``: two tables may make the same claim
    further: bool  # whether it is of a paper beyond the five


@dataclass(frozen=True)
class ItemView:
    source: ItemResults
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    claims: list[ClaimResult] = field(default_factory=list)
    shown: list[Quoted] = field(default_factory=list)  # published values that appear in a table

    @property
    def item(self) -> Item:
        return self.source.item

    @property
    def anchor(self) -> str:
        return f"{self.source.paper.key}-{self.source.name}"

    @property
    def findings(self) -> list[Finding]:
        paper = self.source.paper
        table = f"{paper.key}, {self.item.number}"
        return [
            Finding(result, f"{self.anchor}-claim-{number}", table, paper.further)
            for number, result in enumerate(self.claims, start=1)
        ]

    @property
    def warnings(self) -> list[str]:
        """What makes its numbers less trustworthy, once for all its tables, except stand-ins."""
        texts = dict.fromkeys(text for table in self.tables for text in table.warnings)
        return [text for text in texts if text != stand_in_warning(self.stand_ins)]

    @property
    def notes(self) -> list[str]:
        """What its tables alone have to say, and the paper's footnotes.

        Where the published numbers come from stands beside what else is published.
        """
        notes = [note for table in self.tables for note in table.notes if note not in READING]
        notes = [note for note in notes if not note.startswith("Published")]
        return list(dict.fromkeys([*notes, *self.item.notes]))

    @property
    def not_run(self) -> str:
        """Which part of it was not run, in words; empty if all was."""
        asked, missing = len(self.source.slots), len(self.source.not_run)
        if not asked or not missing:
            return ""
        if not self.source.rows:
            return "Not run."
        return f"{missing} of {asked} cells (data set × λ × solver) were not run."

    @property
    def stand_ins(self) -> list[str]:
        return self.source.stand_ins()

    @property
    def quoted(self) -> list[dict[str, str]]:
        """Published values that have no place in a table."""
        placed = [id(each.value) for each in self.shown]
        return [
            {
                "published, of": ", ".join(
                    f"{axis_name(name)} {axis_text(name, value)}"
                    if name in ("lambda", "C")
                    else axis_text(name, value)
                    for name, value in each.place().items()
                ),
                "what": each.value.measure.heading,
                "value": published_text(each.value.measure, each.value.value),
                "source": each.published.source,
            }
            for each in quotations(self.item)
            if id(each.value) not in placed
        ]


@dataclass(frozen=True)
class PaperView:
    paper: Paper
    items: list[ItemView]

    @property
    def claims(self) -> list[ClaimResult]:
        return [result for view in self.items for result in view.claims]

    @property
    def counted(self) -> dict[str, int]:
        """The number of its claims by verdict; none if it has no claims."""
        found = Counter[str](result.outcome for result in self.claims)
        return {verdict: found[verdict] for verdict in SIGNS} if found else {}

    @property
    def counts(self) -> str:
        return verdict_counts(self.claims)


def verdict_counts(results: Iterable[ClaimResult]) -> str:
    """``3 hold, 1 does not hold``, in the order of `SIGNS`."""
    counts = Counter[str](result.outcome for result in results)
    return ", ".join(
        f"{counts[verdict]} {several(verdict) if counts[verdict] > 1 else verdict}"
        for verdict in SIGNS
        if counts[verdict]
    )


def several(verdict: str) -> str:
    """A verdict of several claims, such as ``do not hold``."""
    return verdict.replace("does not hold", "do not hold").replace("holds", "hold")


def to_page(
    papers: Sequence[PaperView],
    *,
    left_out: Sequence[str] = (),
) -> str:
    views = [view for paper in papers for view in paper.items]
    claims = [result for paper in papers for result in paper.claims]
    notes = {note for view in views for table in view.tables for note in table.notes}
    everything = _distinct(views)
    return render(
        "papers.html",
        ["report.css", "papers.css"],
        ["report.js"],
        papers=papers,
        left_out=left_out,
        signs=SIGNS,
        marks=MARKS,
        counts=Counter(result.outcome for result in claims),
        claims=claims,
        findings=[finding for view in views for finding in view.findings],
        verdict_counts=verdict_counts,
        steadiness=unsteady(_questions(claims)),
        unanswered=[result for result in claims if result.outcome == "open"],
        repeats=_repeats(everything),
        header=list(dict.fromkeys(line for results in everything for line in header(results)[:-1])),
        stand_ins=named_once(each for view in views for each in view.source.labelled_stand_ins()),
        reading=[note for note in READING if note in notes],
        not_run=[view for view in views if view.not_run],
        lines_of={},
        environments=_environments(everything),
    )


def _questions(claims: Sequence[ClaimResult]) -> Iterator[Question]:
    for result in claims:
        for case in result.cases:
            yield from (each.part.question for each in case.parts if each.part.question)


def _repeats(everything: Sequence[Results]) -> str:
    """How many repeats the cells of the runs have, the least and the most; without skipped ones."""
    sizes = [
        int(members["repeat"].nunique())
        for results in everything
        for _, members in results.runs[results.runs["state"] != "skipped"].groupby(
            ["dataset", "lambda", "label"], sort=False
        )
    ]
    if not sizes:
        return ""
    least, most = min(sizes), max(sizes)
    span = counted(most, "repeat") if least == most else f"{least} to {most} repeats"
    return f"{span} of {'' if len(sizes) == 1 else 'each of '}{counted(len(sizes), 'cell')}"


def _distinct(views: Sequence[ItemView]) -> list[Results]:
    """The results of every sweep once, even if several items show them."""
    found: dict[Path, Results] = {}
    for view in views:
        for results in view.source.results.values():
            found.setdefault(results.folder.resolve(), results)
    return list(found.values())


#: Facts of an environment that differ from sweep to sweep on one machine.
_PASSING = ("recorded", "load_average", "schema_version", "memory_gib")


def _environments(everything: Sequence[Results]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each distinct environment, with its dates and the number of sweeps run in it as heading."""
    found: dict[str, list[Results]] = {}
    for results in everything:
        lasting = {k: v for k, v in results.environment.items() if k not in _PASSING}
        if lasting:
            found.setdefault(repr(sorted(lasting.items())), []).append(results)
    named = []
    for members in found.values():
        days = sorted(str(r.environment.get("recorded") or "")[:10] for r in members)
        when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        count = counted(len(members), "sweep")
        lasting = {k: v for k, v in members[0].environment.items() if k not in _PASSING}
        named.append((", ".join(filter(None, [when, count])), list(environment_facts(lasting))))
    return named
