"""Sweeps over the nodes of a Dask cluster: processes of this machine with their own caches."""

import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import Future
from contextlib import ExitStack
from types import SimpleNamespace

import pandas as pd
import pytest
from click.testing import CliRunner
from small_cluster import (
    ANOTHER_MACHINE,
    LONGEST_SILENCE,
    known,
    started,
    two_nodes,
    while_waiting,
)
from small_sweep import ONE_RUN, linux, runs_csv, sweep

from svmbench.cli import main
from svmbench.data.cache import content_hash
from svmbench.data.load import load
from svmbench.errors import ConfigError
from svmbench.harness.environment import fingerprint
from svmbench.harness.options import Options, Reporter
from svmbench.harness.place import NodeLostError
from svmbench.harness.sweeps import run_sweep
from svmbench.verify.folder import Verifier

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = linux

from distributed.versions import VersionMismatchWarning  # noqa: E402, only with distributed

from svmbench.harness.cluster import dask_node, node  # noqa: E402
from svmbench.harness.cluster import place as planner  # noqa: E402
from svmbench.harness.cluster.place import DaskPlace  # noqa: E402

FOUR = {"solvers": ["dcd", "pegasos"], "lambda": [0.1, 0.01], "repeats": 2}

#: Loaded into nodes before anything else.
ANOTHER_BUILD = "import svmbench.solvers.base as b\nb.LIBRARIES = ('numpy',)\n"
CHANGED_BYTES = """
import dataclasses
import svmbench.harness.cluster.node as n
def changed(path, made=n._made):
    sent = made(path)
    return dataclasses.replace(sent, trace=sent.trace.replace(b'"converged"', b'"max_steps"'))
if n._made.__name__ != "changed":  # Dask executes this file twice
    n._made = changed
"""
BROKEN = """
import svmbench.harness.cluster.node as n
def broken(path):
    return broken(path)
n._made = broken
"""


SLOW_ROWS = """
import time
import pathlib
import svmbench.harness.cluster.node as n
def load(*given, **more):
    pathlib.Path(__file__).with_suffix(".begun").touch()
    time.sleep(300.0)
n.load = load
"""


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """Tests wait for their nodes themselves."""
    monkeypatch.setattr(planner, "SETTLING", 0.1)


