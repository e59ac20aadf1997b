"""What is read from /proc and /sys, from made files."""

import sys
from collections import namedtuple

import pytest

from svmbench.harness import system


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The folder that holds /proc and /sys, both empty at first."""
    monkeypatch.setattr(system, "PROC", tmp_path / "proc")
    monkeypatch.setattr(system, "SYS", tmp_path / "sys")
    return tmp_path


def place(made, path, text):
    target = made / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def test_a_system_that_does_not_tell(made):
    assert system.now() is None
    assert system.since(None) == {}
    assert system.governors() == []
    told = (
        system.boost(),
        system.hyper_threads(),
        system.quota(),
    )
    assert told == (None,) * 3
    assert not system.is_virtual()


@pytest.mark.parametrize("by_children", [0.0, 0.75])
def test_time_stolen_and_used_by_others(made, monkeypatch, by_children):
    """What a run's own children have used is not the time of others."""
    monkeypatch.setattr(system.os, "sysconf", lambda name: 100)
    moments = iter([(0.25, 0.5), (0.25 + by_children / 3, 0.5 + by_children * 2 / 3)])
    usage = namedtuple("usage", "ru_utime ru_stime")
    monkeypatch.setattr(system, "getrusage", lambda _: usage(*next(moments)))
    place(made, "proc/stat", "cpu  1000 10 200 5000 7 3 4 50 9 0\ncpu0 1 1 1 1\n")
    begun = system.now()
    assert (begun.busy, begun.stolen) == (12.17, 0.5)
    place(made, "proc/stat", "cpu  1300 10 200 5000 7 3 4 75 9 0\n")
    spent = begun.own - 0.75 + 2.0 - by_children
    monkeypatch.setattr(system.time, "process_time", lambda: spent)
    monkeypatch.setattr(system.time, "perf_counter", lambda: begun.wall + 4.0)
    told = system.since(begun)
    assert told == pytest.approx(
        {"elapsed_seconds": 4.0, "stolen_seconds": 0.25, "others_cpu_seconds": 1.0}
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has both clocks")
def test_time_in_which_the_machine_was_suspended(monkeypatch):
    clocks = {system.time.CLOCK_BOOTTIME: 500.0, system.time.CLOCK_MONOTONIC: 420.0}
    monkeypatch.setattr(system.time, "clock_gettime", clocks.__getitem__)
    assert system.suspended_seconds() == 80.0


def test_the_quota_is_the_least_of_a_group_and_its_ancestors(made):
    place(made, "proc/self/cgroup", "0::/a/b\n")
    place(made, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
    assert system.quota() is None
    place(made, "sys/fs/cgroup/a/cpu.max", "150000 100000\n")
    assert system.quota() == 1.5
