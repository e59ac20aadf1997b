"""The tables of a report: seconds, epochs, passes to each accuracy; the objective at the stop.

A `Table` is plain text in cells, with the same numbers unrounded in `Table.records`;
svmbench.report.markup prints it as Markdown, LaTeX and CSV.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import pandas as pd

from svmbench.records.columns import SCHEMA_VERSION
from svmbench.records.groups import ROW, Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import measured, samples
from svmbench.records.states import STATES
from svmbench.records.statistics import format_value, median, median_interval, reached
from svmbench.records.summaries import Summary, limit_words, summary
from svmbench.report.notices import notices
from svmbench.report.questions import order

#: The tables that count something until each accuracy is reached, with the measure they count.
COUNTED = {"time": "seconds", "epochs": "epochs", "passes": "passes"}

#: Seconds below which the clock of a conversion has seen no work but its own.
_CONVERSION_FROM = 1e-4

#: Significant digits of a double that can be relied on, and zeros after the decimal point up to
#: which a number is written without an exponent.
_DIGITS, _MOST_ZEROS = 15, 5


@dataclass(frozen=True)
class Cell:
    """One field of a table.

    Parameters
    ----------
    text : str
    best : bool
        Printed bold.
    value : float, optional
        What the cell is sorted by where a reader can sort; +inf for what was not reached.
    hint : str
        More about it, for where there is room.
    """

    text: str
    best: bool = False
    value: float | None = None
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Parameters
    ----------
    cells : tuple of Cell
    opens : bool
        Whether a new group (a λ) begins here.
    label : str
        Of the solver; empty for a row that is not a solver's.
    """

    cells: tuple[Cell, ...]
    opens: bool = False
    label: str = ""


