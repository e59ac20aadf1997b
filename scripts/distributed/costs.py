"""Measure what `svmbench.solvers.distributed.forecast` states of a machine and of Dask.

    python scripts/distributed/costs.py --nodes 4

It starts a Dask scheduler and workers on this machine, and times rounds in which each of them gets
and returns an array; then the work of the methods, in processor time. Least and median of the
repeats are printed: the least is what a quiet machine takes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.data.load import load
from svmbench.harness.cluster.place import DaskPlace
from svmbench.harness.cluster.shards import OnNodes
from svmbench.problem import Problem
from svmbench.solvers.distributed.executor import Executor, InProcess, Threads
from svmbench.solvers.distributed.mpi import ranks
from svmbench.solvers.registry import solvers
from svmbench.solvers.second_order.normal_equations import NormalEquations

NUMBERS = (1, 1_000, 10_000, 100_000, 1_000_000)


class Echo:
    """A shard that returns what it is given."""

    def back(self, array: FloatArray) -> FloatArray:
        """The array."""
        return array


@contextmanager
def cluster(folder: Path, nodes: int) -> Iterator[str]:
    """A scheduler's file, while it and its workers are there."""
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    here = ["--scheduler-file", str(file), "--no-dashboard"]
    commands = [["scheduler", "--host", "127.0.0.1", "--port", "0", *here]] + [
        ["worker", *here, "--nthreads", "1", "--no-nanny", "--name", f"n{number}",
         "--local-directory", str(folder / f"local-{number}")]
        for number in range(nodes)
    ]  # fmt: skip
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # This module is where the workers find the class of their shards.
        "PYTHONPATH": str(Path(__file__).parent),
    }
    with (folder / "log").open("w") as log:
        children = [
            subprocess.Popen([*dask, *each], stdout=log, stderr=log, env=environment)
            for each in commands
        ]
        try:
            while not file.exists():
                time.sleep(0.1)
            yield str(file)
        finally:
            for child in reversed(children):
                child.terminate()
            for child in children:
                try:
                    child.wait(10.0)
                except subprocess.TimeoutExpired:  # a worker seeks the scheduler that has gone
                    child.kill()
                    child.wait()


def timed(action: Callable[[], object], repeats: int, clock: Callable[[], float]) -> str:
    """Least and median seconds of an action, in milliseconds."""
    taken = []
    for _ in range(repeats):
        begun = clock()
        action()
        taken.append(clock() - begun)
    return f"{1e3 * min(taken):.3g} ({1e3 * median(taken):.3g})"


def rounds(kind: Callable[[list[Any]], Executor], shards: int, repeats: int) -> list[str]:
    """Milliseconds of a round by the numbers that each shard gets and returns."""
    from costs import Echo as Imported  # by the name that the workers know

    executor = kind([Imported] * shards)
    found = []
    for size in NUMBERS:
        array = np.random.default_rng(0).random(size)
        action = partial(executor.call, "back", array)
        action()
        found.append(timed(action, repeats, time.perf_counter))
    return found


def work(name: str, method: str, lam: float) -> str:
    """Nanoseconds of processor time for an entry that a method reads, without its planner."""
    problem = Problem(load(name, offline=True).train, lam)
    solver: Any = solvers()[method]
    run = solver(solver.schema(shards=1, tolerance=1e-3))
    run.start(problem, seed=1)
    taken = [0.0]
    mapped = run._executor._map

    def counted(*given: Any) -> Any:
        begun = time.process_time()
        found = mapped(*given)
        taken[0] += time.process_time() - begun
        return found

    run._executor._map = counted
    run.advance(3)
    return f"{1e9 * taken[0] / run.counters.nonzeros:.2f}"


def products(name: str) -> str:
    """Nanoseconds of processor time for each of a row's n^2/2 products."""
    data = load(name, offline=True).train
    equations, all_rows = NormalEquations(data.rows), np.ones(data.n_samples)
    lengths = (
        np.full(data.n_samples, data.n_features) if data.indptr is None else np.diff(data.indptr)
    )
    equations.gram(all_rows)
    begun = time.process_time()
    equations.gram(all_rows)
    return f"{1e9 * (time.process_time() - begun) / float((lengths**2 / 2).sum()):.3f}"


