"""What a paper's file says: sweeps, the shapes of tables and figures, published numbers, claims.

``configs/papers/KEY/paper.yaml`` names the paper; each other file of that folder is one table or
figure of it, an `Item`. Nothing else lists them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

from svmbench.bundled import bundled
from svmbench.config.files import dump_sweep
from svmbench.config.reading import read_model
from svmbench.config.refusal import refuse
from svmbench.config.sweep import Sweep
from svmbench.document import Loader
from svmbench.errors import ConfigError
from svmbench.records.measures import Asked

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]

#: What tells the rows of tables apart, besides the sweep: columns of runs.csv.
AXES = ("sweep", "dataset", "lambda", "C", "solver", "m")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_asked(value: Any) -> Asked:
    """A measure as it is written: its name, or ``{seconds: 1e-2}``."""
    at = None
    if isinstance(value, dict) and len(value) == 1:
        ((value, at),) = value.items()
    if isinstance(value, Asked):
        return value
    if not isinstance(value, str):
        refuse("Input should be a measure, or a measure with its accuracy: {seconds: 1e-2}")
    if at is not None and (isinstance(at, bool) or not isinstance(at, int | float)):
        refuse("Input should be a number", value, value=at)
    try:
        return Asked(value, None if at is None else float(at))
    except ValueError as error:
        refuse(str(error))


WrittenMeasure = Annotated[Asked, PlainValidator(_as_asked)]


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple | None) else [value]


Several = Annotated[tuple[str | float, ...], BeforeValidator(_as_list)]


class Place(_Model):
    """Some rows: those whose columns have one of the values given."""

    sweep: Several | None = None
    dataset: Several | None = None
    lambda_: Several | None = Field(default=None, alias="lambda")
    C: Several | None = None
    solver: Several | None = Field(default=None, description="Labels.")

    @property
    def given(self) -> dict[str, tuple[str | float, ...]]:
        """The columns that are restricted, by name."""
        values = self.model_dump(by_alias=True)
        return {name: tuple(value) for name, value in values.items() if value is not None}


class TableShape(_Model):
    """The paper's layout of a table."""

    title: str = Field(default="", description="Below the item's own; what is special to it.")
    of: Place = Field(default=Place(), description="Rows of the runs it is about; all unless set.")
    rows: tuple[Literal["sweep", "dataset", "lambda", "C", "solver", "m"], ...] = Field(
        min_length=1, description="What tells its rows apart."
    )
    columns: tuple[Literal["sweep", "dataset", "lambda", "C", "solver", "m"], ...] = Field(
        default=(), description="What tells its columns apart, besides the measures."
    )
    measures: tuple[WrittenMeasure, ...] = Field(min_length=1)
    against: str | None = Field(
        default=None,
        description="Label of the solver to which each is also shown as a ratio, on both sides.",
    )


class FigureShape(_Model):
    """One figure."""

    title: str = ""
    of: Place = Place()
    kind: Literal["curve", "across", "lines", "regret"] = Field(
        default="curve",
        description="curve: along the runs. across: one point a row of the results. lines: the "
        "separating line of two-dimensional data. regret: against its bound.",
    )
    x: str = Field(
        default="seconds",
        description="curve: seconds, epochs, presentations. across: lambda, C, m, or a measure.",
    )
    y: str = Field(
        default="suboptimality",
        description="curve: primal, suboptimality, accuracy, test_error, train_error, gap. "
        "across: a measure.",
    )
    at: float | None = Field(default=None, description="Accuracy of a measure that needs one.")
    panels: tuple[Literal["sweep", "dataset", "lambda", "C"], ...] = ("dataset", "lambda")
    log_x: bool = True
    log_y: bool = True


class PublishedValue(_Model):
    """One published number, by the row it belongs to."""

    sweep: str | None = None
    dataset: str | None = None
    lambda_: float | None = Field(default=None, alias="lambda")
    C: float | None = None
    solver: str | None = Field(default=None, description="Label; or a program that is not run.")
    measure: WrittenMeasure
    value: float | str = Field(description="A number; or text such as '> 18,000'.")


class Published(_Model):
    """What the source prints."""

    source: str = Field(description="Publication and place in it.")
    mark: Literal["seed", "read"] = Field(
        description="seed: in the text of the paper the suite is built from; read: in the named "
        "publication or its released code."
    )
    values: tuple[PublishedValue, ...] = ()
    ranges: tuple[str, ...] = Field(default=(), description="Ranges read off a figure; sentences.")
    not_available: str | None = Field(default=None, description="Why no numbers can be shown.")


