"""The tables of a benchmark: who is fastest where, whether any peer is ahead, and by what ratios.

They are made of records, one per number: the page, Markdown and the CSV have one source. The keys
of a record are the columns of the CSV, but for those that begin with an underscore, which only the
page needs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, grouped, stand_in_text
from svmbench.bench.versus import Answered, side_by_side
from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.spelling import short
from svmbench.records.summaries import summary
from svmbench.report.numbers import format_value, interval_text, number_text
from svmbench.report.table import Row, Section, Table, TableCell

Record = dict[str, Any]

#: The records below one heading, with the facts about them.
Part = tuple[str, str, Sequence[Record]]

#: Texts of the page by their heading, each from a record.
Texts = Mapping[str, Callable[[Record], str]]

#: The key whose values have a column each, the heading of a value, and the cell of a record.
Across = tuple[str, Callable[[Any], str], Callable[[Record], TableCell]]


def table_of(
    kind: str,
    title: str,
    parts: Sequence[Part],
    left: Texts,
    across: Across,
    right: Texts = {},  # noqa: B006, never changed
    *,
    notes: tuple[str, ...] = (),
    order: Sequence[Any] | None = None,
) -> Table:
    """A table of parts, without those that have no records."""
    parts = [part for part in parts if part[2]]
    records = [
        {key: value for key, value in one.items() if not key.startswith("_")}
        for _, _, those in parts
        for one in those
    ]
    sections = tuple(_section(part, left, across, right, order) for part in parts)
    return Table(kind, title, (), (), sections, notes, pd.DataFrame(records))


def _section(
    part: Part, left: Texts, across: Across, right: Texts, order: Sequence[Any] | None
) -> Section:
    """A line for each problem and each of the texts to the left; a column for each value across."""
    (name, facts, records), (key, head, cell) = part, across
    found = dict.fromkeys(one[key] for one in records)
    values = [each for each in order if each in found] if order else sorted(found, reverse=True)
    lines: dict[tuple[Any, ...], dict[Any, Record]] = {}
    for one in records:
        alike = one["set"], one["lambda"], *(text(one) for text in left.values())
        lines.setdefault(alike, {})[one[key]] = one
    rows: list[Row] = []
    for (_, _, *texts), those in lines.items():
        first = next(iter(those.values()))
        cells = (
            *map(TableCell, texts),
            *(cell(those[each]) if each in those else TableCell("–") for each in values),
            *(TableCell(text(first)) for text in right.values()),
        )
        rows.append(Row(cells, opens=not rows))
    return Section(name, facts, (*left, *map(head, values), *right), tuple(rows), len(left))


def starred(one: Record) -> str:
    """The set, marked if it was kept out of tuning."""
    marked = heading(one["set"], one["stand_in"])
    return f"{marked}*" if one["held_out"] else marked


def lambda_text(one: Record) -> str:
    return short(one["lambda"])


def epsilon_text(accuracy: float) -> str:
    return f"ε = {short(accuracy)}"


def source_text(found: Found, label: str, group: Group) -> str:
    """What the rows of a set were when they were measured, and the set's use, in words."""
    scale = stand_in_text(group)
    spec = next(each for each in found.plan.profile.sets if each.label == label)
    return "; ".join(filter(None, [f"{label}: stand-in, {scale}" if scale else "", spec.use]))


# ---------------------------------------------------------------- ratios


_ORACLE = (
    "Oracle stop: measured against the certified optimum. In every repeat the fastest of the "
    "programs' runs counts, whatever its tolerance, as if that had been known beforehand."
)
_RATIO = (
    "Median of the paired ratios with the interval of the evidence that the verdicts rest on; "
    "above 1 the champion is faster. ≥: a lower bound; in some repeats no program reached the "
    "accuracy, and the time they had spent replaces their time."
)
HELD_OUT = "*: kept out of tuning."
EVERYTHING = "Every set, λ and accuracy"


def compared(answered: Answered) -> list[Record]:
    """Comparisons in the order of the sets, each from its largest λ down."""
    records = [
        {
            "set": one.measured.set,
            "stand_in": one.row.group.stand_in,
            "held_out": one.measured.held_out,
            "lambda": one.row.group.lam,
            "accuracy": one.accuracy,
            "champion_seconds": one.ours,
            "program_seconds": one.theirs,
            "program": one.program,
            "ratio": one.estimate,
            "ratio_low": answer.low,
            "ratio_high": answer.high,
            "pairs": one.informative,
            "lower_bound_only": answer.estimate < answer.estimate_high,
            "standing": one.standing(answer),
            "programs_run": " ".join(one.among),
            "_group": one.row.group,
        }
        for one, answer in answered
    ]
    order = list(dict.fromkeys(one["set"] for one in records))
    return sorted(records, key=lambda one: (order.index(one["set"]), -one["lambda"]))


