"""What a sweep makes of a run's process: delays, refusals and hangs that are not the solver's."""

import time

import pandas as pd
from small_sweep import SILENT, linux, plan, run_sweep, runs_csv, sweep

from svmbench.harness import accounts, child, system
from svmbench.harness.processes import Worker


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


def test_other_rules_of_the_clock_make_another_run(monkeypatch):
    (run,) = plan()
    before = run.id  # it is computed when it is first read
    monkeypatch.setattr("svmbench.harness.plan.CLOCK_RULES", accounts.CLOCK_RULES + 1)
    (other,) = plan()
    assert before != other.id


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
