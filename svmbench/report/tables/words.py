"""What all tables of a report share: header, warnings, facts, notes, first cells of a row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svmbench.records.columns import SCHEMA_VERSION
from svmbench.records.groups import ROW, Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import measured, samples
from svmbench.records.spelling import counted
from svmbench.records.statistics import COVERAGE, median
from svmbench.records.summaries import limit_words
from svmbench.report.notices import notices
from svmbench.report.numbers import rounded_up
from svmbench.report.table import TableCell


def header(results: Results) -> tuple[str, ...]:
    """Say on which machine, when and how often the runs were made, in two lines at most."""
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
    """Say how many repeats there are; cells with open questions may have more than others."""
    counts = results.runs.groupby(list(ROW))["repeat"].nunique()
    least, most = int(counts.min()), int(counts.max())
    if least < most:
        return f"{least} to {most} repeats of each run"
    return f"{counted(most, 'repeat')} of each run"


def warnings_of(results: Results, kind: str) -> tuple[str, ...]:
    """Warn of whatever makes the numbers of this kind of table less trustworthy."""
    return tuple(notice.text for notice in notices(results) if kind == "time" or not notice.of_time)


def facts_of(groups: Sequence[Group]) -> str:
    first = groups[0].first
    gaps = [gap for group in groups if not math.isnan(gap := group.middle("reference_gap"))]
    parts = [
        f"m = {first['m']:,.0f}",
        f"d = {first['d']:,.0f}",
        f"nonzeros = {first['nnz']:,.0f}",
        f"{first['loss']} loss",
    ]
    if gaps:
        parts.append(f"optima certified to {rounded_up(max(gaps))}")
    if any(group.middle("reference_dual") <= 0 for group in groups):
        parts.append("D_ref = 0 for some λ: accuracy there is absolute")
    return ", ".join(parts)


#: Largest number of sizes of samples whose coverage is listed one by one.
_LISTED = 3


#: What an accuracy is, by the distance of the sweep.
DEFINITIONS = {"relative": "(P(w) − D_ref)/D_ref", "absolute": "P(w) − D_ref"}

#: What the numbers of a table are, if there are several runs.
INTERVALS = (
    "Median over the repeats, with [the interval] of two order statistics that needs no assumption "
    "on the distribution. A number without brackets is a single run's, or all runs agree to its "
    "last digit."
)

#: What a † beside a number means.
RELAPSES = "†: some runs were above ε again after they had first reached it"


def interval_notes(coverages: Mapping[int, float]) -> Iterator[str]:
    if coverages and max(coverages) <= 1:  # 0 runs of a program that is not installed
        yield "Single runs: there is no interval, and no evidence of a difference."
        return
    known = sorted((runs, coverage) for runs, coverage in coverages.items() if runs > 1)
    enough = [runs for runs, coverage in known if coverage >= COVERAGE]
    together = len(enough) > _LISTED
    said = [
        f"{100 * coverage:.1f} % for {runs} runs"
        for runs, coverage in known
        if not (together and runs in enough)
    ]
    if together:
        said.append(f"at least {100 * COVERAGE:.0f} % for {enough[0]} runs or more")
    yield INTERVALS
    yield f"The coverage of an interval is {', '.join(said)}."


def fault_words(group: Group, asked: Asked) -> str:
    """Name the failure that a median stands for; empty if it does not stand for one."""
    found, known = samples(group, asked), measured(group, asked)
    failed = [repeat for repeat in found if repeat not in known]
    decided = failed and (2 * len(failed) > len(found) or math.isinf(median([*found.values()])))
    return limit_words(group, failed) if decided else ""


def begins_lambda(groups: Sequence[Group]) -> list[bool]:
    return [at == 0 or group.lam != groups[at - 1].lam for at, group in enumerate(groups)]


def row_head(group: Group, opens: bool) -> tuple[TableCell, TableCell]:
    """Build the cells of λ, empty unless the row is the first of its λ, and of the solver."""
    return TableCell(group.written_lambda if opens else ""), TableCell(group.label)


def record_head(group: Group) -> dict[str, Any]:
    first = group.first
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
    """Count the runs by state, as in ``converged:5 time_limit:2``."""
    counts = Counter(group.runs["state"])
    return {"states": " ".join(f"{state}:{counts[state]}" for state in sorted(counts))}
