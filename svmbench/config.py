"""Configurations: a YAML file becomes a typed, frozen `Sweep`, or one line saying why not.

YAML is read by the rules of its version 1.2, so that ``1e-4`` is a number and ``no`` a
word, and is kept as nodes until the types have been checked, so that every message
carries the line and the column of what it is about.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from svmbench.bundled import bundled
from svmbench.data import catalogue
from svmbench.data.catalogue import OwnFiles
from svmbench.data.libsvm import plain_name
from svmbench.errors import ConfigError
from svmbench.problem import Loss
from svmbench.solvers.base import Parameters
from svmbench.solvers.registry import find_solver, solvers

Loc = tuple[str | int, ...]

# --- what fields hold --------------------------------------------------------------


def _refuse(message: str, *loc: str | int, value: Any = None) -> NoReturn:
    """Raise a validation error placed at ``loc`` below the value being validated.

    A message that begins with "Input" is completed with the key's name and the value.
    """
    error = PydanticCustomError("refused", "{message}", {"message": message})
    detail = InitErrorDetails(type=error, loc=loc, input=value)
    raise ValidationError.from_exception_data("sweep", [detail])


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for i, value in enumerate(values):
        if value in values[:i]:
            _refuse(f"{_short(value)} is there twice; keep one of them", i, value=value)
    return values


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip() or not text:
        _refuse("Input should be one line of printable text without spaces around it", value=text)
    return text


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, (int, float)) else value


def _as_named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value)
    if match is None:
        _refuse("Input should be seconds, or such as 500ms, 60s, 2m or 1h", value=value)
    return float(match["number"]) * _UNITS[match["unit"]]


def _whole(value: Any) -> Any:
    # Literal[1] alone takes true and 1.0 for 1.
    if value == 1 and type(value) is not int:
        _refuse("Input should be 1", value=value)
    return value


_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?P<number>\d+(\.\d*)?|\.\d+) ?(?P<unit>ms|s|m|h)")

Whole = Annotated[int, Strict()]
Real = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Positive = Annotated[Real, Field(gt=0.0)]
Text = Annotated[str, AfterValidator(_printable)]
Flag = Annotated[bool, Strict()]
One = Annotated[Literal[1], BeforeValidator(_whole)]
# Bounds that keep lambda = 1/(C m) from overflowing and from vanishing.
Weight = Annotated[Real, Field(ge=1e-100, le=1e100)]
# Double precision shows no relative accuracy finer than this.
Accuracy = Annotated[Real, Field(ge=1e-15)]
Duration = Annotated[Positive, BeforeValidator(_seconds, json_schema_input_type=float | str)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)]
Title = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Logspace(_Model):
    """Values spaced evenly on a logarithmic scale, both ends included."""

    start: Weight = Field(alias="from", description="First value.")
    stop: Weight = Field(alias="to", description="Last value.")
    num: Whole = Field(ge=2, le=1000, description="How many values.")

    def values(self) -> tuple[float, ...]:
        """The values, shape (num,)."""
        low, high = math.log(self.start), math.log(self.stop)
        steps = self.num - 1
        # Twelve digits: 1e-4 stays 1e-4, here and in the name of every result.
        inner = [math.exp(low + (high - low) * i / steps) for i in range(1, steps)]
        return (self.start, *(float(f"{value:.12g}") for value in inner), self.stop)


class Grid(_Model):
    """A list of values given by a rule."""

    logspace: Logspace = Field(description="Values spaced evenly on a logarithmic scale.")


def _as_weights(value: Any) -> Any:
    if isinstance(value, dict):
        return Grid.model_validate(value).logspace.values()
    return _as_list(value)


Weights = Annotated[
    tuple[Weight, ...],
    Field(min_length=1),
    BeforeValidator(_as_weights, json_schema_input_type=Weight | list[Weight] | Grid),
    AfterValidator(_distinct),
]

# --- the models --------------------------------------------------------------------


class DatasetSpec(_Model):
    """A data set of the catalogue, or the user's own LIBSVM files."""

    name: Title | None = Field(
        default=None, description="Name in the catalogue; with a path, what to call its rows."
    )
    path: Path | None = Field(
        default=None, description="LIBSVM file of the training rows; relative to the configuration."
    )
    test: Path | None = Field(default=None, description="LIBSVM file of the test rows.")
    positive: (
        Annotated[
            tuple[Real, ...],
            Field(min_length=1),
            BeforeValidator(_as_list, json_schema_input_type=Real | list[Real]),
            AfterValidator(_distinct),
        ]
        | None
    ) = Field(default=None, description="Label, or labels, to be read as +1; all others become -1.")
    features: Annotated[Whole, Field(ge=1, lt=1 << 31)] | None = Field(
        default=None, description="Number of features; the largest index in the files unless set."
    )

    @field_validator("path", "test", mode="before")
    @classmethod
    def _beside(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str):
            return value
        if not value or not value.isprintable():
            _refuse("Input should be the name of a file", value=value)
        return Path((info.context or {}).get("folder", "."), value).absolute()

    @model_validator(mode="after")
    def _either(self) -> DatasetSpec:
        known = catalogue.names()
        if self.path is not None:
            if self.label in known:
                _refuse(f"{self.label!r} is a set of the catalogue; set another name", "name")
            return self
        if self.name is None:
            _refuse("neither name nor path; write a data set's name, or {path: FILE}")
        if self.name not in known:
            hint = f"{_nearest(self.name, known)} (a file of your own: {{path: FILE}})"
            _refuse(f"unknown data set {self.name!r}; {hint}", "name")
        for key in ("test", "positive", "features"):
            if getattr(self, key) is not None:
                _refuse(f"{key!r} belongs to a path; of a name the catalogue knows it", key)
        return self

    @property
    def label(self) -> str:
        """The name its results bear: its own, or its file's."""
        if self.name is not None:
            return self.name
        assert self.path is not None
        return plain_name(self.path).removesuffix(".libsvm") or self.path.name

    @property
    def source(self) -> str | OwnFiles:
        """What `svmbench.data.load.load` takes."""
        if self.path is None:
            return self.label
        return OwnFiles(
            path=self.path,
            test=self.test,
            n_features=self.features,
            positive=self.positive,
            name=self.label,
        )


