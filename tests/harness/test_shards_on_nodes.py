"""Shards on the nodes of a cluster: the same results, and lost nodes."""

import json
import logging
import re
import time
from contextlib import nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from small_cluster import LONGEST_SILENCE, started, two_nodes, while_waiting
from small_sweep import linux

from problems import dataset
from svmbench.cli import main
from svmbench.errors import DataError
from svmbench.problem import Problem
from svmbench.solvers.distributed.cocoa import Cocoa
from svmbench.solvers.distributed.newton_shards import NewtonShards

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = linux

from svmbench.harness.cluster import dask_node  # noqa: E402
from svmbench.harness.cluster import place as planner  # noqa: E402, only with distributed
from svmbench.harness.cluster.shards import OnNodes, ShardError  # noqa: E402
from svmbench.harness.place import NodeLostError  # noqa: E402

every_method = pytest.mark.parametrize("method", [NewtonShards, Cocoa])


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(planner, "SETTLING", 0.1)
    monkeypatch.setattr(dask_node, "SILENCE", LONGEST_SILENCE)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with two_nodes(tmp_path_factory.mktemp("cluster")) as both:
        yield both


def problem(m=300, d=12):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(m, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0, 1, -1)
    return Problem(dataset(X, y, "uint16+float64"), 1e-3)


def begun(method, place=None, **given):
    run = method(method.schema(**{"shards": 3} | given))
    if place is not None:
        run.executor = partial(OnNodes, place=place)
    run.start(problem(), 4)
    return run


@every_method
def test_steps_are_those_of_one_process(two, method):
    alone = begun(method)
    alone.advance(6)
    with two.open() as place:
        run = begun(method, place)
        run.advance(6)
        assert run.w.tobytes() == alone.w.tobytes()
        assert run.alpha.tobytes() == alone.alpha.tobytes()
        assert run.dual() == alone.dual()
        assert run.remark == alone.remark


def test_both_nodes_have_shards(two):
    with two.open() as place:
        executor = begun(Cocoa, place)._executor
        assert sorted(len(executor._shards_of(host)) for host in executor._hosts) == [1, 2]


@every_method
def test_a_lost_node_s_shards_are_made_again_elsewhere(tmp_path, caplog, method):
    alone = begun(method)
    alone.advance(8)
    with two_nodes(tmp_path) as cluster, cluster.open() as place, caplog.at_level(logging.WARNING):
        run = begun(method, place)
        run.advance(4)
        cluster.kill("a")
        run.advance(4)
        assert run.w.tobytes() == alone.w.tobytes()
        assert run.alpha.tobytes() == alone.alpha.tobytes()
    said = [each for each in caplog.messages if "made again" in each]
    assert len(said) == 1
    pattern = (
        r"node a: .*; its shards \([\d, ]+\) will be made again, and \d+ rounds repeated there"
    )
    assert re.fullmatch(pattern, said[0])


def test_a_node_that_is_lost_while_it_works_is_noticed(tmp_path, monkeypatch):
    with two_nodes(tmp_path) as cluster, cluster.open() as place:
        # From now on only the frozen node is greeted; the first answers may take longer.
        monkeypatch.setattr(planner, "PATIENCE", 1.0)
        run = begun(NewtonShards, place)
        run.advance(2)
        with cluster.frozen("a"):
            begin = time.monotonic()
            run.advance(2)
            assert 0.5 * LONGEST_SILENCE < time.monotonic() - begin < 60.0
        alone = begun(NewtonShards)
        alone.advance(4)
        assert run.w.tobytes() == alone.w.tobytes()


def test_a_new_node_takes_over_from_the_last_one(tmp_path):
    with started(tmp_path) as cluster:
        cluster.add("a", "--no-nanny")
        with cluster.open() as place:
            run = begun(Cocoa, place)
            run.advance(2)
            cluster.add("b", "--no-nanny")
            place._client.wait_for_workers(2, 60)
            cluster.kill("a")
            run.advance(2)
    alone = begun(Cocoa)
    alone.advance(4)
    assert run.w.tobytes() == alone.w.tobytes()


def test_without_a_node_it_ends_with_one_line(tmp_path, monkeypatch):
    with started(tmp_path) as cluster:
        cluster.add("a", "--no-nanny")
        with cluster.open() as place:
            run = begun(Cocoa, place)
            run.advance(1)
            monkeypatch.setattr(planner, "PATIENCE", 1.0)
            cluster.kill("a")
            while_waiting(lambda: cluster.processes["a"].poll() is not None)
            with pytest.raises(NodeLostError, match=r"^cluster .*: no node is left.*[^\n]$"):
                run.advance(1)


class Mortal:
    """A node in this process that answers so many questions, and is then lost."""

    def __init__(self, name, answers):
        self.name, self.answers = name, answers

    def actor(self, kind):
        return kind()

    def begin(self, actor, method, pickled):
        return lambda: getattr(actor, method)(pickled)

    def ended(self, begun):
        self.answers -= 1
        if self.answers < 0:
            raise NodeLostError(f"node {self.name}: gone")
        return begun()


