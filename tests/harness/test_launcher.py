"""A launcher starts runs' processes, and nothing that a run does reaches the next one."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from small_sweep import SILENT, linux, plan, run_sweep, runs_csv, sweep

from svmbench.harness.child import BEGUN
from svmbench.harness.processes import Worker
from svmbench.harness.store import Store
from svmbench.harness.supervise import make_run
from svmbench.harness.sweeps import Options


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def launchers(monkeypatch):
    """The launcher of each run, and its process."""
    found, report = [], Worker.report

    def noted(self, seconds):
        told = report(self, seconds)
        if told is not None and told.event == "started":
            found.append((self._launcher.pid, told.pid))
        return told

    monkeypatch.setattr(Worker, "report", noted)
    # Each repeat has a launcher and a process of its own, however long its runs take here.
    monkeypatch.setattr("svmbench.harness.crew.BRIEF_SECONDS", 1e9)
    monkeypatch.setattr("svmbench.harness.processes.START_SHARE", 1e9)
    return found


def test_a_launcher_serves_all_runs_of_a_repeat_and_no_other(tmp_path, launchers):
    wanted = {"lambda": [0.1, 0.01], "solvers": ["dcd", "sgd-s"], "repeats": 2}
    assert run_sweep(sweep(**wanted), tmp_path).states == {"converged": 8}
    served = [launcher for launcher, _ in launchers]
    assert len(set(served)) == len({pid for _, pid in launchers}) == 2
    assert sum(map(is_alive, set(served))) == 1  # the last one waits for the next sweep


def test_a_launcher_ends_with_its_parent(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_sweep import run_sweep, sweep
from svmbench.harness.processes import Worker
report, note = Worker.report, Path(sys.argv[2])
def noted(self, seconds):
    note.write_text(str(self._launcher.pid))
    return report(self, seconds)
Worker.report = noted
run_sweep(sweep(), Path(sys.argv[3]))
if sys.argv[4] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for how in ("killed", "ended"):
        note = tmp_path / how
        arguments = [
            str(Path(__file__).parent.parent),
            str(note),
            str(tmp_path / f"{how}-out"),
            how,
        ]
        subprocess.run([sys.executable, "-c", script, *arguments])
        until = time.monotonic() + 60.0
        while is_alive(int(note.read_text())) and time.monotonic() < until:
            time.sleep(0.02)
        assert not is_alive(int(note.read_text()))


def numbers(folder):
    runs = pd.read_csv(folder / "runs.csv").sort_values("id")
    return runs[["id", "state", "primal", "dual", "epochs", "updates", "nonzeros"]]


def test_brief_runs_share_a_process_and_train_as_in_one_of_their_own(tmp_path, launchers):
    again = {"name": "dcd", "label": "again"}
    chosen = {"datasets": ["tiny-sparse", "tiny-separable"], "solvers": ["dcd", "sgd-s", again]}
    for name, brief in (("shared", True), ("alone", False)):
        store = Store(tmp_path / name)
        runs = plan(**chosen)
        with Worker() as worker:
            for run in runs:
                make_run(run, store, 1000.0, threading.Event(), worker=worker, brief=brief)
        store.export(runs, frozenset())
    assert len(launchers) == 1 + 6
    assert numbers(tmp_path / "shared").equals(numbers(tmp_path / "alone"))
    peaks = [
        runs_csv(tmp_path / name)["peak_memory_bytes"].median() for name in ("shared", "alone")
    ]
    assert 0.9 < peaks[0] / peaks[1] < 1.1


def test_a_brief_run_whose_process_dies_after_others_is_made_again_alone(
    tmp_path, launchers, monkeypatch
):
    report = Worker.report

    def killing(self, seconds):
        told = report(self, seconds)
        if told is not None and told.text == BEGUN and self.jobs == 2:
            os.kill(self.pid, signal.SIGKILL)
        return told

    monkeypatch.setattr(Worker, "report", killing)
    for attempt in range(5):  # on a busy machine, a run may end before the signal comes
        launchers.clear()
        store = Store(tmp_path / str(attempt))
        with Worker() as worker:
            traces = [
                make_run(run, store, 1000.0, threading.Event(), worker=worker, brief=True)
                for run in plan(solvers=["dcd", "ocas"])
            ]
        assert [trace.state for trace in traces] == ["converged", "converged"]
        if len(launchers) == 2:
            return
    pytest.fail("no run was killed")


@linux
def test_what_a_run_leaves_behind_ends_before_the_next(tmp_path, install, monkeypatch):
    install("plugins:Parental")
    note = tmp_path / "left"
    monkeypatch.setenv("SVMBENCH_TEST_LEFT", str(note))
    stop = {"accuracy": [0.1], "max_epochs": 1}
    run_sweep(sweep(solvers=["parental"], stop=stop), tmp_path / "out")
    assert not is_alive(int(note.read_text()))
    (run,) = runs_csv(tmp_path / "out").to_dict("records")
    assert run["state"] == "max_steps"
    # The process left behind computed meanwhile, and the run's own slept.
    assert run["process_cpu_seconds"] > run["train_cpu_seconds"] + 0.05


@linux
@pytest.mark.parametrize("name", ["frozen", "waiting"])
def test_a_silent_run_that_used_no_processor_is_interrupted(name, tmp_path, install):
    install(f"plugins:{name.title()}")
    wanted = sweep(solvers=[name], stop=SILENT)
    outcome = run_sweep(wanted, tmp_path)
    assert outcome.states == {"interrupted": 1}
    reasons = list(runs_csv(tmp_path)["reason"])
    assert len(reasons) == 1
    assert all(reason.startswith("1.55 s without a checkpoint, in which the") for reason in reasons)
    assert all(reason.endswith("it was frozen, or it waited for something") for reason in reasons)
    assert run_sweep(wanted, tmp_path, options=Options(repeats=1)).made >= 1


@linux
def test_a_launcher_that_dies_takes_its_run_along_and_no_other(tmp_path, install, launchers):
    install("plugins:Hanging")
    hanging, dcd = plan(solvers=["hanging", "dcd"])
    if hanging.solver.name == "dcd":
        hanging, dcd = dcd, hanging
    store = Store(tmp_path)

    def kill():
        while not launchers or not list(tmp_path.glob("runs/*hanging*.part")):
            time.sleep(0.02)
        os.kill(launchers[0][0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with Worker() as worker:
        trace = make_run(hanging, store, 1000.0, threading.Event(), worker=worker)
        killer.join()
        assert not is_alive(launchers[0][1])
        after = make_run(dcd, store, 1000.0, threading.Event(), worker=worker)
    assert trace.state == "interrupted"
    assert "SIGKILL" in trace.end["reason"]
    assert after.state == "converged"
    assert launchers[0][0] != launchers[1][0]
