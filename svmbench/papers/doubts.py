"""Open questions of the claims, for the series of runs to decide."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from svmbench.claims.cheapest import cheapest
from svmbench.claims.judge import KnownParts
from svmbench.claims.measured import MeasuredRow, rows, unchanged
from svmbench.claims.parts import ClaimResult
from svmbench.harness.series import Doubt, PlannedSweep
from svmbench.papers.model import Paper
from svmbench.papers.results import ItemResults, judged, sweep_folder, sweep_folders
from svmbench.records.read import Results, read_results

#: The results of a sweep, and its rows.
_Read = tuple[Results, list[MeasuredRow]]


class Doubts:
    """Judges all claims again whenever it is called, and says which repeats would decide them.

    The folders are read again only if their tables have changed, and only the cells with new runs
    are looked at again. All claims of all papers are judged together, as on the page, whatever
    items are being run, because the questions of a page must not depend on what is run.

    - ``root``: folder of all results.
    - ``planned``: the sweeps that are being run, in the order of the series.
    - ``chosen``: papers and items whose claims are to be decided; others may rest on the same
      sweeps.
    """

    def __init__(
        self,
        root: Path,
        papers: Mapping[str, Paper],
        planned: Sequence[PlannedSweep],
        chosen: Collection[tuple[str, str]],
    ) -> None:
        self._root = root
        self._papers = papers
        self._chosen = frozenset(chosen)
        self._places = {each.folder: at for at, each in enumerate(planned)}
        self._read: dict[tuple[Path, str], tuple[tuple[int, int], _Read]] = {}
        self._known = KnownParts()

    def __call__(self) -> list[Doubt]:
        """The open questions, each once."""
        claims = judged(
            [self._item(paper, name) for paper in self._papers.values() for name in paper.items],
            self._known,
        )
        found: dict[object, Doubt] = {}
        for (key, name), results in claims.items():
            for result in results if (key, name) in self._chosen else ():
                for doubt in self._doubts(self._papers[key], name, result):
                    # Two accuracies of one pair of cells may differ in what makes pairs of them.
                    which = doubt.key, doubt.skippable
                    known = found.get(which)
                    found[which] = doubt if known is None else _together(doubt, known)
        return list(found.values())

    def _doubts(self, paper: Paper, item: str, result: ClaimResult) -> Iterator[Doubt]:
        goal = f"{paper.key}/{item}: {result.claim.text}"
        needed = set(map(id, cheapest(result)))
        for parts, later in ((result.open_parts, False), (result.spare_parts, True)):
            for part in parts:
                first = id(part) in needed
                for cells in part.cells_of:
                    place = self._places.get(sweep_folder(self._root, paper, item, cells[0][0]))
                    if place is not None and (part.answer is not None or part.part.lacks):
                        yield Doubt(
                            place,
                            tuple(cell[1:] for cell in cells),
                            part.more,
                            part.pairs,
                            f"{result.claim.text} {part.part.what}",
                            frozenset(cell[1:] for cell in part.part.skippable),
                            later,
                            frozenset({goal} if first else ()),
                            first,
                        )

    def _item(self, paper: Paper, item: str) -> ItemResults:
        read = {
            key: self._results_in(folder, key)
            for key, folder in sweep_folders(self._root, paper, item).items()
            if (folder / "runs.csv").exists()
        }
        results = {key: results for key, (results, _) in read.items()}
        return ItemResults(paper, item, results, [row for _, rows in read.values() for row in rows])

    def _results_in(self, folder: Path, sweep: str) -> _Read:
        status = (folder / "runs.csv").stat()
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._read.get((folder, sweep))
        if known is None or known[0] != stamp:
            before = {} if known is None else {row.cell: row for row in known[1][1]}
            results = read_results(folder)
            kept = [
                before[row.cell] if row.cell in before and unchanged(row, before[row.cell]) else row
                for row in rows({sweep: results})
            ]
            known = stamp, (results, kept)
            self._read[folder, sweep] = known
        return known[1]


def _together(doubt: Doubt, other: Doubt) -> Doubt:
    """Of two doubts about the same cells the more urgent one, with the goals of both."""
    return replace(min(other, doubt, key=_order), goals=doubt.goals | other.goals)


def _order(doubt: Doubt) -> tuple[tuple[bool, bool], float]:
    return doubt.turn, 1.0 if doubt.worth is None else -float(doubt.worth)