@pytest.fixture
def cluster(tmp_path_factory):
    with started(tmp_path_factory.mktemp("cluster")) as one:
        yield one


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two nodes for all tests that leave them as they are."""
    with two_nodes(tmp_path_factory.mktemp("cluster")) as both:
        yield both


@pytest.fixture
def mortal(tmp_path_factory):
    """Two nodes for a test that kills or stops one of them."""
    with two_nodes(tmp_path_factory.mktemp("cluster")) as both:
        yield both


def results(folder):
    """What the traces of a folder say besides times, by the ids of the runs."""
    kept = ("presentations", "updates", "nonzeros", "primal", "dual", "accuracy", "train_error")
    found = {}
    for path in (folder / "runs").glob("*.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        points = [record for record in records if record["kind"] == "point"]
        assert points
        found[path.stem] = records[-1]["state"], [[p[name] for name in kept] for p in points]
    return found


def nodes_of(folder):
    """The nodes of each block."""
    table = runs_csv(folder).reset_index()
    return [set(rows["node"]) for _, rows in table.groupby(["dataset", "lambda", "repeat"])]


def test_a_sweep_over_two_nodes_is_the_local_one_in_all_but_times(two, tmp_path):
    asked = sweep(**FOUR, datasets=["tiny-separable", "tiny-sparse"])
    with two.open() as place:
        assert place.contended  # they share this machine
        outcome = run_sweep(asked, tmp_path / "there", options=Options(place=place))
    assert (outcome.made, outcome.left) == (16, 0)
    run_sweep(asked, tmp_path / "here", options=Options(jobs=2))
    assert results(tmp_path / "there") == results(tmp_path / "here")
    assert len(results(tmp_path / "there")) == 16
    found = nodes_of(tmp_path / "there")
    assert all(len(names) == 1 for names in found)
    assert set.union(*found) == {"a", "b"}
    here, there = (runs_csv(tmp_path / name) for name in ("here", "there"))
    assert list(here.columns) == list(there.columns)
    verified = list(Verifier().folder(tmp_path / "there"))
    assert [each for each in verified if each.verdict == "does not hold"] == []
    for name in "ab":  # each has its own rows, and nothing is left of the runs
        assert list((two.folder / f"cache-{name}" / "datasets").iterdir())
        assert not list((two.folder / f"local-{name}").rglob("*.part"))


def test_weights_come_with_the_trace(two, tmp_path):
    with two.open() as place:
        run_sweep(sweep(), tmp_path, options=Options(place=place, keep_weights=True))
    (found,) = [each for each in Verifier().folder(tmp_path) if each.kind == "run"]
    assert found.verdict == "holds"
    assert len(list((tmp_path / "runs").glob("*.weights.npz"))) == 1


def test_a_file_of_the_users_own_travels(two, tmp_path):
    path = tmp_path / "mine.libsvm"
    path.write_text("".join(f"{1 if k % 2 else -1} 1:{k % 7} 2:{k % 2}.5\n" for k in range(60)))
    asked = sweep(datasets=[{"path": str(path)}], repeats=2)
    with two.open() as place:
        outcome = run_sweep(asked, tmp_path / "out", options=Options(place=place))
    assert (outcome.made, dict(outcome.states)) == (2, {"converged": 2})
    (key,) = (path.name for path in (two.folder / "cache-a" / "datasets").glob("*mine*"))
    content = content_hash(key)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBENCH_CACHE", str(two.folder / "cache-a"))
        assert content_hash(key) == content


def test_an_interruption_leaves_no_pieces_of_rows_on_a_node(two, tmp_path, monkeypatch):
    path, stop = tmp_path / "long.libsvm", threading.Event()
    path.write_text("".join(f"{1 if k % 2 else -1} 1:{k % 7} 2:{k % 2}.5\n" for k in range(80)))
    sent = dask_node.pieces

    def stopped_after_one(key):
        for piece in sent(key):
            yield piece
            stop.set()

    monkeypatch.setattr(dask_node, "pieces", stopped_after_one)
    key = load({"path": str(path)}).train_path
    with two.open() as place:
        each = place.hosts()[0]
        each.prepare(SimpleNamespace(train_path=key, test_path=None, origin=None), stop, math.inf)
    assert stop.is_set()
    assert not [*two.folder.glob("cache-*/datasets/.writing-*")]


@pytest.fixture
def occupied(cluster, monkeypatch):
    """A place whose only node carries out somebody else's task, which takes so many seconds."""
    from distributed import Client

    cluster.add("a", "--no-nanny")
    while_waiting(lambda: len(known(cluster)) == 1)
    monkeypatch.setattr(dask_node, "ANSWER", 3.0)
    monkeypatch.setattr(dask_node, "BUSY", 0.3)
    monkeypatch.setattr(dask_node, "COURTESY", 0.5)
    with cluster.open() as place, Client(scheduler_file=cluster.address) as other:

        def occupy(seconds):
            task = other.submit(time.sleep, seconds, pure=False)
            while_waiting(lambda: any(other.processing().values()))
            return task

        yield place, occupy


@pytest.mark.slow
def test_a_node_that_another_planner_occupies_is_waited_for(occupied, tmp_path, caplog):
    place, occupy = occupied
    task = occupy(8.0)
    assert run_sweep(sweep(), tmp_path, options=Options(place=place)).made == 1
    assert task.done()
    assert caplog.text.count("node a: another planner occupies it; waiting for its turn") == 1


def test_a_question_that_gets_no_answer_is_not_held_against_a_node(monkeypatch):
    monkeypatch.setattr(dask_node, "BUSY", 0.0)
    answers = iter([True, OSError("the connection is lost"), True])

    def ask():
        asked, answer = Future(), next(answers)
        if isinstance(answer, OSError):
            asked.set_exception(answer)
        else:
            asked.set_result(answer)
        return asked

    queue = dask_node.Queue(ask)
    assert [queue.holds() for _ in range(6)] == [False, True, False, False, False, False]


@pytest.mark.slow
def test_an_occupied_node_is_not_waited_for_when_the_time_is_up(occupied, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_node, "SILENCE", LONGEST_SILENCE)
    place, occupy = occupied
    occupy(300.0)
    begun = time.monotonic()
    options = Options(place=place, deadline=begun + 60.0, end=begun + 1.0)
    assert run_sweep(sweep(), tmp_path, options=options).made == 0
    assert time.monotonic() - begun < 60.0


