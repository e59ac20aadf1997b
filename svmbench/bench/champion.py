"""The solver put forward as ours, and the worth of its parts."""

from __future__ import annotations

from typing import Any

from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver, solvers

#: Its name in profiles, whichever solver it is.
ROLE = "champion"

#: Its name, and the solver that replaces it if it does not exist.
CHAMPION = "auto"
FALLBACK = "dcd"


def champion() -> str:
    """Name of the solver put forward."""
    return CHAMPION if CHAMPION in solvers() else FALLBACK


def notice() -> str:
    """What a reader must know about it; empty if there is nothing."""
    if champion() == CHAMPION:
        return ""
    return f"There is no solver {CHAMPION!r}; {FALLBACK!r} stands in for it everywhere."


def named(entry: str | dict[str, Any]) -> dict[str, Any]:
    """An entry of a profile's solvers as a configuration writes it, the champion by its name.

    Parameters that the present champion does not have are dropped, so that a profile may
    name those of either.
    """
    given: dict[str, Any] = {"name": entry} if isinstance(entry, str) else dict(entry)
    if "command" in given:
        given.setdefault("name", ForeignProgram.name)
    if given.get("name") != ROLE:
        return given
    given["name"] = champion()
    known = find_solver(champion()).schema.model_fields
    return {key: value for key, value in given.items() if key in ("name", "label", *known)}


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
