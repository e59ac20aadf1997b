"""What a problem on shards would take: rounds x (latency + bytes/bandwidth) + local work.

Rounds, steps and reads of the rows are those of runs that `scripts/distributed/rounds.py` has
measured; nothing here predicts how hard other rows are. The times of a machine and of Dask are
measured by `scripts/distributed/costs.py`. docs/cluster.md holds the model against published runs.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from svmbench.errors import ConfigError
from svmbench.solvers.distributed.measured import RUNS, MeasuredRounds
from svmbench.solvers.distributed.newton_shards import MOST_FEATURES
from svmbench.solvers.distributed.sharded_multipliers import LENGTHS

#: The largest counts and costs, so that no product of them overflows.
MOST, MOST_COST = 10**18, 1e30

#: Bytes of a number; of an entry of stored rows, a column and a value.
NUMBER, ENTRY = 8, 6


@dataclass(frozen=True)
class ClusterCosts:
    """What a machine and its network cost. The defaults are measured: see docs/cluster.md.

    Parameters
    ----------
    latency : float
        Seconds of a round with a single node and few bytes.
    node : float
        Seconds that each further node adds to a round.
    bandwidth : float
        Bytes per second of the link between the planner and all nodes together.
    descent, newton : float
        Seconds of a core for an entry of the rows that cocoa or newton-shards reads.
    multiply : float
        Seconds for one of the n^2/2 products of a row of n entries that enters or leaves J.
    flop : float
        Seconds for one of the d^3/3 operations of a factor.
    """

    latency: float = 1.0e-3
    node: float = 0.9e-3
    bandwidth: float = 0.65e9
    descent: float = 2.2e-9
    newton: float = 9.0e-9
    multiply: float = 0.9e-9
    flop: float = 4.0e-11

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 1.0 if name == "bandwidth" else 0.0
            if not least <= value <= MOST_COST:
                raise ConfigError(f"{name} must be between {least:g} and 1e30, not {value!r}")


@dataclass(frozen=True)
class ProblemSize:
    """A problem and the nodes for it.

    Parameters
    ----------
    rows, features, nonzeros : int
        m, d and the number of stored entries.
    nodes : int
        Each has a shard and a core.
    lam : float
        lambda, for rows of about length 1.
    target : float
        Relative gap (P - D)/D.

    Raises
    ------
    ConfigError
        When a number is out of range.
    """

    rows: int
    features: int
    nonzeros: int
    nodes: int
    lam: float
    target: float

    def __post_init__(self) -> None:
        for name in ("rows", "features", "nonzeros", "nodes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, not {getattr(self, name)}")
            if getattr(self, name) > MOST:
                raise ConfigError(f"{name} must be 1e18 or less")
        if self.nonzeros > self.rows * self.features:
            raise ConfigError(
                f"{self.nonzeros:,} nonzeros do not fit into {self.rows:,} rows of "
                f"{self.features:,} features; give at most their product"
            )
        if self.nodes > self.rows:
            raise ConfigError(f"{self.nodes:,} nodes for {self.rows:,} rows; give fewer nodes")
        if not 0.0 < self.lam < math.inf:
            raise ConfigError(f"lambda must be positive and finite, not {self.lam!r}")
        if not 0.0 < self.target < 1.0:
            raise ConfigError(f"the target must be between 0 and 1, not {self.target!r}")


class ClusterForecast(NamedTuple):
    """What one method would take.

    Parameters
    ----------
    method : str
    nodes : int
    rounds : int
    at_least : bool
        Whether the measured run did not reach the wanted target: all is more than this.
    bytes_per_round : float
        Of all nodes together, both ways.
    latency, transfer, reading, planner : float
        Seconds for the rounds as such, for their bytes, of each node for its rows, and of the
        planner for its systems of equations.
    run : MeasuredRounds
        The measured run whose rounds these are.
    """

    method: str
    nodes: int
    rounds: int
    at_least: bool
    bytes_per_round: float
    latency: float
    transfer: float
    reading: float
    planner: float
    run: MeasuredRounds

    @property
    def network(self) -> float:
        """Seconds that wait for the network."""
        return self.latency + self.transfer

    @property
    def local(self) -> float:
        """Seconds of work, of a node and of the planner."""
        return self.reading + self.planner

    @property
    def total(self) -> float:
        """All seconds."""
        return self.network + self.local

    @property
    def most(self) -> str:
        """What takes most of the time."""
        parts = ("latency", "transfer", "reading", "planner")
        return max(parts, key=lambda name: float(getattr(self, name)))

    def facts(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        own = {**self._asdict(), "run": self.run._asdict()}
        return {**own, "network": self.network, "local": self.local, "total": self.total,
                "most": self.most}  # fmt: skip


def forecasts(size: ProblemSize, costs: ClusterCosts) -> list[ClusterForecast]:
    """What each method that can train such a problem would take, and what one node would.

    Parameters
    ----------
    size : ProblemSize
    costs : ClusterCosts
    """
    methods = ["cocoa"] if size.features > MOST_FEATURES else ["newton-shards", "cocoa"]
    counts = [size.nodes] if size.nodes == 1 else [size.nodes, 1]
    return [forecast(method, nodes, size, costs) for nodes in counts for method in methods]


def forecast(method: str, nodes: int, size: ProblemSize, costs: ClusterCosts) -> ClusterForecast:
    """What one method would take on so many nodes; on a single one nothing travels."""
    run = like(method, nodes, size.lam, size.target)
    d, entries = size.features, size.nonzeros / nodes
    steps, newton = run.steps, method == "newton-shards"
    if newton:
        numbers = newton_numbers(d)
        row = size.nonzeros / size.rows
        reading = entries * (run.reads * costs.newton + run.changed * row / 2 * costs.multiply)
        planner = steps * (d**3 / 3 * costs.flop + nodes * d**2 / 2 * costs.multiply)
    else:
        numbers = cocoa_numbers(d)
        reading = entries * run.reads * costs.descent
        planner = steps * nodes * d * costs.multiply
    travels = nodes > 1
    total = NUMBER * numbers * steps * nodes * travels
    return ClusterForecast(
        method,
        nodes,
        run.rounds,
        not run.reached or run.target > size.target,
        total / run.rounds,
        run.rounds * (costs.latency + (nodes - 1) * costs.node) * travels,
        total / costs.bandwidth,
        reading,
        planner,
        run,
    )


def newton_numbers(d: int) -> int:
    """Numbers that travel to a shard and back for a step of newton-shards.

    The step and 16 lengths, its share; 16 slopes, u, the triangle, and three more. New centres
    and the later rounds of line searches carry as much at most, and are left out.
    """
    return (d + LENGTHS + 1) + (LENGTHS + d + d * (d + 1) // 2 + 3)


def cocoa_numbers(d: int) -> int:
    """Numbers that travel to a shard and back for an iteration of cocoa: w and its change."""
    return (1 + d) + (d + 4 + 2)


def like(method: str, nodes: int, lam: float, target: float) -> MeasuredRounds:
    """The measured run that is to stand for another: the worst of the sets at the nearest settings.

    The target is the next measured one that is as strict; lambda and the number of shards are the
    nearest by their logarithms.
    """
    own = [run for run in RUNS if run.method == method]
    strict = [run.target for run in own if run.target <= target * (1.0 + 1e-9)]
    wanted = max(strict, default=min(run.target for run in own))
    own = [run for run in own if run.target == wanted]
    known = {run.shards for run in own}
    # A single shard has no others to contradict it: it says nothing about several.
    known = (known - {1} if nodes > 1 else known) or known
    shards = min(known, key=lambda k: (abs(math.log(k / nodes)), k))
    own = [run for run in own if run.shards == shards]
    near = min({run.lam for run in own}, key=lambda value: (abs(math.log(value / lam)), value))
    own = [run for run in own if run.lam == near]
    return max(own, key=lambda run: (not run.reached, run.rounds))
