"""The cases that a claim is about, among the measured rows of an item's sweeps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from svmbench.claims.measured import MeasuredRow, fills
from svmbench.claims.model import KINDS, Claim
from svmbench.claims.parts import ClaimCase
from svmbench.claims.places import Place, Slot, same
from svmbench.records.groups import heading
from svmbench.records.spelling import short


def cases_of(claim: Claim, rows: Sequence[MeasuredRow], several: bool) -> list[ClaimCase]:
    if claim.of_change:
        return list(_changes(claim, rows, several))
    if _spans(claim):
        return list(_series(claim, rows, several))
    return list(_problems(claim, rows, several))


def cases_not_run(
    claim: Claim, rows: Sequence[MeasuredRow], slots: Sequence[Slot], several: bool
) -> list[ClaimCase]:
    """The cases of a claim of which no solver has any run."""
    labels = set(claim.labels)
    mine = [slot for slot in slots if slot["solver"] in labels and _in_place(slot, claim)]
    run: dict[str, set[str]] = {}
    for slot in mine:
        run.setdefault(str(slot["sweep"]), set()).add(str(slot["solver"]))
    missing: dict[tuple[str, ...], list[Slot]] = {}
    for slot in mine:
        planned = run[str(slot["sweep"])] == labels or labels not in run.values()
        if KINDS[claim.kind].alone or planned:
            missing.setdefault(_problem(claim, slot, several), []).append(slot)
    measured = [row for row in rows if row.group.label in labels and row.lies_in(claim.where)]
    stand_ins = {row.group.dataset for row in rows if row.group.stand_in}
    return [
        ClaimCase(
            ", ".join(key),
            str(members[0]["dataset"]),
            str(members[0]["dataset"]) in stand_ins,
            {},
            tuple(sorted({str(slot["solver"]) for slot in members})),
        )
        for key, members in missing.items()
        if not any(_same_problem(row, slot) for row in measured for slot in members)
    ]


def _spans(claim: Claim) -> bool:
    return claim.kind == "grows" and not claim.along_curve


def _in_place(slot: Slot, claim: Claim) -> bool:
    given = claim.where.given
    if claim.of_change and claim.along is not None and claim.between is not None:
        given = {**given, claim.along: claim.between}
    return all(
        name in slot and any(same(slot[name], value) for value in values)
        for name, values in given.items()
    )


def _problem(claim: Claim, slot: Slot, several: bool) -> tuple[str, ...]:
    """Sweep, data set and λ or C in words.

    A claim about growth with λ or m spans all λ, and one about a change spans sweeps, too.
    """
    if claim.of_change:
        return (str(slot["dataset"]),)
    words = (*([str(slot["sweep"])] if several else []), str(slot["dataset"]))
    if _spans(claim):
        return words
    name, sign = ("C", "C") if "C" in slot else ("lambda", "λ")
    return (*words, f"{sign} = {short(float(slot[name]), 3, plain_from=0.1)}")


def _same_problem(row: MeasuredRow, slot: Slot) -> bool:
    return fills(row, {name: value for name, value in slot.items() if name != "solver"})


def _problems(claim: Claim, rows: Sequence[MeasuredRow], several: bool) -> Iterator[ClaimCase]:
    """A case for each sweep, data set and λ in which the claim's solvers were run."""
    labels = set(claim.labels)
    problems: dict[tuple[str, str, bool, float], dict[str, MeasuredRow]] = {}
    for row in rows:
        if row.group.label in labels and row.lies_in(claim.where):
            key = (row.sweep, row.group.dataset, row.group.stand_in, row.group.lam)
            problems.setdefault(key, {})[row.group.label] = row
    run = {
        sweep: {row.group.label for row in rows if row.sweep == sweep} & labels
        for sweep, *_ in problems
    }
    for (sweep, *_), found in problems.items():
        wanted = _wanted(claim, labels, run[sweep], list(run.values()))
        if wanted is not None:
            first = next(iter(found.values()))
            yield ClaimCase(
                _place(first, several),
                first.group.dataset,
                first.group.stand_in,
                found,
                tuple(sorted(wanted - set(found))),
            )


