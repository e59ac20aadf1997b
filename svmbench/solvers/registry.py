"""Finds the solvers in all modules below svmbench.solvers and in all installed plug-ins.

A plug-in package names its solver classes in the entry-point group ``svmbench.solvers``.
"""

from __future__ import annotations

import inspect
import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

import svmbench.solvers
from svmbench.errors import ConfigError, nearest
from svmbench.solvers.base import Solver
from svmbench.solvers.plug_in import GROUP


@cache
def solvers() -> dict[str, type[Solver]]:
    """All solvers by name, in alphabetical order.

    Raises
    ------
    ConfigError
        If two solvers have the same name, or a plug-in cannot be imported, whatever it raises.
    """
    found: dict[str, type[Solver]] = {}
    for solver in [*_own(), *_plugged_in()]:
        other = found.setdefault(solver.name, solver)
        if other is not solver:
            raise ConfigError(
                f"solver {solver.name!r}: claimed by {_place(other)} and {_place(solver)}; "
                "rename or uninstall one"
            )
    return dict(sorted(found.items()))


def find_solver(name: str) -> type[Solver]:
    """The solver with this name.

    Raises
    ------
    ConfigError
        If the name is unknown; the message gives the nearest known name.
    """
    known = solvers()
    if name in known:
        return known[name]
    raise ConfigError(f"unknown solver {name!r}; {nearest(name, known)}")


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
        ]
    return found


def _plugged_in() -> list[type[Solver]]:
    found = []
    for point in entry_points(group=GROUP):
        try:
            solver = point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit: it would end the command in silence
            reason = " ".join(str(error).split()) or "no message"
            raise ConfigError(
                f"plug-in {point.value}: cannot be imported ({type(error).__name__}: "
                f"{reason[:300]}); repair or uninstall it"
            ) from error
        if not (inspect.isclass(solver) and issubclass(solver, Solver)):
            raise ConfigError(f"plug-in {point.value}: is not a subclass of svmbench's Solver")
        found.append(solver)
    return found


def _place(solver: type[Solver]) -> str:
    return f"{solver.__module__}.{solver.__qualname__}"
