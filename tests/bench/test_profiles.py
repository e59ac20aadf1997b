"""A profile's data sets, and the solvers that it names."""

from __future__ import annotations

import pytest

from svmbench.bench.champion import named
from svmbench.bench.plan import plan
from svmbench.bench.profile import (
    Profile,
    SweepPart,
    solver_entries,
)


def test_the_champion_goes_by_its_name(monkeypatch):
    monkeypatch.setattr("svmbench.bench.champion.champion", lambda: "dcd")
    assert named({"name": "champion", "shrinking": False}) == {
        "name": "dcd",
        "shrinking": False,
    }
    part = SweepPart.model_validate(
        {"lambda": 1e-3, "accuracy": 1e-2, "solvers": ["champion", "dcd", "sgd-s"]}
    )
    assert solver_entries(part) == [{"name": "dcd"}, {"name": "sgd-s"}]


@pytest.mark.parametrize("solver", [{"C": 1}, {"name": 3}, {"name": "dcd", "label": [1]}])
def test_a_solver_without_a_name_is_refused(solver):
    with pytest.raises(ValueError, match="a mapping with 'name'"):
        SweepPart.model_validate({"lambda": 1e-3, "accuracy": 1e-2, "solvers": [solver]})


def test_no_two_sets_of_a_profile_share_a_label():
    sets = [{"data": "adult"}, {"data": "adult"}]
    with pytest.raises(ValueError, match="a second data set 'adult'"):
        Profile.model_validate({"version": 1, "name": "x", "title": "x", "sets": sets})


def test_any_label_of_a_set_names_files(tmp_path):
    sets = [
        {"data": {"name": "tiny-separable", "bias": 1.0}},
        {"data": {"name": "tiny-separable", "label": "a/b c"}},
    ]
    part = {"lambda": [0.01], "accuracy": [0.1], "solvers": ["dcd"]}
    described = {"version": 1, "name": "x", "title": "x", "sets": sets, "sweeps": {"oracle": part}}
    planned = plan(Profile.model_validate(described), tmp_path, None).sweeps
    assert [sweep.item for sweep in planned] == ["tiny-separable+bias", "a/b c"]
    assert [sweep.folder for sweep in planned] == [
        tmp_path / "sweeps" / "oracle" / name for name in ("tiny-separable-bias", "a-b-c")
    ]


def test_no_two_sets_of_a_profile_share_their_files():
    sets = [{"data": {"name": "adult", "label": label}} for label in ("a b", "a-b")]
    with pytest.raises(ValueError, match="'a-b' has the same label in names of files"):
        Profile.model_validate({"version": 1, "name": "x", "title": "x", "sets": sets})