def ahead_table(records: Sequence[Record]) -> Table:
    """The champion against the fastest peer in every case, and in how many it is behind."""
    programs: dict[tuple[str, float], dict[str, None]] = {}
    for one in records:
        run = programs.setdefault((one["set"], one["lambda"]), {})
        run.update(dict.fromkeys(one["programs_run"].split()))
    return table_of(
        "ahead",
        "Is any peer ahead?",
        [(EVERYTHING, standings(records), records)],
        {
            "set": starred,
            "λ": lambda_text,
            "programs run": lambda one: ", ".join(programs[one["set"], one["lambda"]]),
        },
        ("accuracy", epsilon_text, standing_cell),
        notes=(
            f"Seconds of the fastest program of every repeat over the champion's. {_RATIO} The "
            "program named is the fastest in the median; ✗: a program is ahead, "
            "(✗): by the estimate, but not by its whole interval. Only runs of one block, executed "
            "side by side, are paired; if several sweeps have such pairs, those in which a program "
            "does best count.",
            HELD_OUT,
            _ORACLE,
        ),
    )


def ratios_table(found: Found, records: Sequence[Record]) -> Table:
    records = sorted(records, key=lambda one: bool(one["held_out"]))
    return table_of(
        "ratio-liblinear",
        "Seconds of LIBLINEAR over the champion's",
        [
            (
                heading(label, first["stand_in"]) + " (kept out of tuning)" * first["held_out"],
                source_text(found, label, first["_group"]),
                those,
            )
            for label, those in grouped(records, lambda one: str(one["set"])).items()
            for first in those[:1]
        ],
        {"λ": lambda_text},
        ("accuracy", epsilon_text, ratio_cell),
        notes=(_RATIO, _ORACLE),
    )


def standings(records: Sequence[Record]) -> str:
    if not records:
        return ""
    counts = Counter(one["standing"] for one in records)
    said = [
        f"the champion is shown ahead in {counts['champion ahead']}",
        f"a peer is shown ahead in {counts['peer ahead']}",
    ]
    for name in ("no peer reached it", "nobody reached it"):
        if counts[name]:
            said.append(f"{name.replace('it', 'the accuracy')} in {counts[name]}")
    if counts["open"]:
        slower = sum(_is_behind(one) for one in records if one["standing"] == "open")
        said.append(
            f"neither is shown ahead in {counts['open']} (a peer is faster so far in {slower})"
        )
    cases = "case" if len(records) == 1 else "cases"
    return f"{len(records)} {cases} (a set, λ and ε): {', '.join(said)}."


def _is_behind(one: Record) -> bool:
    return bool(one["ratio"] < 1.0 and not one["lower_bound_only"])


def standing_cell(one: Record) -> TableCell:
    """A ratio with the fastest program, marked if that is ahead."""
    cell = ratio_cell(one)
    mark = "✗ " if one["standing"] == "peer ahead" else "(✗) " * _is_behind(one)
    return replace(cell, text=f"{mark}{cell.text} {one['program']}".rstrip())


def ratio_cell(one: Record) -> TableCell:
    """A ratio, or who did not reach the accuracy."""
    if math.isinf(one["champion_seconds"]):
        return TableCell("not reached" if one["program"] else "nobody reached it")
    took = one["champion_seconds"], one["program_seconds"]
    hint = f"{took[0]:.4g} s against {took[1]:.4g} s, {one['program'] or 'none'}"
    text = "≥ " * one["lower_bound_only"] + _ratio_text(one)
    return TableCell(text, value=one["ratio"], hint=hint)


def _ratio_text(one: Record) -> str:
    """A ratio, with its interval if that is bounded."""
    low, high = one["ratio_low"], one["ratio_high"]
    if not one["pairs"]:
        return "–"
    bounded = low > 0.0 and high < math.inf
    return (interval_text if bounded else format_value)(one["ratio"], low, high)


# ---------------------------------------------------------------- seconds


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