def _wanted(
    claim: Claim, labels: set[str], run: set[str], runs: Sequence[set[str]]
) -> set[str] | None:
    """The solvers that a problem of a sweep should have; None if the claim is not about it.

    A sweep with only some of the compared solvers does not count if another sweep has all of
    them.
    """
    if KINDS[claim.kind].alone:
        return run | (labels - set().union(*runs))
    return labels if run == labels or labels not in runs else None


def _series(claim: Claim, rows: Sequence[MeasuredRow], several: bool) -> Iterator[ClaimCase]:
    """Cases of a claim about growth: all λ of a data set, or all data sets of a λ."""
    assert claim.along is not None
    along = claim.along

    def key(row: MeasuredRow) -> tuple[str, str | float, bool]:
        group = row.group
        return row.sweep, group.dataset if along == "lambda" else group.lam, group.stand_in

    chosen = [row for row in rows if row.group.label == claim.solver and row.lies_in(claim.where)]
    for _, members in itertools.groupby(sorted(chosen, key=key), key):
        ordered = sorted(members, key=lambda row: float(row.axis(along)))
        group = ordered[0].group
        words = heading(group.dataset, group.stand_in)
        if along == "m":
            span = f"m from {_rows(ordered[0])} to {_rows(ordered[-1])}"
            words = heading(f"{span}, λ = {group.written_lambda}", group.stand_in)
        place = ", ".join([*([ordered[0].sweep] if several else []), words])
        yield ClaimCase(
            place, group.dataset, group.stand_in, {}, series={group.label: tuple(ordered)}
        )


def _changes(claim: Claim, rows: Sequence[MeasuredRow], several: bool) -> Iterator[ClaimCase]:
    """Cases of a claim about a change: the problems of a data set at two values of λ or C."""
    assert claim.along is not None
    assert claim.between is not None
    found: dict[tuple[str, bool], dict[float, ClaimCase]] = {}
    for end in claim.between:
        there = [row for row in rows if same(row.axis(claim.along), end)]
        for problem in _problems(claim, there, several):
            found.setdefault((problem.dataset, problem.stand_in), {})[end] = problem
    for (dataset, stand_in), problems in found.items():
        place = heading(dataset, stand_in)
        none = ClaimCase(place, dataset, stand_in, {})
        first, last = (problems.get(end, none) for end in claim.between)
        yield ClaimCase(place, dataset, stand_in, {}, ends=(first, last))


def _rows(row: MeasuredRow) -> str:
    return f"{float(row.axis('m')):g}"


def _place(row: MeasuredRow, several: bool) -> str:
    group = row.group
    words = [heading(group.dataset, group.stand_in), f"λ = {group.written_lambda}"]
    return ", ".join([*([row.sweep] if several else []), *words])


def brought_together(claim: Claim, rows: Iterable[MeasuredRow]) -> tuple[Claim, list[MeasuredRow]]:
    """A claim on two data sets, and its rows, as a claim on the first.

    The rows of the second are added to those of the first, under a label that names it.
    """
    assert claim.over_dataset is not None
    rows = list(rows)
    label = f"{claim.over} on {claim.over_dataset}"
    place = Place(dataset=(claim.over_dataset,))
    found = []
    for row in rows:
        group = row.group
        if group.label != claim.solver or not row.lies_in(claim.where) or row.lies_in(place):
            continue
        found.append(row)
        for other in rows:
            same_problem = other.sweep == row.sweep and other.group.lam == group.lam
            if same_problem and other.lies_in(place) and other.group.label == claim.over:
                moved = replace(
                    other.group, dataset=group.dataset, stand_in=group.stand_in, label=label
                )
                found.append(replace(other, group=moved, members=(other,)))
    return claim.model_copy(update={"over": label, "over_dataset": None}), found
