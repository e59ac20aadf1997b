"""Judges the claims of a page together: their questions, then parts, cells and claims.

All questions of all claims go to `svmbench.evidence.judge` at once, so that its level holds for
the page as a whole, however often it is judged and whenever repeats are added.

A cell **holds** if all its parts that can be tested do, and **does not hold** if one contradicts
it. With
``cells: all`` a claim

- *holds* when every cell that can be tested does;
- *holds in k of n* when some cells hold and at least one does not: the claim about all cells is
  then decided, and n counts the cells that can be tested;
- *does not hold* when at least one cell does not, and none holds;
- is *open* otherwise.

With ``most`` it holds when more than half of the n cells do, and does not when at least half do
not; with ``any`` it holds when one does, and does not when none of the n does. A claim is *not
testable* when no cell can be tested, and open when there are no runs of it. Cells that cannot be
tested are listed separately. Signed ranks decide a statistical claim; with too few data sets for
them it is open, whatever its cells say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from svmbench.evidence import MIN_DATA_SETS, Across, Answer, Question, across, judge
from svmbench.evidence import exponent as exponent_of
from svmbench.papers.claims.cells import brought_together, cells_not_run, cells_of
from svmbench.papers.claims.compare import alike, differ, faster, order, ratio
from svmbench.papers.claims.counts import counts
from svmbench.papers.claims.growth import grows
from svmbench.papers.claims.model import Claim
from svmbench.papers.claims.parts import (
    CellResult,
    ClaimCell,
    ClaimPart,
    ClaimResult,
    ClaimVerdict,
    PartResult,
    combine,
)
from svmbench.papers.claims.path import path
from svmbench.papers.claims.reach import fails, reaches
from svmbench.papers.claims.rises import rises
from svmbench.papers.claims.spans import spans
from svmbench.papers.measured import MeasuredRow
from svmbench.papers.slots import Slot
from svmbench.report.numbers import format_value

#: The parts of a cell, by kind.
KINDS: Mapping[str, Callable[[Claim, ClaimCell], Iterator[ClaimPart]]] = {
    "faster": faster,
    "order": order,
    "ratio": ratio,
    "alike": alike,
    "differ": differ,
    "reaches": reaches,
    "fails": fails,
    "grows": grows,
    "path": path,
    "rises": rises,
    "counts": counts,
    "spans": spans,
}

#: Largest number of cells in a summary.
_SUMMARISED = 3


@dataclass(frozen=True)
class _Draft:
    """A claim with the parts of its cells, not yet judged."""

    claim: Claim
    cells: tuple[tuple[ClaimCell, tuple[ClaimPart, ...]], ...]

    @property
    def questions(self) -> Iterator[Question]:
        for _, parts in self.cells:
            for part in parts:
                if part.question is not None:
                    yield part.question


def judge_claims(
    items: Sequence[tuple[Sequence[Claim], Sequence[MeasuredRow]]],
    slots: Sequence[Sequence[Slot]] = (),
) -> list[list[ClaimResult]]:
    """The results of the claims of each item, judged together.

    Parameters
    ----------
    items : sequence of (claims, rows)
        For every item of the page: its claims, and the rows of its sweeps that have runs.
    slots : sequence of sequence of dict, optional
        For every item the cells of its sweeps. Those that were not run are then open, and count
        among the questions.

    Returns
    -------
    list of list of ClaimResult
        A list for each item, a result for each of its claims.
    """
    planned = slots or [()] * len(items)
    drafts = [
        [_draft(claim, rows, cells) for claim in claims]
        for (claims, rows), cells in zip(items, planned, strict=True)
    ]
    questions = [q for drawn in drafts for draft in drawn for q in draft.questions]
    answers = iter(judge(questions))
    return [[_result(draft, answers) for draft in drawn] for drawn in drafts]


def _draft(claim: Claim, rows: Sequence[MeasuredRow], slots: Sequence[Slot]) -> _Draft:
    if claim.kind == "untestable":
        return _Draft(claim, ())
    several = len({row.sweep for row in rows} | {slot["sweep"] for slot in slots}) > 1
    asked, chosen = claim, list(rows)
    if claim.over_dataset is not None:
        asked, chosen = brought_together(claim, rows)
    cells = cells_of(asked, chosen, several)
    if claim.over_dataset is None:
        cells += cells_not_run(claim, rows, slots, several)
    return _Draft(claim, tuple((cell, tuple(KINDS[claim.kind](asked, cell))) for cell in cells))


# ---------------------------------------------------------------- from answers to verdicts


def _result(draft: _Draft, answers: Iterator[Answer]) -> ClaimResult:
    claim = draft.claim
    if claim.kind == "untestable":
        return ClaimResult(claim, "not testable", claim.why or "")
    if not draft.cells:
        return ClaimResult(claim, "open", "there are no runs of it", remedy=_missing())
    cells = tuple(_cell(cell, parts, answers) for cell, parts in draft.cells)
    verdict = decide(claim.cells, [cell.verdict for cell in cells])
    summary, ranks = "", None
    if claim.across is not None:
        ranks = over_data_sets(claim, cells)
        if ranks.data_sets >= MIN_DATA_SETS:
            verdict = _OF_RANKS[ranks.verdict]
        elif verdict != "not testable":
            verdict = "open"
        summary = f"{_statistically(ranks)}; "
    return ClaimResult(
        claim,
        verdict,
        summary + _summary(verdict, cells),
        cells,
        _remedy(cells, ranks) if verdict == "open" else "",
        ranks,
    )


_OF_RANKS: Mapping[str, ClaimVerdict] = {"above": "holds", "below": "does not hold", "open": "open"}


def over_data_sets(claim: Claim, cells: Sequence[CellResult]) -> Across:
    """Signed ranks of one value per data set: the median of its cells' log-ratios over `by`."""
    values: dict[str, list[float]] = {}
    for cell in cells:
        for part in cell.parts:
            if part.answer is not None and part.answer.pairs:
                log = _log(part.answer.estimate) - math.log(claim.by)
                values.setdefault(cell.dataset, []).append(log)
    return across([median(logs) for logs in values.values()])


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf


