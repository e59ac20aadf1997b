"""A paper's files: paper.yaml, and one `Item` for each table or figure. Nothing else lists them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    Field,
    PlainValidator,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from svmbench.bundled import bundled
from svmbench.claims.empty import check_claims
from svmbench.claims.model import Claim, Ground
from svmbench.claims.places import Axis, Place, WrittenMeasure, refuse_along
from svmbench.config.files import dump_sweep
from svmbench.config.reading import Strict, read_model, refuse
from svmbench.config.sweep import Sweep
from svmbench.document import Loader
from svmbench.errors import ConfigError, nearest
from svmbench.papers.published import Published
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.measures import ALONG, MEASURES

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]


#: Repeats of a cell in every sweep of a paper that does not say otherwise: one of each, so that
#: most of the budget is left for the open claims, and a second if there is time left.
REPEATS = {"at_least": 1, "until": "decided", "at_most": 120}


class TableShape(Strict):
    title: str = ""
    of: Place = Place()
    rows: tuple[Axis, ...] = Field(min_length=1)
    columns: tuple[Axis, ...] = ()
    measures: tuple[WrittenMeasure, ...] = Field(min_length=1)
    against: str | None = None
    ranges: bool = False

    @model_validator(mode="after")
    def _measured(self) -> TableShape:
        for asked in self.measures:
            refuse_along(asked.measure, "measures")
        return self


def _require(name: str, known: Collection[str], key: str) -> None:
    if name not in known:
        refuse(f"{key} cannot be {name!r}; {nearest(name, known)}", key)


class FigureShape(Strict):
    title: str = ""
    of: Place = Place()
    kind: Literal["curve", "across", "lines", "regret"] = "curve"
    x: str = "seconds"
    y: str = "suboptimality"
    at: float | None = None
    panels: tuple[Literal["sweep", "dataset", "lambda", "C"], ...] = ("dataset", "lambda")
    log_x: bool = True
    log_y: bool = True
    natural: tuple[Literal["x", "y"], ...] = ()  # axes with natural logarithms as their numbers
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _ranges_fit(self) -> FigureShape:
        for key, log in (("x_range", self.log_x), ("y_range", self.log_y)):
            ends = getattr(self, key)
            if ends is not None and self.kind != "curve":
                refuse(f"only a figure of kind curve has {key!r}; drop it", key)
            if ends is not None and not (ends[0] < ends[1] and (ends[0] > 0 or not log)):
                refuse("write the range as [FROM, TO], both above 0 on a logarithmic axis", key)
        return self

    @model_validator(mode="after")
    def _axes_known(self) -> FigureShape:
        if self.kind == "curve":
            _require(self.x, ABSCISSAE, "x")
            _require(self.y, ALONG, "y")
        elif self.kind == "across":
            _require(self.x, ("lambda", "C", "m", *MEASURES), "x")
            _require(self.y, MEASURES, "y")
            asked = [name for name in (self.x, self.y) if name in MEASURES]
            for key, name in (("x", self.x), ("y", self.y)):
                if name in MEASURES:
                    refuse_along(MEASURES[name], key)
            if self.at is None and any(MEASURES[name].to_accuracy for name in asked):
                refuse("at which accuracy? add 'at'", "at")
        return self


class SweepSource(Strict):
    """The runs of another item of the same paper."""

    same_as: str = Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")

    @property
    def place(self) -> tuple[str, str]:
        item, _, sweep = self.same_as.partition("/")
        return item, sweep


def _as_sweep(value: Any, info: ValidationInfo) -> SweepSource | Sweep:
    if isinstance(value, dict) and "same_as" in value:
        return SweepSource.model_validate(value)
    if isinstance(value, dict):
        # Its name is that of its results folder, which only the caller knows.
        value = {"version": 1, "name": "sweep", "repeats": REPEATS, **value}
    return Sweep.model_validate(value, context=info.context)


class Item(Strict):
    """One table, figure or passage of a paper. docs/papers.md has its keys."""

    version: Literal[1]
    number: str
    also: tuple[Name, ...] = ()  # further names, such as those of two tables in one
    order: float
    title: str
    question: str
    sweeps: dict[Name, Annotated[SweepSource | Sweep, PlainValidator(_as_sweep)]] = Field(
        default={}
    )
    full: dict[Name, dict[str, Any]] = Field(default={})
    tables: tuple[TableShape, ...] = ()
    figures: tuple[FigureShape, ...] = ()
    published: tuple[Published, ...] = ()
    # What verdicts on the solvers rest on, by label; "program" is for those on its time.
    rests_on: dict[str, Ground] = Field(default={})
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _with_claims(self) -> Item:
        """Give claims the published numbers they are about, and what their verdicts rest on."""
        claims = []
        for claim in self.claims:
            timed = claim.measure is not None and claim.asked.measure.per_machine
            more = [
                self.rests_on[label]
                for label in claim.labels
                if label in self.rests_on and (timed or self.rests_on[label] != "program")
            ]
            known = {
                "rests_on": tuple(dict.fromkeys([*claim.rests_on, *more])),
                "quoted": {} if claim.across is None else self._ratios(claim),
            }
            claims.append(claim.model_copy(update=known))
        object.__setattr__(self, "claims", tuple(claims))
        return self

    def _ratios(self, claim: Claim) -> dict[str, float]:
        """The published ratio of a claim's two solvers by data set, where both have one number."""
        found: dict[str, dict[str, list[float]]] = {}
        for value in (value for each in self.published for value in each.values):
            if value.measure == claim.measure and value.solver in (claim.solver, claim.over):
                place = {"sweep": value.sweep, "C": value.C, "lambda": value.lambda_}
                if value.dataset is not None and all(
                    name not in claim.where.given or known in (None, *claim.where.given[name])
                    for name, known in place.items()
                ):
                    number = float("nan") if isinstance(value.value, str) else float(value.value)
                    numbers_of = found.setdefault(value.dataset, {})
                    numbers_of.setdefault(str(value.solver), []).append(number)
        ratios = {}
        for dataset, numbers in found.items():
            mine, others = (numbers.get(str(label), []) for label in (claim.solver, claim.over))
            if len(mine) == len(others) == 1 and mine[0] > 0.0 and others[0] > 0.0:
                ratios[dataset] = others[0] / mine[0]
        return ratios

    def sweep_at(self, key: str, full: bool) -> Sweep:
        """The sweep of that key, at its quick or its full published size."""
        sweep = self.sweeps[key]
        assert isinstance(sweep, Sweep)
        changes = self.full.get(key)
        if not full or not changes:
            return sweep
        plain = _as_mapping(sweep)
        for name, value in changes.items():
            both = isinstance(value, dict) and isinstance(plain.get(name), dict)
            plain[name] = {**plain[name], **value} if both else value
        try:
            return Sweep.model_validate(plain)
        except ValidationError as error:
            what = " ".join(error.errors()[0]["msg"].split())
            raise ConfigError(f"{self.number}: 'full' of sweep {key!r}: {what}") from None


