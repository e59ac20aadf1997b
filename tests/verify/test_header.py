"""The first line of a trace has the fields of a run, each of its type."""

import math
import sys

import pytest

from svmbench.verify.header import FIELDS, OF_PROBLEM, check_header, is_header
from svmbench.verify.outcome import ContradictionError

OF_A_TYPE = {str: "x", int: 1, float: 1.0, bool: True, dict: {}}
PROBLEM = {name: OF_A_TYPE[known[0]] for name, known in OF_PROBLEM.items()}
HEADER = {name: OF_A_TYPE[known[0]] for name, known in FIELDS.items()} | {
    "kind": "run",
    "problem": PROBLEM,
}
PLACES = [(name, FIELDS) for name in FIELDS] + [(name, OF_PROBLEM) for name in OF_PROBLEM]


def changed(name, of, value):
    if of is FIELDS:
        return HEADER | {name: value}
    return HEADER | {"problem": PROBLEM | {name: value}}


@pytest.mark.parametrize(("name", "of"), PLACES)
def test_each_field_has_one_of_its_types(name, of):
    # A problem is looked into, and there is one kind of a first line.
    inside = name in ("problem", "kind") and of is FIELDS
    for value in (*OF_A_TYPE.values(), [], None):
        fits = None in of[name] if value is None else type(value) in of[name]
        if not (fits and inside):
            assert is_header(changed(name, of, value)) == fits


@pytest.mark.parametrize(("name", "of"), PLACES)
def test_each_field_is_there(name, of):
    lacking = dict(HEADER) | {"problem": dict(PROBLEM)}
    del (lacking if of is FIELDS else lacking["problem"])[name]
    with pytest.raises(ContradictionError) as found:
        check_header(lacking)
    assert str(found.value) == f"its first line is not that of a run (no {name})"


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, sys.float_info.max])
def test_numbers_are_finite(value):
    assert is_header(changed("lambda", OF_PROBLEM, 1e308))
    assert not is_header(changed("lambda", OF_PROBLEM, value))
    assert not is_header(changed("reference_gap", FIELDS, value))


def test_its_kind_and_whether_weights_are_kept():
    check_header(HEADER | {"keep_weights": True})
    with pytest.raises(ContradictionError, match=r"\(keep_weights is 1\)"):
        check_header(HEADER | {"keep_weights": 1})
    with pytest.raises(ContradictionError, match=r"\(kind 'end'\)"):
        check_header(HEADER | {"kind": "end"})
    with pytest.raises(ContradictionError) as found:
        check_header(HEADER | {"label": ["x" * 500]})
    assert len(str(found.value)) < 150
