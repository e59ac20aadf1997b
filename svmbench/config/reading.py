"""Reads a YAML file as a model, or says in one line what is wrong with it and where."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from svmbench.config.complaint import complaint
from svmbench.config.keys import keys_at
from svmbench.document import parse_document

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A mapping of a file, which takes finite numbers and known keys only; it cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def read_model(path: Path, model: type[Model], load_plugins: bool = True) -> Model:
    """Read a YAML file as a model; relative paths in it start at its folder.

    Raises ConfigError: ``path:line:column: what; what to do``, for the first of the errors found.
    """
    document = parse_document(path)
    context = {"folder": path.parent, "load_plugins": load_plugins}
    try:
        return model.model_validate(document.value, context=context)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        raise complaint(document, errors, partial(keys_at, model)) from None
