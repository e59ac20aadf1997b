"""Tables of seconds: who is fastest where, and to an accuracy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, grouped
from svmbench.bench.tables.grid import Record, starred, table_of
from svmbench.bench.tables.ratios import EVERYTHING, HELD_OUT, standings
from svmbench.bench.versus import side_by_side
from svmbench.records.measures import Asked
from svmbench.records.spelling import short
from svmbench.records.summaries import summary
from svmbench.report.numbers import interval_text, number_text
from svmbench.report.table import Table, TableCell


def problem_of(one: Record) -> tuple[str, float, float]:
    return one["set"], one["lambda"], one["accuracy"]


def fastest_entries(found: Found) -> list[Record]:
    """Every solver's fastest setting on every problem, in the order of the sets.

    Seconds of different sweeps are not compared. Of several sweeps of a problem the one counts in
    which a solver does best against the champion's own runs there. The champion is shown as it was
    beside the solver that comes first.
    """
    best: dict[Any, Record] = {}
    own: dict[Any, Record] = {}
    first: dict[Any, Record] = {}
    for one in sorted(_measured(found), key=lambda one: (one["ratio"], one["median_seconds"])):
        problem = problem_of(one)
        if one["solver"] == champion():
            own.setdefault((problem, one["sweep"]), one)
        else:
            first.setdefault(problem, one)
        best.setdefault((problem, one["solver"]), one)
    for problem, one in first.items():
        if (problem, one["sweep"]) in own:
            best[problem, champion()] = own[problem, one["sweep"]]
    sets = [part.set for part in found.parts]
    return sorted(
        best.values(), key=lambda one: (sets.index(one["set"]), -one["lambda"], -one["accuracy"])
    )


def _measured(found: Found) -> Iterator[Record]:
    """Every row of the sweeps at every accuracy, with its ratio to the champion's."""
    for part in found.parts:
        ours = {row.group.lam: row for row in part.rows if row.group.label == champion()}
        for row in part.rows:
            group, beside = row.group, ours.get(row.group.lam)
            for accuracy in part.accuracies:
                asked = Asked("seconds", accuracy)
                seconds = summary(group, asked)
                pairs = beside and side_by_side(part, beside, (row,), asked)
                ratio = pairs.estimate if pairs else math.inf
                record = {
                    "set": part.set,
                    "stand_in": group.stand_in,
                    "held_out": part.held_out,
                    "lambda": group.lam,
                    "accuracy": accuracy,
                    "solver": group.solver,
                    "label": group.label,
                    "sweep": part.part,
                    # Median of its seconds over the champion's, in pairs of this sweep.
                    "ratio": 1.0 if row is beside else math.inf if math.isnan(ratio) else ratio,
                    "median_seconds": seconds.median,
                    "seconds_low": seconds.low,
                    "seconds_high": seconds.high,
                    "reached": seconds.reached,
                    "runs": len(seconds.samples),
                    "_seconds": seconds,
                    "_written": group.written_lambda,
                }
                if seconds.samples:
                    yield record


def fastest_table(found: Found, against: Sequence[Record]) -> Table:
    """The seconds of all solvers on every problem, and who is ahead by what is `compared`."""
    records = fastest_entries(found)
    for those in grouped(records, problem_of).values():
        cost = {id(one): (one["ratio"], one["median_seconds"]) for one in those}
        least = min(cost.values())
        for one in those:
            one["_best"] = cost[id(one)] == least and one["median_seconds"] < math.inf
    standing = {problem_of(one): one["standing"] for one in against}
    said = {
        "champion ahead": champion(),
        "peer ahead": "peer",
        "no peer reached it": f"{champion()} alone reached it",
    }

    def ahead(one: Record) -> str:
        known = str(standing.get(problem_of(one), "–"))
        return said.get(known, known)

    # The champion's column is the first, those of the others follow by how often they are shown.
    counts = Counter(one["solver"] for one in records)
    order = sorted(counts, key=lambda name: (name != champion(), -counts[name], name))
    return table_of(
        "fastest",
        "Seconds of every solver",
        [(EVERYTHING, standings(against), records)],
        {
            "set": starred,
            "λ": lambda one: str(one["_written"]),
            "ε": lambda one: short(one["accuracy"]),
        },
        ("solver", str, _seconds_cell),
        {"shown ahead": ahead},
        order=order,
        notes=(
            "Median seconds to relative accuracy ε, of the setting that is fastest there. If "
            "several sweeps have a case, a solver is shown in the one in which it does best "
            "against the champion's runs of that sweep. Bold: the best, by its ratio to these in "
            "pairs; the last column says whether it is proven. "
            "Point at a number to see the setting, the interval and the ratio. –: not run there. "
            "not reached: by half of the repeats or more.",
            "Shown ahead: whom the paired runs of the champion and the fastest peer prove to be "
            f"faster; open: neither; {champion()} alone reached it: no repeat of a peer did.",
            HELD_OUT,
        ),
    )


def _seconds_cell(one: Record) -> TableCell:
    seconds = one["_seconds"]
    if math.isinf(seconds.median):
        hint = f"{one['label']}: {seconds.limit}, {one['reached']} of {one['runs']}"
        return TableCell("not reached", value=seconds.median, hint=hint)
    hint = f"{one['label']}: {interval_text(seconds.median, seconds.low, seconds.high)} s"
    if one["solver"] != champion() and math.isfinite(one["ratio"]):
        hint += f", {number_text(one['ratio'])} times the champion's in the same sweep"
    return TableCell(number_text(seconds.median), one["_best"], seconds.median, hint)