LossName = Literal["hinge", "squared-hinge", "smoothed-hinge"]


class LossSpec(_Model):
    """The loss of the margin."""

    name: LossName = Field(default="hinge", description="Name of the loss.")
    gamma: Positive | None = Field(
        default=None,
        validate_default=True,
        description="Width of the smoothed hinge's curve; 1 unless set.",
    )

    @field_validator("gamma")
    @classmethod
    def _belongs(cls, gamma: float | None, info: ValidationInfo) -> float | None:
        if info.data.get("name") == "smoothed-hinge":
            return 1.0 if gamma is None else gamma
        if gamma is not None:
            _refuse("'gamma' belongs to smoothed-hinge alone; leave it out")
        return None

    @property
    def loss(self) -> Loss:
        """The loss as problems hold it."""
        return Loss(self.name) if self.gamma is None else Loss(self.name, self.gamma)


class SolverSpec(_Model):
    """A solver with its parameters: one row of every table."""

    name: str
    label: Text
    parameters: Parameters

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, value: Any) -> Any:
        """Look the solver up and have its own schema check what is left of the mapping."""
        value = _as_named(value)
        if not isinstance(value, dict) or isinstance(value.get("parameters"), Parameters):
            return value
        given = dict(value)
        name, label = given.pop("name", None), given.pop("label", None)
        if name is None:
            _refuse("missing key 'name'; write {name: SOLVER, ...}")
        if not isinstance(name, str):
            _refuse("Input should be the name of a solver", "name", value=name)
        try:
            schema = find_solver(name).schema
        except ConfigError as error:
            _refuse(str(error), "name", value=name)
        for key in given:
            if key not in schema.model_fields:
                hint = _nearest(key, ["label", *schema.model_fields])
                _refuse(f"unknown parameter {key!r} of {name}; {hint}", key)
        # Through JSON, because there a list is as good as a tuple and nothing else is coerced.
        parameters = schema.model_validate_json(json.dumps(given), strict=True)
        if label is None:
            label = _default_label(name, parameters, given)
        return {"name": name, "label": label, "parameters": parameters}


