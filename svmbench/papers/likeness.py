"""Whether a stand-in is like its set in what a claim is about, and what a page says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.places import same
from svmbench.data.catalogue import Entry, entry, names
from svmbench.data.dataset import scale_in, scale_text
from svmbench.data.shape import ERROR_TOLERANCE, PRIMAL_TOLERANCE, CalibrationTarget, calibration
from svmbench.papers.model import Item
from svmbench.papers.published import PublishedValue
from svmbench.records.samples import measured
from svmbench.records.spelling import short

if TYPE_CHECKING:
    from svmbench.papers.results import ItemResults

#: Largest factor between the passes on a stand-in and the published ones.
PASSES = 1.5

#: Measures that depend on the shape of the rows alone.
_OF_SHAPE = ("seconds_a_pass", "seconds_a_step", "seconds_a_step_with_evaluation")

#: Measures that say how many passes a method makes.
COUNTS = ("data_passes", "epochs")


@dataclass(frozen=True)
class Likeness:
    """In what a stand-in is not like its set; empty where it is, or where nothing is known."""

    # objective, error, passes: about P*, the test error, and the passes of the methods in the same
    # tables
    objective: str = ""
    error: str = ""
    passes: str = ""
    # how many passes the methods make, in shares of the published ones; empty if none are
    counted: str = ""

    @property
    def words(self) -> str:
        return "; ".join(filter(None, (self.objective, self.error, self.passes)))

    def against(self, claim: Claim) -> str:
        """Why the stand-in says nothing about a claim; empty if it does."""
        measure = None if claim.measure is None else claim.asked.measure
        reasons = [self.objective]
        if measure is not None:
            if measure.name in _OF_SHAPE:
                return ""
            reasons += [self.error] * measure.share
            reasons += [self.passes] * (measure.cost or measure.taken == "to accuracy")
        return "; ".join(filter(None, reasons))


def likenesses(
    item: Item, rows: Sequence[MeasuredRow], catalogued: Mapping[tuple[str, str], str]
) -> dict[str, Likeness]:
    """How like their sets the stand-ins of an item are, by label."""
    found: dict[str, Likeness] = {}
    for label in dict.fromkeys(row.group.dataset for row in rows if row.group.stand_in):
        members = [row for row in rows if row.group.stand_in and row.group.dataset == label]
        name = catalogued.get((members[0].sweep, label), label)
        described = entry(name) if name in names() else None
        factors = list(_factors(item, members))
        found[label] = Likeness(
            _objective(described, members),
            _error(described),
            "; ".join(
                f"{solver} makes {short(factor, 2)} times the published passes"
                for solver, factor in factors
                if not 1.0 / PASSES <= factor <= PASSES
            ),
            _range([factor for _, factor in factors]),
        )
    return found


def _objective(described: Entry | None, rows: Sequence[MeasuredRow]) -> str:
    if described is None or not described.targets:
        return "no published figure shows that it is"
    if described.unlike:
        return described.unlike
    for target in described.targets:
        if target.primal is not None and target.reached is not None:
            off = target.reached.primal / target.primal - 1.0
            if abs(off) > PRIMAL_TOLERANCE:
                return f"P* differs by {100 * off:+.0f} %"
    whole = max((target.reached.scale for target in described.targets if target.reached), default=1)
    for row in rows:
        if scale_in(str(row.group.runs["data_source"].iloc[0])) < whole * 0.999:
            return _smaller(described.targets, row)
    return ""


def _smaller(targets: Sequence[CalibrationTarget], row: MeasuredRow) -> str:
    """Of a stand-in with fewer rows: like its set only where P* is published at the same λ."""
    runs = row.group.runs
    for target in targets:
        same_lambda = abs(float(row.group.lam) / target.lam - 1.0) < 0.01
        if target.primal and target.loss == runs["loss"].iloc[0] and same_lambda:
            off = float(runs["reference_primal"].min()) / target.primal - 1.0
            return "" if abs(off) <= PRIMAL_TOLERANCE else f"P* differs by {100 * off:+.0f} %"
    return f"it has only {int(runs['m'].iloc[0]):,} rows"


def _error(described: Entry | None) -> str:
    for target in described.targets if described else ():
        if target.test_error and target.reached and target.reached.test_error is not None:
            off = target.reached.test_error / target.test_error - 1.0
            if abs(off) > ERROR_TOLERANCE:
                return f"its test error differs by {100 * off:+.0f} %"
    return ""


def _range(factors: Sequence[float]) -> str:
    if not factors:
        return ""
    return f"passes {short(min(factors), 2)} to {short(max(factors), 2)} times the published"


def _factors(item: Item, rows: Sequence[MeasuredRow]) -> Iterator[tuple[str, float]]:
    """The passes of each solver on each problem, over the published ones."""
    for value in (value for each in item.published for value in each.values):
        if value.measure.name not in COUNTS or isinstance(value.value, str):
            continue
        for row in rows:
            if not _belongs(value, row):
                continue
            if counts := list(measured(row.group, value.measure).values()):
                yield row.group.label, median(counts) / value.value


def _belongs(value: PublishedValue, row: MeasuredRow) -> bool:
    place = value.place() | {"solver": value.solver or ""}
    return all(same(row.axis(name), given) for name, given in place.items())


# ---------------------------------------------------------------- what a page says about stand-ins


def stand_in_notes(source: ItemResults, rows: Iterable[MeasuredRow]) -> Iterator[str]:
    """A sentence or two on each stand-in among these rows of an item's tables."""
    found: dict[tuple[str, str], list[MeasuredRow]] = {}
    for row in rows:
        if row.group.stand_in:
            label = row.group.dataset
            name = source.catalogued.get((row.sweep, label), label)
            members = found.setdefault((label, name), [])
            if row not in members:
                members.append(row)
    for (label, name), members in found.items():
        runs = pd.concat([row.group.runs for row in members])
        said = f"{label}: a STAND-IN, {_size(runs, name)}. {_reached(runs)}{_wanted(name)}"
        like = source.likeness[label]
        counted = f"Like the set: {like.counted}." if like.counted else ""
        yield f"{said} {f'Not like the set: {like.words}.' if like.words else counted}".rstrip()


