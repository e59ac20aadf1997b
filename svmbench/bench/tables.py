"""The tables of a benchmark, of what was found and of how far it is from what is aimed at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from svmbench.bench import found as findings
from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Swept, Versus
from svmbench.bench.targets import Finding, Target
from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.samples import samples
from svmbench.records.statistics import Ratio, format_value, median, median_interval
from svmbench.report.overall import Share
from svmbench.report.tables import Cell, Row, Section, Table
from svmbench.solvers.registry import find_solver

#: Columns of a table of findings.
_BOUNDS = ("bound", "where", "aimed at", "measured", "interval", "verdict", "note")

#: Programs that a ratio is taken to: LIBLINEAR as shipped, and with its limit lifted.
LIBLINEAR = ("liblinear", "linear-svc")


def build_tables(found: Found, judged: Sequence[Finding], shares: Sequence[Share]) -> list[Table]:
    """The bounds, and every other table of which there is something to show."""
    tables = [
        _ahead(found),
        _bounds(judged),
        _ratios(found, "ratio-liblinear", "Seconds of LIBLINEAR over the champion's", LIBLINEAR),
        _seconds(found),
        _self_stopped(found),
        _ablation(found),
        _epochs(found),
        _texts(found),
        _reading(found),
        _growth(found),
        _physics(found),
        _best(shares),
    ]
    return [table for table in tables if table.sections]


def _table(
    kind: str,
    title: str,
    sections: Sequence[Section],
    records: Sequence[dict[str, Any]],
    notes: Sequence[str] = (),
) -> Table:
    kept = tuple(section for section in sections if section.rows)
    return Table(kind, title, (), (), kept, tuple(notes), pd.DataFrame(list(records)))


def _section(
    title: str,
    facts: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Cell]],
    texts: int = 1,
) -> Section:
    cells = [
        tuple(field if isinstance(field, Cell) else Cell(field) for field in row) for row in rows
    ]
    return Section(
        title, facts, tuple(columns), tuple(Row(row, opens=not at) for at, row in enumerate(cells)),
        texts,
    )  # fmt: skip


# ---------------------------------------------------------------- bounds


def _bounds(judged: Sequence[Finding]) -> Table:
    tuned = [one for one in judged if not one.held_out]
    fresh = [one for one in judged if one.held_out]
    sections = [
        _section("Bounds", "", _BOUNDS, [_bound_row(one) for one in tuned], len(_BOUNDS)),
        _section(
            "Bounds on data kept out of tuning",
            "",
            _BOUNDS,
            [_bound_row(one) for one in fresh],
            len(_BOUNDS),
        ),
    ]
    records = [
        {
            "bound": one.target.text,
            "kind": one.target.kind,
            "where": one.place,
            "aimed_at": one.target.aim,
            "measured": one.measured,
            "interval_low": one.low,
            "interval_high": one.high,
            "verdict": one.verdict,
            "beyond_doubt": one.sure,
            "short_by_factor": one.short_by,
            "held_out": one.held_out,
            "note": one.note,
            "tried": one.tried,
        }
        for one in judged
    ]
    notes = (
        "Reached or not by the estimate; “in doubt” where its interval lies on both sides.",
        "Intervals: of a ratio Student's of the paired log-ratios, 95 %; of an epoch "
        "the distribution-free one of the median. Of few repeats they are wide.",
    )
    return _table("bounds", "What is aimed at, and what was found", sections, records, notes)


def _bound_row(one: Finding) -> tuple[str, ...]:
    return (
        one.target.text,
        one.place or "–",
        aimed_text(one.target),
        "–" if math.isnan(one.measured) else format_value(one.measured, one.low, one.high),
        _interval(one.low, one.high),
        _verdict(one),
        one.note,
    )


def aimed_text(target: Target) -> str:
    """A bound with its unit."""
    return f"{target.aim}{_UNITS[target.kind]}"


def measured_text(one: Finding) -> str:
    """What was measured with its unit, its interval and by how much it misses the bound."""
    if not one.measured > 0:
        return one.note or one.verdict
    text = f"{format_value(one.measured, one.low, one.high)}{_UNITS[one.target.kind]}"
    said = [" ".join(filter(None, [text, _interval(one.low, one.high).replace("–", "")]))]
    if one.verdict == "not reached":
        said.append(f"missed by a factor of {one.short_by:.3g}")
    if not one.sure:
        said.append("in doubt")
    return ", ".join(said) + (f" ({one.note})" if one.note else "")


_UNITS = {
    "ratio": "×",
    "ahead": "×",
    "epoch": " ns",
    "epoch-ratio": "×",
    "reading": "×",
    "text": "×",
    "growth": "×",
    "memory": "×",
}


def _verdict(one: Finding) -> str:
    if one.verdict in ("undecided", "not measured"):
        return one.verdict
    doubt = "" if one.sure else ", in doubt"
    if one.verdict == "reached":
        return f"reached{doubt}"
    by = f" by a factor of {one.short_by:.3g}" if one.measured > 0 else ""
    return f"not reached{by}{doubt}"


def _interval(low: float, high: float) -> str:
    if math.isnan(low) or low == high or (low, high) == (0.0, math.inf):
        return "–"
    return f"[{format_value(low, low, high)}, {format_value(high, low, high)}]"


# ---------------------------------------------------------------- seconds


def _ratios(found: Found, kind: str, title: str, than: Sequence[str] | None) -> Table:
    compared = findings.versus(found, than)
    sections = []
    for apart, name in ((False, ""), (True, " (kept out of tuning)")):
        members = [one for one in compared if one.held_out == apart]
        for label in dict.fromkeys(one.set for one in members):
            of_set = [one for one in members if one.set == label]
            thresholds = sorted({one.threshold for one in of_set}, reverse=True)
            rows: list[tuple[str | Cell, ...]] = [
                (
                    short(lam),
                    *(_ratio_cell(of_set, lam, threshold) for threshold in thresholds),
                )
                for lam in sorted({one.lam for one in of_set}, reverse=True)
            ]
            title_of = heading(label, of_set[0].stand_in) + name
            columns = ("λ", *(f"ε = {short(t)}" for t in thresholds))
            sections.append(_section(title_of, _source(found, label), columns, rows))
    notes = (
        "Geometric mean of the paired ratios with its 95 % interval; above 1 the champion is the "
        "faster. ≥: no program arrived, and what they had spent stands for their time.",
        _ORACLE,
    )
    return _table(kind, title, sections, [_versus_record(one) for one in compared], notes)


_ORACLE = (
    "Oracle stop: held against the certified optimum. In every repeat the fastest of the "
    "programs' runs counts, whatever its tolerance, as if that had been known beforehand."
)


def _versus_record(one: Versus) -> dict[str, Any]:
    return {
        "set": one.set,
        "stand_in": one.stand_in,
        "held_out": one.held_out,
        "lambda": one.lam,
        "accuracy": one.threshold,
        "champion_seconds": one.ours,
        "program_seconds": one.theirs,
        "program": one.program,
        "ratio": one.ratio.estimate,
        "ratio_low": one.ratio.low,
        "ratio_high": one.ratio.high,
        "pairs": one.ratio.pairs,
        "lower_bound_only": one.at_least,
        "standing": one.standing,
        "beyond_doubt": one.sure,
        "programs_run": " ".join(one.among),
    }


def _ahead(found: Found) -> Table:
    """The champion beside the fastest peer in every cell, and how many of them it is behind in."""
    compared = findings.versus(found)
    thresholds = sorted({one.threshold for one in compared}, reverse=True)
    rows: list[tuple[str | Cell, ...]] = []
    for label in dict.fromkeys(one.set for one in compared):
        of_set = [one for one in compared if one.set == label]
        name = heading(label, of_set[0].stand_in) + ("*" if of_set[0].held_out else "")
        for lam in sorted({one.lam for one in of_set}, reverse=True):
            among = dict.fromkeys(p for one in of_set if one.lam == lam for p in one.among)
            cells = (_standing_cell(of_set, lam, threshold) for threshold in thresholds)
            rows.append((name, short(lam), ", ".join(among), *cells))
    columns = ("set", "λ", "programs run", *(f"ε = {short(t)}" for t in thresholds))
    notes = (
        "Seconds of the fastest program of every repeat over the champion's, geometric mean of "
        "the pairs with its 95 % interval, and the program that is fastest in the median; "
        "✗: a program is ahead, (✗): by the estimate, but not by its whole interval; ≥: none "
        "arrived, and what they had spent stands for their time; ∞: none arrived in some of the "
        "repeats. Only runs of one block, made side by side, are paired; where several sweeps "
        "have such pairs, those count in which a program does best.",
        "*: kept out of tuning.",
        _ORACLE,
    )
    section = _section("Every set, λ and accuracy", standings(compared), columns, rows, texts=3)
    records = [_versus_record(one) for one in compared]
    return _table("ahead", "Is any peer ahead?", [section], records, notes)


def standings(compared: Sequence[Versus]) -> str:
    """In how many cells who is ahead, in words."""
    if not compared:
        return ""
    counts = Counter(one.standing for one in compared)
    sure = sum(one.sure for one in compared if one.standing == "peer ahead")
    said = [
        f"Of {len(compared)} cells (set, λ, ε) a peer is ahead in {counts['peer ahead']}"
        + (f", in {sure} of them by the whole interval" if counts["peer ahead"] else ""),
        f"the champion is ahead in {counts['champion ahead']}",
        f"no peer arrived in {counts['no peer arrived']}",
    ]
    if counts["nobody arrived"]:
        said.append(f"nobody arrived in {counts['nobody arrived']}")
    return "; ".join(said)


def _standing_cell(compared: Sequence[Versus], lam: float, threshold: float) -> Cell:
    cell = _ratio_cell(compared, lam, threshold)
    for one in compared:
        if one.lam == lam and one.threshold == threshold:
            mark = {True: "✗ ", False: "(✗) "}[one.sure] if one.standing == "peer ahead" else ""
            name = f" {one.program}" if one.program else ""
            return replace(cell, text=f"{mark}{cell.text}{name}")
    return cell


def _source(found: Found, label: str) -> str:
    """What a set's rows are, in words."""
    source = found.plan.sources.get(label)
    spec = next(each for each in found.plan.profile.sets if each.label == label)
    words = [source.words if source is not None else ""]
    if spec.tuned:
        words.append("choices of our solvers were made on it")
    if spec.held_out:
        words.append("kept out of tuning")
    return "; ".join(filter(None, words))


