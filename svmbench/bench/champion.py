"""The solver put forward as ours."""

from __future__ import annotations

from typing import Any

from svmbench.solvers.program import ForeignProgram

#: Its name in profiles, whichever solver it is.
ROLE = "champion"

#: Its own name.
CHAMPION = "auto"


def champion() -> str:
    return CHAMPION


def named(entry: str | dict[str, Any]) -> dict[str, Any]:
    """An entry of a profile's solvers as a configuration writes it, the champion by its name."""
    given: dict[str, Any] = {"name": entry} if isinstance(entry, str) else dict(entry)
    if "command" in given:
        given.setdefault("name", ForeignProgram.name)
    return given | {"name": champion()} if given.get("name") == ROLE else given
