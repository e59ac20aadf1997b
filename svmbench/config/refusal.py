"""How a validator refuses a value: with its own message, at its own place."""

from __future__ import annotations

from typing import Any, NoReturn

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError


def refuse(message: str, *loc: str | int, value: Any = None) -> NoReturn:
    """Raise a validation error placed at ``loc`` below the value being validated.

    A message that begins with "Input" is completed with the key's name and the value.
    """
    error = PydanticCustomError("refused", "{message}", {"message": message})
    detail = InitErrorDetails(type=error, loc=loc, input=value)
    raise ValidationError.from_exception_data("sweep", [detail])