@dataclass(frozen=True)
class Section:
    """The part of a table that deals with one data set.

    Parameters
    ----------
    heading : str
    facts : str
        Size of the data and quality of the reference, in a line.
    columns : tuple of str
        The first ``texts`` are text, all others numbers.
    rows : tuple of Row
    texts : int
    spans : tuple of (str, int)
        Headings above the columns of numbers, each with how many of them it stands over;
        none unless they are in such groups.
    """

    heading: str
    facts: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    texts: int = 2
    spans: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Table:
    """A table, ready to be printed.

    Parameters
    ----------
    kind : str
        time, epochs or objective; or the name of a paper's table.
    title : str
    header : tuple of str
        Where and when, above the table.
    warnings : tuple of str
        What makes its numbers less trustworthy, above the table.
    sections : tuple of Section
        One a data set.
    notes : tuple of str
        How to read it, below.
    records : DataFrame
        The numbers, one row a cell or, for the objective, a row.
    """

    kind: str
    title: str
    header: tuple[str, ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    records: pd.DataFrame


#: For each data set (and whether it is a stand-in) its groups, each with its summaries.
Summarised = dict[tuple[str, bool], list[tuple[Group, list[Summary]]]]


def build_tables(results: Results) -> list[Table]:
    """Build the tables the sweep asks for.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of Table
        Only the objective's when the sweep has no accuracies to reach; without passes where the
        seconds of a pass were not measured.
    """
    return [
        _threshold_table(results, kind) if kind in COUNTED else _objective_table(results, kind)
        for kind in results.tables
        if kind == "objective" or results.thresholds
        # Runs of earlier versions have not measured it.
        if kind != "passes" or results.runs["pass_unit"].notna().all()
    ]


# ---------------------------------------------------------------- time and epochs


def summarise(results: Results, kind: str) -> Summarised:
    """What the runs say about each threshold.

    Parameters
    ----------
    results : Results
    kind : {'time', 'epochs', 'passes'}

    Returns
    -------
    dict
        By data set and whether it is a stand-in: for each group its summaries, one a
        threshold.
    """
    found: Summarised = {}
    for key, groups in results.groups.items():
        rows = [
            [summary(group, Asked(COUNTED[kind], threshold)) for threshold in results.thresholds]
            for group in groups
        ]
        found[key] = list(zip(groups, _mark_best(results, groups, rows, kind), strict=True))
    return found


def _threshold_table(results: Results, kind: str) -> Table:
    summarised = summarise(results, kind)
    unit = COUNTED[kind]
    everything = [
        (group, summary)
        for members in summarised.values()
        for group, row in members
        for summary in row
    ]
    return Table(
        kind=kind,
        title=f"{results.name}: {unit} to relative accuracy ε",
        header=header(results),
        warnings=_warnings(results, everything, kind),
        sections=tuple(
            _threshold_section(results, *key, members, kind) for key, members in summarised.items()
        ),
        notes=tuple(_threshold_notes(kind, everything)),
        records=pd.DataFrame([_threshold_record(*pair, unit) for pair in everything]),
    )


def _mark_best(
    results: Results, groups: Sequence[Group], rows: list[list[Summary]], kind: str
) -> list[list[Summary]]:
    """Mark, for each λ and threshold, the least median and those not shown to take longer."""
    marked = [list(row) for row in rows]
    shown = order(results)
    counted = "seconds" if kind == "passes" else COUNTED[kind]  # passes are seconds in a unit
    for lam in {group.lam for group in groups}:
        members = [at for at, group in enumerate(groups) if group.lam == lam]
        for column, threshold in enumerate(results.thresholds):
            asked = Asked(counted, threshold)
            finite = [at for at in members if math.isfinite(rows[at][column].median)]
            if not finite:
                continue
            least = min(finite, key=lambda at, column=column: rows[at][column].median)  # type: ignore[misc]
            slower = {at for at in members if shown.shown(groups[least], groups[at], asked)}
            for at in finite if slower else ():
                marked[at][column] = replace(rows[at][column], best=at not in slower)
    return marked


def _threshold_section(
    results: Results,
    dataset: str,
    stand_in: bool,
    members: Sequence[tuple[Group, Sequence[Summary]]],
    kind: str,
) -> Section:
    groups = [group for group, _ in members]
    unfinished = any(summary.limit for _, row in members for summary in row)
    converts = kind == "time" and any(_conversion(group) for group in groups)
    columns = ["λ", "solver", *(f"ε = {short(t)}" for t in results.thresholds)]
    columns += ["conversion s"] * converts + ["ε at stop"] * unfinished
    rows = []
    for (group, row), opens in zip(members, _opens(groups), strict=True):
        cells = [*_row_head(group, opens), *(threshold_cell(s) for s in row)]
        if converts:
            cells.append(_conversion_cell(_conversion(group)))
        if unfinished:
            cells.append(_at_stop(group) if any(s.limit for s in row) else Cell(""))
        rows.append(Row(tuple(cells), opens, group.label))
    return Section(heading(dataset, stand_in), _facts(groups), tuple(columns), tuple(rows))


def threshold_cell(summary: Summary) -> Cell:
    """The summary as a table prints it: the median and its interval, or why there is none."""
    if not summary.samples:
        return Cell(summary.limit, value=math.inf)
    partly = reached(summary.samples) if summary.limit else ""
    if math.isfinite(summary.median):
        parts = [interval_text(summary.median, summary.low, summary.high)]
    else:
        parts = [summary.limit]
    if partly and len(summary.samples) > 1:
        parts.append(partly)
    if partly and math.isfinite(summary.ert):
        parts.append(f"ERT {format_value(summary.ert, math.nan, math.nan)}")
    text = ", ".join(parts) + (" †" if summary.relapses else "")
    return Cell(text, summary.best, summary.median, _relapse_hint(summary))


def _relapse_hint(summary: Summary) -> str:
    if not summary.relapses:
        return ""
    above = format_value(summary.last_above_seconds, math.nan, math.nan)
    return (
        f"{summary.relapses} of {len(summary.samples)} runs were above ε again later, "
        f"last after {above} s (median)"
    )


def _conversion(group: Group) -> float:
    """Seconds that a peer took to bring the rows into its own format; 0 for no such work."""
    seconds = group.middle("conversion_seconds")
    return seconds if seconds >= _CONVERSION_FROM else 0.0


def _conversion_cell(seconds: float) -> Cell:
    return Cell(format_value(seconds, math.nan, math.nan) if seconds else "–", value=seconds)


def interval_text(value: float, low: float, high: float) -> str:
    """``1.23 [1.20, 1.31]``; the value alone when the interval has no width to speak of."""
    if low == high:
        return format_value(value, math.nan, math.nan)
    middle, *ends = (format_value(number, low, high) for number in (value, low, high))
    if ends == [middle, middle]:
        return middle
    return f"{middle} [{ends[0]}, {ends[1]}{']' if math.isfinite(high) else ')'}"


def _threshold_record(group: Group, summary: Summary, unit: str) -> dict[str, Any]:
    record = _record_head(group) | {
        "accuracy": summary.threshold,
        f"median_{unit}": finite(summary.median),
        f"low_{unit}": finite(summary.low),
        f"high_{unit}": finite(summary.high),
        "interval_coverage": summary.coverage,
        "reached": sum(map(math.isfinite, summary.samples)),
        "runs": len(summary.samples),
        f"ert_{unit}": finite(summary.ert),
        f"at_least_{unit}": summary.at_least,
        "limit": summary.limit.replace("≥ ", ""),
        "best": summary.best,
        "relapsed_runs": summary.relapses,
        "last_above_seconds": summary.last_above_seconds,
        "final_accuracy": group.middle("accuracy"),
        "conversion_seconds": group.middle("conversion_seconds"),
        "horizons": group.runs["horizon"].nunique() or None,
    }
    return record | state_counts(group)


def _threshold_notes(kind: str, everything: Sequence[tuple[Group, Summary]]) -> Iterator[str]:
    yield (
        "ε is (P(w) − D_ref)/D_ref with a certified lower bound D_ref on the optimum. The harness "
        "sees it, the solver does not: the stop is an oracle's, the same for every solver."
    )
    if kind == "time":
        yield (
            "Seconds of training, set-up included; evaluation, reading and writing excluded. "
            "First checkpoint at or below ε; checkpoints lie at most 10 % of the presentations "
            "apart, or one step for methods with longer steps."
        )
    elif kind == "passes":
        yield (
            "A pass is the time in which the rows' arrays are read once and in order, on the same "
            "machine: the seconds of training, set-up included, over the median over all runs on "
            "the data of what one such pass took before each. Methods keep their distances from it "
            "on other machines better than their seconds."
        )
    else:
        yield (
            "An epoch is m presentations of a row. First checkpoint at or below ε; checkpoints lie "
            "at most 10 % apart, or one step for methods with longer steps."
        )
    yield from interval_notes({len(each.samples): each.coverage for _, each in everything})
    yield (
        "Bold: the least median of its λ and ε, and every other that was not shown to take "
        "longer; none where no label was."
    )
    if any(summary.limit for _, summary in everything):
        yield (
            "A run that does not arrive counts as +∞ in the median. ≥ T: the median was not "
            "reached when the limit T of the sweep (seconds or epochs) ended the runs; it is no "
            "measurement of T. k of n: runs that arrived. ERT: expected time of restarting until "
            "one arrives, over the runs that were made. ε at stop: median accuracy at the last "
            "checkpoint."
        )
    if any(summary.relapses for _, summary in everything):
        yield (
            "†: some runs were above ε again after they had first reached it; "
            "last_above_seconds in the CSV file is when they last were (median)."
        )
    if kind == "time" and any(_conversion(group) for group, _ in everything):
        yield (
            "conversion s: bringing the rows into the format of a program from outside, before "
            "the clock starts (median); –: the solver reads the rows as they are."
        )
    yield from _horizon_notes(
        dict.fromkeys(group.label for group, _ in everything if group.separate_runs)
    )
    if any(state == "skipped" for group, _ in everything for state in group.runs["state"]):
        yield (
            "Repeats are not made once a repeat of the same cell ran into the time limit; they "
            "count among the n as not reached."
        )


def _horizon_notes(labels: Iterable[str]) -> Iterator[str]:
    """How to read solvers that are run once for each horizon, if there are any."""
    if named := ", ".join(labels):
        yield (
            f"{named}: the steps depend on where the run is to end, so that each repeat is several "
            "runs, each measured at its end only. A repeat's value is the least over its runs, as "
            "if the best horizon were known; the search for it is not in the number. A repeat that "
            "does not arrive has spent what its longest run took."
        )


def interval_notes(coverages: Mapping[int, float]) -> Iterator[str]:
    """How to read medians; ``coverages`` of their intervals by the number of runs."""
    if set(coverages) == {1}:
        yield "Single runs: there is no interval, and no evidence of a difference."
        return
    described = ", ".join(
        f"{100 * coverage:.1f} % for {runs} runs"
        for runs, coverage in sorted(coverages.items())
        if runs > 1
    )
    yield (
        "Median over the repeats, with [the interval] of two order statistics that needs no "
        f"assumption on the distribution; its coverage is {described}. A number without brackets "
        "is a single run's, or all runs agree to its last digit."
    )


# ---------------------------------------------------------------- objective


def _objective_table(results: Results, kind: str) -> Table:
    grouped = results.groups
    rows = [group for groups in grouped.values() for group in groups]
    return Table(
        kind=kind,
        title=f"{results.name}: objective at the stop",
        header=header(results),
        warnings=_warnings(results, (), kind),
        sections=tuple(_objective_section(*key, groups) for key, groups in grouped.items()),
        notes=tuple(_objective_notes(rows)),
        records=pd.DataFrame([_objective_record(group) for group in rows]),
    )


def _objective_section(dataset: str, stand_in: bool, groups: Sequence[Group]) -> Section:
    tested = any(not math.isnan(group.middle("test_error")) for group in groups)
    certified = any(not math.isnan(group.middle("gap")) for group in groups)
    columns = ["λ", "solver", "P(w)", "ε", "train error %"]
    columns += ["test error %"] * tested + ["own gap"] * certified + ["ended"]
    rows = []
    for group, opens in zip(groups, _opens(groups), strict=True):
        if opens:
            rows.append(Row(_reference_cells(group, len(columns)), opens=True))
        cells = [*_row_head(group, opens=False), _primal_cell(group)]
        columns_there = ("accuracy", "train_error", *["test_error"] * tested, *["gap"] * certified)
        cells += [_end_cell(group, name) for name in columns_there]
        cells.append(Cell(_ended(group)))
        rows.append(Row(tuple(cells), label=group.label))
    return Section(heading(dataset, stand_in), _facts(groups), tuple(columns), tuple(rows))


def _reference_cells(group: Group, width: int) -> tuple[Cell, ...]:
    """The row that opens a λ: the certified interval of its optimum."""
    dual, primal = group.middle("reference_dual"), group.middle("reference_primal")
    head = (Cell(group.written_lambda), Cell("P* (certified)"))
    known = Cell(f"≥ {dual:.9g}" if math.isnan(primal) else _enclosure(dual, primal))
    gap = group.middle("reference_gap")
    filled = (*head, known, Cell("" if math.isnan(gap) else f"≤ {_rounded_up(gap)}"))
    return (*filled, *[Cell("")] * (width - len(filled)))


def _enclosure(low: float, high: float) -> str:
    """An interval whose ends are rounded outwards, so that it still holds what it held."""
    lower, upper = Decimal(low), Decimal(high)
    leading = max((end.adjusted() for end in (lower, upper) if end), default=0)
    width = upper - lower
    wanted = 1 - width.adjusted() if width else _DIGITS - 1 - leading
    last = Decimal(1).scaleb(-min(max(wanted, 3 - leading), _DIGITS - leading))
    ends = lower.quantize(last, ROUND_FLOOR), upper.quantize(last, ROUND_CEILING)
    form = "f" if _is_readable(leading) else "e"
    return f"[{', '.join(f'{end:{form}}' if end else '0' for end in ends)}]"


def _rounded_up(bound: float) -> str:
    """An upper bound with two digits."""
    if bound <= 0:
        return "0"
    exponent = math.floor(math.log10(bound))
    return short(float(Decimal(bound).quantize(Decimal(1).scaleb(exponent - 1), ROUND_CEILING)), 2)


def _primal_cell(group: Group) -> Cell:
    asked = Asked("primal")
    found = samples(group, asked)
    if not found:
        return Cell("–")
    if fault := fault_words(group, asked):
        return Cell(fault, value=math.inf)
    middle, repeats, known = (
        median(list(found.values())),
        len(group.repeats),
        len(measured(group, asked)),
    )
    text = digits_apart(middle, group.middle("reference_dual"))
    if known < repeats:
        text += f", {known} of {repeats}"
    return Cell(text, value=middle)


def fault_words(group: Group, asked: Asked) -> str:
    """What most repeats ended in where their median stands for a failure; else empty.

    Parameters
    ----------
    group : Group
    asked : Asked
        A measure that is not taken to an accuracy.
    """
    found, known = samples(group, asked), measured(group, asked)
    failed = [repeat for repeat in found if repeat not in known]
    decided = failed and (2 * len(failed) > len(found) or math.isinf(median([*found.values()])))
    return limit_words(group, failed) if decided else ""


def digits_apart(value: float, other: float) -> str:
    """A number with digits enough to show two of its difference from another one."""
    leading = math.floor(math.log10(abs(value))) if value else 0
    difference = abs(value - other)
    wanted = 1 - math.floor(math.log10(difference)) if difference > 0 else _DIGITS
    places = min(max(wanted, 3 - leading), _DIGITS - leading)
    if _is_readable(leading):
        return f"{value:.{max(places, 0)}f}"
    return f"{value:.{places + leading}e}"


def _is_readable(leading: int) -> bool:
    """Whether a number whose first digit stands for that power of ten is, without an exponent."""
    return -_MOST_ZEROS <= leading <= _DIGITS


def _end_cell(group: Group, name: str) -> Cell:
    """A number of the last checkpoint: its median and interval, in the unit of its heading."""
    asked = Asked(name)
    values = [asked.measure.scale * value for value in samples(group, asked).values()]
    if not values:
        return Cell("–")
    middle = median(values)
    if fault := fault_words(group, asked):
        return Cell(fault, value=middle)
    return Cell(interval_text(middle, *median_interval(values)[:2]), value=middle)


def _at_stop(group: Group) -> Cell:
    values = list(samples(group, Asked("accuracy")).values())
    if not values:
        return Cell("–")
    return Cell(format_value(median(values), math.nan, math.nan), value=median(values))


def _ended(group: Group) -> str:
    counts = Counter(group.runs["state"])
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counts.most_common())


