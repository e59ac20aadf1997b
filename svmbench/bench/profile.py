"""The model of a benchmark's file: the typed, frozen `Profile` and its parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from svmbench.bench.champion import named
from svmbench.bundled import bundled
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.config.fields import (
    Accuracy,
    Duration,
    Flag,
    Plugins,
    PositiveReal,
    Slug,
    Text,
    Weight,
    as_named,
    second,
)
from svmbench.config.reading import Strict, read_model, refuse
from svmbench.config.stop import RepeatsOrNumber
from svmbench.config.sweep import Sweep
from svmbench.document import one_or_several
from svmbench.errors import ConfigError, nearest
from svmbench.solvers.registry import add_file


def _as_data(value: Any) -> Any:
    return {"data": value} if isinstance(value, str) else value


def _with_name(entry: str | dict[str, Any]) -> str | dict[str, Any]:
    given = named(entry)
    if not isinstance(given.get("name"), str) or not isinstance(given.get("label", ""), str):
        refuse("Input should be a solver: its name, or a mapping with 'name'", value=entry)
    return entry


#: A solver as configurations write it; `champion` is the solver put forward as ours.
SolverEntry = Annotated[
    str | dict[str, Any], Field(union_mode="left_to_right"), AfterValidator(_with_name)
]
Names = Annotated[tuple[str, ...], BeforeValidator(one_or_several)]
LambdaValues = Annotated[tuple[Weight, ...], BeforeValidator(one_or_several), Field(min_length=1)]
Accuracies = Annotated[
    tuple[Accuracy, ...],
    BeforeValidator(one_or_several),
    Field(min_length=1),
    AfterValidator(lambda values: tuple(sorted(values, reverse=True))),
]


class SetSpec(Strict):
    data: Annotated[DatasetSpec, BeforeValidator(as_named)]
    scale: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    tuned: Flag = False  # choices in our solvers were made on it
    held_out: Flag = False  # kept out of all tuning, and reported apart

    @property
    def label(self) -> str:
        return self.data.label

    @property
    def file_name(self) -> str:
        """The label as names of its files and folders have it."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.label)

    @property
    def use(self) -> str:
        """What it was used for besides measuring, in words; empty if for nothing."""
        if self.held_out:
            return "kept out of tuning"
        return "tuned on" if self.tuned else ""


class SweepPart(Strict):
    sets: Names = ()
    lambdas: LambdaValues = Field(alias="lambda")
    accuracy: Accuracies
    solvers: tuple[SolverEntry, ...] = ()
    repeats: RepeatsOrNumber = 3
    max_epochs: PositiveReal | None = None
    time_limit: Duration = 20.0
    grace: Duration = 10.0
    reference_limit: Duration = 60.0


class Profile(Strict):
    version: Literal[1]
    name: Slug
    title: Text
    plugins: Plugins = ()
    budget: Duration | None = None
    entries_a_second: PositiveReal = 5000.0
    sets: Annotated[tuple[Annotated[SetSpec, BeforeValidator(_as_data)], ...], Field(min_length=1)]
    sweeps: dict[Slug, SweepPart] = Field(default={})

    @model_validator(mode="after")
    def _known_sets(self) -> Profile:
        known = [each.label for each in self.sets]
        at = second(known)
        if at is not None:
            refuse(f"a second data set {known[at]!r}; drop it or give it a label", "sets", at)
        at = second(each.file_name for each in self.sets)
        if at is not None:
            same = "has the same label in names of files as a data set before it"
            refuse(f"{known[at]!r} {same}; give it another one", "sets", at)
        for name, part in self.sweeps.items():
            for label in part.sets:
                if label not in known:
                    said = f"unknown data set {label!r}; {nearest(label, known)}"
                    refuse(said, "sweeps", name, "sets")
        return self

    def with_plugins(self, files: Sequence[Path]) -> Profile:
        """The profile with the solvers of these files in each sweep."""
        names = dict.fromkeys(solver.name for file in files for solver in add_file(file))
        sweeps = {}
        for key, part in self.sweeps.items():
            known = {named(entry)["name"] for entry in part.solvers}
            added = (*part.solvers, *(name for name in names if name not in known))
            sweeps[key] = part.model_copy(update={"solvers": added})
        paths = dict.fromkeys([*self.plugins, *(file.absolute() for file in files)])
        return self.model_copy(update={"sweeps": sweeps, "plugins": tuple(paths)})

    def chosen(self, labels: Names) -> list[SetSpec]:
        """The sets of these labels; all if there are none."""
        return [each for each in self.sets if not labels or each.label in labels]

    def sweep(self, name: str, chosen: SetSpec) -> Sweep:
        """The sweep of a part on a set."""
        part = self.sweeps[name]
        stop: dict[str, Any] = {
            "time_limit": part.time_limit, "grace": part.grace, "accuracy": list(part.accuracy)
        }  # fmt: skip
        reference: dict[str, Any] = {"time_limit": part.reference_limit}
        if part.max_epochs is not None:
            stop["max_epochs"] = part.max_epochs
        plain = {
            "version": 1,
            "name": f"{name}-{chosen.file_name}".lower(),
            "plugins": list(self.plugins),
            "datasets": [chosen.data],
            "lambda": list(part.lambdas),
            "solvers": solver_entries(part),
            "stop": stop,
            "repeats": part.repeats,
            "reference": reference,
            "tables": ["time"],
            "plots": [],
        }
        try:
            return Sweep.model_validate(plain)
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigError(
                f"profile {self.name}, sweep {name}: {' '.join(first['msg'].split())}"
            ) from None


def solver_entries(part: SweepPart) -> list[dict[str, Any]]:
    """The solvers of a part as configurations write them, each once."""
    found: list[dict[str, Any]] = []
    for entry in map(named, part.solvers):
        if entry not in found:
            found.append(entry)
    return found


def load_profile(name: str) -> Profile:
    """The profile of that name that comes with svmbench, or from a file."""
    path = Path(name)
    if not path.suffix:
        known = profiles()
        if name not in known:
            raise ConfigError(f"unknown profile {name!r}; {nearest(name, known)}")
        path = bundled("configs") / "bench" / f"{name}.yaml"
    return read_model(path, Profile)


def profiles() -> list[str]:
    folder = bundled("configs") / "bench"
    return sorted(path.stem for path in folder.glob("*.yaml"))
