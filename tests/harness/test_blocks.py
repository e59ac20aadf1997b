"""Runs that are compared are made side by side: a block is made again as a whole, or not at all."""

from __future__ import annotations

import os
from datetime import timedelta
from types import SimpleNamespace

import pandas as pd
import pytest
from small_sweep import run_sweep
from small_sweep import sweep as small_sweep

from svmbench.harness import crew, series, supervise
from svmbench.harness.sweeps import Options
from svmbench.harness.trace import close_trace
from svmbench.solvers.registry import find_solver

WHOLE = Options(whole_blocks=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Have runs end as soon as they are begun: which ones are made is all that counts here."""
    in_earnest = crew.make_run

    def made(wanted, store, limit, *more):
        if find_solver(wanted.solver.name).missing():
            return in_earnest(wanted, store, limit, *more)
        return close_trace(
            store.path(wanted), supervise.header_of(wanted, limit, False), "max_steps", ""
        )

    monkeypatch.setattr(crew, "make_run", made)


def sweep(*solvers, repeats=2, lam=(0.01,)):
    return small_sweep(**{"lambda": list(lam), "solvers": list(solvers), "repeats": repeats})


def change(monkeypatch, name):
    """Have a solver be one that was built from other sources."""
    solver = find_solver(name)
    other = solver.build() | {"source_sha256": "another"}
    monkeypatch.setattr(solver, "build", lambda: other)


def counted(outcome):
    return outcome.made, outcome.reused


@pytest.mark.parametrize(("options", "made"), [(WHOLE, (4, 0)), (Options(), (2, 2))])
def test_a_solver_that_has_changed_has_its_blocks_made_again(options, made, tmp_path, monkeypatch):
    wanted = sweep("dcd", "sgd-s")
    run_sweep(wanted, tmp_path, options=options)
    change(monkeypatch, "sgd-s")
    assert counted(run_sweep(wanted, tmp_path, options=options)) == made
    assert counted(run_sweep(wanted, tmp_path, options=options)) == (0, 4)
    assert len(pd.read_csv(tmp_path / "runs.csv")) == 4


def test_a_pipe_among_the_traces_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")  # whoever opens it waits
    assert crew._may_be_of(tmp_path / "pipe.jsonl", SimpleNamespace(cell=("data", 0.1, "label")))
    assert series._why_not(tmp_path / "pipe.jsonl", "machine") == "that cannot be read"


def test_other_blocks_stay(tmp_path):
    wanted = sweep("dcd", "sgd-s", lam=(0.1, 0.01))
    run_sweep(wanted, tmp_path, options=WHOLE)
    next((tmp_path / "runs").glob("*-dcd-0.1-r1-*")).unlink()
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (2, 6)


@pytest.mark.parametrize(
    ("lam", "labels"), [((0.1234567, 0.1234568), ("a", "b")), ((0.1,), ("a b", "a-b"))]
)
def test_runs_whose_names_read_alike_stay(tmp_path, lam, labels):
    solvers = zip(("dcd", "sgd-s"), labels, strict=True)
    wanted = sweep(*({"name": name, "label": label} for name, label in solvers), lam=lam)
    run_sweep(wanted, tmp_path, options=WHOLE)
    first = min((tmp_path / "runs").glob("*-r1-*"))
    first.unlink()
    others = set((tmp_path / "runs").glob("*.jsonl"))
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (2, 4 * len(lam) - 2)
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (0, 4 * len(lam))
    assert others < set((tmp_path / "runs").glob("*.jsonl"))


def test_names_of_any_length_make_files(tmp_path):
    wanted = sweep(*({"name": "dcd", "label": 300 * "x" + end} for end in "ab"), repeats=1)
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (2, 0)
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (0, 2)


def test_an_interrupted_block_is_gone_on_with_unless_it_is_old(tmp_path, monkeypatch):
    wanted = sweep("dcd", "sgd-s")
    half = Options(whole_blocks=True, only=("dcd",))
    run_sweep(wanted, tmp_path, options=half)
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (2, 2)
    assert counted(run_sweep(wanted, tmp_path / "old", options=half)) == (2, 0)
    monkeypatch.setattr(crew, "RESUMABLE", timedelta(0))
    assert counted(run_sweep(wanted, tmp_path / "old", options=WHOLE)) == (4, 0)
    assert counted(run_sweep(wanted, tmp_path / "old", options=WHOLE)) == (0, 4)


def test_what_is_being_made_again_can_be_interrupted(tmp_path, monkeypatch):
    wanted = sweep("dcd", "sgd-s", "pegasos", repeats=1)
    run_sweep(wanted, tmp_path, options=WHOLE)
    change(monkeypatch, "sgd-s")
    first = run_sweep(wanted, tmp_path, options=Options(whole_blocks=True, only=("sgd-s",)))
    assert counted(first) == (1, 0)
    # Of the others, which lay there finished, none is taken for one of this block.
    assert list(pd.read_csv(tmp_path / "runs.csv")["label"]) == ["sgd-s"]
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (2, 1)
    fresh = Options(whole_blocks=True, fresh=True, only=("dcd",))
    assert counted(run_sweep(wanted, tmp_path, options=fresh)) == (1, 0)
    assert counted(run_sweep(wanted, tmp_path, options=WHOLE)) == (2, 1)


def test_a_solver_that_is_new_to_a_sweep_is_not_put_beside_old_runs(tmp_path):
    run_sweep(sweep("dcd", repeats=1), tmp_path, options=WHOLE)
    # Another repeat is another block; another solver is not.
    assert counted(run_sweep(sweep("dcd"), tmp_path, options=WHOLE)) == (1, 1)
    assert counted(run_sweep(sweep("dcd", "sgd-s"), tmp_path, options=WHOLE)) == (4, 0)


def test_rungs_that_were_spared_are_not_missing(tmp_path, install):
    install("plugins:Ladder", "plugins:Absent")
    first = run_sweep(sweep("ladder", "absent", repeats=1), tmp_path, options=WHOLE)
    assert first.states["spared"] > 0
    again = run_sweep(sweep("ladder", "absent"), tmp_path, options=WHOLE)
    # The program that is not there is asked for again.
    assert again.reused == first.made - 1
