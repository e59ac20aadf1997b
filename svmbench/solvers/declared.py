"""What the class of a plug-in declares, checked once where the plug-in is accepted.

Listings, pages and the harness rely on these attributes. Whether they are sensible is a question of
the contract (`svmbench.verify.contract`).
"""

from __future__ import annotations

import inspect
import reprlib
from typing import ClassVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from svmbench.errors import ConfigError
from svmbench.solvers.base import Parameters, Solver
from svmbench.solvers.checked import json_schema


def require_declared(solver: type[Solver], where: str) -> None:
    """Refuse a solver that lacks what every listing and every run needs, or has it in another form.

    Raises ConfigError if a method or an attribute is missing, or an attribute is of another type
    than `Solver` declares, or its parameters cannot be described.
    """
    name = solver.__name__
    lacks = sorted(getattr(solver, "__abstractmethods__", ()))
    lacks += [text for text in ("summary", "source") if not getattr(solver, text, "")]
    if lacks:
        raise ConfigError(f"{where}: {name} does not define {', '.join(lacks)}")
    if not (inspect.isclass(solver.schema) and issubclass(solver.schema, Parameters)):
        raise ConfigError(f"{where}: {name}.schema must be a subclass of Parameters")
    for attribute, hint in get_type_hints(Solver).items():
        given = getattr(solver, attribute, property())
        of_class = get_origin(hint) is ClassVar
        if attribute == "schema" or (isinstance(given, property) and not of_class):
            continue  # what is no ClassVar may be computed by each instance
        kind = get_args(hint)[0] if of_class else hint
        try:
            TypeAdapter(kind).validate_python(given, strict=True)
        except ValidationError:
            # `reprlib` keeps it short, and nothing that it raises gets out.
            wanted = getattr(kind, "__name__", "") if inspect.isclass(kind) else str(kind)
            said = f"must be {wanted.replace('typing.', '')}, not {reprlib.repr(given)}"
            raise ConfigError(f"{where}: {name}.{attribute} {said}") from None
    try:
        json_schema(solver.schema)
    except ImportError:
        raise  # of pydantic's own modules
    except Exception as error:  # whatever the plug-in's own types raise
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise ConfigError(
            f"{where}: {name}.schema: a parameter has no type of plain data ({reason}); "
            "give it one, such as float or Literal"
        ) from None