def _ratio_cell(compared: Sequence[Versus], lam: float, threshold: float) -> Cell:
    for one in compared:
        if one.lam == lam and one.threshold == threshold:
            ratio = one.ratio
            if math.isinf(one.ours):
                return Cell("did not arrive" if one.theirs < math.inf else "nobody arrived")
            text = f"{'≥ ' if one.at_least else ''}{ratio_text(ratio)}"
            hint = f"{one.ours:.4g} s against {one.theirs:.4g} s, {one.program or 'none'}"
            return Cell(text, value=ratio.estimate, hint=hint)
    return Cell("–")


def ratio_text(ratio: Ratio) -> str:
    """A ratio with its interval, where there is one."""
    if math.isnan(ratio.estimate):
        return "–"
    text = format_value(ratio.estimate, ratio.low, ratio.high)
    if ratio.pairs < 2 or not math.isfinite(ratio.high) or ratio.low == ratio.high:
        return text
    low, high = ratio.low, ratio.high
    return f"{text} [{format_value(low, low, high)}, {format_value(high, low, high)}]"


def _seconds(found: Found) -> Table:
    """Median oracle seconds of every row, and the virtual best."""
    sections, records = [], []
    for swept in found.of_kind("oracle"):
        thresholds = swept.results.thresholds
        rows: list[tuple[str, ...]] = []
        groups = swept.groups()
        for lam in dict.fromkeys(group.lam for group in groups):
            members = [group for group in groups if group.lam == lam]
            middles = {g.label: [_middle(g, t) for t in thresholds] for g in members}
            best = [min(values) for values in zip(*middles.values(), strict=True)]
            for group in members:
                rows.append((short(lam), group.label, *map(_seconds_text, middles[group.label])))
                records += [
                    _second_record(swept, group, threshold, value)
                    for threshold, value in zip(thresholds, middles[group.label], strict=True)
                ]
            rows.append((short(lam), "virtual best", *map(_seconds_text, best)))
        columns = ("λ", "solver", *(f"ε = {short(t)}" for t in thresholds))
        name = f"{heading(swept.spec.label, groups[0].stand_in)}, {swept.part}"
        facts = "; ".join(filter(None, [_facts(groups[0]), _source(found, swept.spec.label)]))
        sections.append(_section(name, facts, columns, rows, texts=2))
    notes = (
        "Median seconds until the primal is within ε of the certified optimum (oracle stop); "
        "∞: not reached in half of the repeats. Set-up is inside, a program's conversion of the "
        "rows outside.",
    )
    return _table("seconds", "Oracle seconds to relative accuracy ε", sections, records, notes)


