"""The keys that a mapping in a YAML file may have, according to the models that read it."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from svmbench.document import Loc


def keys_at(model: type[BaseModel], loc: Loc = ()) -> list[str]:
    """Keys of the mapping at a location."""
    kinds: list[Any] = [model]
    for part in loc:
        kinds = [below for kind in kinds for below in _below(kind, part)]
    return list(dict.fromkeys(key for kind in kinds if _is_model(kind) for key in _fields(kind)))


def _below(kind: Any, part: str | int) -> Iterator[Any]:
    """The types of the value at one key or index."""
    if _is_model(kind):
        field = _fields(kind).get(str(part))
        if field is not None:
            yield from _arms(field.rebuild_annotation())
    elif isinstance(part, int) and get_origin(kind) in (tuple, list):
        for each in get_args(kind):
            yield from _arms(each)
    elif isinstance(part, str) and get_origin(kind) is dict:
        yield from _arms(get_args(kind)[1])


def _arms(annotation: Any) -> Iterator[Any]:
    """The types that an annotation allows, including those that its validators convert."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        yield from _arms(inner)
        for validator in metadata:
            yield from _arms(getattr(validator, "json_schema_input_type", None))
    elif get_origin(annotation) in (Union, UnionType):
        for arm in get_args(annotation):
            yield from _arms(arm)
    else:
        yield annotation


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    """A model's fields by their keys."""
    return {field.alias or name: field for name, field in model.model_fields.items()}
