"""The first line of a trace: the fields that the checks of a run read, and their types."""

from __future__ import annotations

import sys
from typing import Any

from svmbench.verify.outcome import ContradictionError

_NUMBER = (int, float)

#: Types of the fields of a trace's first line; None stands for null.
FIELDS: dict[str, tuple[type | None, ...]] = {
    "kind": (str,),
    "id": (str,),
    "dataset": (str,),
    "label": (str,),
    "seed": (int,),
    "reference_dual": _NUMBER,
    "reference_primal": (*_NUMBER, None),
    "reference_gap": (*_NUMBER, None),
    "started": (str,),
    "time_limit": _NUMBER,
    "solver": (str,),
    "parameters": (dict,),
    "problem": (dict,),
    "test": (str, None),
    "stop": (dict,),
    "reference_gap_asked": _NUMBER,
    "repeat": (int,),
    "threads": (int,),
    "contended": (bool,),
    "build": (dict,),
    "machine": (str,),
}

#: The same of the problem in it.
OF_PROBLEM: dict[str, tuple[type | None, ...]] = {
    "data": (str,),
    "lambda": _NUMBER,
    "loss": (str,),
    "gamma": (*_NUMBER, None),
    "bias": (str,),
    "l1_radius": (*_NUMBER, None),
}


def check_header(header: dict[str, Any]) -> None:
    """Check that a trace's first line has the fields of a run.

    Raises ContradictionError: for the first field that is missing or has another type.
    """
    for name, known in FIELDS.items():
        _check(header, name, known)
    for name, known in OF_PROBLEM.items():
        _check(header["problem"], name, known)
    if header["kind"] != "run":
        raise ContradictionError(f"its first line is not that of a run (kind {header['kind']!r})")
    _check({"keep_weights": False} | header, "keep_weights", (bool,))


def is_header(header: dict[str, Any]) -> bool:
    """Whether a trace's first line has the fields of a run."""
    try:
        check_header(header)
    except ContradictionError:
        return False
    return True


def _check(fields: dict[str, Any], name: str, known: tuple[type | None, ...]) -> None:
    if name not in fields:
        raise ContradictionError(f"its first line is not that of a run (no {name})")
    value = fields[name]
    fits = None in known if value is None else type(value) in known
    if not fits or (isinstance(value, _NUMBER) and not abs(value) < sys.float_info.max):
        raise ContradictionError(f"its first line is not that of a run ({name} is {value!r:.80})")