def _facts(group: Group) -> str:
    first = group.runs.iloc[0]
    return f"{first['m']:,.0f} x {first['d']:,.0f}, {first['nnz']:,.0f} nonzeros"


def _middle(group: Group, threshold: float) -> float:
    times = list(samples(group, Asked("seconds", threshold)).values())
    return median(times) if times else math.inf


def _second_record(swept: Swept, group: Group, threshold: float, value: float) -> dict[str, Any]:
    times = samples(group, Asked("seconds", threshold))
    return {
        "part": swept.part,
        "set": group.dataset,
        "stand_in": group.stand_in,
        "lambda": group.lam,
        "label": group.label,
        "accuracy": threshold,
        "median_seconds": value,
        "repeats": len(times),
        "reached": sum(map(math.isfinite, times.values())),
    }


def _seconds_text(value: float) -> str:
    return format_value(value, math.nan, math.nan)


# ---------------------------------------------------------------- self-stopped


def _self_stopped(found: Found) -> Table:
    """Seconds to the solver's own gap, and what programs come to by their default rules."""
    sections, records = [], []
    for swept in found.of_kind("certificate"):
        accuracies = found.plan.profile.sweeps[swept.part].accuracy
        rows = []
        for group in swept.groups():
            cells = []
            for accuracy in accuracies:
                times = _own_gap(swept, group, accuracy)
                middle = median(times) if times else math.inf
                cells.append(_seconds_text(middle))
                records.append(
                    {
                        "set": group.dataset,
                        "stand_in": group.stand_in,
                        "lambda": group.lam,
                        "label": group.label,
                        "own_gap": accuracy,
                        "median_seconds": middle,
                        "repeats": len(times),
                    }
                )
            rows.append((short(group.lam), group.label, *cells))
        if rows:
            columns = ("λ", "solver", *(f"gap ≤ {short(a)}" for a in accuracies))
            stand_in = swept.groups()[0].stand_in
            name, facts = heading(swept.spec.label, stand_in), _source(found, swept.spec.label)
            sections.append(_section(name, facts, columns, rows, texts=2))
    notes = (
        "Seconds until the solver's own duality gap, found inside the clock at every checkpoint, "
        "is at most this. No program from outside shows one; what they come to by their default "
        "rules is among the oracle's rows.",
    )
    title = "Self-stopped seconds: the solver's own certificate"
    return _table("self-stopped", title, sections, records, notes)