class Claim(_Model):
    """A sentence of the paper, and how it is held against the runs."""

    text: str = Field(description="What the paper says, in our words.")
    where: Place = Place()
    kind: Literal["faster", "order", "reaches", "fails", "ratio", "untestable"] = Field(
        description="faster: solver over another, by a factor. order: solvers by a measure. "
        "reaches, fails: an accuracy or a value. ratio: of two measures, with the published one."
    )
    solver: str | None = Field(default=None, description="Label; the one that is faster.")
    over: str | None = Field(default=None, description="Label; the slower, the denominator.")
    over_dataset: str | None = Field(
        default=None,
        description="faster, ratio: label of the data set of 'over', where it is another; 'where' "
        "then names that of 'solver'.",
    )
    solvers: tuple[str, ...] = Field(default=(), description="Labels, the least measure first.")
    measure: WrittenMeasure | None = None
    by: float = Field(default=1.0, gt=0.0, description="faster: by at least this factor.")
    at_most: float | None = Field(default=None, description="reaches: the measure's bound.")
    at_least: float | None = Field(default=None, description="reaches: the measure's bound.")
    published: float | None = Field(default=None, description="ratio: the published one.")
    within: float = Field(
        default=2.0, gt=1.0, description="ratio: factor from the published one that still holds."
    )
    tie: float = Field(
        default=1.0,
        ge=1.0,
        description="order: neighbours out of order by up to this factor are a tie.",
    )
    why: str | None = Field(default=None, description="untestable: why.")

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        needed = {
            "faster": ("solver", "over", "measure"),
            "order": ("solvers", "measure"),
            "reaches": ("solvers", "measure"),
            "fails": ("solver", "measure"),
            "ratio": ("solver", "over", "measure", "published"),
            "untestable": ("why",),
        }[self.kind]
        for key in needed:
            if not getattr(self, key):
                refuse(f"a claim of kind {self.kind} needs {key!r}; add it", key)
        if self.over_dataset is not None and self.kind not in ("faster", "ratio"):
            refuse(f"a claim of kind {self.kind} has no 'over_dataset'; drop it", "over_dataset")
        bounded = (self.at_most, self.at_least) != (None, None)
        if self.kind == "reaches" and self.measure and self.measure.at is None and not bounded:
            refuse("reaches which value? add 'at_most' or 'at_least'", "measure")
        return self


class SweepSource(_Model):
    """The runs of another item of the same paper."""

    same_as: str = Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$", description="ITEM/SWEEP.")


def _as_sweep(value: Any, info: ValidationInfo) -> SweepSource | Sweep:
    if isinstance(value, dict) and "same_as" in value:
        return SweepSource.model_validate(value)
    if isinstance(value, dict):
        # Its name is that of its folder of results, which only who runs it knows.
        value = {"version": 1, "name": "sweep", **value}
    return Sweep.model_validate(value, context=info.context)


class Item(_Model):
    """One table, figure or passage of a paper."""

    version: Literal[1]
    number: str = Field(description="What the paper calls it: Table 3, Figure 8, Section 4.")
    order: float = Field(description="Its place among the paper's items.")
    title: str
    question: str = Field(description="What it is to show, in a sentence or two.")
    sweeps: dict[Name, Annotated[SweepSource | Sweep, PlainValidator(_as_sweep)]] = Field(
        default={}, description="Runs it needs."
    )
    full: dict[Name, dict[str, Any]] = Field(
        default={}, description="Keys of these sweeps that differ at full published size."
    )
    tables: tuple[TableShape, ...] = ()
    figures: tuple[FigureShape, ...] = ()
    published: tuple[Published, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = Field(
        default=(), description="Footnotes: what is reconstructed, what differs from the paper."
    )

    def sweep_at(self, key: str, full: bool) -> Sweep:
        """The sweep of that key, at its quick or its full published size."""
        sweep = self.sweeps[key]
        assert isinstance(sweep, Sweep)
        changes = self.full.get(key)
        if not full or not changes:
            return sweep
        plain = _plain(sweep)
        for name, value in changes.items():
            both = isinstance(value, dict) and isinstance(plain.get(name), dict)
            plain[name] = {**plain[name], **value} if both else value
        return Sweep.model_validate(plain)


class Paper(_Model):
    """A publication, and the items of it that are reproduced."""

    version: Literal[1]
    order: float = Field(description="Its place among the papers.")
    title: str
    authors: str
    published_in: str
    url: str
    about: str = Field(description="What it shows, in a paragraph.")
    key: str = Field(default="", description="Name of its folder; set when it is read.")
    items: dict[str, Item] = Field(default={}, description="By file name; set when it is read.")


def papers(folder: Path | None = None) -> dict[str, Paper]:
    """All papers by key, in their order; each with its items in theirs.

    Parameters
    ----------
    folder : Path, optional
        Instead of the configurations that come with svmbench.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``.
    """
    root = bundled("configs") / "papers" if folder is None else folder
    found = [read_paper(path.parent) for path in sorted(root.glob("*/paper.yaml"))]
    return {paper.key: paper for paper in sorted(found, key=lambda paper: paper.order)}


def read_paper(folder: Path) -> Paper:
    """The paper of a folder.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``.
    """
    items = {
        path.stem: read_model(path, Item)
        for path in sorted(folder.glob("*.yaml"))
        if path.name != "paper.yaml"
    }
    ordered = dict(sorted(items.items(), key=lambda entry: entry[1].order))
    for name, item in ordered.items():
        _check_sources(folder / f"{name}.yaml", item, ordered)
    paper = read_model(folder / "paper.yaml", Paper)
    return paper.model_copy(update={"key": folder.name, "items": ordered})


def _check_sources(path: Path, item: Item, items: dict[str, Item]) -> None:
    for key, sweep in item.sweeps.items():
        if isinstance(sweep, SweepSource):
            other, _, name = sweep.same_as.partition("/")
            if other not in items or not isinstance(items[other].sweeps.get(name), Sweep):
                raise ConfigError(
                    f"{path}: sweep {key!r} is the same as {sweep.same_as!r}, which is no sweep of "
                    "this paper; write ITEM/SWEEP"
                )
    for key in item.full:
        if not isinstance(item.sweeps.get(key), Sweep):
            raise ConfigError(f"{path}: 'full' names {key!r}, which is no sweep of it; drop it")


def _plain(sweep: Sweep) -> dict[str, Any]:
    """The mapping a sweep was made from, defaults written out."""
    plain: dict[str, Any] = yaml.load(dump_sweep(sweep), Loader=Loader)
    return plain
