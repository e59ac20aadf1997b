"""Sweeps over the nodes of a Dask cluster: processes of this machine with their own caches."""

import json
import signal
import subprocess
import sys
import threading

import pandas as pd
import pytest
from click.testing import CliRunner
from small_cluster import (
    ANOTHER_MACHINE,
    known,
    started,
    two_nodes,
    while_waiting,
)
from small_sweep import ONE_RUN, linux, run_sweep, runs_csv, sweep

from svmbench.cli import main
from svmbench.data.cache import content_hash
from svmbench.errors import ConfigError
from svmbench.harness.environment import fingerprint
from svmbench.harness.options import Options, Reporter
from svmbench.harness.place import NodeLostError
from svmbench.verify.folder import Verifier

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = linux


from svmbench.harness.cluster import place as planner  # noqa: E402
from svmbench.harness.cluster.place import DaskPlace  # noqa: E402

FOUR = {"solvers": ["dcd", "pegasos"], "lambda": [0.1, 0.01], "repeats": 2}

#: Loaded into nodes before anything else.
ANOTHER_BUILD = "import svmbench.solvers.base as b\nb.LIBRARIES = ('numpy',)\n"
CHANGED_BYTES = """
import svmbench.harness.cluster.node as n
def changed(*given, make=n.make):
    trace, weights = make(*given)
    return trace.replace(b'"converged"', b'"max_steps"'), weights
if n.make.__name__ != "changed":  # Dask executes this file twice
    changed.__module__, changed.__qualname__, n.make = n.__name__, "make", changed
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


def test_changed_bytes_are_refused(cluster, tmp_path):
    cluster.add("a", "--no-nanny", preload=CHANGED_BYTES)
    place = cluster.open()
    with place, pytest.raises(NodeLostError, match=r"node a: its trace of .* is damaged"):
        run_sweep(sweep(), tmp_path, options=Options(place=place))
    assert not list((tmp_path / "runs").iterdir())


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


def in_progress(folder):
    """The traces in progress below a folder."""
    return lambda: [path.exists() for path in folder.rglob("*.part")]


def test_no_scheduler_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(planner, "PATIENCE", 0.5)
    done = CliRunner().invoke(main, ["run", "smoke", "--cluster", "tcp://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "no Dask scheduler there" in done.stderr
    assert len(done.stderr.splitlines()) == 1


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


def test_nodes_that_come_late_are_waited_for(cluster, caplog):
    cluster.add("a", "--no-nanny")
    while_waiting(lambda: len(known(cluster)) == 1)
    late = threading.Timer(1.0, cluster.add, ("b", "--no-nanny"))
    late.start()
    with DaskPlace(cluster.address, wait_nodes=2) as place:
        assert place.nodes == {"a", "b"}
    assert "waiting for 2 nodes; 1 are there" in caplog.text


@pytest.mark.slow
def test_a_node_without_runs_ends_the_processes_that_served_them(cluster, tmp_path):
    idle = "import svmbench.harness.cluster.node as n; n.IDLE = 1.0"
    cluster.add("a", "--no-nanny", preload=idle)
    with cluster.open() as place:
        run_sweep(sweep(), tmp_path, options=Options(place=place))
        pid = cluster.processes["a"].pid
        while_waiting(lambda: "svmbench.harness" not in children_of(pid), 10.0)
        run_sweep(sweep(repeats=2), tmp_path, options=Options(place=place))


def children_of(pid):
    """Command lines of the processes that a process has started."""
    done = subprocess.run(["ps", "--ppid", str(pid), "-o", "args="], capture_output=True, text=True)
    return done.stdout