def test_a_shard_that_had_answered_before_its_node_was_lost_is_asked_again():
    # a answers for its shard, and is lost when it is to make that of b, which did not answer.
    a, b, c = Mortal("a", 2), Mortal("b", 1), Mortal("c", 100)
    place = SimpleNamespace(hosts=lambda: [each for each in (a, b) if each.answers >= 0] or [c])
    executor = OnNodes([count, count], place)
    assert executor.call("__next__") == [0, 0]
    assert c.answers < 100
    assert executor.call("__next__") == [1, 1]


@pytest.mark.parametrize(("free", "at_a_time"), [(None, 2), (10**9, 2), (60_000, 1)])
def test_shards_are_sent_together_only_if_memory_has_room(free, at_a_time, monkeypatch):
    waiting, most = [], []

    class Asked(Mortal):
        def begin(self, actor, method, pickled):
            waiting.append(self)
            most.append(len(waiting))
            return super().begin(actor, method, pickled)

        def ended(self, begun):
            waiting.remove(self)
            return super().ended(begun)

    def available():
        return free and free - 50_000 * len(waiting)

    monkeypatch.setattr("svmbench.harness.cluster.shards.available_memory", available)
    nodes = [Asked("a", 100), Asked("b", 100)]
    run = begun(NewtonShards, SimpleNamespace(hosts=lambda: nodes))
    assert max(most) == at_a_time
    assert sorted(map(len, map(run._executor._shards_of, run._executor._hosts))) == [1, 2]


def test_a_shard_that_memory_has_no_room_to_send_is_refused(monkeypatch):
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: 20_000)
    place = SimpleNamespace(hosts=lambda: [Mortal("a", 100)])
    with pytest.raises(DataError, match=r"sending the rows .* are free; take more shards"):
        begun(NewtonShards, place)
    begun(NewtonShards, place, shards=30)


def test_an_actor_that_its_node_has_lost_is_made_again_elsewhere(two):
    def forget(dask_worker):
        dask_worker.state.actors.clear()

    with two.open() as place:
        executor = OnNodes([count, count], place)
        assert executor.call("__next__") == [0, 0]
        place._client.run(forget, workers=[executor._host[0].node._address])
        assert executor.call("__next__") == [1, 1]


def test_what_a_part_raises_is_said_with_its_node(two):
    with two.open() as place:
        with pytest.raises(ShardError, match=r"^node [ab]: shard 0: AttributeError: .*work"):
            OnNodes([dict], place).call("work")
        with pytest.raises(ShardError, match=r"^node [ab]: shard 0: ZeroDivisionError"):
            OnNodes([partial(divmod, 1, 0)], place)


def test_a_training_whose_nodes_have_gone_is_one_line(tmp_path, monkeypatch):
    def hosts():
        raise NodeLostError("cluster here: no node is left")

    place = SimpleNamespace(nodes=set(), hosts=hosts)
    monkeypatch.setattr("svmbench.cli.options.nodes_of", lambda cluster: nullcontext(place))
    rows = tmp_path / "rows.libsvm"
    rows.write_text("1 1:1\n-1 1:2\n")
    words = ["cluster", "train", str(rows), "-o", str(tmp_path / "model"), "--cluster", "here"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == NodeLostError.exit_code
    assert "no node is left" in result.output


def test_there_are_no_more_shards_than_a_method_takes(tmp_path, monkeypatch):
    asked = []

    def train(*given, shards, **more):
        asked.append(shards)
        raise NodeLostError("gone")

    place = SimpleNamespace(hosts=lambda: range(5000))
    monkeypatch.setattr("svmbench.cli.options.nodes_of", lambda cluster: nullcontext(place))
    monkeypatch.setattr("svmbench.train.sharded.train_on_shards", train)
    rows = tmp_path / "rows.libsvm"
    rows.write_text("1 1:1\n-1 1:2\n")
    words = ["cluster", "train", str(rows), "-o", str(tmp_path / "model"), "--cluster", "here"]
    CliRunner().invoke(main, words)
    assert asked == [1024]


def test_the_command_trains_as_one_process_does(two, tmp_path):
    rows, models = tmp_path / "rows.libsvm", [tmp_path / "a.model", tmp_path / "b.model"]
    rng = np.random.default_rng(5)
    with rows.open("w") as text:
        for x in rng.normal(size=(60, 3)):
            label = 1 if x[0] + 0.5 * rng.normal() > 0 else -1
            print(label, *(f"{j}:{value:.3f}" for j, value in enumerate(x, start=1)), file=text)
    common = ["--lambda", "1e-2", "--tol", "1e-6"]
    runner = CliRunner()
    commands = (
        ["cluster", "train", rows, "--cluster", two.address, "-o", models[0], *common],
        ["train", rows, "-o", models[1], *common],
    )
    for command in commands:
        result = runner.invoke(main, list(map(str, command)))
        assert result.exit_code == 0, result.output
    (shards,), (one,) = (json.loads(Path(f"{path}.json").read_text())["fits"] for path in models)
    assert shards["P"] == pytest.approx(one["P"], rel=1e-6)
    assert shards["relative_gap"] <= 1e-6