def _statistically(ranks: Across) -> str:
    sets = f"{ranks.data_sets} data set{'' if ranks.data_sets == 1 else 's'}"
    if ranks.data_sets < MIN_DATA_SETS:
        return f"{sets}, too few for a statement over data sets (at least {MIN_DATA_SETS})"
    return f"over {sets} p = {ranks.p_value:.2g} (signed ranks)"


def _cell(cell: ClaimCell, parts: Sequence[ClaimPart], answers: Iterator[Answer]) -> CellResult:
    found = tuple(_part(part, answers) for part in parts)
    verdict = combine([part.verdict for part in found])
    return CellResult(cell.place, cell.dataset, cell.stand_in, verdict, found)


def _part(part: ClaimPart, answers: Iterator[Answer]) -> PartResult:
    answer = None if part.question is None else next(answers)
    if answer is None or part.observed is not None or part.reason:
        verdict: ClaimVerdict = part.observed or "not testable"
        return PartResult(part, verdict, f"{part.what}: {part.note or part.reason}")
    note = f", {part.note}" if part.note else ""
    if part.by_factor:
        text = f"{part.what} = {estimate(answer, exponent=part.exponent)}{note}"
    else:
        text = f"{part.what}: {part.note}"
    verdict = _DENIED[answer.verdict] if part.denied else answer.verdict
    return PartResult(part, verdict, text, answer)


_DENIED: Mapping[str, ClaimVerdict] = {
    "holds": "does not hold",
    "does not hold": "holds",
    "open": "open",
}


def estimate(answer: Answer, *, exponent: bool = False) -> str:
    """An answer's factor, or exponent, with its interval."""
    value, low, high = (
        exponent_of(answer) if exponent else (answer.estimate, answer.low, answer.high)
    )
    shown = [format_value(each, low, high) for each in (value, low, high)]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def decide(quantifier: str, verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """The verdict of a claim from those of its cells.

    Parameters
    ----------
    quantifier : {'all', 'most', 'any'}
        How many cells the claim is about.
    verdicts : sequence of str
        Those of its cells.
    """
    counted = Counter[str](verdicts)
    holding, against, undecided = (
        counted[verdict] for verdict in ("holds", "does not hold", "open")
    )
    n = holding + against + undecided
    if n == 0:
        return "not testable"
    if quantifier == "all":
        if against:
            return "holds in k of n" if holding else "does not hold"
        return "open" if undecided else "holds"
    if quantifier == "most":
        if 2 * holding > n:
            return "holds"
        return "does not hold" if 2 * against >= n else "open"
    if holding:
        return "holds"
    return "open" if undecided else "does not hold"


# ---------------------------------------------------------------- words


def _summary(verdict: ClaimVerdict, cells: Sequence[CellResult]) -> str:
    """In how many cells, and the numbers of the cells that the verdict rests on."""
    rests_on = verdict if verdict != "holds in k of n" else "does not hold"
    telling = [cell for cell in cells if cell.verdict == rests_on]
    counted = Counter[str](cell.verdict for cell in cells)
    said = ", ".join(
        f"{counted[what]} {words}"
        for what, words in (
            ("holds", "hold"),
            ("does not hold", "do not hold"),
            ("open", "open"),
            ("not testable", "not testable"),
        )
        if counted[what]
    )
    many = f"{said} of {len(cells)}: " if len(cells) > 1 else ""
    numbers = "; ".join(
        cell.text if len(cells) == 1 else f"{cell.place}: {cell.text}"
        for cell in telling[:_SUMMARISED]
    )
    more = f"; and {len(telling) - _SUMMARISED} more" if len(telling) > _SUMMARISED else ""
    return f"{many}{numbers}{more}{_origin(cells)}"


def _origin(cells: Sequence[CellResult]) -> str:
    stand_ins = sum(cell.stand_in for cell in cells)
    if not stand_ins:
        return ""
    if stand_ins == len(cells):
        return " (stand-ins only)"
    return f" ({stand_ins} of {len(cells)} on stand-ins)"


def _missing() -> str:
    return "It would take runs that are still missing."


def _remedy(cells: Sequence[CellResult], ranks: Across | None) -> str:
    """What it would take to decide a claim that is open."""
    if ranks is not None and ranks.data_sets >= MIN_DATA_SETS:
        return "It would take more data sets: those there are do not agree enough."
    if ranks is not None:
        return f"It would take at least {MIN_DATA_SETS} data sets; there are {ranks.data_sets}."
    undecided = [cell for cell in cells if cell.verdict == "open"]
    parts = [part for cell in undecided for part in cell.parts if part.verdict == "open"]
    known = [part.answer.more for part in parts if part.answer and part.answer.more is not None]
    said = []
    if known:
        said.append(f"about {max(known)} more repeats")
    if any(part.answer is None for part in parts):
        said.append("runs that are still missing")
    if any(part.answer is not None and part.answer.more is None for part in parts):
        said.append("a clearer difference; more repeats cannot decide it")
    where = f" in {len(undecided)} of {len(cells)} cells" if len(cells) > 1 else ""
    return f"It would take {', and '.join(said)}{where}."
