"""The papers that come with svmbench: what their claims name is there to be measured."""

from __future__ import annotations

import pytest

from svmbench.papers.model import Sweep, SweepSource, papers

PAPERS = papers()
CLAIMS = [
    pytest.param(paper, item, claim, id=f"{key}-{name}-{at}")
    for key, paper in PAPERS.items()
    for name, item in paper.items.items()
    for at, claim in enumerate(item.claims)
    if claim.kind != "untestable"
]


def sweeps_of(paper, item):
    for key, sweep in item.sweeps.items():
        if isinstance(sweep, SweepSource):
            other, _, name = sweep.same_as.partition("/")
            sweep = paper.items[other].sweeps[name]
        assert isinstance(sweep, Sweep)
        yield key, sweep


@pytest.mark.parametrize(("paper", "item", "claim"), CLAIMS)
def test_claims_are_about_runs_that_are_made(paper, item, claim):
    labels = set(claim.labels)
    place = claim.where.given
    alone = claim.kind == "reaches"  # each solver may have a sweep of its own
    covering = []
    for key, sweep in sweeps_of(paper, item):
        datasets = [data.label for data in sweep.datasets]
        here = key in place.get("sweep", (key,)) and (
            "dataset" not in place or set(place["dataset"]) & set(datasets)
        )
        there = labels & {solver.label for solver in sweep.solvers}
        if here and (there == labels or (alone and there)):
            covering.append((sweep, there))
    assert labels == set().union(*(there for _, there in covering)), "no sweep with all of these"
    if claim.measure is not None and claim.measure.at is not None:
        assert all(claim.measure.at in sweep.stop.accuracy for sweep, _ in covering)
    if claim.kind == "path" and claim.along == "epochs":
        last = claim.ratios[-1][0] if claim.ratios else claim.between[1]
        assert all(last <= sweep.stop.max_epochs for sweep, _ in covering)
    if claim.kind == "grows" and claim.along == "lambda":
        assert all(len(sweep.lambdas) >= 3 for sweep, _ in covering)
    if claim.kind == "path":
        first = claim.ratios[0][0] if claim.ratios else claim.between[0]
        rules = {sweep.stop.checkpoints for sweep, _ in covering}
        assert "passes" not in rules or (claim.along == "epochs" and first >= 1), "before any point"


@pytest.mark.parametrize("name", ["rcv1", "rcv1-log-loss", "alpha-log-loss"])
def test_curves_of_the_readme_of_sgd_are_its_printed_numbers(name):
    """They stand in the file twice: as points of a curve, and as numbers of the runs' sweeps."""
    [published] = PAPERS["sgd-2.0"].items[name].published
    printed = {
        (value.sweep, value.solver, value.measure.name): value.value for value in published.values
    }
    drawn = {(curve.solver, curve.y) for curve in published.curves}
    both = {"svmsgd", "svmasgd"}
    assert drawn == {(solver, y) for solver in both for y in ("primal", "test_error")}
    for curve in published.curves:
        assert curve.x == "epochs"
        assert all(
            printed[f"epochs-{at:g}", curve.solver, curve.y] == value for at, value in curve.points
        )


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_full_sizes_are_valid(key):
    for item in PAPERS[key].items.values():
        for name in item.full:
            assert item.sweep_at(name, full=True) != item.sweep_at(name, full=False)
