"""An assignment travels as JSON, and any machine with the rows carries it out."""

import json
import shutil
import threading
from dataclasses import asdict

import pytest
from small_sweep import plan

from svmbench.data.cache import cache_dir
from svmbench.harness.assignment import Assignment, assignment_of
from svmbench.harness.processes import Worker
from svmbench.harness.supervise import carry_out, header_of


def assignment(solver="dcd", keep_weights=False):
    (run,) = plan(solvers=[solver])
    return run, assignment_of(run, header_of(run, 100.0, keep_weights))


def travelled(sent):
    """The assignment as another machine reads it."""
    return Assignment(**json.loads(json.dumps(asdict(sent))))


def carried_out(sent, path):
    path.parent.mkdir(exist_ok=True)
    with Worker() as worker:
        return carry_out(sent, path, threading.Event(), 1e12, worker)


def results(trace):
    """What a trace says besides times."""
    kept = ("presentations", "updates", "nonzeros", "primal", "dual", "accuracy", "train_error")
    return [[point[name] for name in kept] for point in trace.points]


@pytest.fixture
def node(tmp_path, monkeypatch):
    """Another machine's cache, with the same rows in another place."""
    rows = cache_dir() / "datasets"
    elsewhere = tmp_path / "cache of a node"

    def move(sent):
        for key in filter(None, (sent.rows, sent.test_rows)):
            shutil.copytree(rows / key, elsewhere / "datasets" / key)
        monkeypatch.setenv("SVMBENCH_CACHE", str(elsewhere))

    return move


def test_it_has_no_path_of_this_machine():
    run, sent = assignment()
    text = json.dumps(asdict(sent))
    assert str(run.instance.train_path) not in text
    assert str(cache_dir()) not in text
    assert travelled(sent) == sent


@pytest.mark.parametrize("solver", ["dcd", "auto"])
def test_another_cache_gives_the_same_results(solver, tmp_path, node):
    _, sent = assignment(solver)
    here = carried_out(sent, tmp_path / "here" / "a.part")
    node(sent)
    there = carried_out(travelled(sent), tmp_path / "there" / "b.part")
    assert here.state == there.state == "converged"
    assert there.header == here.header
    assert results(there) == results(here)
    assert len(there.points) > 1


def test_rows_that_a_machine_lacks_interrupt_the_run(tmp_path, monkeypatch):
    _, sent = assignment()
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "empty"))
    trace = carried_out(travelled(sent), tmp_path / "there" / "a.part")
    assert trace.state == "interrupted"
    assert "the cached rows were removed or damaged" in trace.end["reason"]


def test_weights_are_beside_the_trace(tmp_path, node):
    _, sent = assignment(keep_weights=True)
    node(sent)
    trace = carried_out(travelled(sent), tmp_path / "there" / "a.part")
    assert trace.weights
    assert {path.name for path in (tmp_path / "there").iterdir()} == {"a.part", "a.weights.npz.tmp"}
