"""What is finished stays, and nothing else counts, whatever happens to a sweep."""

import itertools
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_sweep import ONE_RUN, run_sweep, runs_csv, sweep

from svmbench.config import dump_sweep
from svmbench.errors import ConfigError, UnwritableError
from svmbench.harness import processes, supervise
from svmbench.harness.plan import plan_runs
from svmbench.harness.store import Store
from svmbench.harness.supervise import make_run
from svmbench.harness.sweeps import Options, Reporter, prepare
from svmbench.harness.trace import read_trace


def finished(folder):
    return {path.name: path.read_bytes() for path in (folder / "runs").glob("*.jsonl")}


def test_making_a_run_again_loses_it_only_to_a_finished_one(tmp_path):
    run_sweep(sweep(), tmp_path)
    before = finished(tmp_path)
    (planned,) = plan_runs(sweep(), prepare(sweep(), Reporter(), Options()))
    stop = threading.Event()
    stop.set()
    assert make_run(planned, Store(tmp_path), 1000.0, stop).state == "interrupted"
    assert finished(tmp_path) == before
    run_sweep(sweep(), tmp_path, options=Options(fresh=True))
    assert finished(tmp_path).keys() == before.keys()
    assert finished(tmp_path) != before
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_run_ended_from_outside_is_no_failure_and_made_again(tmp_path, install, monkeypatch):
    install("plugins:Killed", "plugins:Terminated", "plugins:Interrupted")
    wanted = sweep(solvers=["killed", "terminated", "interrupted"])
    monkeypatch.setattr(supervise, "memory_kills", lambda: 3)
    outcome = run_sweep(wanted, tmp_path)
    assert outcome.faulty
    runs = runs_csv(tmp_path)
    assert dict(runs["state"]) == {
        "killed": "interrupted",
        "terminated": "interrupted",
        "interrupted": "max_steps",
    }
    assert "SIGKILL" in runs.loc["killed", "reason"]
    assert "SIGTERM" in runs.loc["terminated", "reason"]
    monkeypatch.setattr(supervise, "memory_kills", itertools.count().__next__)
    again = run_sweep(wanted, tmp_path)
    assert (again.made, again.reused) == (2, 1)
    assert runs_csv(tmp_path).loc["killed", "state"] == "out_of_memory"


def state_and_parent(pid):
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "gone", None
    return words[0], int(words[1])


def workers_of(parent):
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if state_and_parent(pid)[1] == parent]


def wait_until(holds):
    deadline = time.monotonic() + 60.0
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert holds()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_killed_sweep_leaves_no_worker_and_no_lock(tmp_path, install):
    install("plugins:Hanging")
    out = tmp_path / "out"
    run_sweep(sweep(), out)  # the data and their optimum are in the cache then
    before = finished(out)
    wanted = sweep(solvers=["hanging", "dcd"])
    config = tmp_path / "config.yaml"
    config.write_text(dump_sweep(wanted))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "svmbench", "run", str(config), "--out", str(out), "--quiet"],
        env=dict(os.environ),
    )
    wait_until(lambda: any(out.glob("runs/*hanging*.part")))
    (launcher,) = workers_of(process.pid)
    (worker,) = workers_of(launcher)
    with pytest.raises(ConfigError, match=f"another run is writing here, process {process.pid};"):
        run_sweep(wanted, out)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: state_and_parent(worker)[0] in ("Z", "gone"))
    wait_until(lambda: state_and_parent(launcher)[0] in ("Z", "gone"))
    assert before.items() <= finished(out).items()
    assert all(read_trace(path).end for path in out.glob("runs/*.jsonl"))
    outcome = run_sweep(wanted, out, options=Options(only=("dcd",)))
    assert outcome.states == {"converged": 1}
    assert not list(out.glob("runs/*.part"))


@contextmanager
def files_of_at_most(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    processes._dismiss_all()  # a new launcher has the limit
    try:
        yield
    finally:
        processes._dismiss_all()
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [50, 1500])
def test_a_full_disk_ends_the_sweep_in_one_line_and_loses_nothing(tmp_path, size):
    # At 1500 bytes it is the worker that finds the disk full, before them the parent.
    run_sweep(sweep(), tmp_path)
    before = finished(tmp_path)
    wanted = sweep(solvers=["dcd", "sgd-s"], stop=ONE_RUN["stop"] | {"accuracy": [1e-9]})
    run_sweep(wanted, tmp_path / "elsewhere")  # the optimum is in the cache then
    said = r"cannot be written \(File too large\); make room, then give the same command again$"
    place = "jsonl|part" if size == 1500 else "config.yaml|.lock|environment.json"
    with files_of_at_most(size), pytest.raises(UnwritableError, match=f"({place}): {said}"):
        run_sweep(wanted, tmp_path)
    assert finished(tmp_path) == before
    assert not list(tmp_path.rglob(".*.tmp"))
    outcome = run_sweep(wanted, tmp_path)
    assert (outcome.made, outcome.faulty) == (2, False)