def _size(runs: pd.DataFrame, name: str) -> str:
    """Scale and rows, of each size that occurs, and the rows of the whole set."""
    sizes = dict.fromkeys(
        (scale_text(scale_in(text)), int(m))
        for text, m in zip(runs["data_source"], runs["m"], strict=True)
    )
    shape = entry(name).stand_in if name in names() else None
    whole = "" if shape is None else f" of the set's {shape.m + shape.m_test:,} rows"
    return " and ".join(f"SCALE {scale}{whole}, {m:,} rows for training" for scale, m in sizes)


#: What distinguishes problems on the rows of one stand-in.
_PROBLEM = ("loss", "bias", "l1_radius", "lambda", "m")


def _reached(runs: pd.DataFrame) -> str:
    """P* of each problem, and the test error of the run nearest to it."""
    parts = []
    telling = [name for name in _PROBLEM if runs[name].nunique(dropna=False) > 1]
    for _, members in runs.groupby(list(_PROBLEM), sort=True, dropna=False):
        first = members.iloc[0]
        optimum = members["reference_primal"].min()
        if pd.isna(optimum):
            continue
        tested = members.dropna(subset=["test_error", "primal"])
        error = ""
        if not tested.empty:
            nearest = tested.loc[tested["primal"] == tested["primal"].min(), "test_error"].iloc[0]
            error = f" (test error {100 * nearest:.3g} % at the lowest P(w))"
        where = [f"λ = {short(float(first['lambda']))}", str(first["loss"])]
        if "bias" in telling and first["bias"] not in ("none", None):
            where.append(f"{first['bias']} bias")
        if "l1_radius" in telling and pd.notna(first["l1_radius"]):
            where.append(f"l1 ball of radius {first['l1_radius']:g}")
        if "m" in telling:
            where.append(f"{int(first['m']):,} rows")
        parts.append(f"P* {optimum:.5g} at {', '.join(where)}{error}")
    return f"Here: {'; '.join(parts)}. " if parts else ""


def _wanted(name: str) -> str:
    if name not in names():
        return ""
    targets = entry(name).targets
    if not targets:
        return "It is not calibrated."
    return f"At full size: {'; '.join(calibration(targets))}."
