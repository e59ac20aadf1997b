"""The table of who is fastest where: every solver's seconds on every problem."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, grouped
from svmbench.bench.tables.columns import KeyedColumns, TableColumn, TablePart, TableSpec
from svmbench.bench.tables.ratios import against_fastest, standings
from svmbench.bench.versus import Standing, side_by_side
from svmbench.records.groups import heading
from svmbench.records.measures import Asked
from svmbench.records.spelling import short
from svmbench.records.summaries import Summary, summary
from svmbench.report.numbers import interval_text, number_text
from svmbench.report.overall import ProblemCosts
from svmbench.report.table import Table, TableCell

_Problem = tuple[str, float, float]  # set, λ, accuracy

#: What the last column says.
_AHEAD: Mapping[Standing, str] = {
    "champion ahead": champion(),
    "peer ahead": "peer",
    "open": "open",
    "no peer reached it": f"{champion()} alone reached it",
    "nobody reached it": "nobody reached it",
}


@dataclass(frozen=True)
class FastestEntry:
    """A solver on one problem of the oracle's sweeps."""

    set: str
    stand_in: bool
    held_out: bool
    lam: float
    written_lambda: str
    accuracy: float
    solver: str  # solver, label: the label is that of its fastest setting
    label: str
    sweep: str
    seconds: Summary
    # median of its seconds over the champion's, in pairs of this sweep; +inf without pairs
    ratio: float

    @property
    def problem(self) -> _Problem:
        """Set, λ and accuracy."""
        return self.set, self.lam, self.accuracy


def fastest_entries(found: Found) -> list[FastestEntry]:
    """Every solver's fastest setting on every problem, in the order of the sets.

    Seconds of different sweeps are not compared. Of several sweeps of a problem the one counts in
    which a solver does best against the champion's own runs there. The champion is shown as it was
    beside the solver that comes first.
    """
    best: dict[tuple[_Problem, str], FastestEntry] = {}
    own: dict[tuple[_Problem, str], FastestEntry] = {}
    first: dict[_Problem, FastestEntry] = {}
    for one in sorted(_measured(found), key=lambda one: (one.ratio, one.seconds.median)):
        if one.solver == champion():
            own.setdefault((one.problem, one.sweep), one)
        else:
            first.setdefault(one.problem, one)
        best.setdefault((one.problem, one.solver), one)
    for problem, one in first.items():
        if (problem, one.sweep) in own:
            best[problem, champion()] = own[problem, one.sweep]
    sets = [part.set for part in found.of_kind("oracle")]
    return sorted(best.values(), key=lambda one: (sets.index(one.set), -one.lam, -one.accuracy))


def _measured(found: Found) -> Iterator[FastestEntry]:
    """Every row of the oracle's sweeps at every accuracy, with its ratio to the champion's."""
    for part in found.of_kind("oracle"):
        ours = {row.group.lam: row for row in part.rows if row.group.label == champion()}
        for row in part.rows:
            group = row.group
            for accuracy in part.accuracies:
                asked = Asked("seconds", accuracy)
                seconds = summary(group, asked)
                if not seconds.samples:
                    continue
                beside = ours.get(group.lam)
                found_pairs = beside and side_by_side(part, beside, (row,), part.asked(accuracy))
                ratio = found_pairs[0].estimate if found_pairs else math.inf
                yield FastestEntry(
                    part.set,
                    group.stand_in,
                    part.held_out,
                    group.lam,
                    group.written_lambda,
                    accuracy,
                    group.solver,
                    group.label,
                    part.part,
                    seconds,
                    1.0 if row is beside else math.inf if math.isnan(ratio) else ratio,
                )


def relative_costs(found: Found) -> list[ProblemCosts]:
    """Each problem once, with the times of the solvers in units of the champion's.

    The times are those of `fastest_entries`, so a problem that several sweeps pose counts once.
    """
    return [
        ProblemCosts(those[0].stand_in, costs, {})
        for those in grouped(fastest_entries(found), lambda one: one.problem).values()
        if len(costs := dict(_compared_costs(those))) >= 2
    ]


