"""The tables of seconds: to an accuracy, to the solver's own gap, and ratios of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Swept
from svmbench.bench.tables.columns import (
    Across,
    Column,
    Grid,
    Part,
    interval_text,
    seconds_text,
)
from svmbench.bench.versus import (
    PairedRatio,
    Versus,
    best_of_theirs,
    by_problem,
    comparisons,
    most_pairs,
    side_by_side,
)
from svmbench.evidence import LEVEL
from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.samples import samples
from svmbench.records.statistics import format_value, median
from svmbench.report.overall import Share
from svmbench.report.tables import Cell, Table
from svmbench.solvers.registry import find_solver

#: Evidence that the interval of a ratio belongs to where nothing else is asked on the page.
_ALONE = 2 / LEVEL

_ORACLE = (
    "Oracle stop: held against the certified optimum. In every repeat the fastest of the "
    "programs' runs counts, whatever its tolerance, as if that had been known beforehand."
)


def _accuracy(threshold: float) -> str:
    return f"ε = {short(threshold)}"


def source_text(found: Found, label: str) -> str:
    """What a set's rows are, in words."""
    source = found.plan.sources.get(label)
    spec = next(each for each in found.plan.profile.sets if each.label == label)
    words = [source.words if source is not None else ""]
    if spec.tuned:
        words.append("choices of our solvers were made on it")
    if spec.held_out:
        words.append("kept out of tuning")
    return "; ".join(filter(None, words))


# ---------------------------------------------------------------- ratios


def _compared(threshold: float) -> tuple[Column[Versus], ...]:
    """Columns of comparisons, with the intervals of the evidence at that threshold."""
    return (
        Column("set", "", lambda one: one.set),
        Column("stand_in", "", lambda one: one.stand_in),
        Column("held_out", "", lambda one: one.held_out),
        Column("lambda", "λ", lambda one: one.lam, short),
        Column("accuracy", "", lambda one: one.threshold),
        Column("champion_seconds", "", lambda one: one.ours),
        Column("program_seconds", "", lambda one: one.theirs),
        Column("program", "", lambda one: one.program),
        Column("ratio", "", lambda one: one.pairs.estimate),
        Column("ratio_low", "", lambda one: one.pairs.interval(threshold)[0]),
        Column("ratio_high", "", lambda one: one.pairs.interval(threshold)[1]),
        Column("pairs", "", lambda one: len(one.pairs.logs)),
        Column("lower_bound_only", "", lambda one: one.pairs.censored),
        Column("standing", "", lambda one: one.standing(threshold)),
        Column("programs_run", "", lambda one: " ".join(one.among)),
    )


_RATIO = (
    "Median of the paired ratios with the interval of the evidence that the bounds are judged by; "
    "above 1 the champion is faster. ≥: in some repeats no program reached the accuracy, and what "
    "they had spent stands for their time."
)


def ratios_table(found: Found, than: Sequence[str], threshold: float) -> Table:
    """The champion beside LIBLINEAR, by set."""
    grid = Grid(
        "ratio-liblinear",
        "Seconds of LIBLINEAR over the champion's",
        _compared(threshold),
        Across(
            lambda one: one.threshold,
            _accuracy,
            lambda one: ratio_cell(one, threshold),
            lambda one: one.lam,
        ),
        notes=(_RATIO, _ORACLE),
    )
    compared = _by_set(list(map(most_pairs, by_problem(comparisons(found, than)))))
    return grid.table(_by_name(found, sorted(compared, key=lambda one: one.held_out)))


def _by_set(compared: Sequence[Versus]) -> list[Versus]:
    """In the order of the sets, each from its largest λ on."""
    order = {label: at for at, label in enumerate(dict.fromkeys(one.set for one in compared))}
    return sorted(compared, key=lambda one: (order[one.set], -one.lam))


