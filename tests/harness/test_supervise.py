"""What a sweep makes of a run's process: delays, refusals and hangs that are not the solver's."""

import errno
import os
import resource
import signal
import sys
import tempfile
import threading
import time

import pandas as pd
import pytest
from small_sweep import SILENT, linux, plan, runs_csv, sweep

from svmbench.harness import accounts, child, processes, supervise, system
from svmbench.harness.processes import Report, Worker
from svmbench.harness.store import Store
from svmbench.harness.supervise import Waited, make_run
from svmbench.harness.sweeps import run_sweep
from svmbench.harness.trace import TraceWriter


def test_a_parent_that_is_late_does_not_fail_its_run(tmp_path, monkeypatch):
    report = Worker.report

    def late(self, seconds):
        told = report(self, seconds)
        if told is not None and told.text == child.BEGUN:
            time.sleep(1.0)  # as of a process that was suspended
        elif told is not None and told.text == child.ENDED:
            time.sleep(1.5)
        return told

    monkeypatch.setattr(Worker, "report", late)
    run_sweep(sweep(), tmp_path)
    assert runs_csv(tmp_path).loc["dcd", "state"] == "converged"


def test_the_time_of_a_run_is_the_launchers(tmp_path):
    told = [
        Report("answered", text=child.BEGUN, at=100.0),
        Report("answered", text=child.ENDED, at=102.5),
        Report("answered", text="a hash", at=110.0),
    ]

    class Given:
        pid = 0

        def report(self, seconds):
            return told.pop(0)

    waited = supervise._wait(Given(), tmp_path / "none", 60.0, threading.Event(), 1e12)
    assert waited == Waited("answered", "a hash", 2.5)


def test_a_trace_that_a_solver_has_removed_has_no_size(tmp_path):
    (tmp_path / "trace").write_bytes(b"a line\n")
    assert supervise._size(tmp_path / "trace") == 7
    assert supervise._size(tmp_path / "none") == 0


@pytest.mark.parametrize("wrote", ["another end", "a point without fields", "no end", "nothing"])
def test_a_trace_that_is_not_the_one_answered_is_refused(tmp_path, monkeypatch, wrote):
    (run,) = plan()

    class Killed:
        """A process that has answered, and is ended by a signal of ours."""

        cpu, code, refused = 1.0, 0, 0

        def give(self, assignment, job):
            assert assignment.header["id"] == run.id
            with TraceWriter(Store(tmp_path).growing(run), job["header"]) as writer:
                if wrote == "a point without fields":
                    writer.append({"event": 1})
                elif wrote == "another end":
                    writer.end("converged")
            if wrote == "nothing":
                Store(tmp_path).growing(run).unlink()

        def end(self):
            self.code = -signal.SIGKILL

    monkeypatch.setattr(supervise, "_wait", lambda *_: Waited("answered", "another", 1.0))
    trace = make_run(run, Store(tmp_path), 1000.0, threading.Event(), worker=Killed())
    assert (trace.state, trace.end["refused"]) == ("failed", True)
    assert "something else has written" in trace.end["reason"]


def test_what_a_solver_that_dies_has_written_to_its_trace_is_no_point(tmp_path, monkeypatch):
    (run,) = plan()

    class Dead:
        cpu, code, refused, jobs, stderr = 1.0, 1, 0, 1, tempfile.TemporaryFile()  # noqa: SIM115

        def give(self, assignment, job):
            with TraceWriter(Store(tmp_path).growing(run), job["header"]) as writer:
                writer.append({"event": 1})

        def end(self):
            pass

    monkeypatch.setattr(supervise, "_wait", lambda *_: Waited("dead"))
    trace = make_run(run, Store(tmp_path), 1000.0, threading.Event(), worker=Dead())
    assert (trace.state, trace.points) == ("failed", [])


def test_other_rules_of_the_clock_make_another_run(monkeypatch):
    (run,) = plan()
    before = run.id  # it is computed when it is first read
    monkeypatch.setattr("svmbench.harness.plan.CLOCK_RULES", accounts.CLOCK_RULES + 1)
    (other,) = plan()
    assert before != other.id


REFUSING = """
import errno, os, subprocess
from svmbench.harness import launcher
def refuse(*_, **__):
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
{} = refuse
launcher.main()
"""


