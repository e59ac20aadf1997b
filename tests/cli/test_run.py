"""``svmbench run``: repeats until it is decided which solver is the fastest."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from simulated import Simulation

from svmbench.cli import main
from svmbench.data import fetch
from svmbench.solvers.registry import find_solver

CONFIG = {
    "version": 1,
    "name": "who",
    "datasets": ["tiny-separable"],
    "lambda": 0.01,
    "solvers": ["dcd", "sgd-s", "ocas"],
    "stop": {"accuracy": [0.1], "max_epochs": 100, "time_limit": "10s"},
    "repeats": {"at_least": 3, "until": "decided", "at_most": 40},
    "plots": [],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Calls the command on a configuration, in a folder of the test's own."""
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))

    def call(*arguments, **changes):
        path = tmp_path / "who.yaml"
        path.write_text(yaml.safe_dump(CONFIG | changes))
        out = ["--out", str(tmp_path / "out")]
        return CliRunner().invoke(main, ["run", str(path), *out, *arguments])

    return call


def counts(folder):
    return pd.read_csv(folder / "runs.csv")["label"].value_counts().to_dict()


def test_a_scale_that_is_no_number_is_refused_before_a_folder_is_made(run, tmp_path):
    done = run("--stand-in", "--scale", "nan")
    assert (done.exit_code, "nan is not a number" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_more_jobs_than_a_machine_has_room_for_are_refused(run, tmp_path):
    done = run("--jobs", "99999999999999999999")
    assert (done.exit_code, "is not in the range 1<=x<=1024" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_downloaded_is_replaced_and_said_so(run, tmp_path, monkeypatch):
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    monkeypatch.delenv("SVMBENCH_OFFLINE", raising=False)
    monkeypatch.setattr(fetch, "_offline", (0.0, ""))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.chdir(tmp_path)
    sets = {"datasets": ["adult", "w8a"], "solvers": ["dcd"], "repeats": 1}
    refused = run("--real", "--scale", "0.02", **sets)
    assert (refused.exit_code, "adult: a9a is missing (" in refused.stderr) == (3, True)

    monkeypatch.setattr(fetch, "_offline", (0.0, ""))
    done = run("--scale", "0.02", **sets)
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("no network") == done.stderr.count("Connection refused") == 1
    for name in sets["datasets"]:
        assert f"{name}: stand-in, SCALE 0.02; --real refuses it\n" in done.stderr
        assert f"{name} (STAND-IN)" in done.stdout
    assert "adult, w8a: a STAND-IN" in done.stdout
    assert pd.read_csv(tmp_path / "out" / "runs.csv")["stand_in"].all()

    own = run("--scale", "0.02", **sets | {"datasets": ["adult", {"path": "mine.libsvm"}]})
    assert (own.exit_code, "mine.libsvm: no such file" in own.stderr) == (3, True)


def test_repeats_are_made_until_the_fastest_is_known(run, tmp_path, monkeypatch):
    times = {"dcd": (0.1, 0.2), "sgd-s": (0.15, 0.2), "ocas": (5.0, 0.1)}
    Simulation(times=times).install(monkeypatch)
    done = run()
    assert done.exit_code == 0, done.output
    assert "fastest against each other solver: 2 of 2 questions decided" in done.stdout
    made = counts(tmp_path / "out")
    assert 8 == made["ocas"] < made["sgd-s"] == made["dcd"] < 40  # ocas takes far longer
    again = run()
    assert "0 new runs" in again.stdout
    assert "2 of 2 questions decided" in again.stdout


def test_equal_solvers_stay_open_and_the_end_says_so(run, tmp_path, monkeypatch):
    times = {"dcd": (0.1, 0.3), "sgd-s": (0.1, 0.3), "ocas": (5.0, 0.1)}
    Simulation(times=times).install(monkeypatch)
    done = run(repeats=CONFIG["repeats"] | {"at_most": 14})
    assert done.exit_code == 0, done.output
    assert "1 of 2 questions decided" in done.stdout
    assert "tiny-separable, λ = 0.01: dcd against sgd-s" in done.stdout or (
        "tiny-separable, λ = 0.01: sgd-s against dcd" in done.stdout
    )
    assert max(counts(tmp_path / "out").values()) <= 14


def test_a_number_of_repeats_is_made_and_nothing_asked(run, tmp_path, monkeypatch):
    Simulation().install(monkeypatch)
    done = run(repeats=2)
    assert done.exit_code == 0, done.output
    assert "question" not in done.stdout
    assert counts(tmp_path / "out") == {"dcd": 2, "sgd-s": 2, "ocas": 2}


def test_a_dry_run_gives_both_bounds(run, tmp_path):
    done = run("--dry-run")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-3:] == [
        "3 cells, 3 repeats: 9 runs, and 1 reference optimum",
        "runs and optima take at most 6 min (every limit hit; usually far less)",
        "cells with an open question have up to 40 repeats: 120 runs and 25 min at most",
    ]
    assert not (tmp_path / "out").exists()


def test_a_dry_run_has_no_json(run):
    done = run("--dry-run", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--dry-run prints text; leave --json out" in done.stderr


def test_an_interruption_before_the_first_question_decides_nothing(run, tmp_path, monkeypatch):
    Simulation().install(monkeypatch)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("svmbench.harness.series._Series.decide", interrupted)
    done = run()
    assert done.exit_code == 130
    assert "interrupted; writing tables (Ctrl-C again to skip)" in done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert "0 of 2 questions decided" in done.stdout


def test_an_empty_folder_is_refused(run):
    result = run("--out", "", "--dry-run")
    assert result.exit_code == 2
    assert "is empty; name a folder, or leave the option out" in result.stderr


def test_a_run_ends_with_its_answer(run, tmp_path, monkeypatch):
    times = {"dcd": (0.1, 0.01), "sgd-s": (5.0, 0.01), "ocas": (9.0, 0.01)}
    Simulation(times=times).install(monkeypatch)
    done = run(repeats=9)
    assert done.exit_code == 0, done.output
    header, row, *_ = done.stdout.splitlines()
    assert header.split()[:3] == ["data", "set", "λ"]
    assert row.split()[:6] == ["tiny-separable", "1e-2", "ε", "=", "0.1", "dcd"]
    assert row.split()[-3:] == ["sgd-s,", "50x", "yes"]
    page, answer = done.stdout.splitlines()[-2:]
    assert page == f"page: {tmp_path / 'out' / 'report.html'}"
    assert re.fullmatch(r"dcd was 50 \[\d+, \d+\] times as fast as sgd-s to ε = 0.1", answer)
    told = json.loads(run("--json", repeats=9).stdout)
    assert told["ends"] == {"converged": 27}
    (lead,) = told["leads"]
    assert (lead["lambda"], lead["unit"]) == (1e-2, "s")
    assert lead["low"] < 0.1 < lead["high"]
    assert (lead["dataset"], lead["leader"], lead["clear"]) == ("tiny-separable", "dcd", True)
    assert lead["next"] == "sgd-s, 50x"


def test_demo_is_the_sweep_of_that_name(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    Simulation().install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()  # is not taken for the configuration
    done = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "demo")])
    assert done.exit_code == 0, done.output
    assert set(counts(tmp_path / "demo")) == {"auto", "sgd-m", "sgd-s", "pegasos"}
    *_, page, answer = done.stdout.splitlines()
    assert page == f"page: {tmp_path / 'demo' / 'report.html'}"
    assert answer.startswith("auto ")