def _own_gap(swept: Swept, group: Group, gap: float) -> list[float]:
    """Seconds of each repeat to the first checkpoint with that gap."""
    traces = swept.results.traces
    if "gap" not in traces:
        return []
    found = []
    for run in group.runs["id"]:
        points = traces[traces["id"] == run]
        gaps = pd.to_numeric(points["gap"], errors="coerce")
        within = points.loc[gaps <= gap, "wall_seconds"]
        found.append(float(within.iloc[0]) if len(within) else math.inf)
    return found


# ---------------------------------------------------------------- ablation


def _ablation(found: Found) -> Table:
    sections, records = [], []
    for swept in found.of_kind("ablation"):
        groups = swept.groups()
        whole = {g.lam: g for g in groups if g.label == champion()}
        rows = []
        for group in groups:
            if group.lam not in whole:
                continue
            cells = []
            for threshold in swept.results.thresholds:
                one = findings.side_by_side(swept.spec, whole[group.lam], [group], threshold)
                cells.append("–" if one is None else _ablated(one))
                if one is not None:
                    records.append(
                        {
                            "set": one.set,
                            "lambda": one.lam,
                            "label": group.label,
                            "accuracy": threshold,
                            "median_seconds": one.theirs,
                            "slower_by": one.ratio.estimate,
                            "slower_by_low": one.ratio.low,
                            "slower_by_high": one.ratio.high,
                        }
                    )
            rows.append((short(group.lam), group.label, *cells))
        columns = ("λ", "solver", *(f"ε = {short(t)}" for t in swept.results.thresholds))
        name = heading(swept.spec.label, groups[0].stand_in)
        sections.append(_section(name, _source(found, swept.spec.label), columns, rows, texts=2))
    notes = (
        "Median seconds, and how many times the champion's they are: what each of its tricks is "
        "worth by itself, with all others on.",
    )
    title = f"{champion()} without each of its tricks"
    return _table("ablation", title, sections, records, notes)


