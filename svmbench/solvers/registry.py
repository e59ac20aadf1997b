"""Finds the solvers of svmbench.solvers, of installed plug-ins and of single files."""

from __future__ import annotations

import inspect
import pkgutil
import reprlib
import sys
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

import svmbench.solvers
from svmbench.errors import ConfigError, message_of, nearest
from svmbench.solvers.base import Parameters, Solver
from svmbench.solvers.checked import json_schema
from svmbench.solvers.plug_in import GROUP, executed_points
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.single_file import file_of, load_file, unload_file, unload_files

#: Solvers of the single files that this process was given.
_of_files: list[type[Solver]] = []


@cache
def solvers() -> dict[str, type[Solver]]:
    """All solvers by name, in alphabetical order.

    Raises ConfigError if two have the same name, or a plug-in cannot be imported.
    """
    found: dict[str, type[Solver]] = {}
    for solver in [*_own(), *_plugged_in(), *_of_files]:
        other = found.setdefault(solver.name, solver)
        if other is not solver:
            raise ConfigError(
                f"solver {solver.name!r}: claimed by {_place(other)} and {_place(solver)}; "
                "rename one, or leave it out"
            )
    return dict(sorted(found.items()))


def find_solver(name: str) -> type[Solver]:
    """The solver with this name. Raises ConfigError, with the nearest known name."""
    if name == ForeignProgram.name:
        return ForeignProgram
    known = solvers()
    if name in known:
        return known[name]
    if name.endswith(".py"):
        raise ConfigError(f"{name}: a file, not a solver; add --plugin {name}, and name its solver")
    raise ConfigError(f"unknown solver {name!r}; {nearest(name, known)}")


def add_file(path: Path) -> tuple[type[Solver], ...]:
    """Let the solvers of a single file take part; return them.

    Raises ConfigError if it cannot be loaded, or a solver is incomplete or has a name that is
    taken.
    """
    found = load_file(path)
    try:
        for solver in found:
            require_declared(solver, path.name)
    except ConfigError:
        unload_file(path)
        raise
    new = [solver for solver in found if solver not in _of_files]
    _of_files.extend(new)
    solvers.cache_clear()
    try:
        solvers()
    except ConfigError:
        del _of_files[len(_of_files) - len(new) :]
        solvers.cache_clear()
        raise
    return found


def forget_files() -> None:
    """Forget the single files, and execute them anew when they are added again."""
    _of_files.clear()
    unload_files()
    solvers.cache_clear()


def _own() -> list[type[Solver]]:
    found = []
    package = svmbench.solvers
    for module_info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        module = import_module(module_info.name)
        found += [
            member
            for member in vars(module).values()
            if inspect.isclass(member)
            and issubclass(member, Solver)
            and member.__module__ == module.__name__
            and "name" in vars(member)
            and member is not ForeignProgram  # it is nothing without a command
        ]
    return found


def _plugged_in() -> list[type[Solver]]:
    found = []
    for point in entry_points(group=GROUP):
        executed_points.add(point.value)
        solver = _loaded(point)
        if not (inspect.isclass(solver) and issubclass(solver, Solver)):
            raise ConfigError(f"plug-in {point.value}: is not a subclass of svmbench's Solver")
        require_declared(solver, f"plug-in {point.value}")
        found.append(solver)
    return found


def _loaded(point: EntryPoint) -> Any:
    try:
        with redirect_stdout(sys.stderr):  # what it prints is no output of ours
            return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit: it would end the command in silence
        raise ConfigError(
            f"plug-in {point.value}: cannot be imported ({type(error).__name__}: "
            f"{message_of(error)}); repair or uninstall it"
        ) from error


def _place(solver: type[Solver]) -> str:
    return f"{file_of(solver) or solver.__module__}.{solver.__qualname__}"


def require_declared(solver: type[Solver], where: str) -> None:
    """Raise ConfigError unless a solver has what listings and runs need, in the right types."""
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
            wanted = kind.__name__ if inspect.isclass(kind) else str(kind).replace("typing.", "")
            if get_origin(kind) is Literal:
                wanted = " or ".join(map(repr, get_args(kind)))
            said = f"must be {wanted}, not {reprlib.repr(given)}"
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
