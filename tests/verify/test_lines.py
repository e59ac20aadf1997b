"""The lines of a trace are those that a run writes, in their order."""

import pytest

from svmbench.harness.trace import line_of
from svmbench.verify.lines import ORDER, check_lines
from svmbench.verify.outcome import ContradictionError


def lines(*kinds):
    return [line_of({"kind": kind, "number": 0.5}) for kind in kinds]


@pytest.fixture
def said(tmp_path):
    """What is said of a file of these lines; empty if nothing is."""

    def check(written):
        path = tmp_path / "x.jsonl"
        path.write_bytes("".join(written).encode())
        try:
            check_lines(path)
        except ContradictionError as error:
            return str(error)
        return ""

    return check


@pytest.mark.parametrize(
    "kinds",
    [
        (),
        ORDER,
        ("run", "point", "point", "end"),
        ("run", "point", "weights", "regret", "regret", "end"),
        ("run", "other", "point", "other", "point", "end"),  # of another version
    ],
)
def test_lines_in_their_order(said, kinds):
    assert said(lines(*kinds)) == ""


@pytest.mark.parametrize(
    ("kinds", "number"),
    [
        (("run", "run", "point"), 2),
        (("point", "run"), 2),
        (("run", "point", "weights", "point"), 4),
        (("run", "weights", "weights"), 3),
        (("run", "regret", "weights"), 3),
        (("run", "end", "end"), 3),
        (("run", "end", "point"), 3),
        (("run", "point", "other", "run"), 4),
    ],
)
def test_lines_that_are_not_in_their_place(said, kinds, number):
    assert said(lines(*kinds)) == (
        f"line {number} of its trace is not in its place ({kinds[number - 1]})"
    )


@pytest.mark.parametrize("old", [": ", ", ", "0.5", "}"])
def test_a_line_that_is_written_otherwise(said, old):
    first, second, third = lines("run", "point", "end")
    other = second.replace(old, {"0.5": "0.50", "}": "} "}.get(old, old[0]))
    assert said([first, other, third]) == "line 2 of its trace is not as a run writes it"


def test_a_last_line_that_is_cut_off_is_that_of_a_run_that_was_killed(said):
    first, second = lines("run", "point")
    assert said([first, second[:9]]) == ""
    assert said([first, first, second[:9]]) == "line 2 of its trace is not in its place (run)"


def test_a_last_line_nested_without_end_is_that_of_a_run_that_was_killed(said):
    assert said([*lines("run", "point"), "[" * 100_000]) == ""
