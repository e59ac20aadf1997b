"""Scales of stand-ins, in the source that their rows name and in words."""

from __future__ import annotations

import json
import math

#: How the source of a stand-in begins; its settings follow.
STAND_IN = "stand-in "


def scale_in(source: str) -> float:
    """Scale of a stand-in by the source that its rows name; nan if it does not tell."""
    try:
        return float(json.loads(source.removeprefix(STAND_IN))["scale"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return math.nan


def scale_text(scale: float) -> str:
    """The scale of a stand-in as pages and plans print it; "unknown" if it is nan."""
    return "unknown" if math.isnan(scale) else f"{scale:.4g}"
