"""Transforms as configurations write them.

``max-abs``, ``{factor: 0.5}``, ``{subsample: {size: 1000, seed: 3}}``: names, parameters and
their bounds come from `svmbench.data.transforms`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    create_model,
)

from svmbench.config.reading import refuse
from svmbench.data.transforms import TRANSFORMS
from svmbench.data.transforms.step import Transform
from svmbench.document import short
from svmbench.errors import nearest


def _field(kind: type[Transform]) -> Any:
    """The key of one transform, with its parameters."""
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


Step = Annotated[
    Transform,
    PlainValidator(_as_transform, json_schema_input_type=_Choice),
    PlainSerializer(lambda step: step.plain(), return_type=Any),
]
"""A transform, by its name or as a mapping of its name to its parameters."""