def _default_label(name: str, parameters: Parameters, given: dict[str, Any]) -> str:
    values = parameters.model_dump(mode="json", include=set(given))
    written = [f"{key}={_plain(values[key])}" for key in given]
    return f"{name}({', '.join(written)})" if written else name


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Stop(_Model):
    """When a run ends: at the first of these."""

    accuracy: Annotated[
        tuple[Accuracy, ...],
        BeforeValidator(_as_list, json_schema_input_type=Accuracy | list[Accuracy]),
        AfterValidator(_distinct),
        AfterValidator(lambda values: tuple(sorted(values, reverse=True))),
    ] = Field(
        default=(),
        description="Relative accuracies (P(w) - D_ref)/D_ref; a run ends at the tightest, and "
        "tables give the time to each.",
    )
    gap: Positive | None = Field(
        default=None, description="Relative gap P/D - 1 the solver's own dual value shows."
    )
    own: Flag = Field(
        default=False, description="Whether the method's own stopping rule ends a run."
    )
    max_epochs: Positive | None = Field(
        default=None, description="Presentations of rows, in units of the number of rows."
    )
    time_limit: Duration = Field(
        default=60.0, description="Training time in seconds, or such as 2m."
    )

    @model_validator(mode="after")
    def _ends(self) -> Stop:
        if not (self.accuracy or self.gap or self.own or self.max_epochs):
            _refuse("no end but the clock's; give accuracy, gap, own or max_epochs")
        return self


class Reference(_Model):
    """The certified optimum against which accuracies are taken."""

    gap: Positive = Field(
        default=1e-4,
        description="Its relative gap; a hundredth of the tightest accuracy at most, and that or "
        "1e-4, whichever is less, unless set.",
    )
    time_limit: Duration = Field(
        default=300.0, description="Time to reach it, in seconds, or such as 5m."
    )


Table = Literal["time", "epochs", "objective"]
Plot = Literal["log-primal", "log-suboptimality"]


