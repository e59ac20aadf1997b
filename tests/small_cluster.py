"""A Dask cluster of processes of this machine, each node with a cache of its own."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

#: Loaded into a node before anything else, so that it takes itself for another machine.
ANOTHER_MACHINE = """
import svmbench.harness.environment as e
if e.machine.__name__ == "machine":  # Dask executes this file twice
    e.machine = lambda here=e.machine: here() | {"cpu": "another"}
"""


class Cluster:
    """A scheduler, and nodes that can be killed."""

    def __init__(self, folder):
        self.folder, self.address, self.processes = folder, str(folder / "scheduler.json"), {}
        self._start(
            "scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )

    def add(self, name, *options, preload=None):
        if preload:
            script = self.folder / f"{name}.py"
            script.write_text(preload)
            options = *options, "--preload", str(script)
        local = self.folder / f"local-{name}"
        fixed = ["--name", name, "--nthreads", "1", "--no-dashboard", "--local-directory", local]
        self._start(name, "worker", *options, *map(str, fixed))
        return self

    def _start(self, name, what, *options):
        cache = self.folder / f"cache-{name}"
        command = [sys.executable, "-m", "dask", what, "--scheduler-file", self.address, *options]
        with (self.folder / f"{name}.log").open("w") as log:
            self.processes[name] = subprocess.Popen(
                command,
                env=os.environ | {"SVMBENCH_CACHE": str(cache)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def open(self, nodes=None):
        """The cluster as a place, once its nodes are there."""
        from svmbench.harness.cluster.place import DaskPlace

        while_waiting(lambda: is_written(self.address))
        place = DaskPlace(self.address)
        place._client.wait_for_workers(len(self.processes) - 1 if nodes is None else nodes, 60)
        return place

    def kill(self, name):
        self.processes[name].kill()

    def end(self):
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def started(folder):
    """A cluster without nodes, which ends with the context."""
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.end()


@contextmanager
def two_nodes(folder, preload=None):
    """A cluster with the nodes a and b, once both are there."""
    with started(folder) as cluster:
        for name in "ab":
            cluster.add(name, "--no-nanny", preload=preload)
        while_waiting(lambda: len(known(cluster)) == 2)
        yield cluster


def known(cluster):
    """What the scheduler knows about its nodes, by their addresses."""
    from distributed import Client

    if not is_written(cluster.address):
        return {}
    with Client(scheduler_file=cluster.address, set_as_default=False, timeout=30) as client:
        return client.scheduler_info(n_workers=-1)["workers"]


def is_written(file):
    """Whether Dask has written a scheduler's file, which is empty at first."""
    return Path(file).exists() and Path(file).read_text().endswith("}")


def while_waiting(true, seconds=60.0):
    """Wait for it. Time in which this process itself had to wait for a processor does not count."""
    for _ in range(round(seconds / 0.05)):
        if true():
            return
        time.sleep(0.05)
    assert true(), "it does not happen"
