"""Blocks of runs on nodes that come and go; the nodes are threads of this process."""

import threading
from contextlib import contextmanager
from functools import partial

import pytest
from small_sweep import run_sweep, runs_csv, sweep

from svmbench.data.cache import (
    admit,
    cache_dir,
    content_hash,
    entry_path,
    open_cached,
    packed,
)
from svmbench.data.load import load
from svmbench.errors import DataError
from svmbench.harness.environment import environment
from svmbench.harness.place import Node, NodeLostError
from svmbench.harness.processes import hired
from svmbench.harness.supervise import carry_out
from svmbench.harness.sweeps import MOST_LOST, Options, Reporter

FOUR = {"solvers": ["dcd", "pegasos"], "lambda": [0.1, 0.01], "repeats": 2}


class Thread(Node):
    """A node that dies in its ``dies``-th run."""

    def __init__(self, name, dies=None):
        self.name, self.dies = name, dies
        self.made, self.prepared = [], []
        self.gone = False

    def prepare(self, instance, stop, end):
        self.prepared.append(instance.train_path.name)

    def carry_out(self, assignment, path, stop, end):
        if self.dies is not None and len(self.made) + 1 >= self.dies:
            self.gone = True
            raise NodeLostError(f"node {self.name}: gone")
        self.made.append(assignment.header["id"])
        assignment.header["node"] = self.name
        with hired() as worker:
            return carry_out(assignment, path, stop, end, worker)


class Threads:
    """A place of such nodes; a dead one is replaced if there is a spare one."""

    machine, contended = "0123456789abcdef", False
    environment = staticmethod(environment)

    def __init__(self, *nodes, spare=()):
        self.there, self.spare = list(nodes), list(spare)

    @property
    def nodes(self):
        if not self.there:
            self.there = [self.spare.pop(0)] if self.spare else []
        return {node.name for node in self.there}

    def seats(self):
        if not self.there:
            raise NodeLostError("no node is left")
        return [partial(self.seat, node) for node in self.there]

    @contextmanager
    def seat(self, node):
        try:
            yield node
        except NodeLostError:
            self.there.remove(node)
            raise


class Stages(Reporter):
    def __init__(self):
        self.said = []

    def stage(self, text):
        self.said.append(text)


def places(folder):
    """The nodes of each block of a results folder."""
    table = runs_csv(folder).reset_index()
    return {
        block: set(rows["node"]) for block, rows in table.groupby(["dataset", "lambda", "repeat"])
    }


def test_blocks_stay_together_and_nodes_are_named(tmp_path):
    nodes = [Thread("a"), Thread("b")]
    outcome = run_sweep(sweep(**FOUR), tmp_path, options=Options(place=Threads(*nodes)))
    assert (outcome.made, outcome.reused) == (8, 0)
    found = places(tmp_path)
    assert len(found) == 4
    assert all(len(names) == 1 for names in found.values())
    assert len(nodes[0].made) + len(nodes[1].made) == 8
    again = run_sweep(sweep(**FOUR), tmp_path, options=Options(place=Threads(*nodes)))
    assert (again.made, again.reused) == (0, 8)


@pytest.mark.parametrize("dies", [1, 2, 3, 4])
def test_the_block_of_a_dead_node_is_carried_out_by_another(dies, tmp_path):
    nodes, stages = [Thread("a", dies), Thread("b")], Stages()
    outcome = run_sweep(sweep(**FOUR), tmp_path, stages, Options(place=Threads(*nodes)))
    # The other may have begun the last block before this node's fatal run.
    assert ("node a: gone" in stages.said) == nodes[0].gone
    assert (outcome.made, outcome.reused, outcome.states["converged"]) == (8, 0, 8)
    assert len(list((tmp_path / "runs").iterdir())) == 8
    assert all(len(names) == 1 for names in places(tmp_path).values())


def test_results_stay_when_no_node_is_left(tmp_path):
    place = Threads(Thread("a", dies=4))
    with pytest.raises(NodeLostError, match="no node is left"):
        run_sweep(sweep(**FOUR), tmp_path, options=Options(place=place))
    assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 3
    assert not list((tmp_path / "runs").glob("*.part"))
    other = Thread("b")
    outcome = run_sweep(sweep(**FOUR), tmp_path, options=Options(place=Threads(other)))
    assert (outcome.made, outcome.reused) == (6, 2)  # the torn block was begun again


def test_a_block_is_continued_by_the_node_that_began_it(tmp_path):
    with pytest.raises(NodeLostError):
        run_sweep(sweep(**FOUR), tmp_path, options=Options(place=Threads(Thread("a", dies=4))))
    nodes = Thread("b"), Thread("a")
    outcome = run_sweep(sweep(**FOUR), tmp_path, options=Options(place=Threads(*nodes)))
    assert (outcome.made, outcome.reused) == (5, 3)
    assert all(len(names) == 1 for names in places(tmp_path).values())


def test_a_block_that_ends_node_after_node_is_given_up(tmp_path):
    place = Threads(Thread("a", 1), spare=[Thread("b", 1), Thread("c", 1), Thread("d")])
    assert MOST_LOST == 3
    with pytest.raises(NodeLostError, match="3 nodes were lost"):
        run_sweep(sweep(), tmp_path, options=Options(place=place))


# --- rows that move ----------------------------------------------------------------------


@pytest.fixture
def moved(tmp_path, monkeypatch):
    """The files of an entry, its key and its content; the cache is another one now."""
    key = load("tiny-sparse").train_path.name
    found, content = packed(key), content_hash(key)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "other"))
    assert content_hash(key) is None
    return found, key, content


def test_rows_move(moved):
    found, key, content = moved
    admit(found, key, content)
    assert open_cached(entry_path(key)).n_samples > 0
    assert content_hash(key) == content
    assert [path.name for path in (cache_dir() / "datasets").iterdir()] == [key]


def test_changed_rows_are_refused(moved):
    found, key, content = moved
    values = found["values.npy"]
    with pytest.raises(DataError, match=r"values\.npy"):
        admit(found | {"values.npy": values[:-1] + bytes([values[-1] ^ 1])}, key, content)
    assert content_hash(key) is None


def test_other_rows_are_not_taken_for_these(moved):
    found, key, _ = moved
    with pytest.raises(DataError, match="not the rows"):
        admit(found, key, "0" * 64)


def test_a_stopped_sweep_stops_before_the_next_run(tmp_path):
    class Interrupted(Thread):
        def carry_out(self, assignment, path, stop, end):
            stop.set()

    node = Interrupted("a")
    outcome = run_sweep(sweep(**FOUR), tmp_path, options=Options(place=Threads(node)))
    assert outcome.made == 0
    assert not list((tmp_path / "runs").iterdir())
    assert threading.active_count() < 20