def test_nobody_waits_to_take_leave_of_an_occupied_node(occupied, tmp_path):
    place, occupy = occupied
    assert run_sweep(sweep(), tmp_path, options=Options(place=place)).made == 1
    occupy(300.0)
    begun = time.monotonic()
    (node,) = place._nodes.values()
    node.rest()
    node.take_leave()
    assert time.monotonic() - begun < 30.0
    assert not node.lost


def test_the_block_of_a_killed_node_goes_to_the_other(mortal, tmp_path):
    class Killing(Reporter):
        said = ()

        def run_ends(self, run, state):
            if not self.said:
                self.said = ("killed",)
                mortal.kill("a")

        def stage(self, text):
            if text.startswith("node"):
                self.said = *self.said, text

    reporter = Killing()
    asked = sweep(**FOUR | {"repeats": 4})
    with mortal.open() as place:
        outcome = run_sweep(asked, tmp_path, reporter, Options(place=place))
    assert any(text.startswith("node a: ") for text in reporter.said)
    assert outcome.left == 0
    assert outcome.made == len(list((tmp_path / "runs").iterdir())) == 16
    assert all(len(names) == 1 for names in nodes_of(tmp_path))


@pytest.mark.slow
def test_a_silent_node_is_lost_until_it_answers_again(mortal, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_node, "SILENCE", LONGEST_SILENCE)

    class Freezing(Reporter):
        said = ()

        def run_ends(self, run, state):
            if not self.said:
                self.said = ("frozen",)
                stack.enter_context(mortal.frozen("a"))

        def stage(self, text):
            if text.startswith("node"):
                self.said = *self.said, text

    reporter, asked = Freezing(), sweep(**FOUR)
    with mortal.open() as place:
        # From now on only the frozen node is greeted; the first answers may take longer.
        monkeypatch.setattr(planner, "PATIENCE", 1.0)
        with ExitStack() as stack:
            outcome = run_sweep(asked, tmp_path / "one", reporter, Options(place=place))
            assert place.nodes == {"b"}
        assert reporter.said == ("frozen", f"node a: no sign of life for {LONGEST_SILENCE:g} s")
        assert outcome.left == 0
        assert len(results(tmp_path / "one")) == 8
        assert all(len(names) == 1 for names in nodes_of(tmp_path / "one"))
        while_waiting(lambda: place.nodes == {"a", "b"})
        run_sweep(asked, tmp_path / "two", options=Options(place=place))
    assert set.union(*nodes_of(tmp_path / "two")) == {"a", "b"}
    assert results(tmp_path / "one") == results(tmp_path / "two")


def test_nodes_are_there_whatever_dask_asks_for_meanwhile(two):
    import dask

    with dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}), two.open() as one:
        assert all(one.nodes == {"a", "b"} for _ in range(100))


