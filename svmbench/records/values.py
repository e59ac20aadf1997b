"""What values that are read from files have to be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

#: Levels of lists and mappings that no file of svmbench's own has. To print such a value, or to
#: take its hash, could need a deeper stack than Python has.
_TOO_DEEP = 50


def moment_in(text: str) -> datetime:
    """The moment that a text names, taken to be in UTC unless it says otherwise."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_too_deep(value: Any, levels: int = _TOO_DEEP) -> bool:
    """Whether a value of a JSON file has more levels of lists and mappings than ours have."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_too_deep(part, levels - 1) for part in parts)
