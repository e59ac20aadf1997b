"""What commands print with ``--json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from svmbench.report.numbers import or_null


def plain_rows(rows: pd.DataFrame | Sequence[Any]) -> list[dict[str, Any]]:
    """A dict a row of a frame or of dataclasses; None for numbers that are not finite."""
    return [
        {str(key): or_null(value) for key, value in row.items()}
        for row in pd.DataFrame(rows).to_dict("records")
    ]


def json_of(**facts: Any) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
