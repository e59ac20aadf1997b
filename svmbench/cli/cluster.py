"""``svmbench cluster``: one problem over many nodes, and what it would take."""

from __future__ import annotations

import json
import math
import time
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli import options, training_text
from svmbench.names import MOST_SHARDS
from svmbench.records.spelling import counted, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from svmbench.solvers.distributed.forecast import ClusterCosts, ClusterForecast, ProblemSize
    from svmbench.solvers.distributed.sharded_solver import MakeExecutor


class _Count(click.ParamType[int]):
    """A whole number, which may be written as 4.2e9."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        text = str(value)
        try:
            number = int(text) if text.isdecimal() else float(text.replace("_", "?"))
        except ValueError:
            number = math.nan
        if number % 1 != 0:
            self.fail(f"{text!r} is not a whole number, such as 4200000000 or 4.2e9", param, ctx)
        return int(number)


def _count(name: str, what: str) -> Callable[[Any], Any]:
    return click.option(name, type=_Count(), required=True, help=what)


_lambda = click.option(
    "--lambda",
    "lam",
    type=options.AnyNumber(),
    default=1e-4,
    show_default=True,
    help="λ of the objective.",
)


@click.group(name="cluster", no_args_is_help=False)
def command() -> None:
    """Train one problem whose rows are divided among many nodes."""


@command.command()
@_count("--rows", "Rows, m.")
@_count("--features", "Features, d.")
@_count("--nonzeros", "Stored entries of all rows.")
@click.option(
    "--nodes", type=_Count(), default=8, show_default=True, help="Nodes, of one core each."
)
@_lambda
@click.option(
    "--tol",
    "target",
    type=options.AnyNumber(),
    default=1e-3,
    show_default=True,
    help="Relative gap to certify.",
)
@click.option(
    "--latency",
    type=options.AnyNumber(),
    metavar="SECONDS",
    help="Latency of a round.  [default: measured]",
)
@click.option(
    "--bandwidth",
    type=options.AnyNumber(),
    metavar="BYTES/S",
    help="Bandwidth of the planner.  [default: measured]",
)
@options.as_json
def plan(
    rows: int,
    features: int,
    nonzeros: int,
    nodes: int,
    lam: float,
    target: float,
    latency: float | None,
    bandwidth: float | None,
    as_json: bool,
) -> None:
    """Forecast the time of each method on shards.

    The time is rounds x (latency + bytes/bandwidth) + local work. Nothing is run: the rounds are
    those of measured runs to a gap at least as strict (1e-6 is the strictest), with the nearest
    number of shards and λ, and the costs were measured on one machine. Rows that are harder than
    the measured ones take longer. docs/cluster.md has both tables, and compares the forecasts with
    published runs.
    """
    from svmbench.solvers.distributed.forecast import ClusterCosts, ProblemSize, forecasts

    size = ProblemSize(rows, features, nonzeros, nodes, lam, target)
    given = {"latency": latency, "bandwidth": bandwidth}
    costs = ClusterCosts(**{name: value for name, value in given.items() if value is not None})
    found = forecasts(size, costs)
    click.echo(_document(size, costs, found) if as_json else _table(size, found))


def _document(size: ProblemSize, costs: ClusterCosts, found: list[ClusterForecast]) -> str:
    facts = {
        "schema_version": 1,
        "problem": asdict(size),
        "costs": asdict(costs),
        "methods": [each.facts() for each in found],
    }
    return json.dumps(facts, indent=2)


def _table(size: ProblemSize, found: list[ClusterForecast]) -> str:
    from svmbench.cli.columns import align
    from svmbench.solvers.distributed.forecast import ENTRY
    from svmbench.solvers.distributed.newton_shards import MOST_FEATURES

    header = ("method", "nodes", "rounds", "bytes/round", "network", "work", "total", "most of it")
    lines = []
    for each in found:
        more = "> " if each.at_least else ""
        lines.append(
            (
                each.method,
                str(each.nodes),
                f"{more}{each.rounds}",
                _bytes(each.bytes_per_round),
                _seconds(each.network),
                _seconds(each.local),
                more + _seconds(each.total),
                each.most,
            )
        )
    runs = {each.run: None for each in found}
    said = [
        f"{run.method}: rounds of {run.data}, λ = {short(run.lam)}, "
        f"{counted(run.shards, 'shard')}, to {run.target:g}"
        + ("" if run.reached else ", which it did not reach")
        for run in runs
    ]
    measured = max(run.target for run in runs)
    if measured > size.target:
        said.append(
            f"no run was measured to less than {measured:g}; {size.target:g} takes more rounds"
        )
    if size.features > MOST_FEATURES:
        said.append(f"newton-shards takes at most {MOST_FEATURES:,} features")
    said.append(f"rows of a node: {_bytes(ENTRY * size.nonzeros / size.nodes)}")
    return "\n".join([align(header, lines), "", *said])


def _seconds(value: float) -> str:
    if value >= 7200.0:
        return f"{value / 3600.0:,.3g} h"
    return f"{value:.3g} s" if value >= 1.0 or value == 0.0 else f"{1000.0 * value:.3g} ms"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000.0:
            return f"{value:.3g} {unit}"
        value /= 1000.0
    return f"{value:,.3g} TB"


@command.command(name="train")
@options.text_file("data")
@options.zero_based
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="A Dask cluster, given by its scheduler's address or file (scheduler.json).",
)
@click.option(
    "--mpi",
    is_flag=True,
    help="Use the processes of this MPI job, not a cluster: begin with mpiexec -n 3.",
)
@options.model_file
@_lambda
@options.tolerance(1e-3)
@click.option(
    "--method",
    type=click.Choice(["newton-shards", "cocoa"]),
    help="Method on shards.  [default: newton-shards up to 5,000 features, else cocoa]",
)
@click.option(
    "--shards",
    type=options.WholeRange(1, MOST_SHARDS),
    help=f"Number of shards of the rows.  [default: one for each node, at most {MOST_SHARDS}]",
)
@click.option(
    "--time-limit",
    default="",
    metavar="TIME",
    help="Stop after this time, such as 90s or 10m, and write the best weights.",
)
@options.seed("Seed of the order of rows in cocoa.")
@options.quiet
def train_command(cluster: str | None, mpi: bool, **asked: Any) -> int:
    """Train on rows that are divided among the nodes of a cluster.

    DATA is a file of LIBSVM text with two classes. This process reads it and sends each node its
    rows. The loss is the hinge, and there is no bias. The model and its certificate are those of
    svmbench train. If a node is lost, its rows go to another one.

    With --mpi, the first process of the job does so, and the others are the nodes. If one is lost,
    MPI ends them all.

    Exits with code 1 if the training ended before it reached its tolerance.
    """
    if mpi == (cluster is not None):
        raise click.UsageError("name one place for the rows: --cluster ADDRESS or --mpi")
    training = _Training(**asked)
    if cluster is not None:
        return _train(training, lambda: _on_nodes(cluster))
    from svmbench.solvers.distributed.mpi import ranks

    with ranks() as on_ranks:
        if on_ranks is None:  # this process has been a node
            return 0
        return _train(training, lambda: nullcontext((on_ranks, on_ranks.nodes)))


@contextmanager
def _on_nodes(cluster: str) -> Iterator[tuple[MakeExecutor, int]]:
    """What makes an executor on the nodes of a Dask cluster, and their number."""
    with options.nodes_of(cluster) as place:
        from svmbench.harness.cluster.shards import OnNodes

        yield partial(OnNodes, place=place), len(place.hosts())


@dataclass(frozen=True)
class _Training:
    """The training that a user asks for, by the names of its options."""

    data: Path
    zero_based: bool
    model: Path | None
    lam: float
    tolerance: float
    method: str | None
    shards: int | None
    time_limit: str
    seed: int
    quiet: bool


def _train(
    asked: _Training, place: Callable[[], AbstractContextManager[tuple[MakeExecutor, int]]]
) -> int:
    """Train in the process that has the rows, and write the model."""
    from svmbench.durable import require_replaceable, require_writable
    from svmbench.train.effort import Effort
    from svmbench.train.examples import read_examples
    from svmbench.train.files import certificate, certificate_path, save
    from svmbench.train.objective import Objective
    from svmbench.train.sharded import method_for, train_on_shards

    seconds = options.limit_seconds(asked.time_limit)
    target = options.model_target(asked.model, asked.data)
    for each in (target, certificate_path(target)):
        require_replaceable(each, asked.data)
        require_writable(each)
    begun = time.monotonic()
    examples = read_examples(asked.data, zero_based=asked.zero_based, tolerance=asked.tolerance)
    read = time.monotonic() - begun
    objective = Objective.of_lambda("hinge", asked.lam, examples.rows.n_samples, "none")
    with place() as (executor, nodes):
        trained = train_on_shards(
            examples,
            asked.lam,
            asked.tolerance,
            Effort(asked.seed, seconds),
            method=asked.method or method_for(examples.rows),
            shards=asked.shards or min(MOST_SHARDS, nodes),
            executor=executor,
        )
    facts = certificate(trained, examples, objective)
    save(target, trained.model, facts)
    if not asked.quiet:
        taken = trained.fits[0].seconds
        lines = training_text.summary(
            examples, objective, trained, facts["fits"], target, read, taken
        )
        click.echo("\n".join(lines))
    if trained.gap > asked.tolerance:
        click.echo(
            training_text.shortfall(trained, asked.tolerance, seconds, easier="a larger --lambda"),
            err=True,
        )
        return 1
    return 0