#: Measures of the objective's table, with what their columns in its CSV file begin with.
_OBJECTIVE_COLUMNS = {
    "primal": "primal",
    "accuracy": "accuracy",
    "train_error": "train_error",
    "test_error": "test_error",
    "gap": "own_gap",
}


def _objective_record(group: Group) -> dict[str, Any]:
    record = _record_head(group) | {
        "reference_dual": group.middle("reference_dual"),
        "reference_primal": group.middle("reference_primal"),
        "reference_gap": group.middle("reference_gap"),
    }
    for name, column in _OBJECTIVE_COLUMNS.items():
        values = list(samples(group, Asked(name)).values())
        low, high, coverage = median_interval(values) if values else (math.nan,) * 3
        record |= {
            f"{column}_median": finite(median(values)) if values else math.nan,
            f"{column}_low": finite(low),
            f"{column}_high": finite(high),
            f"{column}_interval_coverage": coverage,
            f"{column}_runs": len(values),
        }
    return record | {"runs": len(group.repeats)} | state_counts(group)


def _objective_notes(groups: Sequence[Group]) -> Iterator[str]:
    yield (
        "Medians over the repeats at the last checkpoint of each run, with [the interval] of two "
        "order statistics. P(w) has digits enough to show where it differs from the certified "
        "lower bound D_ref; ε is (P(w) − D_ref)/D_ref."
    )
    yield "P* lies in [D_ref, P_ref]; the ε beside it is the relative gap of the two."
    if any(not math.isnan(group.middle("gap")) for group in groups):
        yield (
            "own gap: (P − D)/D with the solver's own dual value D, for solvers that have one; "
            "–: it has none, or D ≤ 0."
        )
    ends = dict.fromkeys(state for group in groups for state in group.repeats["state"])
    if worst := [STATES[state].words for state in ends if STATES[state].at_end == "worst"]:
        yield (
            f"A run that ended as {' or '.join(worst)} counts as +∞ in the medians of P and ε, and "
            "as an error on every row."
        )
    if any(_objective_short(group) for group in groups):
        yield "k of n: runs that have an objective at all."
    if named := ", ".join(dict.fromkeys(group.label for group in groups if group.separate_runs)):
        yield (
            f"{named}: each repeat is several runs, one for each horizon; its row shows the most "
            "accurate of them."
        )


