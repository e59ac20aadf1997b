"""The papers' runs: which are wanted, on which data, within which time, and what is redone."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner
from small_sweep import run_sweep

from svmbench.cli import main
from svmbench.config import Sweep
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data import catalogue
from svmbench.errors import ConfigError
from svmbench.harness.series import run_series
from svmbench.harness.sources import source_of
from svmbench.harness.sweeps import Options, Reporter
from svmbench.papers.model import papers
from svmbench.papers.plan import choose, planned_sweeps
from svmbench.solvers.registry import find_solver


def planned(folder, root, wanted=(), **options):
    known = papers(folder)
    return planned_sweeps(known, choose(known, wanted), root, **options)


def files(job):
    return sorted((job.folder / "runs").iterdir())


# --- what is wanted ----------------------------------------------------------------


def test_items_are_chosen_by_paper_and_by_name(folder):
    known = papers(folder)
    both = [("small", "table-1"), ("small", "figure-1")]
    assert choose(known, []) == both
    assert choose(known, ["small"]) == both
    assert choose(known, ["small/figure-1", "small/table-1", "small"]) == both
    assert choose(known, ["small/figure-1"]) == both[1:]
    assert choose(papers(None), ["sgd-revisited/table-3"]) == [("sgd-revisited", "tables-2-3")]


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("smal", "unknown paper 'smal'; did you mean 'small'?"),
        ("small/table-2", "small has no item 'table-2'; did you mean 'table-1'?"),
    ],
)
def test_what_is_unknown_is_answered_with_the_nearest(folder, wanted, hint):
    with pytest.raises(ConfigError) as caught:
        choose(papers(folder), [wanted])
    assert str(caught.value) == hint


def test_shared_sweeps_are_run_once_and_where_they_are_described(folder, tmp_path):
    everything = planned(folder, tmp_path)
    assert [job.name for job in everything] == ["dense", "plane"]
    (shared,) = planned(folder, tmp_path, ["small/figure-1"])
    assert (shared.item, shared.folder) == ("table-1", tmp_path / "small" / "table-1" / "dense")


# --- which data --------------------------------------------------------------------


def test_a_set_that_trains_on_its_test_rows_needs_their_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_MIRROR", str(tmp_path))
    (tmp_path / catalogue.entry("CCAT").train.file).touch()
    plain, swapped = ({"name": "CCAT", "transforms": chain} for chain in ([], ["swap"]))
    found = [
        source_of(DatasetSpec.model_validate(each), 1800.0, scale=0.1) for each in (plain, swapped)
    ]
    assert [each.scale for each in found] == [None, 0.1]


def test_rows_that_transforms_name_are_there_or_the_set_is_left_out():
    named = {"transforms": [{"rows": [0, 150_000]}, {"split": 0.333333}]}
    alpha = DatasetSpec(name="alpha", label="alpha", **named)
    assert [source_of(alpha, budget).scale for budget in (60.0, 1e7)] == [0.3, 0.3]
    assert "needs SCALE" not in source_of(alpha, 60.0, scale=0.5).unavailable
    assert "its transforms need SCALE 0.3" in source_of(alpha, 60.0, scale=0.1).unavailable


def test_sources_are_told_and_what_cannot_be_had_is_left_out(folder, tmp_path):
    path = folder / "small" / "table-1.yaml"
    text = path.read_text().replace(
        "datasets: [tiny-dense]",
        "datasets: [tiny-dense, {name: heart_scale, label: heart}, webspam.trigram]",
    )
    path.write_text(text)
    job, _ = planned(folder, tmp_path, budget=60.0)
    here, scaled, unavailable = job.sources
    assert here.words == ""
    assert scaled.words == "heart: stand-in, SCALE 1"
    assert unavailable.words.startswith("webspam.trigram: left out, ")
    assert job.stand_ins == {"heart": 1.0}
    assert [data.label for data in job.runnable.datasets] == ["tiny-dense", "heart"]
    assert job.cells == 4


def test_stand_ins_may_be_of_some_of_the_sets_alone(tmp_path):
    wanted = Sweep.model_validate(
        {
            "version": 1,
            "name": "both",
            "datasets": ["tiny-dense", {"name": "heart_scale", "label": "heart"}],
            "lambda": [0.1],
            "solvers": ["dcd"],
            "stop": {"accuracy": [0.1], "max_epochs": 100},
        }
    )
    run_sweep(wanted, tmp_path, options=Options(stand_in={"heart": 0.5}))
    runs = pd.read_csv(tmp_path / "runs.csv").set_index("dataset")
    assert runs["stand_in"].to_dict() == {"tiny-dense": False, "heart": True}
    assert runs.loc["heart", "m"] == 135


# --- runs --------------------------------------------------------------------------


def test_a_second_call_makes_nothing_and_a_lost_run_alone_is_made_again(folder, tmp_path):
    root = tmp_path / "results"
    work = planned(folder, root)
    first = run_series(work, Reporter())
    assert (first.made, first.reused, first.left, first.faulty) == (5, 0, 0, False)
    assert [job.found for job in planned(folder, root)] == [4, 1]
    second = run_series(planned(folder, root), Reporter())
    assert (second.made, second.reused) == (0, 5)
    assert (second.damaged, second.missing) == (0, 0)
    gone, changed, kept, other = files(work[0])
    before = kept.stat().st_mtime_ns, other.stat().st_mtime_ns
    gone.unlink()
    changed.write_text(changed.read_text().replace('"presentations": 0', '"presentations": 1', 1))
    third = run_series(planned(folder, root), Reporter())
    assert (third.made, third.reused, third.damaged, third.missing) == (2, 3, 1, 1)
    assert (kept.stat().st_mtime_ns, other.stat().st_mtime_ns) == before
    assert changed.exists()
    assert gone.exists()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"source_sha256": "another"}, "with other sources of their solvers"),
        ({"flags": ["-O0"]}, "compiled with other flags"),
        ({"compiler": ["another"]}, "compiled by another compiler"),
        ({"libraries": ["numpy 1"]}, "with other versions of NumPy or SciPy"),
    ],
)
def test_runs_of_another_build_are_not_found_and_it_is_said_why(
    folder, tmp_path, monkeypatch, changed, why
):
    root = tmp_path / "results"
    assert not any(job.outdated for job in planned(folder, root))
    run_series(planned(folder, root), Reporter())
    assert not any(job.outdated or job.unused for job in planned(folder, root))
    (job,) = planned(folder, root)[1:]
    solver = find_solver(job.sweep.solvers[0].name)
    other = solver.build() | changed
    monkeypatch.setattr(solver, "build", lambda: other)
    (job,) = planned(folder, root)[1:]
    assert (job.found, job.outdated, job.unused) == (0, True, {why: 1})


def test_runs_of_another_machine_or_that_are_lost_are_not_found_and_it_is_said_why(
    folder, tmp_path
):
    run_series(planned(folder, tmp_path), Reporter())
    first, second, *_ = files(planned(folder, tmp_path)[0])
    first.unlink()
    second.write_text("{}\n")
    assert planned(folder, tmp_path)[0].unused == {"that cannot be read": 2}
    elsewhere = [replace(job, machine="another") for job in planned(folder, tmp_path)]
    assert [job.found for job in elsewhere] == [0, 0]
    assert elsewhere[1].unused == {"on another machine": 1}


def test_another_description_finds_nothing(folder, tmp_path):
    run_series(planned(folder, tmp_path), Reporter())
    path = folder / "small" / "table-1.yaml"
    path.write_text(
        path.read_text().replace(
            "datasets: [tiny-dense]\n    lambda: 1e-2", "datasets: [tiny-dense]\n    lambda: 1e-1"
        )
    )
    assert [job.found for job in planned(folder, tmp_path)] == [0, 1]


def test_without_time_no_run_is_begun_and_a_later_call_makes_them(folder, tmp_path):
    work = planned(folder, tmp_path)
    hurried = run_series(work, Reporter(), budget=1e-9)
    assert (hurried.made, hurried.left, hurried.faulty) == (0, 5, False)
    assert not work[0].folder.exists()
    options = Options(deadline=time.monotonic())
    outcome = run_sweep(work[0].sweep, work[0].folder, options=options)
    assert (outcome.made, outcome.left) == (0, 4)
    assert not (work[0].folder / "runs.csv").exists()
    unhurried = run_series(work, Reporter())
    assert (unhurried.made, unhurried.left) == (5, 0)
    assert (unhurried.damaged, unhurried.missing) == (0, 0)


def test_kept_weights_are_those_that_verify_looks_for(folder, tmp_path):
    run_series(planned(folder, tmp_path), Reporter(), Options(keep_weights=True))
    done = CliRunner().invoke(main, ["verify", str(tmp_path)])
    assert (done.exit_code, "5 runs: 5 hold" in done.stdout) == (0, True), done.stdout


def test_a_set_that_cannot_be_read_stops_its_own_sweep_only(folder, tmp_path):
    path = folder / "small" / "table-1.yaml"
    (folder / "small" / "mine.libsvm").write_text("1 1:one\n")
    path.write_text(path.read_text().replace("[tiny-dense]", "[{path: mine.libsvm}]"))
    result = run_series(planned(folder, tmp_path), Reporter())
    assert result.made == 1
    (fault,) = result.faults
    assert fault.startswith("small/table-1, dense: ")
    assert "mine.libsvm" in fault


# --- what runs tell besides --------------------------------------------------------


def test_runs_tell_of_the_evaluation_the_problem_and_lines_in_the_plane(tmp_path):
    sweep = {
        "version": 1,
        "name": "told",
        "datasets": ["tiny-dense", "tiny-sparse"],
        "lambda": [0.1],
        "solvers": ["dcd"],
        "stop": {"accuracy": [0.1], "max_epochs": 100},
    }
    run_sweep(Sweep.model_validate(sweep), tmp_path)
    runs = pd.read_csv(tmp_path / "runs.csv").set_index("dataset")
    assert (runs["evaluation_seconds"] > 0).all()
    assert (runs["bias"] == "none").all()
    assert runs["l1_radius"].isna().all()
    ends = {}
    for name, row in runs.iterrows():
        text = (tmp_path / "runs" / f"{row['id']}.jsonl").read_text()
        ends[name] = json.loads(text.splitlines()[-1])
    assert len(ends["tiny-dense"]["weights"]) == runs.loc["tiny-dense", "d"] <= 16
    assert ends["tiny-dense"]["bias"] == 0.0
    assert "weights" not in ends["tiny-sparse"]
