"""Shards on the processes of an MPI job: results of one process, one line for what fails."""

import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from problems import PROBLEMS
from svmbench.cli import main
from svmbench.errors import ConfigError, DataError
from svmbench.solvers.distributed import mpi
from svmbench.solvers.distributed.cocoa import Cocoa
from svmbench.solvers.distributed.executor import ShardError
from svmbench.solvers.distributed.mpi import ranks
from svmbench.solvers.distributed.newton_shards import NewtonShards

JOB = """
import sys
from svmbench.__main__ import main
main("svmbench")
"""

#: The second process takes itself for one of another build.
ANOTHER_BUILD = (
    """
from mpi4py import MPI
import svmbench.solvers.base as b
if MPI.COMM_WORLD.Get_rank() == 1:
    b.LIBRARIES = ("numpy",)
"""
    + JOB
)


class Comm:
    """A process of a job, with queues in place of MPI."""

    def __init__(self, rank, lines):
        self.rank, self.lines = rank, lines

    def Get_rank(self):  # noqa: N802, as MPI has it
        return self.rank

    def Get_size(self):  # noqa: N802
        return len(self.lines)

    def send(self, value, dest):
        self.lines[self.rank][dest].put(value)

    def recv(self, source):
        return self.lines[source][self.rank].get(timeout=60.0)


@pytest.fixture
def job():
    """The first process of a job of three, whose others end with it."""
    lines = [[queue.Queue() for _ in range(3)] for _ in range(3)]
    others = [threading.Thread(target=be, args=(Comm(rank, lines),)) for rank in (1, 2)]
    for each in others:
        each.start()
    with ranks(Comm(0, lines)) as on_ranks:
        assert on_ranks.nodes == 2
        yield on_ranks
    for each in others:
        each.join(60.0)
        assert not each.is_alive()


def be(comm):
    with ranks(comm) as nothing:
        assert nothing is None


@pytest.mark.parametrize("method", [NewtonShards, Cocoa])
def test_steps_are_those_of_one_process(job, method):
    found = []
    for executor in (None, job):
        run = method(method.schema(shards=5))
        if executor is not None:
            run.executor = executor
        run.start(PROBLEMS["sparse"], 4)
        run.advance(6)
        found.append((run.w.tobytes(), run.alpha.tobytes(), run.dual(), run.remark))
    assert found[0] == found[1]


def test_there_may_be_fewer_parts_than_processes(job):
    assert job([partial(np.ones, 3)]).call("sum") == [3.0]


def test_what_a_part_raises_is_said_and_the_next_parts_work(job):
    with pytest.raises(ShardError, match=r"^process 1: ZeroDivisionError"):
        job([partial(divmod, 1, 0), dict])
    executor = job([dict, list, dict])
    with pytest.raises(ShardError, match=r"^process 2: AttributeError: .*items"):
        executor.call("items")
    assert executor.call("clear") == [None] * 3


def test_rows_that_memory_has_no_room_to_send_are_refused_and_the_next_rows_work(job, monkeypatch):
    run = NewtonShards(NewtonShards.schema(shards=5))
    run.executor = job
    with monkeypatch.context() as patch:
        patch.setattr("svmbench.memory.available_memory", lambda: 100)
        with pytest.raises(DataError, match="more processes with --mpi"):
            run.start(PROBLEMS["sparse"], 4)
    assert job([dict]).call("clear") == [None]


class Narrow(Comm):
    """A process that has no room for its rows."""

    def recv(self, source):
        value = super().recv(source)
        if isinstance(value, list) and value != [mpi.build]:
            raise MemoryError("no room")
        return value


def test_rows_that_a_process_has_no_room_for_are_said():
    lines = [[queue.Queue() for _ in range(2)] for _ in range(2)]
    other = threading.Thread(target=be, args=(Narrow(1, lines),))
    other.start()
    with (
        ranks(Comm(0, lines)) as on_ranks,
        pytest.raises(ShardError, match=r"^process 1: MemoryError: no room"),
    ):
        on_ranks([dict])
    other.join(60.0)
    assert not other.is_alive()


def test_a_process_of_another_build_is_refused(monkeypatch):
    lines = [[queue.Queue() for _ in range(3)] for _ in range(3)]
    others = [threading.Thread(target=be, args=(Comm(rank, lines),)) for rank in (1, 2)]

    def faked():
        return "another" if threading.current_thread() is others[1] else "ours"

    monkeypatch.setattr(mpi, "build", faked)
    for each in others:
        each.start()
    with pytest.raises(ConfigError, match=r"one's build .*[(]process 2[)]$"), ranks(Comm(0, lines)):
        pytest.fail("it was admitted")
    for each in others:
        each.join(60.0)
        assert not each.is_alive()


