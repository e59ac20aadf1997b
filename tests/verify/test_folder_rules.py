"""Rules that `svmbench verify` holds a whole folder against, each by itself."""

from types import SimpleNamespace

import pytest

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


def made(gap=1e-3, asked=1e-3, lam=1.0):
    header = {"id": f"dcd-{gap}", "problem": {"lambda": lam}, "reference_gap": gap}
    return SimpleNamespace(header=header, reference_gap=asked)


def wider(*runs):
    return [(found.name, found.reason) for found in rules._wider(runs)]


def test_bounds_that_are_wider_than_those_of_other_runs():
    assert wider(made(gap=1e-2), made(gap=1e-2)) == []  # of all alike
    assert [name for name, _ in wider(made(gap=1e-2), made())] == ["dcd-0.01"]
    assert wider(made(gap=1e-2, asked=1e-2), made()) == []  # as narrow as was asked
    assert wider(made(gap=1e-2), made(lam=2.0)) == []
    assert [name for name, _ in wider(made(gap=None), made(gap=1e-2))] == ["dcd-None"]
    nearly = 1e-2 * (1.0 - rules.BOUNDS_MARGIN / 2.0)
    assert wider(made(gap=1e-2), made(gap=nearly)) == []
    (found,) = rules._wider([made(gap=1e-2), made()])
    assert (found.kind, found.verdict) == ("run", "not verified")
    assert found.reason.endswith("run it again")
