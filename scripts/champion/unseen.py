"""How close `auto` comes to the best of its own methods, and to its peers, on unseen data sets.

Nine are generated and five derived from real ones; docs/champion-evidence.md says which of them
were in view when a rule was written.
Each own method runs until its own stopping rule certifies the gap `--tolerance`; of each peer, the
first run of its ladder counts whose P is within it of a certified bound. All take turns in one
thread, own methods in random order: the first one finds the rows in no cache. The table has medians
of CPU seconds (start and certificate included) and, of auto's own methods, of the work (entries
read or written, divided by the entries of the set; factorisations are not in it). A method ends at
`--patience` times the best so far, and `--minutes` are shared among the problems; what did not end
by then has a bound.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.catalogue import Chosen
from svmbench.data.dataset import Array, Dataset
from svmbench.data.load import load
from svmbench.data.storage import compact
from svmbench.errors import SvmbenchError
from svmbench.problem import Problem
from svmbench.solvers.base import Solver
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.registry import find_solver
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES

Method = Literal["choose", "newton", "dual", "dual-newton"]
METHODS: tuple[Method, ...] = ("choose", "newton", "dual", "dual-newton")
PEERS = ("liblinear", "linear-svc", "snapml", "lightning", "rehline")

#: CPU seconds that every run of an own method may take, and seconds of every peer's ladder.
LEAST_SECONDS, LEAST_LADDER = 0.05, 0.5


def dense_set(name: str, X: Array, y: Array) -> Dataset:
    """A data set of dense rows in double precision."""
    labels = np.where(y > 0, 1, -1).astype(np.int8)
    return Dataset(name, X.shape[1], None, None, np.ascontiguousarray(X, dtype=np.float64), labels)


def sparse_set(name: str, X: Array, y: Array) -> Dataset:
    """A data set of the nonzero entries of dense rows."""
    rows, columns = np.nonzero(X)
    indptr = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(X)), out=indptr[1:])
    arrays = compact(indptr, columns, X[rows, columns].astype(np.float64), X.shape[1], 17)
    return Dataset(name, X.shape[1], *arrays, np.where(y > 0, 1, -1).astype(np.int8))


def part(data: Dataset, name: str, chosen: Array, labels: Array | None = None) -> Dataset:
    """The chosen rows, in their order, perhaps with other labels."""
    signs = (data.labels if labels is None else labels)[chosen]
    if data.indptr is None or data.indices is None:
        assert data.values is not None
        return Dataset(name, data.n_features, None, None, data.values[chosen], signs)
    lengths = np.diff(data.indptr)[chosen]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(data.indptr[chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
    values = None if data.values is None else data.values[places]
    return Dataset(name, data.n_features, indptr, data.indices[places], values, signs)


def skewed_scales() -> Dataset:
    """30 features whose scales span six orders of magnitude."""
    rng = np.random.default_rng(101)
    X = rng.normal(size=(20_000, 30))
    y = X @ rng.normal(size=30) + 2.0 * rng.normal(size=20_000)
    return dense_set("skewed scales", X * 10.0 ** rng.uniform(-3.0, 3.0, size=30), y)


def near_duplicates() -> Dataset:
    """2,000 sparse rows, 15 slightly changed copies of each."""
    rng = np.random.default_rng(102)
    X = rng.exponential(size=(2000, 200)) * (rng.random((2000, 200)) < 0.1)
    y = np.repeat(X @ rng.normal(size=200) + rng.normal(size=2000), 15)
    X = np.repeat(X, 15, axis=0)
    X *= 1.0 + 0.01 * rng.normal(size=X.shape)
    return sparse_set("near duplicates", X, y)


def few_informative() -> Dataset:
    """500 features, 5 of which matter."""
    rng = np.random.default_rng(103)
    X = rng.normal(size=(8000, 500))
    y = X[:, :5] @ rng.normal(size=5) + 0.5 * rng.normal(size=8000)
    return dense_set("few informative", X, y)


def heavy_noise() -> Dataset:
    """A third of the labels are wrong."""
    rng = np.random.default_rng(104)
    X = rng.normal(size=(60_000, 60)) * (rng.random((60_000, 60)) < 0.3)
    y = np.sign(X @ rng.normal(size=60) + 1e-9)
    return sparse_set("heavy noise", X, np.where(rng.random(60_000) < 1.0 / 3.0, -y, y))


def separable() -> Dataset:
    """Two classes with a margin between them."""
    rng = np.random.default_rng(105)
    X = rng.normal(size=(10_000, 100)) / 10.0
    direction = rng.normal(size=100)
    direction /= np.linalg.norm(direction)
    y = np.sign(X @ direction)
    return dense_set("separable", X + 0.05 * y[:, None] * direction, y)


def nearly_separable() -> Dataset:
    """1,000 features of 4,000 rows: a plane separates nearly all of them."""
    rng = np.random.default_rng(106)
    X = rng.normal(size=(4000, 1000))
    return dense_set(
        "nearly separable", X, X @ rng.normal(size=1000) + 10.0 * rng.normal(size=4000)
    )


def short_rows() -> Dataset:
    """Ten ones in each of 53,000 rows, some of 500 features far more often than others."""
    rng = np.random.default_rng(107)
    X = rng.random((53_000, 500)) < 4.0 / (np.arange(500) + 4.0) ** 1.15
    y = X @ rng.normal(size=500) + 2.0 * rng.normal(size=53_000)
    return sparse_set("short rows", X.astype(float), y - np.median(y))


def categories() -> Dataset:
    """26 columns of 3 to 400 categories, a feature for each, and a class for a quarter."""
    rng = np.random.default_rng(108)
    sizes = np.floor(10.0 ** rng.uniform(0.5, 2.6, 26)).astype(int)
    codes = np.floor(sizes * rng.random((40_000, 26)) ** 3).astype(int)
    columns = codes + np.cumsum(sizes) - sizes
    X = np.zeros((40_000, sizes.sum()), dtype=bool)
    np.put_along_axis(X, columns, True, axis=1)
    scores = rng.normal(size=sizes.sum())[columns].sum(axis=1)
    y = scores + 5.0 * rng.normal(size=40_000)
    return sparse_set("categories", X, y - np.quantile(scores, 0.75))


def random_waves() -> Dataset:
    """500 cosines of six numbers: dense, and nearly of low rank."""
    rng = np.random.default_rng(109)
    Z = rng.normal(size=(15_000, 6))
    X = np.cos(Z @ rng.normal(size=(6, 500)) + rng.uniform(0.0, 2.0 * np.pi, 500)) / 16.0
    y = np.sin(2.0 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.3 * rng.normal(size=15_000)
    return dense_set("random waves", X, y)


def half_of_w8a() -> Dataset:
    """Every other row of w8a."""
    data = load("w8a", offline=True).train
    return part(data, "w8a, half", np.arange(0, data.n_samples, 2))


def digits() -> Dataset:
    """scikit-learn's digits, the even against the odd."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    X, y = load_digits(return_X_y=True)
    return sparse_set("digits, even", X / 16.0, 1 - 2 * (y % 2))


