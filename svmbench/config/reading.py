"""Reads a YAML file as a model, or says in one line what is wrong with it and where."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from svmbench.config.complaint import complaint
from svmbench.config.keys import keys_at
from svmbench.document import parse_document

Model = TypeVar("Model", bound=BaseModel)


def read_model(path: Path, model: type[Model]) -> Model:
    """Read a YAML file as a model; relative paths in it start at its folder.

    Parameters
    ----------
    path : Path
    model : type
        A pydantic model. Its fields are the keys of the file.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``, for the first of the errors found.
    """
    document = parse_document(path)
    try:
        return model.model_validate(document.value, context={"folder": path.parent})
    except ValidationError as error:
        errors = error.errors(include_url=False)
        raise complaint(document, errors, partial(keys_at, model)) from None
