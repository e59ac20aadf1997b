"""The model of a configuration: the typed, frozen `Sweep`, its solvers and its problem."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.config.fields import (
    Flag,
    One,
    Plugins,
    PositiveReal,
    Slug,
    Text,
    Weight,
    Whole,
    as_list,
    as_named,
    distinct,
    look_of,
    second,
)
from svmbench.config.reading import Strict, refuse
from svmbench.config.stop import RepeatsOrNumber, Stop, SweepReference
from svmbench.errors import ConfigError, nearest
from svmbench.names import BiasName, LossName
from svmbench.problem import Loss
from svmbench.records.columns import PLOTS, TABLES, PlotKind, TableKind
from svmbench.records.spelling import as_written, in_file_names
from svmbench.solvers.base import Parameters
from svmbench.solvers.checked import as_plain, checked, names_of, precisions_of
from svmbench.solvers.program import ForeignProgram, ProgramParameters
from svmbench.solvers.registry import find_solver


class Logspace(Strict):
    """Values spaced evenly on a logarithmic scale, both ends included."""

    start: Weight = Field(alias="from")
    stop: Weight = Field(alias="to")
    num: Whole = Field(ge=2, le=1000)

    def values(self) -> tuple[float, ...]:
        low, high = math.log(self.start), math.log(self.stop)
        steps = self.num - 1
        # Twelve digits: 1e-4 stays 1e-4, here and in the name of every result.
        inner = [math.exp(low + (high - low) * i / steps) for i in range(1, steps)]
        return (self.start, *(float(f"{value:.12g}") for value in inner), self.stop)


class Grid(Strict):
    """A list of values given by a rule."""

    logspace: Logspace


def _as_weights(value: Any) -> Any:
    if isinstance(value, dict):
        return Grid.model_validate(value).logspace.values()
    return as_list(value)


Weights = Annotated[
    tuple[Weight, ...],
    Field(min_length=1),
    BeforeValidator(_as_weights, json_schema_input_type=Grid),
    AfterValidator(distinct),
]


def _refuse_alike(labels: list[str]) -> None:
    """Refuse labels that a reader of tables cannot tell apart."""
    i = second(look_of(label) for label in labels)
    if i is not None:
        refuse(f"{labels[i]!r} looks like a label before it; give it another one", i)


class LossSpec(Strict):
    name: LossName = "hinge"
    gamma: PositiveReal | None = Field(default=None, validate_default=True)

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
        return Loss(self.name) if self.gamma is None else Loss(self.name, self.gamma)


class Constraint(Strict):
    """The ball to which w is confined."""

    l1: PositiveReal


class SolverSpec(Strict):
    """A solver with its parameters: one row of every table."""

    name: str
    label: Text
    parameters: Parameters

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, value: Any, info: ValidationInfo) -> Any:
        """Look up the solver and let its own schema check the rest of the mapping."""
        value = as_named(value)
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
            refuse(_of_plug_in(name, info) or str(error), "name", value=name)
        for key in given:
            if key not in names_of(schema):
                hint = nearest(key, ["label", *names_of(schema)])
                refuse(f"unknown parameter {key!r} of {name}; {hint}", key)
        if given.get("precision") == "float32" and "float32" not in precisions_of(schema):
            refuse(
                f"solver {name!r} does not compute in float32; leave its precision out", "precision"
            )
        parameters = checked(schema, given, info.context)
        if label is None:
            label = _default_label(name, parameters, given)
            if type(parameters) is ProgramParameters:
                label = Path(parameters.command[0]).name
        return {"name": name, "label": label, "parameters": parameters}


def _of_plug_in(name: str, info: ValidationInfo) -> str:
    """What to give for an unknown solver of somebody's results; empty where plug-ins are loaded."""
    context = info.context or {}
    if context.get("load_plugins", True):
        return ""
    files = " ".join(f"--plugin {path}" for path in context.get("not_loaded", ()))
    given = f"add {files} if you trust it" if files else "install it, or add its file with --plugin"
    return f"solver {name!r} is of a plug-in, which is not executed here; {given}"


def _default_label(name: str, parameters: Parameters, given: dict[str, Any]) -> str:
    values = as_plain(parameters)
    written = [f"{key}={as_written(values[key])}" for key in given]
    return f"{name}({', '.join(written)})" if written else name


class Sweep(Strict):
    """What one configuration asks for: data sets x lambdas x solvers x repeats.

    Build it from a plain mapping with the keys of the YAML file: ``Sweep.model_validate``.
    configs/README.md says what each key means.
    """

    version: One
    name: Slug
    plugins: Plugins = ()
    datasets: Annotated[
        tuple[
            Annotated[DatasetSpec, BeforeValidator(as_named)],
            ...,
        ],
        Field(min_length=1),
    ]
    loss: Annotated[LossSpec, BeforeValidator(as_named)] = LossSpec()
    bias: BiasName = "none"
    constraint: Constraint | None = None
    lambdas: Weights | None = Field(default=None, alias="lambda")
    C: Weights | None = None
    solvers: Annotated[tuple[SolverSpec, ...], Field(min_length=1)]
    stop: Stop
    repeats: RepeatsOrNumber = 1
    threads: One = 1
    reference: SweepReference = Field(default=SweepReference(), validate_default=True)
    regret: Flag = False
    tables: Annotated[tuple[TableKind, ...], AfterValidator(distinct)] = TABLES
    plots: Annotated[tuple[PlotKind, ...], AfterValidator(distinct)] = PLOTS

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

    @property
    def until_decided(self) -> bool:
        """Whether cells with an open question get further repeats."""
        return self.at_most > self.at_least

    def lambdas_for(self, m: int) -> tuple[float, ...]:
        """The lambdas for a data set of ``m`` rows, in the configuration's order."""
        if self.lambdas is not None:
            return self.lambdas
        assert self.C is not None
        return tuple(1.0 / (c * m) for c in self.C)