def _by_name(found: Found, compared: Sequence[Versus]) -> Iterator[Part[Versus]]:
    for label in dict.fromkeys(one.set for one in compared):
        rows = [one for one in compared if one.set == label]
        apart = " (kept out of tuning)" if rows[0].held_out else ""
        name = heading(label, rows[0].stand_in) + apart
        yield Part(name, source_text(found, label), rows)


def fastest(found: Found) -> list[Versus]:
    """The champion beside the fastest peer, once for each set, λ and accuracy."""
    return _by_set(list(map(best_of_theirs, by_problem(comparisons(found)))))


def ahead_table(found: Found, threshold: float) -> Table:
    """The champion beside the fastest peer in every cell, and in how many it is behind."""
    compared = fastest(found)
    programs: dict[tuple[str, float], dict[str, None]] = {}
    for one in compared:
        programs.setdefault((one.set, one.lam), {}).update(dict.fromkeys(one.among))
    grid = Grid(
        "ahead",
        "Is any peer ahead?",
        (
            Column("", "set", lambda one: heading(one.set, one.stand_in) + "*" * one.held_out),
            *_compared(threshold),
            Column("", "programs run", lambda one: ", ".join(programs[one.set, one.lam])),
        ),
        Across(
            lambda one: one.threshold,
            _accuracy,
            lambda one: standing_cell(one, threshold),
            lambda one: (one.set, one.lam),
        ),
        texts=3,
        notes=(
            f"Seconds of the fastest program of every repeat over the champion's. {_RATIO} The "
            "name is that of the program that is fastest in the median; ✗: a program is ahead, "
            "(✗): by the estimate, but not by its whole interval. Only runs of one block, made "
            "side by side, are paired; where several sweeps have such pairs, those count in which "
            "a program does best.",
            "*: kept out of tuning.",
            _ORACLE,
        ),
    )
    return grid.table([Part("Every set, λ and accuracy", standings(compared, threshold), compared)])


def standings(compared: Sequence[Versus], threshold: float) -> str:
    """In how many cells who is ahead, in words."""
    if not compared:
        return ""
    counts = Counter(one.standing(threshold) for one in compared)
    said = [
        f"Of {len(compared)} cells (set, λ, ε) a peer is ahead in {counts['peer ahead']}",
        f"the champion is ahead in {counts['champion ahead']}",
    ]
    for name in ("no peer reached it", "nobody reached it"):
        if counts[name]:
            said.append(f"{name.replace('it', 'the accuracy')} in {counts[name]}")
    if counts["open"]:
        slower = sum(
            one.pairs.estimate < 1.0 for one in compared if one.standing(threshold) == "open"
        )
        said.append(
            f"it is open in {counts['open']}, in {slower} of which a peer is the faster so far"
        )
    return "; ".join(said)


def standing_cell(one: Versus, threshold: float) -> Cell:
    """A ratio with the fastest program, marked where that is ahead."""
    cell = ratio_cell(one, threshold)
    mark = "✗ " if one.standing(threshold) == "peer ahead" else ""
    if not mark and one.pairs.estimate < 1.0 and not one.pairs.censored:
        mark = "(✗) "
    name = f" {one.program}" if one.program else ""
    return replace(cell, text=f"{mark}{cell.text}{name}")


def ratio_cell(one: Versus, threshold: float) -> Cell:
    """A ratio, or who did not reach the accuracy."""
    if math.isinf(one.ours):
        return Cell("not reached" if one.program else "nobody reached it")
    text = f"{'≥ ' if one.pairs.censored else ''}{ratio_text(one.pairs, threshold)}"
    hint = f"{one.ours:.4g} s against {one.theirs:.4g} s, {one.program or 'none'}"
    return Cell(text, value=one.pairs.estimate, hint=hint)


def ratio_text(pairs: PairedRatio, threshold: float) -> str:
    """A ratio with its interval, where there is one."""
    low, high = pairs.interval(threshold)
    if not pairs.logs:
        return "–"
    text = format_value(pairs.estimate, low, high)
    if low == high or low == 0.0 or math.isinf(high):
        return text
    return f"{text} {interval_text(low, high)}"