class Sweep(_Model):
    """What one configuration asks for: data sets x lambdas x solvers x repeats.

    Built from a plain mapping with the keys of the YAML file: ``Sweep.model_validate``.
    """

    version: One = Field(description="Version of this format.")
    name: Slug = Field(description="Name of the sweep and of its folder of results.")
    datasets: Annotated[
        tuple[
            Annotated[
                DatasetSpec, BeforeValidator(_as_named, json_schema_input_type=str | DatasetSpec)
            ],
            ...,
        ],
        Field(min_length=1),
    ] = Field(description="Names in the catalogue, or the user's own files.")
    loss: Annotated[
        LossSpec, BeforeValidator(_as_named, json_schema_input_type=LossName | LossSpec)
    ] = Field(default=LossSpec(), description="Loss of the margin.")
    lambdas: Weights | None = Field(
        default=None,
        alias="lambda",
        description="Regularisation constants; exactly one of lambda and C.",
    )
    C: Weights | None = Field(default=None, description="lambda = 1/(C m) on each set of m rows.")
    solvers: Annotated[tuple[SolverSpec, ...], Field(min_length=1)] = Field(
        description="Solvers, each a name or {name: NAME, label: LABEL, parameters...}."
    )
    stop: Stop = Field(description="When a run ends: at the first of these.")
    repeats: Annotated[Whole, Field(ge=1)] = Field(
        default=1, description="Runs of each cell, with seeds of their own."
    )
    threads: One = Field(default=1, description="Threads of a solver.")
    reference: Reference = Field(
        default=Reference(), validate_default=True, description="Certified optimum of each problem."
    )
    tables: Annotated[tuple[Table, ...], AfterValidator(_distinct)] = Field(
        default=("time", "epochs", "objective"), description="Tables of the report."
    )
    plots: Annotated[tuple[Plot, ...], AfterValidator(_distinct)] = Field(
        default=("log-primal", "log-suboptimality"), description="Plots of the report."
    )

    @field_validator("datasets")
    @classmethod
    def _one_of_each(cls, specs: tuple[DatasetSpec, ...]) -> tuple[DatasetSpec, ...]:
        for i, spec in enumerate(specs):
            if spec.label in [other.label for other in specs[:i]]:
                _refuse(f"a second data set {spec.label!r}; drop it or give it a name", i)
        return specs

    @field_validator("solvers")
    @classmethod
    def _told_apart(cls, specs: tuple[SolverSpec, ...]) -> tuple[SolverSpec, ...]:
        for i, spec in enumerate(specs):
            if spec.label in [other.label for other in specs[:i]]:
                _refuse(f"a second {spec.label!r}; drop it or give it a label of its own", i)
        return specs

    @field_validator("reference")
    @classmethod
    def _tight(cls, reference: Reference, info: ValidationInfo) -> Reference:
        accuracy = info.data["stop"].accuracy if "stop" in info.data else ()
        # Twelve digits, because 1e-3/100 is to be 1e-5 however it is rounded.
        allowed = min((float(f"{value / 100.0:.12g}") for value in accuracy), default=math.inf)
        if "gap" not in reference.model_fields_set:
            return reference.model_copy(update={"gap": min(reference.gap, allowed)})
        if reference.gap > allowed:
            _refuse(
                f"'reference.gap' is {reference.gap!r}; it may be {allowed!r} at most, "
                "a hundredth of the tightest accuracy",
                "gap",
            )
        return reference

    @model_validator(mode="after")
    def _consistent(self) -> Sweep:
        if self.lambdas is not None and self.C is not None:
            _refuse("both 'lambda' and 'C'; keep one of them", "C")
        if self.lambdas is None and self.C is None:
            _refuse("missing key 'lambda'; add it, or 'C'")
        for i, spec in enumerate(self.solvers):
            losses = find_solver(spec.name).losses
            if self.loss.name not in losses:
                _refuse(
                    f"{spec.name} cannot train the loss {self.loss.name}, only "
                    f"{', '.join(losses)}; drop the solver or change the loss",
                    "solvers",
                    i,
                    "name",
                )
        return self

    def lambdas_for(self, m: int) -> tuple[float, ...]:
        """The lambdas for a data set of ``m`` rows, in the configuration's order."""
        if self.lambdas is not None:
            return self.lambdas
        assert self.C is not None
        return tuple(1.0 / (c * m) for c in self.C)


# --- reading -----------------------------------------------------------------------


def load_sweep(path: Path) -> Sweep:
    """Read a configuration.

    Parameters
    ----------
    path : Path
        A YAML file; one that does not exist but comes with svmbench (``configs/adult.yaml``,
        ``adult.yaml`` or ``adult``) is taken from there.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``, for the first of the errors found.
    """
    path = find_config(path)
    document = _parse(path)
    try:
        return Sweep.model_validate(document.value, context={"folder": path.parent})
    except ValidationError as error:
        raise document.first(error.errors(include_url=False)) from None