def test_a_process_that_cannot_say_its_build_is_refused(monkeypatch):
    monkeypatch.setattr(mpi, "build", partial(divmod, 1, 0))
    lines = [[queue.Queue() for _ in range(2)] for _ in range(2)]
    other = threading.Thread(target=be, args=(Comm(1, lines),))
    other.start()
    said = r"one's build .*[(]process 1: ZeroDivisionError"
    with pytest.raises(ConfigError, match=said), ranks(Comm(0, lines)):
        pytest.fail("it was admitted")
    other.join(60.0)
    assert not other.is_alive()


def test_a_job_of_one_process_is_refused():
    with pytest.raises(ConfigError, match="mpiexec -n 3"), ranks(Comm(0, [[]])):
        pass


def test_mpi_is_finalized_before_the_command_line_ends_its_process(monkeypatch):
    done, ends = [], []
    world = SimpleNamespace(
        COMM_WORLD=Comm(0, [[]]),
        Is_finalized=lambda: bool(done),
        Finalize=lambda: done.append(True),
    )
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=world))
    monkeypatch.setattr(mpi.atexit, "register", lambda *call: ends.append(partial(*call)))
    for _ in range(2):
        with pytest.raises(ConfigError, match="mpiexec -n 3"), ranks():
            pass
    for end in ends:
        end()
    assert done == [True]


def test_without_mpi_its_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    rows = tmp_path / "rows.libsvm"
    rows.write_text("1 1:1\n-1 1:2\n")
    done = CliRunner().invoke(main, ["cluster", "train", str(rows), "--mpi"])
    assert done.exit_code == 2
    assert "install one, and then: pip install mpi4py" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("places", [[], ["--mpi", "--cluster", "here:1"]])
def test_one_place_is_to_be_named(places, tmp_path):
    rows = tmp_path / "rows.libsvm"
    rows.write_text("1 1:1\n-1 1:2\n")
    done = CliRunner().invoke(main, ["cluster", "train", str(rows), *places])
    assert done.exit_code == 2
    assert "--cluster ADDRESS or --mpi" in done.stderr


def mpiexec(*words):
    """A job of three processes, also as root and with fewer processors."""
    more = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    command = ["mpiexec", "-n", "3", sys.executable, "-P", *words]
    return subprocess.run(
        command, env=os.environ | more, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def real():
    """Skips unless there are jobs of MPI."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("the extra mpi is not installed")
    if shutil.which("mpiexec") is None:
        pytest.skip("mpiexec is not installed")
    size = mpiexec("-c", "from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())")
    if size.stdout.split() != ["3"] * 3:
        pytest.skip(f"mpi4py and mpiexec do not fit: {size.stderr.strip().splitlines()[-1:]}")


def test_the_command_trains_as_without_mpi(real, tmp_path):
    rows = tmp_path / "rows.libsvm"
    rng = np.random.default_rng(5)
    with rows.open("w") as text:
        for x in rng.normal(size=(60, 3)):
            label = 1 if x[0] + 0.5 * rng.normal() > 0 else -1
            print(label, *(f"{j}:{value:.3f}" for j, value in enumerate(x, start=1)), file=text)
    words = ["--lambda", "1e-2", "--tol", "1e-6"]
    models = [str(tmp_path / name) for name in ("mpi.model", "one.model")]
    there = mpiexec("-c", JOB, "cluster", "train", str(rows), "--mpi", "-o", models[0], *words)
    assert there.returncode == 0, there.stderr
    assert "2 shards" in there.stdout
    here = CliRunner().invoke(main, ["train", str(rows), "-o", models[1], *words])
    assert here.exit_code == 0, here.output
    fits = [json.loads(Path(f"{path}.json").read_text())["fits"][0] for path in models]
    assert fits[0]["P"] == pytest.approx(fits[1]["P"], rel=1e-6)
    assert fits[0]["relative_gap"] <= 1e-6


def test_the_command_refuses_a_process_of_another_build(real, tmp_path):
    rows = tmp_path / "rows.libsvm"
    rows.write_text("1 1:1\n-1 1:2\n")
    done = mpiexec("-c", ANOTHER_BUILD, "cluster", "train", str(rows), "--mpi")
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if "build of svmbench" in line]
    assert len(said) == 1
    assert said[0].endswith("(process 1)")
    assert not (tmp_path / "rows.libsvm.model").exists()
