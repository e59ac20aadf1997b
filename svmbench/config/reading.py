"""Reads a YAML file as a model, or says in one line what is wrong with it and where."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from svmbench.config.complaint import complaint
from svmbench.document import Loc, parse_document


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


def refuse(message: str, *loc: str | int, value: Any = None) -> NoReturn:
    """Raise a validation error placed at ``loc`` below the value being validated.

    A message that begins with "Input" is completed with the key's name and the value.
    """
    error = PydanticCustomError("refused", "{message}", {"message": message})
    detail = InitErrorDetails(type=error, loc=loc, input=value)
    raise ValidationError.from_exception_data("sweep", [detail])


Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A mapping of a file, which takes finite numbers and known keys only; it cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def read_model(path: Path, model: type[Model], load_plugins: bool = True) -> Model:
    """Read a YAML file as a model; relative paths in it start at its folder."""
    document = parse_document(path)
    context = {"folder": path.parent, "load_plugins": load_plugins}
    try:
        return model.model_validate(document.value, context=context)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        raise complaint(document, errors, partial(keys_at, model)) from None