@linux
@pytest.mark.parametrize("call", ["launcher.os.fork", "launcher.os.pipe", "launcher._spawned"])
def test_a_process_that_the_system_refuses_is_no_fault_of_a_solver(tmp_path, monkeypatch, call):
    popen = child.subprocess.Popen
    # Its own pipe is made before.
    code = REFUSING.format(call)
    if call.endswith("pipe"):
        code = code.replace("launcher.main()", LATER)

    def start(command, **options):
        return popen([sys.executable, "-P", "-c", code], **options)

    (run,) = plan()
    monkeypatch.setattr(child.subprocess, "Popen", start)
    store = Store(tmp_path)
    with Worker(forks="_spawned" not in call) as worker, pytest.raises(BlockingIOError) as refused:
        make_run(run, store, 1000.0, threading.Event(), worker=worker)
    assert refused.value.errno == errno.EAGAIN
    assert store.read(run) is None
    assert not list((tmp_path / "runs").glob("*.part"))


#: Refuses pipes once the launcher has its own.
LATER = """
launcher.os.pipe = os.pipe = __import__("posix").pipe
start = launcher.Launcher._start
def _start(self, order):
    os.pipe = refuse
    return start(self, order)
launcher.Launcher._start = _start
launcher.main()
"""


@linux
def test_a_launcher_that_has_died_meanwhile_costs_no_run(tmp_path):
    first, second = plan(solvers=["dcd", "sgd-s"])
    store = Store(tmp_path)
    with Worker() as worker:
        make_run(first, store, 1000.0, threading.Event(), worker=worker)
        before = worker._launcher
        os.kill(before.pid, signal.SIGKILL)
        before.wait()
        after = make_run(second, store, 1000.0, threading.Event(), worker=worker)
    assert after.state == "converged"


@linux
def test_a_cell_that_hangs_is_tried_once_in_each_call(tmp_path, install):
    install("plugins:Waiting")
    wanted = sweep(solvers=["waiting"], stop=SILENT, repeats=3)
    for _ in range(2):
        outcome = run_sweep(wanted, tmp_path)
        assert outcome.made == 1
        assert outcome.states["interrupted"] == 1
        # Nobody knows how much of that time its start took.
        assert outcome.starting < 1.0


class Suspended:
    """The clocks of a machine that is suspended between two readings of CLOCK_BOOTTIME."""

    def __init__(self, seconds):
        self.seconds, self.read = seconds, 0
        self.others = time.clock_gettime

    def __call__(self, clock):
        if clock != time.CLOCK_BOOTTIME:
            return self.others(clock)
        self.read += 1
        return time.monotonic() + (self.seconds if self.read > 1 else 0.0)


@linux
def test_a_run_during_which_the_machine_was_suspended_is_repeated(tmp_path, monkeypatch):
    wanted = sweep(repeats=2)
    with monkeypatch.context() as patched:
        patched.setattr(system.time, "clock_gettime", Suspended(3600.0))
        outcome = run_sweep(wanted, tmp_path)
    assert (outcome.states["interrupted"], outcome.states["converged"]) == (1, 1)
    interrupted = pd.read_csv(tmp_path / "runs.csv").set_index("state").loc["interrupted"]
    assert interrupted["reason"] == "the machine was suspended for 3600 s during the run"
    assert pd.isna(interrupted["primal"])
    again = run_sweep(wanted, tmp_path)
    assert (again.made, again.states["converged"]) == (1, 2)


@linux
def test_a_run_that_was_silent_on_a_suspended_machine_is_interrupted(
    tmp_path, install, monkeypatch
):
    install("plugins:Hanging")
    (run,) = plan(solvers=["hanging"], stop=SILENT)
    monkeypatch.setattr(system.time, "clock_gettime", Suspended(60.0))
    trace = make_run(run, Store(tmp_path), 0.5, threading.Event())
    assert (trace.state, trace.end.get("hung")) == ("interrupted", None)
    assert trace.end["reason"] == "the machine was suspended for 60 s during the run"


@linux
def test_a_short_difference_of_the_clocks_is_no_suspension(tmp_path, monkeypatch):
    monkeypatch.setattr(system.time, "clock_gettime", Suspended(0.9))
    assert run_sweep(sweep(), tmp_path).states["converged"] == 1


def test_a_process_that_forks_does_not_share_its_launchers(tmp_path):
    run_sweep(sweep(), tmp_path)
    assert processes._idle
    child_id = os.fork()
    if child_id == 0:
        os._exit(len(processes._idle))
    assert os.waitstatus_to_exitcode(os.waitpid(child_id, 0)[1]) == 0
    assert processes._idle


def test_descriptors_may_have_large_numbers():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most <= 1100:
        pytest.skip("the system allows too few open files")
    reading, writing = os.pipe()
    try:
        os.dup2(reading, 1100)
        assert child.readable([1100], 0.0) == set()
        os.write(writing, b"x")
        assert child.readable([1100, reading], 0.0) == {1100, reading}
    finally:
        for descriptor in (reading, writing, 1100):
            os.close(descriptor)
    with pytest.raises(ValueError, match="filedescriptor out of range"):
        __import__("select").select([1100], [], [], 0.0)
