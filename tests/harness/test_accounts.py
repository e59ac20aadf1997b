"""What is held against a run besides its training, and what is not."""

import subprocess
import sys
import time

import numpy as np
import pytest

import plugins
from problems import dataset
from svmbench.harness import accounts, measurement
from svmbench.harness.accounts import Accounts, hidden_work
from svmbench.harness.clock import Clock
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.shown import interior
from svmbench.problem import Loss, Problem

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the means")

STOP = {
    "accuracy": [],
    "gap": None,
    "own": False,
    "max_epochs": 3,
    "max_updates": None,
    "time_limit": 60.0,
}


@pytest.fixture
def problem():
    X = np.random.default_rng(1).normal(size=(40, 5))
    y = np.where(np.arange(40) < 15, 1, -1)
    return Problem(dataset(X, y, "dense float64"), 0.05)


def read(account, seconds, evaluating, count=1):
    """Note reads that took so long, and as many evaluations."""
    for watch, taken in ((account.reading, seconds), (account.evaluating, evaluating)):
        watch.wall += int(1e9 * taken)
        watch.thread += int(1e9 * taken)
        watch.count += count


def test_reads_may_take_twice_what_correct_ones_take():
    asked = []

    def correct(shows_bound):
        asked.append(shows_bound)
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass

    account, clock = Accounts(correct), Clock()
    read(account, 0.001, 0.001)
    account.charge(clock, True)
    assert not asked  # nothing has to be measured where reads are short
    read(account, 0.035, 0.001)
    account.charge(clock, True)
    assert (asked, clock.wall) == ([True], 0)
    read(account, 1.0, 0.001)
    account.charge(clock, True)
    assert asked == [True]
    assert 0.8e9 < clock.wall == account.charged < 1.0e9
    assert account.recording.wall >= 0.02e9


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_correct_read_takes_a_pass_over_the_rows(problem, loss, bias):
    posed = Problem(problem.data, 0.05, Loss(loss), bias)
    alpha = interior(posed)
    assert (alpha > 0.0).all()
    assert np.isfinite(posed.dual(alpha))


def test_the_copy_of_the_weights_is_not_the_solvers(problem, monkeypatch):
    def slowly(weights, copied=measurement.copied):
        time.sleep(0.05)
        return copied(weights)

    monkeypatch.setattr(measurement, "copied", slowly)
    run = Measurement(plugins.Idle(), Terms(problem, None, STOP, 0.1, 2.0))
    run.run(1, [])
    closing = run.closing()
    assert closing["read_seconds"] < 0.04
    assert closing["unaccounted_seconds"] < 0.04


class Fast(plugins.Idle):
    """Has a pass for each row, by its own count."""


class FastForeign(Fast):
    foreign = True


def test_passes_of_foreign_programs_are_not_held_against_their_time(problem, monkeypatch):
    monkeypatch.setattr(measurement, "pass_seconds", lambda _: 10.0)
    states = {}
    for solver in (Fast(), FastForeign()):
        run = Measurement(solver, Terms(problem, None, STOP, 0.1, 2.0))
        states[type(solver)] = run.run(1, []), run.refused
    assert states == {Fast: ("failed", True), FastForeign: ("max_steps", False)}


def test_a_run_begins_after_what_is_measured_before_it(problem, monkeypatch):
    seen = []
    monkeypatch.setattr(measurement, "pass_seconds", lambda _: seen.append("pass") or 1e-9)
    run = Measurement(plugins.Idle(), Terms(problem, None, STOP, 0.1, 2.0))
    run.run(1, [], begin=lambda: seen.append("begun"))
    assert seen == ["pass", "begun"]


def busy(seconds):
    """A process that works so long and then waits."""
    code = f"""
import sys, time
while time.process_time() < {seconds}:
    pass
print("ready", flush=True)
sys.stdin.read()
"""
    return subprocess.Popen(
        [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@linux
@pytest.mark.parametrize("ends", [True, False])
def test_what_a_process_used_before_the_run_is_not_its_work(ends):
    process = busy(0.3)
    process.stdout.readline()
    account = Accounts()
    assert process.pid in account.kept
    if ends:
        process.communicate()
    times = account.close(Clock(), Clock(), 1)
    assert times["background_cpu_seconds"] < 0.04
    assert not hidden_work(times, 0.0)
    if not ends:
        process.communicate()


@linux
def test_what_a_process_uses_during_the_run_is_its_work():
    process = busy(0.4)
    account = Accounts()
    process.stdout.readline()
    times = account.close(Clock(), Clock(), 1)  # while it lives
    process.communicate()
    assert times["background_cpu_seconds"] > 0.2
    assert hidden_work(times, 0.0)


def test_a_programs_start_and_reading_excuse_no_more_than_they_used(monkeypatch):
    account = Accounts()
    account.except_for(10**9, 50_000_000)
    begun = account._begun
    later = begun._replace(wall=begun.wall + 10**9, children=begun.children + 250_000_000)
    monkeypatch.setattr(accounts, "now", lambda: later)
    times = account.close(Clock(), Clock(), 1)
    assert times["background_cpu_seconds"] == pytest.approx(0.2)
    assert times["unaccounted_seconds"] == 0.0
    assert hidden_work(times, 0.0)


@pytest.mark.parametrize(("threads", "refused"), [(1, True), (4, False)])
def test_threads_may_spin_off_the_clock(threads, refused, monkeypatch):
    account = Accounts()
    read(account, 0.0, 0.05)
    moment = account._begun
    later = moment._replace(process=moment.process + 150_000_000)
    monkeypatch.setattr(accounts, "now", lambda: later)
    times = account.close(Clock(), Clock(), threads)
    assert bool(hidden_work(times, 0.0)) == refused


def test_stopwatches_take_time_themselves(monkeypatch):
    account = Accounts()
    account.reading.count = 100_000
    moment = account._begun
    monkeypatch.setattr(accounts, "now", lambda: moment._replace(wall=moment.wall + 2 * 10**9))
    assert account.close(Clock(), Clock(), 1)["unaccounted_seconds"] == 0.0
    account.reading.count = 1
    assert account.close(Clock(), Clock(), 1)["unaccounted_seconds"] > 1.9


SCRIPT = """
import subprocess, sys
from pathlib import Path
from svmbench.harness import leftovers
child = subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=-1)
{}
print(*leftovers.end_children({}))
assert child.poll() is None
"""


@linux
@pytest.mark.parametrize(
    ("how", "kept"),
    [("leftovers.PROC = Path('/nowhere')", ""), ("", "[child.pid]")],
    ids=["without /proc", "kept"],
)
def test_children_that_cannot_be_found_or_are_kept_are_not_waited_for(how, kept):
    command = [sys.executable, "-c", SCRIPT.format(how, kept)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30.0)
    assert (done.stdout, done.stderr) == ("0 0.0\n", "")


@linux
def test_a_child_that_may_not_be_killed_is_not_waited_for():
    how = """
import os
def kill(pid, signal):
    raise PermissionError
os.kill = kill
"""
    command = [sys.executable, "-c", SCRIPT.format(how, "")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30.0)
    assert (done.stdout, done.stderr) == ("0 0.0\n", "")