def factor(d: int) -> str:
    """Nanoseconds of processor time for each of the d^3/3 operations of a factor."""
    from svmbench.solvers.cholesky import factor_of

    factor_of(np.eye(d))
    matrix = np.eye(d) + 0.5
    begun = time.process_time()
    factor_of(matrix)
    return f"{1e9 * (time.process_time() - begun) / (d**3 / 3):.3f}"


@click.command()
@click.option("--nodes", "most", default=4, show_default=True)
@click.option("--work-only", is_flag=True, help="Leave the rounds out.")
@click.option("--repeats", default=30, show_default=True)
@click.option("--mpi", metavar="COMMAND", help="Measure MPI, too: for example mpiexec.")
@click.option("--on-ranks", is_flag=True, hidden=True, help="Be a process of an MPI job.")
@click.option("--smoke", is_flag=True, help="One node, few repeats, a tiny set: does it work?")
def main(
    most: int, work_only: bool, repeats: int, mpi: str | None, on_ranks: bool, smoke: bool
) -> None:
    """Measure the costs of rounds and of work."""
    if on_ranks:
        measure_ranks(repeats)
        return
    if smoke:
        most, repeats = 1, 2
    if not work_only:
        measure_rounds(most, repeats, mpi)
    measure_work(smoke)


def measure_rounds(most: int, repeats: int, mpi: str | None) -> None:
    """Print a table of the milliseconds of a round."""
    click.echo(f"load {os.getloadavg()[0]:.2f}; least (median) ms of a round, {repeats} repeats\n")
    click.echo("| executor | shards | " + " | ".join(f"{8 * n:,} B" for n in NUMBERS) + " |")
    click.echo("|---" * (len(NUMBERS) + 2) + "|")
    kinds: list[tuple[str, Callable[[list[Any]], Executor]]] = [
        ("in process", InProcess), ("threads", Threads),
    ]  # fmt: skip
    for name, kind in kinds:
        click.echo(f"| {name} | 2 | " + " | ".join(rounds(kind, 2, repeats)) + " |")
    for nodes in (1, 2, 4, 8):
        if nodes > most:
            break
        with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), nodes) as address:
            with DaskPlace(address) as place:
                found = rounds(partial(OnNodes, place=place), nodes, repeats)
            click.echo(f"| Dask | {nodes} | " + " | ".join(found) + " |")
        if mpi is not None:
            job = [*mpi.split(), "-n", str(nodes + 1), sys.executable, __file__, "--on-ranks"]
            path = {"PYTHONPATH": str(Path(__file__).parent)}
            subprocess.run([*job, "--repeats", str(repeats)], env=os.environ | path, check=True)


def measure_ranks(repeats: int) -> None:
    """Print the milliseconds of a round on the other processes of this MPI job."""
    with ranks() as on_ranks:
        if on_ranks is not None:
            found = rounds(on_ranks, on_ranks.nodes, repeats)
            click.echo(f"| MPI | {on_ranks.nodes} | " + " | ".join(found) + " |")


def measure_work(smoke: bool) -> None:
    """Print the nanoseconds of the methods' work."""
    sets = ("tiny-sparse",) if smoke else ("imdb.tfidf", "adult")
    click.echo("\nns of processor time: for an entry read; for a product; for a flop of a factor")
    for name in sets:
        click.echo(f"{name}: cocoa {work(name, 'cocoa', 1e-4)}")
    for name in sets if smoke else ("adult", "kddcup10"):
        click.echo(
            f"{name}: newton-shards {work(name, 'newton-shards', 1e-4)}, product {products(name)}"
        )
    for d in (50,) if smoke else (500, 2000):
        click.echo(f"factor of {d} x {d}: {factor(d)}")


if __name__ == "__main__":
    main()
