"""A data set in a configuration, with its transforms.

Names of transforms, their parameters and bounds come from `svmbench.data.transforms`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from svmbench.config.fields import (
    PositiveReal,
    Real,
    Text,
    Title,
    Whole,
    as_list,
    beside,
    distinct,
    look_of,
)
from svmbench.config.reading import Strict, refuse
from svmbench.data import catalogue
from svmbench.data.catalogue import Chosen, OwnFiles
from svmbench.data.libsvm import label_text, plain_name
from svmbench.data.transforms import TRANSFORMS, Derived, suffix
from svmbench.data.transforms.columns import Bias
from svmbench.data.transforms.rows import Split
from svmbench.data.transforms.step import RowCount, RowShare, Transform, is_size
from svmbench.document import short
from svmbench.errors import nearest


def _field(kind: type[Transform]) -> Any:
    held: Any = kind | None
    return held, Field(default=None, alias=kind.name)


_Choice: type[BaseModel] = create_model(
    "TransformChoice",
    __config__=ConfigDict(extra="forbid"),
    **{name.replace("-", "_"): _field(kind) for name, kind in TRANSFORMS.items()},
)


def _as_transform(value: Any) -> Transform:
    if isinstance(value, Transform):
        return value
    named = {value: None} if isinstance(value, str) else value
    if not isinstance(named, dict) or len(named) != 1:
        refuse("Input should be a transform's name, or {name: parameter}", value=value)
    [(name, given)] = named.items()
    if name not in TRANSFORMS:
        loc = () if isinstance(value, str) else (name,)
        refuse(f"unknown transform {short(name)}; {nearest(name, list(TRANSFORMS))}", *loc)
    choice = _Choice.model_validate({name: {} if given is None else given})
    [chosen] = [step for _, step in choice if step is not None]
    assert isinstance(chosen, Transform)
    return chosen


#: A transform, by its name or as a mapping of its name to its parameters.
Step = Annotated[
    Transform,
    PlainValidator(_as_transform, json_schema_input_type=_Choice),
    PlainSerializer(lambda step: step.plain(), return_type=Any),
]


class DatasetSpec(Strict):
    """A data set of the catalogue, or the user's own LIBSVM files, with its transforms."""

    name: Title | None = None
    path: Path | None = None
    test: Path | RowCount | RowShare | None = None
    positive: (
        Annotated[
            tuple[Real, ...],
            Field(min_length=1),
            BeforeValidator(as_list),
            AfterValidator(distinct),
        ]
        | None
    ) = None
    features: Annotated[Whole, Field(ge=1, lt=1 << 31)] | None = None
    zero_based: bool = False
    transforms: tuple[Step, ...] = ()
    bias: PositiveReal | None = None
    given_label: Annotated[Text, Field(max_length=100)] | None = Field(default=None, alias="label")

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
            for key, given in (
                ("test", isinstance(self.test, Path)),
                ("features", self.features),
                ("zero_based", self.zero_based),
            ):
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
        source: str | OwnFiles | Chosen = self._plain_label
        if self.path is not None:
            source = OwnFiles(
                path=self.path,
                test=self.test if isinstance(self.test, Path) else None,
                zero_based=self.zero_based,
                n_features=self.features,
                positive=self.positive,
                name=self._plain_label,
            )
        elif self.positive is not None:
            source = Chosen(name=self._plain_label, positive=self.positive)
        if isinstance(source, Chosen) or self.chain or self.label != self._plain_label:
            return Derived(source, self.chain, self.label)
        return source


def _numbers(values: tuple[float, ...]) -> str:
    return "".join(f"-{label_text(value)}" for value in values)