def _compared_costs(those: Iterable[FastestEntry]) -> Iterator[tuple[str, float]]:
    for one in those:
        if math.isinf(one.seconds.median):
            yield one.solver, math.inf
        elif math.isfinite(one.ratio):  # it has pairs with the champion
            yield one.solver, one.ratio


_COLUMNS: tuple[TableColumn[FastestEntry], ...] = (
    TableColumn("set", "", lambda one: one.set),
    TableColumn("", "set", lambda one: heading(one.set, one.stand_in) + "*" * one.held_out),
    TableColumn("stand_in", "", lambda one: one.stand_in),
    TableColumn("held_out", "", lambda one: one.held_out),
    TableColumn("lambda", "", lambda one: one.lam),
    TableColumn("", "λ", lambda one: one.written_lambda),
    TableColumn("accuracy", "ε", lambda one: one.accuracy, short),
    TableColumn("solver", "", lambda one: one.solver),
    TableColumn("label", "", lambda one: one.label),
    TableColumn("sweep", "", lambda one: one.sweep),
    TableColumn("ratio", "", lambda one: one.ratio),
    TableColumn("median_seconds", "", lambda one: one.seconds.median),
    TableColumn("seconds_low", "", lambda one: one.seconds.low),
    TableColumn("seconds_high", "", lambda one: one.seconds.high),
)

#: How to read the table.
_NOTES = (
    "Median seconds to relative accuracy ε, of the setting that is fastest there. If "
    "several sweeps have a case, a solver is shown in the one in which it does best "
    "against the champion's runs of that sweep. Bold: the best, by its ratio to these in pairs; "
    "the last column says whether it is proven. "
    "Point at a number to see the setting, the interval and the ratio. –: not run there. "
    "not reached: by half of the repeats or more.",
    "Shown ahead: whom the paired runs of the champion and the fastest peer prove to be "
    f"faster; open: neither; {champion()} alone reached it: no repeat of a peer did.",
    "*: kept out of tuning.",
)


def fastest_table(found: Found, threshold: float) -> Table:
    """The seconds of all solvers on every problem, and who is shown to be ahead."""
    everything = fastest_entries(found)
    least = {
        problem: min(one.ratio for one in those)
        for problem, those in grouped(everything, lambda one: one.problem).items()
    }
    compared = against_fastest(found)
    ahead = {(v.set, v.lam, v.accuracy): _AHEAD[v.standing(threshold)] for v in compared}
    # The champion's column is the first, those of the others follow by how often they are shown.
    counts = Counter(one.solver for one in everything)
    order = sorted(counts, key=lambda name: (name != champion(), -counts[name], name))
    grid: TableSpec[FastestEntry] = TableSpec(
        "fastest",
        "Seconds of every solver",
        _COLUMNS,
        KeyedColumns(
            lambda one: order.index(one.solver),
            lambda at: order[at],
            lambda one: _cell(one, least[one.problem]),
            lambda one: one.problem,
            descending=False,
        ),
        after=(TableColumn("", "shown ahead", lambda one: ahead.get(one.problem, "–")),),
        texts=3,
        notes=_NOTES,
    )
    by_solver = sorted(everything, key=lambda one: order.index(one.solver))
    by_place = {one.problem: at for at, one in enumerate(everything)}
    rows = sorted(by_solver, key=lambda one: by_place[one.problem])
    said = standings(compared, threshold)
    return grid.table([TablePart("Every set, λ and accuracy", said, rows)])


def _cell(one: FastestEntry, least: float) -> TableCell:
    median, low, high = one.seconds.median, one.seconds.low, one.seconds.high
    if math.isinf(median):
        reached, made = sum(map(math.isfinite, one.seconds.samples)), len(one.seconds.samples)
        hint = f"{one.label}: {one.seconds.limit}, {reached} of {made}"
        return TableCell("not reached", value=median, hint=hint)
    hint = f"{one.label}: {interval_text(median, low, high)} s"
    if one.solver != champion() and math.isfinite(one.ratio):
        hint += f", {number_text(one.ratio)} times the champion's in the same sweep"
    return TableCell(
        number_text(median), best=one.ratio == least < math.inf, value=median, hint=hint
    )