@pytest.mark.slow
def test_a_node_that_does_not_answer_holds_nobody_up(mortal, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(planner, "PATIENCE", 3.0)
    with mortal.frozen("a"), DaskPlace(mortal.address) as place:
        monkeypatch.setattr(planner, "PATIENCE", 0.5)  # the other node has answered
        assert place.nodes == {"b"}
        assert run_sweep(sweep(), tmp_path, options=Options(place=place)).made == 1
    assert caplog.text.count("node a: cannot run svmbench (no answer)") == 1


def test_a_result_may_take_longer_to_travel_than_a_look_takes(two, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_node, "POLL", 1e-6)
    with two.open() as place:
        assert run_sweep(sweep(), tmp_path, options=Options(place=place)).made == 1


def test_a_planner_that_stood_still_itself_blames_nobody(monkeypatch):
    workers = {"a": {"last_seen": 1.0}}

    class Clock:
        now = 0.0

    clock = Clock()
    monkeypatch.setattr(dask_node, "monotonic", lambda: clock.now)
    monkeypatch.setattr(dask_node, "workers_of", lambda client: workers)
    attendance = dask_node.Attendance(None)

    def look(*moments):
        for clock.now in moments:
            attendance.require("a")

    look(0.0, 1000.0, 1000.0 + dask_node.SILENCE - 5.0)
    with pytest.raises(NodeLostError, match="no sign of life"):
        look(*range(2000, 2100))
    workers["a"]["last_seen"] = 2.0
    clock.now += 1.0
    attendance.require("a")
    workers.clear()
    clock.now += 1.0
    with pytest.raises(NodeLostError, match="it has ended"):
        attendance.require("a")


@pytest.mark.slow
def test_a_node_that_its_nanny_starts_again_goes_on(cluster, tmp_path):
    class Killing(Reporter):
        killed = False

        def run_ends(self, run, state):
            if not self.killed:
                self.killed = True
                (there,) = known(cluster)
                (pid,) = place._client.run(os.getpid, workers=[there]).values()
                os.kill(pid, signal.SIGKILL)
                while_waiting(lambda: set(known(cluster)) not in (set(), {there}))

    cluster.add("a")
    with cluster.open() as place:
        outcome = run_sweep(sweep(**FOUR), tmp_path, Killing(), Options(place=place))
    assert outcome.made == len(list((tmp_path / "runs").iterdir())) == 8
    assert nodes_of(tmp_path) == 4 * [{"a"}]


def test_changed_bytes_are_refused(cluster, tmp_path):
    cluster.add("a", "--no-nanny", preload=CHANGED_BYTES)
    place = cluster.open()
    with place, pytest.raises(NodeLostError, match=r"node a: the files of .* changed on the way"):
        run_sweep(sweep(), tmp_path, options=Options(place=place))
    assert not list((tmp_path / "runs").iterdir())


def test_an_error_of_a_node_arrives_whatever_it_is(cluster, tmp_path):
    cluster.add("a", "--no-nanny", preload=BROKEN)
    with cluster.open() as place, pytest.raises(NodeLostError, match="node a: RecursionError"):
        run_sweep(sweep(), tmp_path, options=Options(place=place))


@pytest.fixture(scope="module")
def made_there(two, tmp_path_factory):
    """The trace of a run on a node, with its weights next to it."""
    folder = tmp_path_factory.mktemp("made-there")
    with pytest.MonkeyPatch.context() as patch, two.open() as place:
        patch.setenv("SVMBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        run_sweep(sweep(), folder, options=Options(place=place, keep_weights=True))
    (path,) = (folder / "runs").glob("*.jsonl")
    return path


@pytest.mark.parametrize("what", ["trace", "hash", "id", "weights"])
def test_only_the_files_of_the_assignment_are_accepted(what, made_there, tmp_path):
    path = made_there
    trace, weights = path.read_bytes(), path.with_suffix(".weights.npz").read_bytes()
    header = json.loads(trace.splitlines()[0])
    target = tmp_path / "received" / f"{path.stem}.part"
    target.parent.mkdir()

    def accepted(trace, weights, header, digest=None):
        made = node.Made(trace, digest or sha(trace), weights, sha(weights))
        return dask_node.accept(made, assignment(header), target)

    assert accepted(trace, weights, header).state == "converged"
    assert target.read_bytes() == trace
    changed = {
        "trace": (trace.replace(b"converged", b"max_steps"), weights, header),
        "hash": (trace, weights, header, sha(b"another")),
        "id": (trace, weights, header | {"repeat": 1}),
        "weights": (trace, weights[:-1], header),
    }[what]
    with pytest.raises(NodeLostError):
        accepted(*changed)


def sha(content):
    import hashlib

    return hashlib.sha256(content).hexdigest()


def assignment(header):
    from svmbench.harness.assignment import Assignment

    return Assignment(header, {}, "dcd", "", None, "", 0, 1, None, 1.0)


def test_machines_are_not_mixed(cluster):
    cluster.add("a", "--no-nanny").add("b", "--no-nanny", preload=ANOTHER_MACHINE)
    while_waiting(lambda: len(known(cluster)) == 2)
    with pytest.raises(ConfigError, match=r"different machines \(.*a.*b.*\); stop all but"):
        DaskPlace(cluster.address)


def test_runs_have_the_fingerprint_of_their_nodes(cluster, tmp_path):
    cluster.add("b", "--no-nanny", preload=ANOTHER_MACHINE)
    with cluster.open() as place:
        run_sweep(sweep(), tmp_path, options=Options(place=place))
    (path,) = (tmp_path / "runs").glob("*.jsonl")
    assert json.loads(path.read_text().splitlines()[0])["machine"] != fingerprint()
    with cluster.open() as place:
        assert run_sweep(sweep(), tmp_path, options=Options(place=place)).reused == 1


def test_a_node_of_another_build_is_left_out(cluster, tmp_path, caplog):
    cluster.add("a", "--no-nanny").add("b", "--no-nanny", preload=ANOTHER_BUILD)
    while_waiting(lambda: len(known(cluster)) == 2)
    with cluster.open() as place:
        assert place.nodes == {"a"}
        run_sweep(sweep(repeats=2), tmp_path, options=Options(place=place))
    assert caplog.text.count("node b: another build") == 1
    assert nodes_of(tmp_path) == [{"a"}, {"a"}]


def test_only_nodes_of_another_build_are_none(cluster):
    cluster.add("b", "--no-nanny", preload=ANOTHER_BUILD)
    while_waiting(lambda: len(known(cluster)) == 1)
    with pytest.raises(NodeLostError, match=r"no node is left.*another build"):
        DaskPlace(cluster.address)


def test_a_node_under_a_nanny_has_the_environment_of_a_local_worker(cluster, monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "3")  # the user's own stays
    cluster.add("a")
    with cluster.open() as place:
        (there,) = place._client.run(lambda: dict(os.environ)).values()
    added = {name for name in there if name not in os.environ}
    assert {name for name in added if name.startswith(("MALLOC", "DASK", "OMP"))} == set()
    assert there["MALLOC_ARENA_MAX"] == "3"


SLOW = ONE_RUN | {
    "solvers": [{"name": "pegasos"}],
    "stop": {"max_epochs": 1e9, "time_limit": 600.0},
    "tables": [],
    "plots": [],
}

#: The command line in a process of its own, which waits for no more nodes than there are.
COMMAND = """
from svmbench.__main__ import main
from svmbench.harness.cluster import place
place.SETTLING = 0.1
main("svmbench")
"""


def planning(words, **pipes):
    """A planner of its own process."""
    return subprocess.Popen([sys.executable, "-P", "-c", COMMAND, *words], **pipes)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_node_is_idle_soon_after_the_planner_has_ended(how, cluster, tmp_path):
    cluster.add("a", "--no-nanny")
    config = tmp_path / "slow.yaml"
    config.write_text(json.dumps(SLOW))
    while_waiting(lambda: len(known(cluster)) == 1)
    words = ["run", str(config), "--out", str(tmp_path / "out"), "--cluster", cluster.address]
    run = planning(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    parts = in_progress(cluster.folder / "local-a")
    try:
        while_waiting(lambda: any(parts()))
    finally:
        run.send_signal(how)
    run.communicate()
    assert run.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    while_waiting(lambda: not any(parts()), 2.0)
    assert not list((tmp_path / "out" / "runs").iterdir())


@pytest.mark.slow
def test_an_interruption_waits_for_no_rows_that_a_node_makes(cluster, tmp_path):
    cluster.add("a", "--no-nanny", preload=SLOW_ROWS)
    config = tmp_path / "one.yaml"
    config.write_text(json.dumps(ONE_RUN | {"plots": []}))
    while_waiting(lambda: len(known(cluster)) == 1)
    words = ["run", str(config), "--out", str(tmp_path / "out"), "--cluster", cluster.address]
    run = planning(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while_waiting(lambda: any(cluster.folder.rglob("*.begun")))
    finally:
        run.send_signal(signal.SIGINT)
    run.communicate(timeout=30.0)
    assert run.returncode == 130


@pytest.mark.slow
def test_the_end_of_the_scheduler_is_one_line(cluster, tmp_path):
    cluster.add("a", "--no-nanny")
    config = tmp_path / "slow.yaml"
    config.write_text(json.dumps(SLOW))
    while_waiting(lambda: len(known(cluster)) == 1)
    words = ["run", str(config), "--out", str(tmp_path / "out"), "--cluster", cluster.address]
    run = planning([*words, "--quiet"], stderr=subprocess.PIPE, text=True)
    parts = in_progress(cluster.folder / "local-a")
    while_waiting(lambda: any(parts()))
    cluster.kill("scheduler")
    said = run.communicate()[1]
    assert run.returncode == 2
    assert said.endswith("the connection to its scheduler is lost; is it running?\n")
    assert len(said.splitlines()) == 1
    while_waiting(lambda: not any(parts()))
    assert not list((tmp_path / "out" / "runs").iterdir())


def test_a_scheduler_that_stands_still_is_one_line(mortal, monkeypatch):
    with mortal.open() as place, mortal.frozen("scheduler"):
        monkeypatch.setattr(dask_node, "SILENCE", 2.0)
        with pytest.raises(ConfigError, match=r"does not answer within 2 s; is it running[?]$"):
            place.seats()


def test_nobody_waits_for_the_scheduler_after_another(monkeypatch):
    asked = []

    def silent(client):
        asked.append(client)
        raise OSError("its scheduler does not answer within 30 s")

    monkeypatch.setattr(dask_node, "workers_of", silent)
    attendance = dask_node.Attendance(None)
    with pytest.raises(OSError, match="does not answer"):
        attendance.require("a")
    with pytest.raises(NodeLostError, match="cannot be reached"):
        attendance.require("b")
    assert len(asked) == 1


def test_a_scheduler_that_is_lost_while_nodes_are_awaited_is_one_line(two, monkeypatch):
    def lost(client):
        raise OSError("the connection to its scheduler is lost")

    with two.open() as place:
        monkeypatch.setattr(planner, "workers_of", lost)
        with pytest.raises(ConfigError, match=r"scheduler is lost; is it running[?]$"):
            place._await_nodes()


def in_progress(folder):
    """The traces in progress below a folder."""
    return lambda: [path.exists() for path in folder.rglob("*.part")]


def test_no_scheduler_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(planner, "PATIENCE", 0.5)
    done = CliRunner().invoke(main, ["run", "smoke", "--cluster", "tcp://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "no Dask scheduler there" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "{}", "[]", '{"address": "tcp://127.0.0.1:9"}'),
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_a_scheduler_s_file_that_leads_nowhere_is_refused_at_once(tmp_path, monkeypatch, text):
    monkeypatch.setattr(planner, "PATIENCE", 0.5)
    file = tmp_path / "scheduler.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigError, match="no Dask scheduler there"):
        planner.DaskPlace(str(file))


@pytest.mark.parametrize(
    "address", ["", "here", "tcp://", "foo://127.0.0.1:9", "127.0.0.1:99999999", "http://here:1"]
)
def test_an_address_that_is_none_is_one_line(address, monkeypatch):
    monkeypatch.setattr(planner, "PATIENCE", 0.5)
    clients = []
    monkeypatch.setattr(planner, "Client", lambda *given, **more: clients.append(given))
    done = CliRunner().invoke(main, ["run", "smoke", "--cluster", address])
    assert done.exit_code == 2
    assert f"--cluster {address}: no Dask scheduler there" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not clients, "one that has no scheduler prints a traceback when it is deleted"


def test_a_program_that_is_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(planner, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begun = time.monotonic()
        with pytest.raises(ConfigError, match="no Dask scheduler there"):
            planner.DaskPlace(f"127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - begun < 20.0


def test_a_scheduler_of_another_version_is_named_in_one_line(two, monkeypatch, caplog):
    with two.open():
        assert not caplog.messages
    monkeypatch.setattr(planner.distributed, "__version__", "1.0")
    with warnings.catch_warnings(record=True) as said, two.open() as place:
        assert place.nodes == {"a", "b"}
        warnings.warn("a table of ten lines", VersionMismatchWarning, stacklevel=1)
    assert not said
    (line,) = caplog.messages
    assert re.search(r"its scheduler has Dask \d\S+, and this process 1\.0; .* install", line)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("No.\n\nmore", "No."),
        (
            "Failed. This\noccurs if versions differ.\nSee",
            "Failed. This occurs if versions differ.",
        ),
        ("", "OSError"),
        ("a b\nSee", "a b"),
    ],
)
def test_an_error_is_said_in_whole_sentences(said, text):
    assert dask_node.text_of(OSError(said)) == text


def test_the_address_of_a_worker_is_none_of_a_scheduler(two, monkeypatch):
    address = next(iter(known(two)))
    with pytest.raises(ConfigError, match="no Dask scheduler there"):
        planner.DaskPlace(address)


def test_the_command_runs_on_the_nodes(two, tmp_path):
    config = tmp_path / "small.yaml"
    config.write_text(json.dumps(ONE_RUN | {"repeats": 2, "plots": []}))
    words = ["run", str(config), "--out", str(tmp_path / "out"), "--cluster", two.address]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(tmp_path / "out" / "runs.csv")["node"]) <= {"a", "b"}
    assert threading.active_count() < 50
    planned = CliRunner().invoke(main, [*words, "--dry-run"])
    assert "2 nodes: a, b; some share a machine, so all runs are contended" in planned.stdout