def _ablated(one: Versus) -> str:
    text = _seconds_text(one.theirs)
    return text if one.ratio.estimate == 1.0 else f"{text} ({ratio_text(one.ratio)}×)"


# ---------------------------------------------------------------- epochs and physics


def _epochs(found: Found) -> Table:
    rows, records = [], []
    labels = list(
        dict.fromkeys(e["label"] for each in found.epochs.values() for e in each["epochs"])
    )
    for name, epochs in found.epochs.items():
        least = findings.bound(found.physics, epochs)
        cells = []
        for label in labels:
            samples = list(findings.nanoseconds(epochs, label).values())
            cells.append(_samples_text(samples))
            if samples:
                low, high, coverage = median_interval(samples)
                records.append(
                    {
                        "set": name,
                        "stand_in": epochs["stand_in"],
                        "storage": epochs["storage"],
                        "label": label,
                        "ns_per_nonzero": median(samples),
                        "ns_low": low,
                        "ns_high": high,
                        "coverage": coverage,
                        "how": next(e["how"] for e in epochs["epochs"] if e["label"] == label),
                        "stream_bound_ns": least.stream if least else math.nan,
                        "core_bound_ns": least.core if least else math.nan,
                    }
                )
        ours = list(findings.nanoseconds(epochs, champion()).values())
        bounds = ("–", "–", "–")
        if least is not None:
            bounds = (
                f"{least.stream:.2g}",
                f"{least.core:.2g} ({least.level})" if least.core else "–",
                f"{median(ours) / least.least:.3g}×" if ours else "–",
            )
        rows.append((heading(name, epochs["stand_in"]), epochs["storage"], *cells, *bounds))
    columns = ("set", "storage", *labels, "stream bound", "core bound", "champion / bound")
    notes = (
        "An epoch that leaves no row out, over the stored nonzeros; median with the interval of "
        "the repeats. Of ours the epochs after the first; of programs from outside a run of some "
        "passes less a shorter one, in which they may leave rows out from the second pass on.",
        "Stream bound: bytes of a stored entry over the streaming speed of one core, measured on "
        "this machine, once. Core bound: a gather and a gathered addition at the level of the "
        "memory that w would fit in were its columns drawn evenly; columns that are not, and rows "
        "that need no addition, can go below it.",
    )
    title = "Nanoseconds a stored nonzero of one epoch"
    section = _section("Epochs", "", columns, rows, texts=2)
    return _table("epochs", title, [section], records, notes)