def find_config(path: Path) -> Path:
    """The file itself, or the one of that name that comes with svmbench.

    Raises
    ------
    ConfigError
        When there is neither, with the nearest names there are.
    """
    try:
        if path.is_file():
            return path
        if path.exists():
            raise ConfigError(f"{path}: not a file; name a configuration such as adult.yaml")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name another") from None
    folder = bundled("configs")
    known = {
        found.relative_to(folder).as_posix(): found for found in sorted(folder.rglob("*.yaml"))
    }
    wanted = path.as_posix().removeprefix("configs/")
    for name in (wanted, f"{wanted}.yaml"):
        if name in known:
            return known[name]
    names = [*known, *(name.removesuffix(".yaml") for name in known), *_neighbours(path)]
    near = difflib.get_close_matches(path.name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"those of svmbench: {', '.join(known)}"
    raise ConfigError(f"{_short_path(path)}: no such configuration; {hint}")


def _neighbours(path: Path) -> list[str]:
    return sorted(other.name for other in path.parent.glob("*.y*ml"))


def _short_path(path: Path) -> str:
    text = str(path)
    return text if text.isprintable() else repr(text)


@dataclass(frozen=True)
class _Document:
    """Plain values of a YAML file, and where each key and each list entry stands."""

    path: Path
    value: Any
    marks: dict[Loc, yaml.Mark]

    def first(self, errors: list[ErrorDetails]) -> ConfigError:
        """One line for many errors: that of the first, and how many more there are."""
        unknown = {error["loc"] for error in errors if error["type"] == "extra_forbidden"}
        # A key that is missing because it was misspelt is one error, not two.
        meant = {(*loc[:-1], _near_key(loc)) for loc in unknown}
        left = [
            error
            for error in errors
            if not (error["type"] == "missing" and error["loc"] in meant)
            # pydantic counts no entry that is wrong, and finds the list too short for it.
            and not (error["type"] == "too_short" and error["input"])
        ]
        left.sort(key=lambda error: (error["type"] == "missing", self._mark(error["loc"]).index))
        loc = self._shown(left[0]["loc"])
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        what = " ".join(_explain(left[0], loc).split())
        return ConfigError(f"{self.path}:{_colon(self._mark(loc))}: {what}{more}")

    def _shown(self, loc: Loc) -> Loc:
        while loc not in self.marks:
            loc = loc[:-1]
        return loc

    def _mark(self, loc: Loc) -> yaml.Mark:
        return self.marks[self._shown(loc)]


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's idea of what a plain scalar is."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - the name and the kind are PyYAML's


class _Dumper(yaml.SafeDumper):
    """SafeDumper that quotes what YAML 1.1 or 1.2 would misread."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_TAG = "tag:yaml.org,2002:"
_PLAIN = {
    "null": (r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    "bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    "int": (r"^[-+]?[0-9]+$", list("-+0123456789")),
    "float": (
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        list("-+.0123456789"),
    ),
}
for _kind, (_pattern, _initials) in _PLAIN.items():
    for _reader in (_Loader, _Dumper):
        _reader.add_implicit_resolver(_TAG + _kind, re.compile(_pattern), _initials)


def _parse(path: Path) -> _Document:
    root = _compose(path, _text(path))
    if not isinstance(root, yaml.MappingNode):
        where = "1:1" if root is None else _colon(root.start_mark)
        what = "empty" if root is None else "not a mapping"
        raise ConfigError(f"{path}:{where}: {what}; a configuration holds 'key: value' lines")
    marks: dict[Loc, yaml.Mark] = {(): root.start_mark}
    return _Document(path, _Reader(path, marks).value(root, ()), marks)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name another") from None
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8-sig")
        raise _unreadable(path, before, "not UTF-8 text; save it as such") from None


def _compose(path: Path, text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        what = f"character U+{ord(text[error.position]):04X} is not allowed; remove it"
        raise _unreadable(path, text[: error.position], what) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "1:1" if mark is None else _colon(mark)
        what = " ".join(str(error.problem or error.context).split())
        do = "use spaces" if "\\t" in what else "check indentation, brackets and quotes"
        raise ConfigError(f"{path}:{where}: not valid YAML ({what}); {do}") from None
    except RecursionError:
        raise ConfigError(f"{path}:1:1: nested too deeply; flatten it") from None


def _unreadable(path: Path, before: str, message: str) -> ConfigError:
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return ConfigError(f"{path}:{line}:{column}: {message}")


def _colon(mark: yaml.Mark) -> str:
    return f"{mark.line + 1}:{mark.column + 1}"


def _bangs(node: yaml.Node) -> str:
    return repr(node.tag.replace(_TAG, "!!"))


class _Reader:
    """Turns YAML nodes into plain values and notes where they stand."""

    def __init__(self, path: Path, marks: dict[Loc, yaml.Mark]) -> None:
        self._path = path
        self._marks = marks
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, loc: Loc) -> Any:
        """Plain value of one node and of all below it."""
        # An alias is its anchor's node met again: it may hold itself, or grow without bound.
        if id(node) in self._seen:
            raise self._error(
                node, "this anchor is referred to by an alias (*); write it out there"
            )
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            for i, item in enumerate(node.value):
                self._marks[*loc, i] = item.start_mark
            return [self.value(item, (*loc, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        raise self._error(node, f"tag {_bangs(node)} is not for configurations; remove it")

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(key_node, "a key should be a word; write 'key: value'")
            key = self._text(key_node)
            if key in found:
                line = self._marks[*loc, key].line + 1
                raise self._error(
                    key_node, f"key {key!r} again, after line {line}; keep one of them"
                )
            self._marks[*loc, key] = key_node.start_mark
            found[key] = self.value(value_node, (*loc, key))
        return found

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = self._text(node)
        kind = node.tag.removeprefix(_TAG)
        if kind == "str":
            return text
        pattern = _PLAIN.get(kind)
        if pattern is None or not re.match(pattern[0], text):
            raise self._error(node, f"tag {_bangs(node)} is not for {_short(text)}; remove it")
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            if len(text) > 1000:
                raise self._error(node, "an integer of too many digits; write a smaller one")
            return int(text)
        special = text.lower().lstrip("+-") in (".inf", ".nan")
        return float(text.replace(".", "") if special else text)

    def _text(self, node: yaml.ScalarNode) -> str:
        text: str = node.value
        try:
            text.encode()
        except UnicodeEncodeError:
            what = "half of a surrogate pair; write the character itself"
            raise self._error(node, what) from None
        return text

    def _error(self, node: yaml.Node, message: str) -> ConfigError:
        return ConfigError(f"{self._path}:{_colon(node.start_mark)}: {message}")


# --- saying what is wrong ----------------------------------------------------------


def _explain(error: ErrorDetails, place: Loc) -> str:
    """What is wrong and what to do; ``place`` is the part of its location the file shows."""
    kind, loc, value = error["type"], error["loc"], error["input"]
    name = _dotted(place)
    if kind == "extra_forbidden":
        return f"unknown key {loc[-1]!r}; {_nearest(str(loc[-1]), _keys(loc[:-1]))}"
    if kind == "missing":
        return f"missing key {loc[-1]!r}; add it"
    if kind == "too_short":
        return f"{name} is empty; give at least one"
    if kind == "string_pattern_mismatch":
        letters = "letters" if "A-Z" in error["ctx"]["pattern"] else "lower-case letters"
        return (
            f"{name} is {_short(value)}; use {letters}, digits, '.', '_' and '-', "
            "a letter or a digit first"
        )
    if kind in _BOUNDS:
        message = f"Input should be {_BOUNDS[kind]} {next(iter(error['ctx'].values())):g}"
    else:
        message = re.sub(r"^\w+ (?=should )", "Input ", _SAID.get(kind, error["msg"]))
        message = message.removeprefix("Value error, ")
    if not message.startswith("Input"):
        return message
    return f"{name} {message.removeprefix('Input ')}, not {_short(value)}{_advice(error)}"


_BOUNDS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}
_SAID = {
    "tuple_type": "Input should be a list",
    "list_type": "Input should be a list",
    "model_type": "Input should be a mapping of keys to values",
    "dict_type": "Input should be a mapping of keys to values",
    "string_type": "Input should be text",
    "float_type": "Input should be a number",
    "finite_number": "Input should be a finite number",
    "int_type": "Input should be a whole number",
    "int_from_float": "Input should be a whole number",
    "bool_type": "Input should be true or false",
    "path_type": "Input should be the name of a file",
}


def _advice(error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if kind == "literal_error":
        # The only place where pydantic keeps the choices is the text of its message.
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        near = difflib.get_close_matches(str(value), choices, n=1)
        return f"; did you mean {near[0]!r}?" if near else ""
    if kind == "string_type" and isinstance(value, (bool, int, float)):
        return "; put it in quotes"
    if kind in ("float_type", "int_type") and isinstance(value, str) and _is_number(value):
        return "; write it without quotes"
    if kind == "tuple_type" and isinstance(value, str):
        return f"; write [{value}]" if value.isprintable() else ""
    return ""


def _is_number(text: str) -> bool:
    return any(re.match(_PLAIN[kind][0], text) for kind in ("int", "float"))


def _nearest(name: str, known: Any) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(known)}" if known else "remove it"


def _near_key(loc: Loc) -> str | None:
    near = difflib.get_close_matches(str(loc[-1]), _keys(loc[:-1]), n=1)
    return near[0] if near else None


def _keys(loc: Loc) -> list[str]:
    """Keys of the mapping at ``loc``, as far as that is ours and not within a parameter."""
    model = _MODELS.get(tuple("" if isinstance(part, int) else part for part in loc))
    if model is None:
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


_MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): Sweep,
    ("datasets", ""): DatasetSpec,
    ("loss",): LossSpec,
    ("lambda",): Grid,
    ("lambda", "logspace"): Logspace,
    ("C",): Grid,
    ("C", "logspace"): Logspace,
    ("stop",): Stop,
    ("reference",): Reference,
}


def _dotted(loc: Loc) -> str:
    """A place as one would write it: ``'stop.accuracy[1]'``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc]
    return f"'{''.join(parts).lstrip('.')}'"


