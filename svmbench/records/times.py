"""When runs started, as files have it."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_in(text: str) -> datetime:
    """The moment that a text names; it is taken to be in UTC unless it says otherwise.

    Raises
    ------
    ValueError
        If it names none.
    """
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
