"""Warnings about a comparison, and notes on how to read it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from svmbench.evidence.questions import Question, log_ratios
from svmbench.evidence.steadiness import unsteady
from svmbench.records.columns import MACHINE
from svmbench.records.groups import Group, heading
from svmbench.records.measures import MEASURES
from svmbench.records.read import Results
from svmbench.records.spelling import short
from svmbench.report.comparison.cases import CellKey, ComparedCase
from svmbench.report.notices import disturbed_runs
from svmbench.report.pairing import ASSUMED_SHIFT

#: Facts in environment.json that are worth a warning; those of the machine make times incomparable.
_SOFTWARE = ("svmbench", "git", "kernel", "governor", "python", "packages", "compiler", "flags")


def environments(a: Results, b: Results, metric: str) -> tuple[bool, list[str]]:
    """Whether times come from different machines, and how the environments differ."""
    if a.folder == b.folder:
        return False, []
    if not (a.environment and b.environment):
        bare = " and ".join(str(r.folder) for r in (a, b) if not r.environment)
        return MEASURES[metric].per_machine, [
            f"{bare}: no environment.json, so the machine is unknown."
        ]
    machine = list(_differences(a.environment, b.environment, MACHINE))
    found = []
    if machine:
        marked = "; ratios of times are marked ‡" if MEASURES[metric].per_machine else ""
        found.append(f"DIFFERENT MACHINES{marked}: {', '.join(machine)}.")
    software = list(_differences(a.environment, b.environment, _SOFTWARE))
    if software:
        found.append(f"Not the same on both sides: {', '.join(software)}.")
    return bool(machine) and MEASURES[metric].per_machine, found


def _differences(a: dict[str, Any], b: dict[str, Any], keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        one, other = a.get(key), b.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, sorted({*one, *other}))
        elif one != other:
            yield f"{key.replace('_', ' ')} {_known(one)} -> {_known(other)}"


def _known(fact: Any) -> str:
    return "unknown" if fact is None else str(fact)


def warnings(found: Sequence[ComparedCase], metric: str) -> Iterator[str]:
    """What makes the samples themselves doubtful."""
    pairs = list(dict.fromkeys((case.one, case.other) for case in found))
    stand_ins = dict.fromkeys(case.one.dataset for case in found if case.one.stand_in)
    if stand_ins:
        yield f"{', '.join(stand_ins)}: a STAND-IN, not the data set itself."
    ones, others = (list(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
    for name, groups in (("A", ones), ("B", others)):
        runs = pd.concat([group.runs for group in groups])
        contended = int(runs["contended"].sum())
        if contended and MEASURES[metric].per_machine:
            yield f"{contended} of {len(runs)} runs of {name} shared the machine (contended)."
        said = disturbed_runs(runs)
        if said and MEASURES[metric].per_machine:
            steadier = " --metric cpu_seconds is disturbed less." if metric == "seconds" else ""
            yield f"{name}: {said}{steadier}"
    if any(one is other or one.runs.equals(other.runs) for one, other in pairs):
        yield "A and B are the same runs: there is no difference to find."
    elif _seeds_differ(pairs):
        yield "The seeds of A and B differ: pairs have nothing in common but their number."


def _seeds_differ(pairs: Iterable[tuple[Group, Group]]) -> bool:
    """Whether a repeat has another seed on the other side; older results do not record it."""
    for both in pairs:
        if any("seed" not in group.runs for group in both):
            continue
        seeds = [dict(zip(g.runs["repeat"], g.runs["seed"], strict=True)) for g in both]
        if any(seeds[1].get(repeat, seed) != seed for repeat, seed in seeds[0].items()):
            return True
    return False


def notes(
    page: Sequence[ComparedCase],
    same_sweep: bool,
    metric: str,
    margin: float,
    alone: tuple[Collection[CellKey], Collection[CellKey]],
) -> Iterator[str]:
    """How to read the page."""
    where = f"lies beyond a factor of {margin:g}. alike: it lies within. open: neither yet."
    yield (
        "B/A: the ratio with its interval, which holds for all cases of the page together and "
        "however often one looks. slower, faster: the interval "
        f"{where if margin > 1 else 'leaves 1 out. open: not yet.'}"
    )
    if any(math.inf in (*samples.a, *samples.b) for samples in page):
        yield (
            "Runs that did not reach the accuracy count as +∞: slower may mean that B reaches it "
            "less often."
        )
    if any(samples.missing for samples in page):
        yield (
            "Not measured: interrupted, not installed, or skipped after a repeat that met the "
            "time limit."
        )
    if MEASURES[metric].per_machine and (
        caution := unsteady(Question(log_ratios(each.a, each.b), 1.0) for each in page)
    ):
        yield caution
    yield from _timing_notes(page, same_sweep, metric)
    for name, keys in zip("AB", alone, strict=True):
        if keys:
            yield f"In {name} alone: {_listed(list(keys))}."


def _timing_notes(page: Sequence[ComparedCase], same_sweep: bool, metric: str) -> Iterator[str]:
    """Whether the two sides met the same state of the machine, and what follows if not."""
    measure = MEASURES[metric]
    if not measure.per_machine:
        counts = measure.words[0].upper() + measure.words[1:]
        yield f"{counts} depend on the seed alone: it does not matter when they were counted."
    elif any(samples.paired for samples in page):
        yield "The two runs of each pair were executed one after the other, on the same machine."
    unpaired = sum(not samples.paired for samples in page)
    if unpaired:
        yield (
            f"{unpaired} of {len(page)} cases: A and B were measured at different times and "
            "share the seeds, not the state of the machine. Intervals allow for a shift between "
            f"the two times that scatters by {100 * ASSUMED_SHIFT:.1f} %. To find smaller "
            "differences, put both into one sweep, whose runs alternate."
        )
    if same_sweep:
        yield (
            "Different methods are evaluated at checkpoints up to a tenth apart: a ratio that near "
            "to 1 may be due to them."
        )


def _listed(keys: Sequence[CellKey], most: int = 5) -> str:
    texts = [
        ", ".join(filter(None, (heading(dataset, stand_in), f"λ = {short(lam)}", label)))
        for dataset, stand_in, lam, label in keys
    ]
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return "; ".join([*texts[:most], *more])