# ---------------------------------------------------------------- seconds


@dataclass(frozen=True)
class _Timed:
    """Seconds of one row of a sweep to one accuracy, or to one gap of its own."""

    part: str
    group: Group
    label: str
    target: float
    seconds: float
    samples: Sequence[float] = ()


#: The label of the fastest of all solvers, which is in no CSV.
_BEST = "virtual best"


def _timed_columns(target: str) -> tuple[Column[_Timed], ...]:
    return (
        Column("set", "", lambda one: one.group.dataset),
        Column("stand_in", "", lambda one: one.group.stand_in),
        Column("lambda", "λ", lambda one: one.group.lam, short),
        Column("label", "solver", lambda one: one.label),
        Column(target, "", lambda one: one.target),
        Column("median_seconds", "", lambda one: one.seconds),
        Column("repeats", "", lambda one: len(one.samples)),
    )


def _of_targets(name: str) -> Across[_Timed]:
    return Across(
        lambda one: one.target,
        lambda target: f"{name} {short(target)}",
        lambda one: seconds_text(one.seconds),
        lambda one: (one.group.lam, one.label),
    )


_SECONDS = Grid(
    "seconds",
    "Oracle seconds to relative accuracy ε",
    (
        Column("part", "", lambda one: one.part),
        *_timed_columns("accuracy"),
        Column("reached", "", lambda one: sum(map(math.isfinite, one.samples))),
    ),
    _of_targets("ε ="),
    texts=2,
    notes=(
        "Median seconds until the primal is within ε of the certified optimum (oracle stop); "
        "∞: not reached in half of the repeats. Set-up is inside, a program's conversion of the "
        "rows outside.",
    ),
    recorded=lambda one: one.label != _BEST,
)


def seconds_table(found: Found) -> Table:
    """Median oracle seconds of every row, and of the virtual best."""
    return _SECONDS.table(_seconds(found, swept) for swept in found.of_kind("oracle"))


def _seconds(found: Found, swept: Swept) -> Part[_Timed]:
    rows: list[_Timed] = []
    groups = swept.groups()
    for lam in dict.fromkeys(group.lam for group in groups):
        members = [group for group in groups if group.lam == lam]
        for group in members:
            rows += [_timed(swept, group, threshold) for threshold in swept.results.thresholds]
        for threshold in swept.results.thresholds:
            best = min(
                one.seconds for one in rows if (one.group.lam, one.target) == (lam, threshold)
            )
            rows.append(_Timed(swept.part, members[0], _BEST, threshold, best))
    first = groups[0].runs.iloc[0]
    facts = f"{first['m']:,.0f} x {first['d']:,.0f}, {first['nnz']:,.0f} nonzeros"
    name = f"{heading(swept.spec.label, groups[0].stand_in)}, {swept.part}"
    return Part(name, "; ".join(filter(None, [facts, source_text(found, swept.spec.label)])), rows)


def _timed(swept: Swept, group: Group, threshold: float) -> _Timed:
    times = list(samples(group, Asked("seconds", threshold)).values())
    middle = median(times) if times else math.inf
    return _Timed(swept.part, group, group.label, threshold, middle, times)


_SELF_STOPPED = Grid(
    "self-stopped",
    "Self-stopped seconds: the solver's own certificate",
    _timed_columns("own_gap"),
    _of_targets("gap ≤"),
    texts=2,
    notes=(
        "Seconds until the solver's own duality gap, found inside the clock at every checkpoint, "
        "is at most this. No program from outside shows one; what they come to by their default "
        "rules is among the oracle's rows.",
    ),
)


def self_stopped_table(found: Found) -> Table:
    """Seconds to the solver's own gap."""
    return _SELF_STOPPED.table(
        Part(
            heading(swept.spec.label, swept.groups()[0].stand_in),
            source_text(found, swept.spec.label),
            [
                _certified(swept, group, gap)
                for group in swept.groups()
                for gap in found.plan.profile.sweeps[swept.part].accuracy
            ],
        )
        for swept in found.of_kind("certificate")
    )