def test_a_folder_is_not_taken_for_a_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adult").mkdir()
    (tmp_path / "mine").mkdir()
    assert CliRunner().invoke(main, ["config", "check", "adult"]).exit_code == 0
    done = CliRunner().invoke(main, ["config", "check", "mine"])
    assert (done.exit_code, "mine: not a file; name a configuration" in done.stderr) == (2, True)


def test_a_check_lists_all_errors_of_a_configuration(tmp_path):
    path = tmp_path / "bad.yaml"
    bad = {"solvers": ["dcdd"], "stop": {"max_epoch": 1}, "repeats": 0}
    path.write_text(yaml.safe_dump(CONFIG | bad))
    check = CliRunner().invoke(main, ["config", "check", str(path)])
    assert check.exit_code == 2
    assert len(check.stderr.splitlines()) == 3
    for said in ("'dcdd'", "'max_epoch'", "'repeats'"):
        assert sum(said in line for line in check.stderr.splitlines()) == 1
    run = CliRunner().invoke(main, ["run", str(path)])
    assert run.exit_code == 2
    assert run.stderr.endswith(" (and 2 more)\n")
    assert run.stderr.count("\n") == 1


def test_the_end_says_how_to_install_what_was_not_measured(run, monkeypatch):
    missing = classmethod(lambda cls: "the package x is not installed; pip install x")
    monkeypatch.setattr(find_solver("liblinear"), "missing", missing)
    done = run(solvers=["dcd", "liblinear"], repeats=1)
    assert done.exit_code == 0, done.output
    assert "liblinear was not measured: the package x is not installed; pip install x\n" in (
        done.stdout
    )
    assert "not against" not in done.stdout


def test_the_end_says_why_a_program_has_failed(run):
    program = {"command": "/no/such/program {data} {model}", "model": "text"}
    done = run(solvers=["dcd", program], repeats=1)
    assert done.exit_code == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("program failed: "))
    assert line.startswith("program failed: /no/such/program: cannot be started")
    assert "install it" in line