def _objective_short(group: Group) -> bool:
    return 0 < len(measured(group, Asked("primal"))) < len(group.repeats)


# ---------------------------------------------------------------- common to all


def _opens(groups: Sequence[Group]) -> list[bool]:
    return [at == 0 or group.lam != groups[at - 1].lam for at, group in enumerate(groups)]


def _row_head(group: Group, opens: bool) -> tuple[Cell, Cell]:
    return Cell(group.written_lambda if opens else ""), Cell(group.label)


def _warnings(
    results: Results, everything: Iterable[tuple[Group, Summary]], kind: str
) -> tuple[str, ...]:
    found = notices(results, [summary.samples for _, summary in everything])
    return tuple(
        notice.text for notice in found if kind in ("time", "passes") or not notice.of_time
    )


def _record_head(group: Group) -> dict[str, Any]:
    first = group.runs.iloc[0]
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset": group.dataset,
        "stand_in": group.stand_in,
        "solver": group.solver,
        "label": group.label,
        "loss": first["loss"],
        "lambda": group.lam,
        "C": first["C"],
        "threads": int(threads) if not math.isnan(threads := first["threads"]) else None,
    }


def state_counts(group: Group) -> dict[str, str]:
    """``converged:5 time_limit:2``, for the machine-readable tables."""
    counts = Counter(group.runs["state"])
    return {"states": " ".join(f"{state}:{counts[state]}" for state in sorted(counts))}