def _certified(swept: Swept, group: Group, gap: float) -> _Timed:
    times = list(_own_gap(swept, group, gap))
    middle = median(times) if times else math.inf
    return _Timed(swept.part, group, group.label, gap, middle, times)


def _own_gap(swept: Swept, group: Group, gap: float) -> Iterator[float]:
    """Seconds of each repeat to the first checkpoint with that gap."""
    traces = swept.results.traces
    if "gap" not in traces:
        return
    for run in group.runs["id"]:
        points = traces[traces["id"] == run]
        gaps = pd.to_numeric(points["gap"], errors="coerce")
        within = points.loc[gaps <= gap, "wall_seconds"]
        yield float(within.iloc[0]) if len(within) else math.inf


# ---------------------------------------------------------------- ablation and virtual best


@dataclass(frozen=True)
class _Ablated:
    """The champion without one of its tricks beside the whole one."""

    label: str
    beside: Versus


def ablation_table(found: Found) -> Table:
    """What each of the champion's tricks is worth by itself."""
    grid: Grid[_Ablated] = Grid(
        "ablation",
        f"{champion()} without each of its tricks",
        (
            Column("set", "", lambda one: one.beside.set),
            Column("lambda", "λ", lambda one: one.beside.lam, short),
            Column("label", "solver", lambda one: one.label),
            Column("accuracy", "", lambda one: one.beside.threshold),
            Column("median_seconds", "", lambda one: one.beside.theirs),
            Column("slower_by", "", lambda one: one.beside.pairs.estimate),
            Column("slower_by_low", "", lambda one: one.beside.pairs.interval(_ALONE)[0]),
            Column("slower_by_high", "", lambda one: one.beside.pairs.interval(_ALONE)[1]),
        ),
        Across(
            lambda one: one.beside.threshold,
            _accuracy,
            _ablated_text,
            lambda one: (one.beside.lam, one.label),
        ),
        texts=2,
        notes=(
            "Median seconds, and how many times the champion's they are: what each of its tricks "
            "is worth by itself, with all others on. Each ratio has a 95 % interval of its own.",
        ),
    )
    return grid.table(
        Part(
            heading(swept.spec.label, swept.groups()[0].stand_in),
            source_text(found, swept.spec.label),
            list(_ablated(swept)),
        )
        for swept in found.of_kind("ablation")
    )


def _ablated(swept: Swept) -> Iterator[_Ablated]:
    groups = swept.groups()
    whole = {group.lam: group for group in groups if group.label == champion()}
    for group in groups:
        for threshold in swept.results.thresholds:
            if group.lam in whole:
                one = side_by_side(swept, whole[group.lam], [group], threshold)
                if one is not None:
                    yield _Ablated(group.label, one)


def _ablated_text(one: _Ablated) -> str:
    text, pairs = seconds_text(one.beside.theirs), one.beside.pairs
    return text if pairs.estimate == 1.0 else f"{text} ({ratio_text(pairs, _ALONE)}×)"


_VIRTUAL_BEST: Grid[Share] = Grid(
    "virtual-best",
    "Virtual best solver",
    (
        Column("solver", "solver", lambda share: share.solver),
        Column("foreign", "", lambda share: find_solver(share.solver).foreign),
        Column("problems", "problems", lambda share: share.problems),
        Column("solved", "solved", lambda share: share.solved),
        Column("fastest", "among the fastest", lambda share: share.fastest),
        Column("", "share", lambda share: f"{100 * share.fastest / share.problems:.0f} %"),
        Column("alone", "alone", lambda share: share.alone),
    ),
    notes=(
        "The virtual best solver takes on each problem (set, λ, ε) the time of the fastest; among "
        "the fastest: within 5 % of it.",
    ),
)


def virtual_best_table(shares: Sequence[Share]) -> Table:
    """What each solver contributes to the virtual best one."""
    return _VIRTUAL_BEST.table([Part("Virtual best", "", shares)])
