"""Reads a YAML file as a model, or says in one line what is wrong with it and where."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from svmbench.document import Document, Loc, colon, is_number, parse_document, short
from svmbench.errors import ConfigError, nearest


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


# --- what is wrong, in one line, and what to do about it ---------------------------


class InvalidFileError(ConfigError):
    """A file with errors: the message is that of the first of them.

    - ``lines``: a line for each error, in the order of the file.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        super().__init__(lines[0] + more)
        self.lines = tuple(lines)


def complaint(
    document: Document, errors: list[ErrorDetails], keys: Callable[[Loc], list[str]]
) -> InvalidFileError:
    """One line for many errors: that of the first, and how many more there are."""
    unknown = {error["loc"] for error in errors if error["type"] == "extra_forbidden"}
    # A key that is missing because it was misspelt is one error, not two.
    meant = {(*loc[:-1], _near_key(loc, keys)) for loc in unknown}
    left = [
        error
        for error in errors
        if not (error["type"] == "missing" and error["loc"] in meant)
        # pydantic does not count invalid entries, and then finds the list too short.
        and not (error["type"] == "too_short" and error["input"])
    ]
    left.sort(key=lambda error: (error["type"] == "missing", document.mark(error["loc"]).index))
    return InvalidFileError([_line(document, error, keys) for error in left])


def _line(document: Document, error: ErrorDetails, keys: Callable[[Loc], list[str]]) -> str:
    loc = document.shown(error["loc"])
    what = " ".join(_explain(error, loc, keys).split())
    return f"{document.path}:{colon(document.mark(loc))}: {what}"


def _explain(error: ErrorDetails, place: Loc, keys: Callable[[Loc], list[str]]) -> str:
    """What is wrong and what to do; ``place`` is the part of its location that the file shows."""
    kind, loc, value = error["type"], error["loc"], error["input"]
    name = _dotted(place)
    if kind == "extra_forbidden":
        return f"unknown key {loc[-1]!r}; {nearest(str(loc[-1]), keys(loc[:-1]))}"
    if kind == "missing":
        return f"missing key {loc[-1]!r}; add it"
    if kind == "too_short":
        return f"{name} is empty; give at least one"
    if kind == "string_pattern_mismatch":
        letters = "letters" if "A-Z" in error["ctx"]["pattern"] else "lower-case letters"
        return (
            f"{name} is {short(value)}; use {letters}, digits, '.', '_' and '-', "
            "a letter or a digit first"
        )
    if kind in _BOUNDS:
        message = f"Input should be {_BOUNDS[kind]} {next(iter(error['ctx'].values())):g}"
    else:
        message = re.sub(r"^\w+ (?=should )", "Input ", _SAID.get(kind, error["msg"]))
        message = message.removeprefix("Value error, ")
    if not message.startswith("Input"):
        return message
    return f"{name} {message.removeprefix('Input ')}, not {short(value)}{_advice(error)}"


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
        # pydantic keeps the choices only in the text of its message.
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        near = difflib.get_close_matches(str(value), choices, n=1)
        return f"; did you mean {near[0]!r}?" if near else ""
    if kind == "string_type" and isinstance(value, (bool, int, float)):
        return "; put it in quotes"
    if kind in ("float_type", "int_type") and isinstance(value, str) and is_number(value):
        return "; write it without quotes"
    if kind == "tuple_type" and isinstance(value, str):
        return f"; write [{value}]" if value.isprintable() and len(value) <= 60 else ""
    return ""


def _near_key(loc: Loc, keys: Callable[[Loc], list[str]]) -> str | None:
    near = difflib.get_close_matches(str(loc[-1]), keys(loc[:-1]), n=1)
    return near[0] if near else None


def _dotted(loc: Loc) -> str:
    """A place as one would write it: ``'stop.accuracy[1]'``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc]
    return f"'{''.join(parts).lstrip('.')}'"
