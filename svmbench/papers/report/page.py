"""The page of all papers, index.html, which is self-contained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from svmbench.claims.parts import ClaimResult
from svmbench.evidence.questions import Question
from svmbench.evidence.steadiness import unsteady
from svmbench.papers.model import Item, Paper
from svmbench.papers.report.layout import (
    Quoted,
    axis_name,
    axis_text,
    quotations,
)
from svmbench.papers.report.numbers import published_text
from svmbench.papers.report.tables import MARKS, READING
from svmbench.papers.results import ItemResults, named_once
from svmbench.records.read import Results
from svmbench.records.spelling import counted
from svmbench.report.html import SIGNS, Figure, environment_facts, render
from svmbench.report.notices import stand_in_warning
from svmbench.report.table import Table
from svmbench.report.tables.words import header


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