def finite(value: float) -> float:
    """Infinity is never written to a file: the field is empty."""
    return value if math.isfinite(value) else math.nan


def _facts(groups: Sequence[Group]) -> str:
    first = groups[0].runs.iloc[0]
    gaps = [gap for group in groups if not math.isnan(gap := group.middle("reference_gap"))]
    parts = [
        f"m = {first['m']:,.0f}",
        f"d = {first['d']:,.0f}",
        f"nonzeros = {first['nnz']:,.0f}",
        f"{first['loss']} loss",
    ]
    if gaps:
        parts.append(f"relative gap of the references ≤ {_rounded_up(max(gaps))}")
    if any(group.middle("reference_dual") <= 0 for group in groups):
        parts.append("D_ref = 0 for some λ: accuracy there is absolute")
    return ", ".join(parts)


def header(results: Results) -> tuple[str, ...]:
    """Where, when and how often, in two lines at most."""
    return tuple(filter(None, (_provenance(results), _repeats(results))))


def _provenance(results: Results) -> str:
    environment = results.environment
    cpu = environment.get("cpu")
    if isinstance(cpu, dict):
        cpu = cpu.get("model") or cpu.get("name")
    date = str(environment.get("recorded") or environment.get("date") or "")[:10]
    version = environment.get("svmbench")
    parts = [
        str(cpu) if cpu else "",
        _threads(results),
        date,
        f"svmbench {version}" if version else "",
    ]
    return ", ".join(filter(None, parts))


def _threads(results: Results) -> str:
    counts = sorted({int(count) for count in results.runs["threads"].dropna()})
    if not counts:
        return ""
    return f"{' or '.join(map(str, counts))} thread{'' if counts == [1] else 's'}"


def _repeats(results: Results) -> str:
    """How many repeats there are: cells with open questions may have more than the others."""
    counts = results.runs.groupby(list(ROW))["repeat"].nunique()
    least, most = int(counts.min()), int(counts.max())
    if least < most:
        return f"{least} to {most} repeats of each run"
    return f"{most} repeat{'' if most == 1 else 's'} of each run"