def _short(value: Any) -> str:
    # Truth and nothing as YAML spells them.
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:56]}..."


# --- writing -----------------------------------------------------------------------


def dump_sweep(sweep: Sweep) -> str:
    """The sweep as YAML with every default written out; `load_sweep` reads it back."""
    plain = sweep.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"solvers"})
    plain["datasets"] = [_shortest(spec) for spec in plain["datasets"]]
    plain["loss"] = _shortest(plain["loss"])
    plain["solvers"] = [
        {"name": spec.name, "label": spec.label, **spec.parameters.model_dump(mode="json")}
        for spec in sweep.solvers
    ]
    ordered = {key: plain[key] for key in _keys(()) if key in plain}
    return yaml.dump(
        ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None
    )


def _shortest(spec: dict[str, Any]) -> Any:
    return spec["name"] if set(spec) == {"name"} else spec


def sweep_schema() -> dict[str, Any]:
    """JSON schema of a configuration, with the parameters of every solver there is."""
    schema = Sweep.model_json_schema()
    schema["description"] = "A configuration of svmbench."
    properties, definitions = schema["properties"], schema["$defs"]
    for name in ("Parameters", "SolverSpec"):
        definitions.pop(name)
    choices: list[dict[str, Any]] = [{"enum": list(solvers())}]
    for name, solver in solvers().items():
        parameters = solver.schema.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= parameters.pop("$defs", {})
        label = {"type": "string", "description": "Name of its row; made from the rest unless set."}
        parameters["title"] = solver.name
        parameters["description"] = solver.summary
        parameters["properties"] = {
            "name": {"const": name},
            "label": label,
            **parameters["properties"],
        }
        parameters["required"] = ["name", *parameters.get("required", [])]
        choices.append(parameters)
    properties["solvers"]["items"] = {"anyOf": choices}
    schema["oneOf"] = [{"required": ["lambda"]}, {"required": ["C"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
