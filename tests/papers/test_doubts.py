"""Which repeats the open claims of a page ask for."""

from __future__ import annotations

import pandas as pd
import pytest
from results_folders import write_results

from svmbench.papers.doubts import Doubts
from svmbench.papers.model import papers
from svmbench.papers.plan import choose, planned_sweeps

REGULARISATION = (1e-4, 1e-5)


@pytest.fixture
def asked(paper_files, tmp_path):
    """A page with one open claim, its sweeps and their doubts."""
    known = papers(paper_files(tmp_path / "papers"))
    root = tmp_path / "results"
    planned = planned_sweeps(known, choose(known, []), root)
    write_results(
        root / "demo" / "times" / "base",
        repeats=3,
        labels=("pegasos", "dcd", "sgd-m"),
        datasets=(("adult", False),),
        lambdas=REGULARISATION,
    )
    return root, planned, Doubts(root, known, planned, choose(known, []))


def test_an_open_claim_asks_for_repeats_of_the_cells_it_rests_on(asked):
    _, planned, doubts = asked
    found = doubts()
    (place,) = {doubt.sweep for doubt in found}
    assert (planned[place].item, planned[place].name) == ("times", "base")
    assert {doubt.cells for doubt in found} == {
        (("adult", lam, "dcd"), ("adult", lam, "pegasos")) for lam in REGULARISATION
    }
    assert all(doubt.more > 0 for doubt in found)
    assert all(doubt.text == "DCD beats Pegasos. pegasos / dcd" for doubt in found)


def test_repeats_that_were_made_since_are_seen(asked):
    root, _, doubts = asked
    assert doubts()
    folder = root / "demo" / "times" / "base"
    runs = pd.read_csv(folder / "runs.csv")
    more = [
        runs.assign(repeat=runs["repeat"] + 3 * k, id=runs["id"] + f"-{k}") for k in range(1, 8)
    ]
    pd.concat([runs, *more]).to_csv(folder / "runs.csv", index=False)
    assert doubts() == []


def test_what_is_not_being_run_is_not_asked_for(asked, paper_files, tmp_path):
    root, planned, _ = asked
    known = papers(tmp_path / "papers")
    others = [job for job in planned if job.item != "times"]
    assert Doubts(root, known, others, choose(known, []))() == []


def test_claims_that_were_not_asked_for_take_no_repeats_of_a_sweep_that_they_share(asked, tmp_path):
    root, planned, doubts = asked
    known = papers(tmp_path / "papers")
    everything = choose(known, [])
    assert {doubt.text.split(".")[0] for doubt in doubts()} == {"DCD beats Pegasos"}
    others = [place for place in everything if place != ("demo", "times")]
    assert Doubts(root, known, planned, others)() == []
