"""Transforms as configurations write them.

``max-abs``, ``{factor: 0.5}``, ``{subsample: {size: 1000, seed: 3}}``: names, parameters and
their bounds come from `svmbench.data.transforms`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    create_model,
)

from svmbench.config.reading import refuse
from svmbench.data.transforms import TRANSFORMS, RowNumber, Rows, Transform
from svmbench.document import short
from svmbench.errors import nearest


def _stands_alone(kind: type[Transform]) -> bool:
    """Whether a transform needs no parameters."""
    return not any(field.is_required() for field in kind.model_fields.values())


def _field(kind: type[Transform]) -> Any:
    """The key of one transform: its parameters, or the single one that needs no name."""
    accepted: Any = kind
    if kind is Rows:
        accepted = kind | Annotated[list[RowNumber], Field(min_length=2, max_length=2)]
    elif kind.main is not None:
        accepted = kind | kind.model_fields[kind.main].rebuild_annotation()
    held: Any = kind | None
    if _stands_alone(kind):
        accepted = accepted | None
    said = BeforeValidator(lambda value: value, json_schema_input_type=accepted)
    return Annotated[held, said], Field(default=None, alias=kind.name)


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


_NAMES: Any = Literal[tuple(name for name, kind in TRANSFORMS.items() if _stands_alone(kind))]

Step = Annotated[
    Transform,
    PlainValidator(_as_transform, json_schema_input_type=_NAMES | _Choice),
    PlainSerializer(lambda step: step.plain(), return_type=Any),
]
"""A transform, by its name or as a mapping of its name to its parameters."""
