"""What the class of a plug-in declares, checked once where the plug-in is accepted.

Listings, pages and the harness rely on these attributes. Whether they are sensible is a question of
the contract (`svmbench.verify.contract`).
"""

from __future__ import annotations

import inspect
import reprlib
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from svmbench.errors import ConfigError
from svmbench.solvers.base import Parameters, Solver
from svmbench.solvers.checked import json_schema

#: Attributes without which no solver can be listed: each is a text, and not empty.
_TEXTS = ("name", "summary", "source")

#: Simple types as their users write them.
_WORDS: dict[Any, str] = {str: "a text", bool: "True or False", int: "a whole number"}

#: Characters of an exception's message that are shown.
_SHOWN = 100


def require_declared(solver: type[Solver], where: str) -> None:
    """Refuse a solver that lacks what every listing and every run needs, or has it in another form.

    Raises ConfigError if a method or an attribute is missing, or an attribute is of another type
    than `Solver` declares, or its parameters cannot be described.
    """
    lacks = sorted(getattr(solver, "__abstractmethods__", ()))
    lacks += [name for name in ("summary", "source") if not hasattr(solver, name)]
    if lacks:
        raise ConfigError(f"{where}: {solver.__name__} does not define {', '.join(lacks)}")
    for name in _TEXTS:
        _require(solver, name, str, where)
        if not getattr(solver, name):
            raise ConfigError(f"{where}: {solver.__name__}.{name} must be a text, not empty")
    if solver.__doc__ is not None:
        _require(solver, "__doc__", str, where)
    if not (inspect.isclass(solver.schema) and issubclass(solver.schema, Parameters)):
        raise ConfigError(f"{where}: {solver.__name__}.schema must be a subclass of Parameters")
    for name, hint in get_type_hints(Solver).items():
        if get_origin(hint) is ClassVar:
            if name not in (*_TEXTS, "schema"):
                _require(solver, name, get_args(hint)[0], where)
        # What is no ClassVar may be a property, computed by each instance.
        elif not isinstance(getattr(solver, name, property()), property):
            _require(solver, name, hint, where)
    _require_described(solver, where)


def _require(solver: type[Solver], name: str, kind: Any, where: str) -> None:
    given = getattr(solver, name)
    try:
        TypeAdapter(kind).validate_python(given, strict=True)
    except ValidationError:
        # `reprlib` keeps it short, and nothing that it raises gets out.
        shown = reprlib.repr(given)
        raise ConfigError(
            f"{where}: {solver.__name__}.{name} must be {_in_words(kind)}, not {shown}"
        ) from None


def _in_words(kind: Any) -> str:
    """A type as its users write it."""
    if kind in _WORDS:
        return _WORDS[kind]
    if get_origin(kind) is tuple:
        texts = get_args(kind)[0] is str
        return "a tuple of texts" if texts else "a tuple of pairs of a text and a value"
    return " or ".join(map(repr, get_args(kind)))


def _require_described(solver: type[Solver], where: str) -> None:
    """Refuse parameters that neither a configuration nor a page can describe."""
    try:
        json_schema(solver.schema)
    except ImportError:
        raise  # of pydantic's own modules
    except Exception as error:  # whatever the plug-in's own types raise
        reason = " ".join(str(error).split())[:_SHOWN] or type(error).__name__
        raise ConfigError(
            f"{where}: {solver.__name__}.schema: a parameter has no type of plain data ({reason}); "
            "give it one, such as float or Literal"
        ) from None