class Paper(Strict):
    """A publication, and the items of it that are reproduced."""

    version: Literal[1]
    order: float
    title: str
    authors: str
    published_in: str
    url: str
    about: str
    further: bool = False
    key: str = ""
    items: dict[str, Item] = Field(default={})

    @property
    def names(self) -> dict[str, str]:
        """The file names of its items by all names that these have."""
        further = {other: name for name, item in self.items.items() for other in item.also}
        return {name: name for name in self.items} | further

    def origin(self, item: str, key: str) -> tuple[str, str]:
        """The item and the name under which a sweep of an item is described."""
        sweep = self.items[item].sweeps[key]
        return sweep.place if isinstance(sweep, SweepSource) else (item, key)

    def sweep(self, item: str, key: str) -> Sweep:
        """A sweep of an item as it is described, there or in another item."""
        other, name = self.origin(item, key)
        sweep = self.items[other].sweeps[name]
        assert isinstance(sweep, Sweep)
        return sweep


def papers(folder: Path | None = None) -> dict[str, Paper]:
    """All papers by key, in order; each with its items in order."""
    root = bundled("configs") / "papers" if folder is None else folder
    found = [read_paper(path.parent) for path in sorted(root.glob("*/paper.yaml"))]
    if not found:
        raise ConfigError(f"{root}: no papers in it (NAME/paper.yaml); name another folder")
    return {paper.key: paper for paper in sorted(found, key=lambda paper: paper.order)}


def read_paper(folder: Path) -> Paper:
    """The paper of a folder."""
    items = {
        path.stem: read_model(path, Item)
        for path in sorted(folder.glob("*.yaml"))
        if path.name != "paper.yaml"
    }
    ordered = dict(sorted(items.items(), key=lambda entry: entry[1].order))
    for name, item in ordered.items():
        _check_sources(folder / f"{name}.yaml", item, ordered)
    paper = read_model(folder / "paper.yaml", Paper)
    paper = paper.model_copy(update={"key": folder.name, "items": ordered})
    for name, item in ordered.items():
        sweeps = {key: paper.sweep(name, key) for key in item.sweeps}
        check_claims(folder / f"{name}.yaml", item.claims, sweeps, item.full)
    return paper


def _check_sources(path: Path, item: Item, items: dict[str, Item]) -> None:
    for key, sweep in item.sweeps.items():
        if isinstance(sweep, SweepSource):
            other, name = sweep.place
            if other not in items or not isinstance(items[other].sweeps.get(name), Sweep):
                raise ConfigError(
                    f"{path}: sweep {key!r} is the same as {sweep.same_as!r}, which is not a sweep "
                    "of this paper; write ITEM/SWEEP"
                )
    for key in item.full:
        if not isinstance(item.sweeps.get(key), Sweep):
            raise ConfigError(f"{path}: 'full' names {key!r}, which is not one of its sweeps")


def _as_mapping(sweep: Sweep) -> dict[str, Any]:
    """The mapping that a sweep was built from, with defaults written out."""
    plain: dict[str, Any] = yaml.load(dump_sweep(sweep), Loader=Loader)
    return plain