def _samples_text(samples: Sequence[float]) -> str:
    if not samples:
        return "–"
    low, high, _ = median_interval(samples)
    text = format_value(median(samples), low, high)
    return text if low == high else f"{text} {_interval(low, high)}"


def _physics(found: Found) -> Table:
    physics = found.physics
    if not physics:
        return _table("physics", "", [], [])
    stream = physics["stream_gb_per_second"]
    rows = [
        (
            gather["level"],
            f"{gather['bytes'] / 1024:,.0f}",
            _samples_text(gather["sum_ns"]),
            _samples_text(gather["add_ns"]),
        )
        for gather in physics["gathers"]
    ]
    records = [
        {
            "level": gather["level"],
            "table_bytes": gather["bytes"],
            "gather_ns": median(gather["sum_ns"]),
            "gather_add_ns": median(gather["add_ns"]),
            "stream_gb_per_second": median(stream),
        }
        for gather in physics["gathers"]
    ]
    columns = ("table in", "KiB", "gather, ns", "gathered addition, ns")
    facts = f"one core reads {_samples_text(stream)} GB/s in order"
    section = _section("Gathers of a double", facts, columns, rows)
    return _table("physics", "What this machine can do at best", [section], records)


# ---------------------------------------------------------------- texts


def _reading(found: Found) -> Table:
    sections, records = [], []
    for label in dict.fromkeys(result["set"] for result in found.reading):
        of_set = [result for result in found.reading if result["set"] == label]
        rows = []
        for reader in dict.fromkeys(r["label"] for r in of_set if r["kind"] == "reading"):
            members = [r for r in of_set if r["label"] == reader]
            speeds = list(findings.speeds(found, label, reader).values())
            share = median([r["peak_bytes"] / r["array_bytes"] for r in members])
            megabytes = members[0]["array_bytes"] / 1e6
            rows.append((reader, _samples_text(speeds), f"{megabytes:.3g}", f"{share:.3g}"))
            records.append(
                {
                    "set": label,
                    "reader": reader,
                    "mb_per_second": median(speeds),
                    "repeats": len(speeds),
                    "text_mb": members[0]["text_bytes"] / 1e6,
                    "arrays_mb": megabytes,
                    "peak_over_arrays": share,
                }
            )
        opened = [r for r in of_set if r["kind"] == "opening"]
        text = next((r["text_bytes"] for r in of_set if r["kind"] == "reading"), 0) / 1e6
        facts = f"{text:.3g} MB of text"
        if opened:
            facts += f"; opened from the cache in {1e3 * median(opened[0]['seconds']):.2g} ms"
        columns = ("reader", "MB/s", "arrays, MB", "peak memory / arrays")
        sections.append(_section(heading(label, of_set[0]["stand_in"]), facts, columns, rows))
    notes = (
        "A text that the system holds in memory, read in a process of its own to rows that can be "
        "trained on. svmbench: hash, compact storage and checks included. liblinear: the reader "
        "of its Python package, which is in Python; the one in C is not part of it. Peak memory: "
        "beyond what the process held before.",
    )
    return _table("reading", "Reading a text", sections, records, notes)


