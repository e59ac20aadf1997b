"""The model of a configuration: the typed, frozen `Sweep` and its parts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from svmbench.config.fields import (
    UNIQUE,
    Accuracy,
    DistinctList,
    Duration,
    FileName,
    Flag,
    One,
    Passes,
    Plugins,
    PositiveReal,
    Real,
    Repetitions,
    Size,
    Slug,
    Text,
    Title,
    Weight,
    Whole,
    beside,
    distinct,
    look_of,
    second,
)
from svmbench.config.reading import Strict
from svmbench.config.refusal import refuse
from svmbench.config.steps import Step
from svmbench.data import catalogue
from svmbench.data.catalogue import OwnFiles
from svmbench.data.libsvm import plain_name
from svmbench.data.transforms import Bias, Derived, Split, Transform, is_size, suffix
from svmbench.data.transforms.step import RowCount, RowShare
from svmbench.errors import ConfigError, nearest
from svmbench.problem import Loss
from svmbench.records.kinds import PLOTS, USUAL_TABLES, PlotKind, TableKind
from svmbench.records.spelling import in_file_names
from svmbench.solvers.base import Parameters
from svmbench.solvers.program import ForeignProgram, ProgramParameters
from svmbench.solvers.registry import find_solver


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, (int, float)) else value


def _as_named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class Logspace(Strict):
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


class Grid(Strict):
    """A list of values given by a rule."""

    logspace: Logspace = Field(description="Values spaced evenly on a logarithmic scale.")


def _as_weights(value: Any) -> Any:
    if isinstance(value, dict):
        return Grid.model_validate(value).logspace.values()
    return _as_list(value)


Weights = Annotated[
    tuple[Weight, ...],
    Field(min_length=1),
    BeforeValidator(_as_weights, json_schema_input_type=Weight | DistinctList[Weight] | Grid),
    AfterValidator(distinct),
]


class DatasetSpec(Strict):
    """A data set of the catalogue, or the user's own LIBSVM files, with its transforms."""

    name: Title | None = Field(
        default=None, description="Name in the catalogue; with a path, the name of its rows."
    )
    path: FileName | None = Field(
        default=None, description="LIBSVM file of the training rows; relative to the configuration."
    )
    test: FileName | RowCount | RowShare | None = Field(
        default=None,
        description="LIBSVM file of the test rows; or a part of the rows, as a fraction or a "
        "number, to be set apart for the test after all transforms.",
    )
    positive: (
        Annotated[
            tuple[Real, ...],
            Field(min_length=1),
            BeforeValidator(_as_list, json_schema_input_type=Real | DistinctList[Real]),
            AfterValidator(distinct),
        ]
        | None
    ) = Field(default=None, description="Label, or labels, to read as +1; all others become -1.")
    features: Annotated[Whole, Field(ge=1, lt=1 << 31)] | None = Field(
        default=None, description="Number of features; the largest index in the files unless set."
    )
    transforms: tuple[Step, ...] = Field(
        default=(), description="Transforms of the rows, in this order."
    )
    bias: PositiveReal | None = Field(
        default=None, description="Value of one more feature, the last, in every row."
    )
    given_label: Annotated[Text, Field(max_length=100)] | None = Field(
        default=None,
        alias="label",
        description="Name of its rows in the results; derived unless set.",
    )

    @field_validator("path", "test", mode="before")
    @classmethod
    def _files(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            return beside(value, info)
        if info.field_name == "test" and not (value is None or is_size(value)):
            refuse(
                "Input should be the name of a file, or a part of the rows: "
                "a fraction between 0 and 1, or a whole number",
                value=value,
            )
        return value

    @model_validator(mode="after")
    def _either(self) -> DatasetSpec:
        known = catalogue.names()
        if self.path is not None:
            if self._plain_label in known:
                refuse(f"{self._plain_label!r} is a set of the catalogue; set another name", "name")
        elif self.name is None:
            refuse("neither name nor path; write a data set's name, or {path: FILE}")
        elif self.name not in known:
            near = nearest(self.name, known, "svmbench data list")
            hint = f"{near} (a file of your own: {{path: FILE}})"
            refuse(f"unknown data set {self.name!r}; {hint}", "name")
        else:
            for key, given in (("test", isinstance(self.test, Path)), ("features", self.features)):
                if given:
                    refuse(f"{key!r} belongs to a path; of a name the catalogue knows it", key)
        if self.given_label != self.name and self.given_label in known:
            refuse(f"{self.given_label!r} is another set of the catalogue; set another", "label")
        if self.label not in known and look_of(self.label) in known:
            refuse(f"{self.label!r} looks like a set of the catalogue; set another", "label")
        return self

    @property
    def chain(self) -> tuple[Transform, ...]:
        """All transforms in order; those with their own keys come last."""
        chain = self.transforms
        if self.bias is not None:
            chain = (*chain, Bias(rho=self.bias))
        if isinstance(self.test, int | float):
            chain = (*chain, Split(test=self.test))
        return chain

    @property
    def label(self) -> str:
        """The name in its results: given, or its own or its file's with its transforms."""
        if self.given_label is not None:
            return self.given_label
        chosen = "" if self.path or not self.positive else f"+positive{_numbers(self.positive)}"
        return self._plain_label + chosen + suffix(self.chain)

    @property
    def _plain_label(self) -> str:
        if self.name is not None:
            return self.name
        assert self.path is not None
        return plain_name(self.path).removesuffix(".libsvm") or self.path.name

    @property
    def source(self) -> str | OwnFiles | Derived:
        """The argument of `svmbench.data.load.load`."""
        source: str | OwnFiles | dict[str, Any] = self._plain_label
        if self.path is not None:
            source = OwnFiles(
                path=self.path,
                test=self.test if isinstance(self.test, Path) else None,
                n_features=self.features,
                positive=self.positive,
                name=self._plain_label,
            )
        elif self.positive is not None:
            source = {"name": self._plain_label, "positive": self.positive}
        if isinstance(source, dict) or self.chain or self.label != self._plain_label:
            return Derived(source, self.chain, self.label)
        return source


def _numbers(values: tuple[float, ...]) -> str:
    return "".join(f"-{value:g}" for value in values)


LossName = Literal["hinge", "squared-hinge", "smoothed-hinge", "logistic"]


def _refuse_alike(labels: list[str]) -> None:
    """Refuse labels that a reader of tables cannot tell apart."""
    i = second(look_of(label) for label in labels)
    if i is not None:
        refuse(f"{labels[i]!r} looks like a label before it; give it another one", i)


class LossSpec(Strict):
    """The loss of the margin."""

    name: LossName = Field(default="hinge", description="Name of the loss.")
    gamma: PositiveReal | None = Field(
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
            refuse("'gamma' belongs to smoothed-hinge only; leave it out")
        return None

    @property
    def loss(self) -> Loss:
        """The loss as problems represent it."""
        return Loss(self.name) if self.gamma is None else Loss(self.name, self.gamma)


class Constraint(Strict):
    """The constraint on w."""

    l1: PositiveReal = Field(description="Radius z of the ball ||w||_1 <= z.")


class SolverSpec(Strict):
    """A solver with its parameters: one row of every table."""

    name: str
    label: Text
    parameters: Parameters

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, value: Any, info: ValidationInfo) -> Any:
        """Look up the solver and let its own schema check the rest of the mapping."""
        value = _as_named(value)
        if not isinstance(value, dict) or isinstance(value.get("parameters"), Parameters):
            return value
        given = dict(value)
        name, label = given.pop("name", None), given.pop("label", None)
        if name is None and "command" in given:
            name = ForeignProgram.name
        if name is None:
            refuse("missing key 'name'; write {name: SOLVER, ...}")
        if not isinstance(name, str):
            refuse("Input should be the name of a solver", "name", value=name)
        try:
            schema = find_solver(name).schema
        except ConfigError as error:
            refuse(str(error), "name", value=name)
        for key in given:
            if key not in schema.model_fields:
                hint = nearest(key, ["label", *schema.model_fields])
                refuse(f"unknown parameter {key!r} of {name}; {hint}", key)
        if given.get("precision") == "float32" and "float32" not in get_args(
            schema.model_fields["precision"].annotation
        ):
            refuse(
                f"solver {name!r} does not compute in float32; leave its precision out", "precision"
            )
        # Through JSON, because there a list is as good as a tuple and nothing else is coerced.
        text = json.dumps(given)
        parameters = schema.model_validate_json(text, strict=True, context=info.context)
        if label is None:
            label = _default_label(name, parameters, given)
            if type(parameters) is ProgramParameters:
                label = Path(parameters.command[0]).name
        return {"name": name, "label": label, "parameters": parameters}


def _default_label(name: str, parameters: Parameters, given: dict[str, Any]) -> str:
    values = parameters.model_dump(mode="json", include=set(given))
    written = [f"{key}={_written_value(values[key])}" for key in given]
    return f"{name}({', '.join(written)})" if written else name


def _written_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


#: Targets of `Stop`, and its limits beside the time limit: a sweep needs one of all these.
TARGETS = ("accuracy", "gap", "own")
LIMITS = ("max_epochs", "max_updates", "max_steps")


class Stop(Strict):
    """When a run ends: once all its `TARGETS` hold, or at a limit.

    A solver without a gap or a rule of its own does not have these targets.
    """

    accuracy: Annotated[
        tuple[Accuracy, ...],
        BeforeValidator(
            _as_list,
            json_schema_input_type=Accuracy | Annotated[list[Accuracy], UNIQUE],
        ),
        AfterValidator(distinct),
        AfterValidator(lambda values: tuple(sorted(values, reverse=True))),
    ] = Field(
        default=(),
        description="Target: relative accuracies (P(w) - D_ref)/D_ref, of which the tightest "
        "ends a run; tables give the time to each.",
    )
    distance: Literal["relative", "absolute"] = Field(
        default="relative",
        description="What accuracies are: relative, (P(w) - D_ref)/D_ref, or absolute, P(w) - "
        "D_ref.",
    )
    gap: PositiveReal | None = Field(
        default=None,
        description="Target: relative gap P/D - 1 from the solver's own dual value; computing it "
        "is then part of the training time.",
    )
    own: Flag = Field(default=False, description="Target: the method's own stopping rule.")
    max_epochs: Passes | None = Field(
        default=None, description="Limit: presentations of rows, in units of the number of rows."
    )
    max_updates: Passes | None = Field(
        default=None, description="Limit: updates of the weights, in units of the number of rows."
    )
    max_steps: Passes | None = Field(
        default=None,
        description="Limit: steps, where each has the same number of rows: a mini-batch is one "
        "step.",
    )
    time_limit: Duration = Field(
        default=60.0, description="Limit: training time in seconds, or a duration such as 2m."
    )
    relative_limit: Annotated[Real, Field(gt=1.0)] | None = Field(
        default=None,
        description="Limit: multiple of the least training time of any solver on the problem "
        "to the tightest accuracy so far.",
    )
    grace: Duration = Field(
        default=30.0,
        description="Limit: silence of a worker beyond its time limit, in seconds, after which "
        "it is killed.",
    )
    memory_limit: Size | None = Field(
        default=None, description="Limit: memory of a worker beyond its data, such as 4GiB."
    )
    checkpoints: Literal["tenths", "passes", "early"] = Field(
        default="tenths",
        description="When a run is evaluated. tenths: in steps of at most a tenth from a hundredth "
        "of a pass on. early: the same from the first row on. passes: at the ends of passes only; "
        "times to an accuracy are then those of whole passes.",
    )

    @model_validator(mode="after")
    def _ends(self) -> Stop:
        *others, last = (*TARGETS, *LIMITS)
        if not any(getattr(self, end) for end in (*others, last)):
            refuse(f"no end but a time limit; give {', '.join(others)} or {last}")
        if self.relative_limit is not None and not self.accuracy:
            refuse("a relative limit needs an accuracy; give that too", "relative_limit")
        return self


class SweepReference(Strict):
    """The certified optimum against which accuracies are measured."""

    gap: PositiveReal = Field(
        default=1e-4,
        description="Its relative gap; at most a hundredth of the tightest accuracy, and that or "
        "1e-4, whichever is less, unless set.",
    )
    time_limit: Duration = Field(
        default=300.0, description="Time to reach it, in seconds, or a duration such as 5m."
    )


class Repeats(Strict):
    """How many repeats a cell has if the questions about the sweep decide it."""

    at_least: Repetitions = Field(default=5, description="For every cell.")
    until: Literal["decided"] = Field(
        description="decided: cells get further repeats while a question about them is open."
    )
    at_most: Repetitions = Field(
        default=60, description="For any cell, even if its questions are open."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Repeats:
        if self.at_most < self.at_least:
            refuse(
                f"'repeats.at_most' is {self.at_most}, less than at_least, which is "
                f"{self.at_least}; raise it",
                "at_most",
            )
        return self


_COUNT = TypeAdapter(Repetitions)


def _as_repeats(value: Any, _: ValidatorFunctionWrapHandler) -> int | Repeats:
    # By hand, because a union would report the errors of both its members for a wrong number.
    if isinstance(value, dict | Repeats):
        return Repeats.model_validate(value)
    return _COUNT.validate_python(value)


#: Repeats of each cell: a number, or a rule.
RepeatsOrNumber = Annotated[
    int | Repeats,
    WrapValidator(_as_repeats, json_schema_input_type=Repetitions | Repeats),
]


class Sweep(Strict):
    """What one configuration asks for: data sets x lambdas x solvers x repeats.

    Build it from a plain mapping with the keys of the YAML file: ``Sweep.model_validate``.
    """

    version: One = Field(description="Version of this format.")
    name: Slug = Field(description="Name of the sweep and of its results folder.")
    plugins: Plugins = Field(
        default=(),
        description="Python files with solvers, relative to the configuration; they are executed.",
    )
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
    bias: Literal["none", "free"] = Field(
        default="none",
        description="none, or free: an unregularised b is added to every score. For a "
        "regularised one, append a constant feature to the data.",
    )
    constraint: Constraint | None = Field(
        default=None, description="Constraint on w, as {l1: RADIUS}; none unless set."
    )
    lambdas: Weights | None = Field(
        default=None,
        alias="lambda",
        description="Regularisation constants; exactly one of lambda and C.",
    )
    C: Weights | None = Field(default=None, description="lambda = 1/(C m) on each set of m rows.")
    solvers: Annotated[tuple[SolverSpec, ...], Field(min_length=1)] = Field(
        description="Solvers, each a name or {name: NAME, label: LABEL, parameters...}."
    )
    stop: Stop = Field(description="When a run ends: once all targets are met, or at a limit.")
    repeats: RepeatsOrNumber = Field(
        default=1,
        description="Runs of each cell, each with its own seed: a number, or a rule.",
    )
    threads: One = Field(default=1, description="Threads of a solver.")
    reference: SweepReference = Field(
        default=SweepReference(),
        validate_default=True,
        description="Certified optimum of each problem.",
    )
    regret: Flag = Field(
        default=False,
        description="Whether to compute, after each run of a solver that takes one row per step, "
        "its regret against the best weights for the rows it drew.",
    )
    tables: Annotated[tuple[TableKind, ...], AfterValidator(distinct), UNIQUE] = Field(
        default=USUAL_TABLES, description="Tables of the report."
    )
    plots: Annotated[tuple[PlotKind, ...], AfterValidator(distinct), UNIQUE] = Field(
        default=PLOTS, description="Plots of the report."
    )

    @field_validator("datasets")
    @classmethod
    def _one_of_each(cls, specs: tuple[DatasetSpec, ...]) -> tuple[DatasetSpec, ...]:
        i = second(spec.label for spec in specs)
        if i is not None:
            refuse(f"a second data set {specs[i].label!r}; drop it or give it a label", i)
        _refuse_alike([spec.label for spec in specs])
        # Different chains of transforms may end in the same rows, whose runs would have one id.
        i = second(in_file_names(spec.label) for spec in specs)
        if i is not None:
            same = "has the same label in names of files as a data set before it"
            refuse(f"{specs[i].label!r} {same}; give it another one", i)
        return specs

    @field_validator("solvers")
    @classmethod
    def _told_apart(cls, specs: tuple[SolverSpec, ...]) -> tuple[SolverSpec, ...]:
        i = second(spec.label for spec in specs)
        if i is not None:
            refuse(f"a second {specs[i].label!r}; drop it or give it a label of its own", i)
        _refuse_alike([spec.label for spec in specs])
        i = second((in_file_names(spec.label), spec.name, repr(spec.parameters)) for spec in specs)
        if i is not None:
            same = "has the parameters of a solver before it, and the same label in names of files"
            refuse(f"{specs[i].label!r} {same}; give it another one", i)
        return specs

    @field_validator("reference")
    @classmethod
    def _tight(cls, reference: SweepReference, info: ValidationInfo) -> SweepReference:
        accuracy = info.data["stop"].accuracy if "stop" in info.data else ()
        # Twelve digits, because 1e-3/100 should be 1e-5 however it is rounded.
        allowed = min((float(f"{value / 100.0:.12g}") for value in accuracy), default=math.inf)
        if "gap" not in reference.model_fields_set:
            return reference.model_copy(update={"gap": min(reference.gap, allowed)})
        if reference.gap > allowed:
            refuse(
                f"'reference.gap' is {reference.gap!r}; it may be at most {allowed!r}, "
                "a hundredth of the tightest accuracy",
                "gap",
            )
        return reference

    @model_validator(mode="after")
    def _consistent(self) -> Sweep:
        if self.lambdas is not None and self.C is not None:
            refuse("both 'lambda' and 'C'; keep one of them", "C")
        if self.lambdas is None and self.C is None:
            refuse("missing key 'lambda'; add it, or 'C'")
        for i, spec in enumerate(self.solvers):
            solver = find_solver(spec.name)
            for what, asked, offered in (
                ("loss", self.loss.name, solver.losses),
                ("bias", self.bias, solver.biases),
                ("constraint", "none" if self.constraint is None else "l1", solver.constraints),
            ):
                if asked not in offered:
                    refuse(
                        f"{spec.name} cannot train the {what} {asked}, only "
                        f"{', '.join(offered)}; drop the solver or change the {what}",
                        "solvers",
                        i,
                        "name",
                    )
        return self

    @property
    def at_least(self) -> int:
        """Repeats that every cell has."""
        return self.repeats if isinstance(self.repeats, int) else self.repeats.at_least

    @property
    def at_most(self) -> int:
        """The largest number of repeats of a cell."""
        return self.repeats if isinstance(self.repeats, int) else self.repeats.at_most

    def lambdas_for(self, m: int) -> tuple[float, ...]:
        """The lambdas for a data set of ``m`` rows, in the configuration's order."""
        if self.lambdas is not None:
            return self.lambdas
        assert self.C is not None
        return tuple(1.0 / (c * m) for c in self.C)
