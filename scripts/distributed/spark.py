"""Train Spark's LinearSVC and our methods on shards, each on two worker processes of this machine.

    pip install pyspark==3.5.6    # and Java 17, on Debian: apt install openjdk-17-jre-headless
    python scripts/distributed/spark.py adult:1e-3 kddcup10:1e-5

LinearSVC returns its weights only at the end. It is therefore trained from the start with 1, 2,
4, ... iterations, and `Problem` computes how far the weights of each such run are from the optimum.
Rows are loaded and cached before, and a run that is not measured comes first, so that Java has
compiled what it needs. Our methods are observed after each iteration, off the clock, from the
moment when their nodes have the rows. Spark and our methods take turns in each repeat.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import psutil  # type: ignore[import-untyped]
from costs import cluster

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.load import load
from svmbench.harness.cluster import place as planner
from svmbench.harness.cluster.place import DaskPlace
from svmbench.harness.cluster.shards import OnNodes
from svmbench.problem import Problem, relative_gap
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.distributed.newton_shards import MOST_FEATURES
from svmbench.solvers.registry import solvers

#: Java's processes slow the start of Dask's on a busy machine.
planner.PATIENCE = 120.0

WORKERS = 2
TARGETS = (1e-2, 1e-3)

#: Most relative difference between Spark's P and ours of the same weights.
SAME = 1e-12

#: Iterations of the run that comes first and is not measured.
WARM_UP = 16


class Rung(NamedTuple):
    """What a method had reached after so many iterations.

    Parameters
    ----------
    iterations, rounds : int
        A round of Spark is a job: each worker gets the weights and returns a sum over its rows.
    distance : float
        (P(w) - D)/D, where D is the lower bound on P* that the certified optimum proves.
    seconds, cpu : float
        By the clock, and of the processors in all of the method's processes.
    megabytes : float
        To the workers and back.
    """

    iterations: int
    rounds: int
    distance: float
    seconds: float
    cpu: float
    megabytes: float


def parameters(lam: float, iterations: int) -> dict[str, Any]:
    """Parameters with which LinearSVC minimises our P.

    Spark's objective is regParam/2 |w|^2 + the mean of max(0, 1 - y w.x), which is P for regParam =
    lambda, if there is no intercept. Spark always divides columns by their deviations; without
    `standardization`, it undoes that in the regulariser. With `tol` 0, only the limit ends a run.
    """
    return {
        "regParam": lam,
        "maxIter": iterations,
        "tol": 0.0,
        "fitIntercept": False,
        "standardization": False,
    }


def same(theirs: float, ours: float) -> bool:
    """Whether two values of P differ by rounding only."""
    return abs(theirs - ours) <= SAME * abs(ours)


def megabytes_of_spark(rounds: int, d: int) -> float:
    """Estimate: in a round each worker gets d numbers and returns d, before Spark compresses."""
    return rounds * WORKERS * 2 * 8 * d / 1e6


def limits(most: int) -> Iterator[int]:
    """Iterations of the rungs: 1, 2, 4, ..."""
    limit = 1
    while limit <= most:
        yield limit
        limit *= 2


def first_within(rungs: Sequence[Rung], target: float) -> Rung | None:
    """The fastest rung that is near enough, as if somebody had known its limit."""
    return min((r for r in rungs if r.distance <= target), key=lambda r: r.seconds, default=None)


def cell(rungs: Sequence[Rung], target: float) -> str:
    """Rounds, seconds, processor seconds and megabytes to a target."""
    found = first_within(rungs, target)
    if found is None:
        nearest = min(rungs, key=lambda r: r.distance)
        most = max(r.iterations for r in rungs)
        return f"not within {most} iterations ({nearest.distance:.1e})"
    return f"{found.rounds}, {found.seconds:.3g} s, {found.cpu:.3g} s, {found.megabytes:.3g} MB"


def write_libsvm(data: Dataset, path: Path) -> None:
    """Rows as LIBSVM text with the classes 0 and 1, as Spark wants them; no digit is lost."""
    assert data.indptr is not None
    assert data.indices is not None
    with path.open("w") as text:
        for i, label in enumerate(data.labels):
            row = slice(data.indptr[i], data.indptr[i + 1])
            values = np.ones(row.stop - row.start) if data.values is None else data.values[row]
            entries = zip((data.indices[row] + 1).tolist(), values.tolist(), strict=True)
            print(int(label > 0), *(f"{j}:{value!r}" for j, value in entries), file=text)


@contextmanager
def spark_session(memory: str) -> Iterator[Any]:
    """A Spark cluster of worker processes on this machine.

    Raises
    ------
    click.ClickException
        If pyspark is not installed.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise click.ClickException(
            "pyspark is not installed: pip install pyspark==3.5.6, and Java 17 (on Debian: apt "
            "install openjdk-17-jre-headless)"
        ) from None
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    number = int(memory.removesuffix("m"))
    builder = SparkSession.builder.master(f"local-cluster[{WORKERS},1,{number}]")
    settings = {
        "spark.executor.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


class SparkRows:
    """Rows in the memory of Spark's workers, and trainings on them."""

    def __init__(self, session: Any, problem: Problem, lower: float, folder: Path) -> None:
        self._session, self._problem, self._lower = session, problem, lower
        path = folder / f"{problem.data.name}.libsvm"
        if not path.exists():
            write_libsvm(problem.data, path)
        reader = session.read.format("libsvm").option("numFeatures", problem.data.n_features)
        self._rows = reader.load(str(path)).repartition(WORKERS).cache()
        self._rows.count()
        self._fits = 0
        self.rung(WARM_UP)

    def rung(self, iterations: int) -> Rung:
        """Train from the start."""
        from pyspark.ml.classification import LinearSVC

        context = self._session.sparkContext
        self._fits += 1
        group = f"{self._problem.data.name} {self._problem.lam} {self._fits}"
        context.setJobGroup(group, "")
        spent, begun = processor_seconds(java=True), time.perf_counter()
        model = LinearSVC(**parameters(self._problem.lam, iterations)).fit(self._rows)
        seconds, cpu = time.perf_counter() - begun, processor_seconds(java=True) - spent
        rounds = len(context.statusTracker().getJobIdsForGroup(group))
        ours = self._problem.primal(np.asarray(model.coefficients.toArray()))
        summary = model.summary()
        theirs = float(list(summary.objectiveHistory)[-1])
        if not same(theirs, ours):
            raise click.ClickException(f"P is {theirs!r} for Spark and {ours!r} for us")
        megabytes = megabytes_of_spark(rounds, self._problem.data.n_features)
        done, distance = summary.totalIterations, relative_gap(ours, self._lower)
        return Rung(done, rounds, distance, seconds, cpu, megabytes)

    def ladder(self, most: int) -> Iterator[Rung]:
        """Train with 1, 2, 4, ... iterations until one is near enough, or ends before its limit."""
        for limit in limits(most):
            found = self.rung(limit)
            yield found
            if found.distance <= min(TARGETS) or found.iterations < limit:
                return

    def forget(self) -> None:
        """Free the memory."""
        self._rows.unpersist(blocking=True)


def processor_seconds(*, java: bool) -> float:
    """Of this process and of those below it: Spark's, or all others."""
    spent = 0.0
    here = psutil.Process()
    for each in (here, *here.children(recursive=True)):
        try:
            if each == here or (each.name() == "java") == java:
                times = each.cpu_times()
                spent += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return spent


def ours(method: str, problem: Problem, lower: float, place: DaskPlace, most: int) -> list[Rung]:
    """Train a method of ours, observed after each iteration."""
    solver: Any = solvers()[method]
    run = solver(solver.schema(shards=WORKERS, tolerance=1e-6))
    run.executor = partial(OnNodes, place=place)
    run.start(problem, seed=1)
    found: list[Rung] = []
    seconds = cpu = 0.0
    while len(found) < most and not (found and found[-1].distance <= min(TARGETS)):
        spent, begun = processor_seconds(java=False), time.perf_counter()
        run.advance(1)
        seconds += time.perf_counter() - begun
        cpu += processor_seconds(java=False) - spent
        executor, w = run._executor, _copy(run.w)
        distance = relative_gap(problem.primal(w), lower)
        megabytes = (executor.sent + executor.received) / 1e6
        found.append(Rung(len(found) + 1, executor.rounds, distance, seconds, cpu, megabytes))
    return found


def _copy(w: FloatArray) -> FloatArray:
    return np.array(w, dtype=np.float64)


def problem_of(text: str) -> Problem:
    """The problem that NAME:LAMBDA or NAME@SCALE:LAMBDA names; a scale asks for the stand-in."""
    try:
        name, lam = text.split(":")
        name, _, scale = name.partition("@")
        given = float(lam), float(scale) if scale else None
    except ValueError:
        raise click.BadParameter(f"{text!r}: write NAME:LAMBDA, as in adult:1e-3") from None
    return Problem(load(name, offline=True, stand_in=given[1]).train, given[0])


@click.command()
@click.argument("problems", nargs=-1, required=True)
@click.option("--repeats", default=1, show_default=True)
@click.option("--most", default=256, show_default=True, help="Most iterations.")
@click.option("--memory", default="1536m", show_default=True, help="Of a worker of Spark.")
def main(problems: tuple[str, ...], repeats: int, most: int, memory: str) -> None:
    """Print rounds, seconds, processor seconds and megabytes to 1e-2 and to 1e-3."""
    # Spark's own processes of Python must find the interpreter of this one.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder, spark_session(memory) as session:
        java = session.sparkContext._jvm.java.lang.System.getProperty("java.version")
        click.echo(f"Spark {session.version}, Java {java}, load {os.getloadavg()[0]:.1f}\n")
        click.echo("| method | data | λ | " + " | ".join(f"to {t:g}" for t in TARGETS) + " |")
        click.echo("|---" * (len(TARGETS) + 3) + "|")
        with cluster(Path(folder), WORKERS) as address, DaskPlace(address) as place:
            for text in problems:
                compare(problem_of(text), session, place, Path(folder), repeats, most)


def compare(
    problem: Problem, session: Any, place: DaskPlace, folder: Path, repeats: int, most: int
) -> None:
    """Print the lines of a problem."""
    lower = certified_optimum(problem, 1e-6, 120.0).dual
    methods = ["cocoa"] + (["newton-shards"] if problem.data.n_features <= MOST_FEATURES else [])
    found: dict[str, list[Rung]] = {"LinearSVC": [], **{name: [] for name in methods}}
    rows = SparkRows(session, problem, lower, folder)
    for _ in range(repeats):
        for rung in rows.ladder(most):
            click.echo(f"{problem.data.name}, {problem.lam:g}: {rung}", err=True)
            found["LinearSVC"].append(rung)
        for name in methods:
            found[name] += ours(name, problem, lower, place, most)
    rows.forget()
    for name, rungs in found.items():
        cells = " | ".join(cell(rungs, target) for target in TARGETS)
        click.echo(f"| {name} | {problem.data.name} | {problem.lam:g} | {cells} |")


if __name__ == "__main__":
    main()
