"""Rules that `svmbench verify` holds a whole folder against, each by itself."""

import json
from types import SimpleNamespace

import pytest

from svmbench.solvers.program import ForeignProgram
from svmbench.verify import folder as rules
from svmbench.verify.extended import Bounded
from svmbench.verify.outcome import ContradictionError, MissingError

LEAST, MOST = Bounded(1.0, 0.125), Bounded(2.0, 0.25)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(1.0, 2.0), (1.125, 1.75), (0.5, 3.0), (1.0, None), (-1.0, 2.0)],
)
def test_bounds_that_the_reference_proves(lower, upper):
    rules._check_bounds(LEAST, MOST, lower, upper)


@pytest.mark.parametrize(
    ("lower", "upper", "error", "said"),
    [
        (1.25, 2.0, MissingError, "D_ref 1.25 is tighter than the reference in the cache proves"),
        (2.0, 2.0, MissingError, "D_ref 2.0 is tighter"),
        (2.25, 2.0, MissingError, "D_ref 2.25 is tighter"),
        (1.0, 1.5, MissingError, "P_ref 1.5 is tighter"),
        (1.0, 0.875, MissingError, "P_ref 0.875 is tighter"),
        (2.5, 2.0, ContradictionError, r"D_ref is recorded as 2.5, but P\* lies in \[1.0, 2.0\]"),
        (1.0, 0.75, ContradictionError, r"P_ref is recorded as 0.75, but P\* lies in \[1.0, 2.0\]"),
        (2.5, None, ContradictionError, "D_ref is recorded as 2.5"),
    ],
)
def test_bounds_that_it_does_not_prove(lower, upper, error, said):
    with pytest.raises(error, match=said):
        rules._check_bounds(LEAST, MOST, lower, upper)


def test_errors_are_counted_in_rows():
    data = SimpleNamespace(n_samples=10)
    for recorded in (0.2, 0.3, 0.24, 0.16):
        rules._check_errors("train", recorded, data, 2, 3)
    with pytest.raises(ContradictionError, match=r"train errors are 2 to 3 of 10, recorded as 0.1"):
        rules._check_errors("train", 0.1, data, 2, 3)
    with pytest.raises(ContradictionError, match=r"test errors are 2 of 10, recorded as 0.3"):
        rules._check_errors("test", 0.3, data, 2, 2)
    with pytest.raises(ContradictionError, match=r"errors are 0 of 10, recorded as None"):
        rules._check_errors("test", None, data, 0, 0)


COLUMNS = ("dataset", "label", "lambda", "repeat", "horizon")


def table(*rows):
    return SimpleNamespace(at=COLUMNS.index, runs=[list(row) for row in rows])


def left_out(*rows, at_least=9):
    return [found.name for found in rules._left_out(table(*rows), at_least)]


def test_repeats_that_are_left_out():
    cell = ("a", "dcd", "0.1")
    assert left_out() == []
    assert left_out((*cell, "0", ""), (*cell, "1", "")) == []
    assert left_out(*((*cell, str(repeat), "") for repeat in range(5))) == []
    assert left_out((*cell, "1", "")) == ["a dcd 0.1 repeat 0"]
    assert left_out((*cell, "2", ""), (*cell, "0", "")) == ["a dcd 0.1 repeat 1"]
    assert left_out((*cell, "0", ""), (*cell, "0", "")) == []
    other = ("b", "dcd", "0.1")
    assert left_out((*cell, "0", ""), (*other, "1", "")) == ["b dcd 0.1 repeat 0"]
    for column in range(3):  # each is part of the cell
        changed = [*cell, "1", ""]
        changed[column] = "c"
        assert len(left_out((*cell, "0", ""), changed)) == 1
    # With a horizon, a repeat may have fewer runs than another; other texts are no numbers.
    assert left_out((*cell, "1", "0.1")) == []
    assert left_out((*cell, "x", ""), (*cell, "-1", ""), (*cell, "1" * 10, "")) == []
    assert left_out((*cell, "1" * 9, "")) == ["a dcd 0.1 repeat 0"]
    (found,) = rules._left_out(table((*cell, "1", "")), 9)
    assert (found.kind, found.verdict) == ("run", "not verified")


