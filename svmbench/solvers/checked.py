"""The parameters of solvers, checked and described by pydantic."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from svmbench.solvers.base import Parameters, Precision

LARGEST_COUNT = (1 << 63) - 1
"""Largest whole number that a parameter may have: kernels count in 64 bits."""

#: Pydantic's reader and writer of a schema, prepared when it is first needed.
_adapter = cast("Callable[[type[Parameters]], TypeAdapter[Any]]", cache(TypeAdapter))


def checked(
    schema: type[Parameters], values: Mapping[str, Any], context: dict[str, Any] | None = None
) -> Parameters:
    """Parameters with these values, which are plain data as of a file.

    Raises pydantic.ValidationError.
    """
    # Through JSON, because there a list is as good as a tuple and nothing else is coerced.
    text = json.dumps(values)
    found: Parameters = _adapter(schema).validate_json(text, strict=True, context=context)
    for name, value in vars(found).items():
        if isinstance(value, int) and value > LARGEST_COUNT:
            raise _uncountable(schema, name, value)
    return found


def _uncountable(schema: type[Parameters], name: str, value: int) -> ValidationError:
    message = f"Input should be at most {LARGEST_COUNT}"
    error = PydanticCustomError("uncountable", "{message}", {"message": message})
    detail = InitErrorDetails(type=error, loc=(name,), input=value)
    return ValidationError.from_exception_data(schema.__name__, [detail])


def as_plain(parameters: Parameters) -> dict[str, Any]:
    """All values by name, as plain data that `checked` reads."""
    plain: dict[str, Any] = _adapter(type(parameters)).dump_python(parameters, mode="json")
    return plain


def json_schema(schema: type[Parameters], **options: Any) -> dict[str, Any]:
    """The JSON schema of a solver's parameters."""
    return _adapter(schema).json_schema(**options)


def names_of(schema: type[Parameters]) -> list[str]:
    return [each.name for each in fields(schema)]


def precisions_of(schema: type[Parameters]) -> tuple[Precision, ...]:
    """The precisions that its parameter ``precision`` accepts."""
    described = json_schema(schema)["properties"]["precision"]
    return tuple(described.get("enum") or [described["const"]])