def breast_cancer() -> Dataset:
    """scikit-learn's breast cancer data, not scaled."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return dense_set("breast cancer", X, 2 * y - 1)


def pair_of_digits() -> Dataset:
    """MNIST, 3 against 5."""
    threes = load(Chosen(name="mnist", positive=(3,)), offline=True).train
    fives = load(Chosen(name="mnist", positive=(5,)), offline=True).train
    chosen = np.flatnonzero((threes.labels > 0) | (fives.labels > 0))
    return part(threes, "mnist, 3 and 5", chosen)


def late_reuters() -> Dataset:
    """The 3,299 articles of Reuters-21578 that are its test rows."""
    test = load("reuters21578", offline=True).test
    assert test is not None
    return test


UNSEEN: tuple[Callable[[], Dataset], ...] = (
    skewed_scales,
    near_duplicates,
    few_informative,
    heavy_noise,
    separable,
    nearly_separable,
    short_rows,
    categories,
    random_waves,
    half_of_w8a,
    digits,
    breast_cancer,
    pair_of_digits,
    late_reuters,
)


class Cost(NamedTuple):
    """What one run took; inf where it did not reach its tolerance."""

    seconds: float
    work: float
    remark: str


def run(problem: Problem, method: Method, tolerance: float, seed: int, most: float) -> Cost:
    """Train until the stopping rule holds, or for ``most`` CPU seconds.

    Newton steps are left out beyond the features up to which auto may choose them: their matrix
    would not fit into memory.
    """
    if "newton" in method and problem.data.n_features > MOST_FEATURES:
        return Cost(math.inf, math.inf, "")
    begun = time.process_time()
    solver = Auto(AutoParameters(method=method, tolerance=tolerance))
    solver.halts = True
    solver.start(problem, seed)
    while not (solver.stopped or solver.exhausted) and time.process_time() < begun + most:
        solver.advance(1)
    seconds = time.process_time() - begun if solver.stopped else math.inf
    work = solver.counters.nonzeros / max(1, problem.data.nnz) if solver.stopped else math.inf
    return Cost(seconds, work, solver.remark)


def bound_of(problem: Problem, tolerance: float, most: float) -> float:
    """A lower bound on P*, within a tenth of the tolerance if the time suffices."""
    solver = Auto(AutoParameters(tolerance=0.1 * tolerance))
    solver.halts = True
    solver.start(problem, 0)
    begun = time.process_time()
    while not (solver.stopped or solver.exhausted) and time.process_time() < begun + most:
        solver.advance(1)
    return solver.dual()


def rung(peer: Any, horizon: float) -> Solver:
    """A peer with this horizon of its ladder."""
    name = peer().horizon_parameter
    solver: Solver = peer(peer.schema(**{name: horizon}))
    return solver


def climb(
    peer: Any, problem: Problem, enough: float, seed: int, horizons: Sequence[float], pipe: Any
) -> None:
    """Send the CPU seconds and the horizon of the first run with P at most ``enough``."""
    with threadpool_limits(1):
        first = rung(peer, horizons[0])
        first.load()
        first.convert(problem)
        for horizon in horizons:
            solver = rung(peer, horizon)
            solver.take_over(first)
            begun = time.process_time()
            solver.start(problem, seed)
            solver.advance(1)
            seconds = time.process_time() - begun
            if problem.primal(solver.w) <= enough:
                pipe.send((seconds, horizon))
                return
    pipe.send((math.inf, math.inf))


def of_peer(
    name: str, problem: Problem, enough: float, seed: int, known: float, most: float
) -> tuple[float, float]:
    """CPU seconds of a peer, and its horizon; inf where it takes too long or never gets there.

    It runs in a process of its own, which ends after ``most`` seconds.
    """
    peer = find_solver(name)
    horizons = peer().horizons((1e-3,), None) if math.isinf(known) else (known,)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    child = context.Process(
        target=climb, args=(peer, problem, enough, seed, horizons, theirs), daemon=True
    )
    child.start()
    theirs.close()
    found = (math.inf, math.inf)
    try:
        if ours.poll(most):
            found = ours.recv()
    except EOFError:  # it failed, and has said why
        pass
    child.kill()
    child.join()
    return found


def sets(wanted: Sequence[str]) -> Iterator[Dataset]:
    """The sets whose name begins with one of the wanted words; those that are missing are named."""
    for make in UNSEEN:
        name = make.__name__.replace("_", " ")
        if not wanted or any(name.startswith(word) for word in wanted):
            try:
                yield make()
            except (SvmbenchError, ImportError) as error:
                print(f"{name}: left out: {error}")


class Row(NamedTuple):
    """Medians of one problem: seconds and work of own methods, seconds of peers."""

    name: str
    lam: float
    seconds: dict[Method, float]
    work: dict[Method, float]
    peers: dict[str, float]
    remark: str

    def ratio(self, of: Literal["seconds", "work"]) -> float:
        """Cost of auto over that of the best of its own methods; nan where none ended."""
        costs = self.seconds if of == "seconds" else self.work
        best = min(costs[method] for method in METHODS[1:])
        return costs["choose"] / best if best < math.inf else math.nan


def measured(data: Dataset, lam: float, given: argparse.Namespace, deadline: float) -> Row:
    """Run all methods and peers in turn until the deadline."""
    problem = Problem(data, lam)
    costs: dict[Method, list[Cost]] = {method: [] for method in METHODS}
    peers: dict[str, list[float]] = {name: [] for name in given.peers}
    horizons = dict.fromkeys(given.peers, math.inf)
    least, dual = given.most / given.patience, 0.0
    if given.peers:
        dual = bound_of(problem, given.tolerance, max(0.1 * (deadline - time.monotonic()), 0.1))
    for seed in range(given.repeats):
        if seed and time.monotonic() > deadline:
            break
        for place, method in enumerate(random.Random(seed).sample(METHODS, len(METHODS))):
            share = (deadline - time.monotonic()) / (len(METHODS) + len(given.peers) - place)
            most = max(min(given.patience * least, share), LEAST_SECONDS)
            costs[method].append(run(problem, method, given.tolerance, seed, most))
            least = min(least, costs[method][-1].seconds)
        for place, name in enumerate(given.peers):
            if seed and horizons[name] == math.inf:
                continue  # it did not get there at first, and would not now
            share = (deadline - time.monotonic()) / (len(given.peers) - place)
            enough = dual * (1.0 + given.tolerance)
            found = of_peer(name, problem, enough, seed, horizons[name], max(share, LEAST_LADDER))
            horizons[name] = found[1] if not seed else horizons[name]
            peers[name].append(found[0])
    return Row(
        data.name,
        lam,
        {method: statistics.median(cost.seconds for cost in costs[method]) for method in METHODS},
        {method: statistics.median(cost.work for cost in costs[method]) for method in METHODS},
        {name: statistics.median(peers[name]) for name in given.peers},
        costs["choose"][0].remark,
    )


def shown(value: float, digits: int = 2) -> str:
    """A number, or a dash where it is not known."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def table(rows: Sequence[Row], peers: Sequence[str]) -> str:
    """The rows in Markdown, and auto's largest and median ratio to its best own method."""
    own = [*(f"{method}, work" for method in METHODS), "auto over best own, work"]
    own += [*(f"{method}, ms" for method in METHODS), "auto over best own, s"]
    own += [f"{name} over auto" for name in peers]
    lines = ["| set | lambda | " + " | ".join([*own, "auto chose"]) + " |"]
    lines.append("|" + "---|" * (len(own) + 3))
    for row in rows:
        cells = [shown(row.work[method], 1) for method in METHODS] + [shown(row.ratio("work"))]
        cells += [shown(1e3 * row.seconds[method], 1) for method in METHODS]
        cells += [shown(row.ratio("seconds"))]
        cells += [shown(row.peers[name] / row.seconds["choose"]) for name in peers]
        chose = row.remark.split(":")[0]
        lines.append(f"| {row.name} | {row.lam:g} | " + " | ".join([*cells, chose]) + " |")
    kinds: tuple[Literal["work", "seconds"], ...] = ("work", "seconds")
    for of in kinds:
        known = [row.ratio(of) for row in rows if not math.isnan(row.ratio(of))]
        if known:
            largest, median = max(known), statistics.median(known)
            lines += [
                "",
                f"auto over its best own, {of}: largest {largest:.2f}, median {median:.2f}",
            ]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sets", nargs="*", help="first words of the names of the sets; all sets")
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-4, 1e-5, 1e-6])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=20.0, help="CPU seconds of one run")
    parser.add_argument("--patience", type=float, default=4.0)
    parser.add_argument("--minutes", type=float, default=9.0, help="of all problems together")
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    given = parser.parse_args()
    for name in [name for name in given.peers if find_solver(name).missing()]:
        print(f"{name}: left out: {find_solver(name).missing()}")
        given.peers.remove(name)
    return given


def main() -> None:
    """Measure each set at each lambda, and print the table."""
    given = arguments()
    end = time.monotonic() + 60.0 * given.minutes
    rows: list[Row] = []
    left = len(given.lam) * (len(given.sets) or len(UNSEEN))
    for data in sets(given.sets):
        for lam in given.lam:
            now = time.monotonic()
            rows.append(measured(data, lam, given, now + max(0.0, end - now) / max(left, 1)))
            left -= 1
            ratio, chose = shown(rows[-1].ratio("work")), rows[-1].remark
            print(f"{data.name}, {lam:g}: work {ratio}; {chose}", flush=True)
    if rows:
        print(table(rows, given.peers), end="")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