@pytest.mark.parametrize(("at_least", "missing"), [(1, []), (3, ["a dcd 0.1 repeat 2"])])
def test_a_repeat_beyond_those_of_every_cell_may_be_missing(at_least, missing):
    """A question is given a repeat that none of its cells has: others may lack some before it."""
    rows = [("a", "dcd", "0.1", str(repeat), "") for repeat in (0, 1, 3)]
    rows += [("a", "sgd-s", "0.1", str(repeat), "") for repeat in range(4)]
    assert left_out(*rows, at_least=at_least) == missing
    # One that no cell has is missing.
    assert left_out(*rows[:3], at_least=1) == ["a dcd 0.1 repeat 2"]


def made(solver="dcd", label="dcd", gap=1e-3, asked=1e-3, contended=False, **facts):
    header = {
        "id": f"{label}-{gap}",
        "machine": "here",
        "build": {"source": "1"},
        "clock_rules": 3,
        "problem": {"lambda": 1.0},
        "reference_gap": gap,
    }
    return SimpleNamespace(
        solver=SimpleNamespace(name=solver, label=label),
        header=header | facts,
        contended=contended,
        reference_gap=asked,
    )


def mixed(*runs):
    return [(found.name, found.reason.partition(";")[0]) for found in rules._mixed(list(runs))]


def test_runs_of_one_build_and_one_clock():
    assert mixed(made(), made()) == []
    assert mixed() == []
    other = {"build": {"source": "2"}}
    assert mixed(made(), made("pegasos", "pegasos", **other)) == []
    assert mixed(made(), made(machine="there", **other, clock_rules=2)) == []
    build = "its solver's build differs from those of runs before it in runs.csv"
    assert mixed(made(), made(**other)) == [("dcd-0.001", build)]
    assert mixed(made(), made(label="mine", **other)) == [("mine-0.001", build)]
    clock = "the conditions of its clock differ from those of runs before it in runs.csv"
    assert mixed(made(), made("pegasos", "p", contended=True)) == [("p-0.001", clock)]
    assert mixed(made(), made("pegasos", "p", clock_rules=2)) == [("p-0.001", clock)]


def test_programs_have_builds_by_label():
    name, other = ForeignProgram.name, {"build": {"source": "2"}}
    assert mixed(made(name, "one"), made(name, "two", **other)) == []
    assert len(mixed(made(name, "one"), made(name, "one", **other))) == 1


def test_bounds_that_are_wider_than_those_of_other_runs():
    assert mixed(made(gap=1e-2), made(gap=1e-2)) == []  # of all alike
    assert [name for name, _ in mixed(made(gap=1e-2), made())] == ["dcd-0.01"]
    assert mixed(made(gap=1e-2, asked=1e-2), made()) == []  # as narrow as was asked
    assert mixed(made(gap=1e-2), made(problem={"lambda": 2.0})) == []
    assert [name for name, _ in mixed(made(gap=None), made(gap=1e-2))] == ["dcd-None"]
    nearly = 1e-2 * (1.0 - rules.BOUNDS_MARGIN / 2.0)
    assert mixed(made(gap=1e-2), made(gap=nearly)) == []
    (found,) = rules._mixed([made(gap=1e-2), made()])
    assert (found.kind, found.verdict) == ("run", "not verified")
    assert found.reason.endswith("run it again")


def test_a_key_that_appears_twice():
    assert json.loads('{"a": 1, "b": 2}', object_pairs_hook=rules._once) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="a key appears twice"):
        json.loads('{"a": 1, "a": 1}', object_pairs_hook=rules._once)