def _texts(found: Found) -> Table:
    sections, records = [], []
    part = found.plan.profile.text
    for label in dict.fromkeys(result["set"] for result in found.texts):
        of_set = [result for result in found.texts if result["set"] == label]
        rows = []
        for program in dict.fromkeys(result["label"] for result in of_set):
            members = [r for r in of_set if r["label"] == program]
            totals = list(findings.totals(found, label, program).values())
            trained = [r["train_seconds"] for r in members if r["train_seconds"] is not None]
            rows.append(
                (
                    program,
                    _samples_text(totals),
                    f"{median([r['read_seconds'] for r in members]):.3g}",
                    f"{median([r['convert_seconds'] for r in members]):.2g}",
                    f"{median(trained):.3g}" if trained else "–",
                )
            )
            records.append(
                {
                    "set": label,
                    "program": program,
                    "total_seconds": median(totals),
                    "repeats": len(totals),
                    "read_seconds": median([r["read_seconds"] for r in members]),
                    "convert_seconds": median([r["convert_seconds"] for r in members]),
                    "train_seconds": median(trained) if trained else math.inf,
                }
            )
        columns = ("program", "seconds in all", "reading", "converting", "training")
        sections.append(_section(heading(label, of_set[0]["stand_in"]), "", columns, rows))
    facts = f"λ = {short(part.lambda_)}, ε = {short(part.accuracy)}" if part else ""
    notes = (
        "Reading, conversion of the rows and training of one process. Oracle stop: the first "
        "checkpoint with the accuracy, and of programs from outside the loosest of the ladder's "
        "tolerances that has it, whose run alone counts.",
    )
    return _table("text", f"From a text to the accuracy ({facts})", sections, records, notes)


# ---------------------------------------------------------------- growth


def _growth(found: Found) -> Table:
    sections, records = [], []
    for name, points in found.growth.items():
        rows = []
        for point in points:
            seconds = median(point["seconds_per_epoch"])
            share = findings.memory_share(point)
            rows.append(
                (
                    f"{point['m']:,} x {point['d']:,}",
                    f"{point['array_bytes'] / 2**20:.0f}",
                    _samples_text(point["seconds_per_epoch"]),
                    f"{seconds / point['nnz'] * 1e9:.3g}",
                    f"{share:.3g}",
                )
            )
            records.append(
                {
                    "rows": name,
                    "m": point["m"],
                    "d": point["d"],
                    "nnz": point["nnz"],
                    "array_bytes": point["array_bytes"],
                    "seconds_per_epoch": seconds,
                    "ns_per_nonzero": seconds / point["nnz"] * 1e9,
                    "peak_over_arrays": share,
                }
            )
        said = "; ".join(
            f"{short(step.grown, 3)} times the entries along {step.axis}: "
            f"{step.slowed:.3g} times the seconds"
            for step in findings.steps(points)
        )
        columns = ("m x d", "MiB", "seconds an epoch", "ns a nonzero", "peak memory / arrays")
        facts = "; ".join(filter(None, [points[0]["storage"], said]))
        sections.append(_section(name, facts, columns, rows))
    notes = (
        "Rows made for the purpose: normal values, columns drawn evenly. Sizes are multiples of "
        "the last cache. Peak memory: of rows and solver together, beyond what the process held "
        "before.",
    )
    return _table("growth", "Growth with m and d", sections, records, notes)


def _best(shares: Sequence[Share]) -> Table:
    rows = [
        (
            share.solver,
            str(share.problems),
            str(share.solved),
            str(share.fastest),
            f"{100 * share.fastest / share.problems:.0f} %",
            str(share.alone),
        )
        for share in shares
    ]
    columns = ("solver", "problems", "solved", "among the fastest", "share", "alone")
    records = [
        {
            "solver": share.solver,
            "foreign": find_solver(share.solver).foreign,
            "problems": share.problems,
            "solved": share.solved,
            "fastest": share.fastest,
            "alone": share.alone,
        }
        for share in shares
    ]
    notes = (
        "The virtual best solver takes on each problem (set, λ, ε) the time of the fastest; among "
        "the fastest: within 5 % of it.",
    )
    section = _section("Virtual best", "", columns, rows)
    return _table("virtual-best", "Virtual best solver", [section], records, notes)
