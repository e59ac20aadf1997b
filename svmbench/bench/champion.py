"""The solver put forward as ours, and the worth of its parts."""

from __future__ import annotations

from typing import Any

from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver

#: Its name in profiles, whichever solver it is.
ROLE = "champion"

#: Its own name.
CHAMPION = "auto"


def champion() -> str:
    """Name of the solver put forward."""
    return CHAMPION


def named(entry: str | dict[str, Any]) -> dict[str, Any]:
    """An entry of a profile's solvers as a configuration writes it, the champion by its name."""
    given: dict[str, Any] = {"name": entry} if isinstance(entry, str) else dict(entry)
    if "command" in given:
        given.setdefault("name", ForeignProgram.name)
    return given | {"name": champion()} if given.get("name") == ROLE else given


def ablations(name: str) -> list[dict[str, Any]]:
    """The solver as it is, and once without each of its tricks, as configurations write them."""
    return [
        {"name": name},
        *(
            {"name": name, "label": f"{name} {_without(parameter, off)}", parameter: off}
            for parameter, off in find_solver(name).tricks
        ),
    ]


def _without(parameter: str, off: Any) -> str:
    return f"without {parameter}" if off is False else f"with {parameter} {off}"
