"""How close `auto` comes to the best of its own methods on data sets that nothing was tuned on.

Five sets are generated and five derived from real ones; `--tuned` adds sets the constants of auto
were chosen with. Each method runs until its own stopping rule certifies the gap `--tolerance`. The
methods take turns, and medians of their CPU seconds (start and certificate included) and of their
work (entries read or written, divided by the entries of the set) are printed, with auto's ratio
to the best of the others. A method that takes `--patience` times the best so far is ended.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.data.load import load
from svmbench.data.storage import compact
from svmbench.errors import SvmbenchError
from svmbench.problem import Problem
from svmbench.solvers.champion.auto import Auto, AutoParameters

Method = Literal["choose", "newton", "dual", "dual-newton"]
METHODS: tuple[Method, ...] = ("choose", "newton", "dual", "dual-newton")

#: CPU seconds that every run may take.
LEAST_SECONDS = 0.05


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
    threes = load({"name": "mnist", "positive": 3}, offline=True).train
    fives = load({"name": "mnist", "positive": 5}, offline=True).train
    chosen = np.flatnonzero((threes.labels > 0) | (fives.labels > 0))
    return part(threes, "mnist, 3 and 5", chosen)


def late_reuters() -> Dataset:
    """The 3,299 articles of Reuters-21578 that are its test rows."""
    test = load("reuters21578", offline=True).test
    assert test is not None
    return test


def catalogued(name: str) -> Dataset:
    """The training rows of a set of the catalogue."""
    return load(name, offline=True).train


UNSEEN: tuple[Callable[[], Dataset], ...] = (
    skewed_scales,
    near_duplicates,
    few_informative,
    heavy_noise,
    separable,
    half_of_w8a,
    digits,
    breast_cancer,
    pair_of_digits,
    late_reuters,
)
TUNED = ("w8a", "adult", "mnist", "kddcup10", "covtype.20k", "imdb.tfidf", "reuters21578",
         "mushrooms", "spam_corpus", "heart_scale")  # fmt: skip


class Cost(NamedTuple):
    """What one run took; inf where it did not reach its tolerance."""

    seconds: float
    work: float
    remark: str


def run(problem: Problem, method: Method, tolerance: float, seed: int, most: float) -> Cost:
    """Train until the stopping rule holds, or for ``most`` CPU seconds."""
    begun = time.process_time()
    solver = Auto(AutoParameters(method=method, tolerance=tolerance))
    solver.halts = True
    solver.start(problem, seed)
    while not (solver.stopped or solver.exhausted) and time.process_time() < begun + most:
        solver.advance(1)
    seconds = time.process_time() - begun if solver.stopped else float("inf")
    return Cost(seconds, solver.counters.nonzeros / max(1, problem.data.nnz), solver.remark)


def sets(wanted: Sequence[str], tuned: bool) -> Iterator[Dataset]:
    """The sets whose name begins with one of the wanted words; those that are missing are named."""
    made: list[tuple[str, Callable[[], Dataset]]]
    made = [(make.__name__.replace("_", " "), make) for make in UNSEEN]
    if tuned:
        made += [(name, partial(catalogued, name)) for name in TUNED]
    for name, make in made:
        if not wanted or any(name.startswith(word) for word in wanted):
            try:
                yield make()
            except (SvmbenchError, ImportError) as error:
                print(f"{name}: left out: {error}")


def main() -> None:
    """Print a row per set and lambda, and the largest ratio and the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sets", nargs="*", help="first words of the names of the sets; all sets")
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-4, 1e-5, 1e-6])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=20.0, help="CPU seconds of one run")
    parser.add_argument("--patience", type=float, default=4.0)
    parser.add_argument("--tuned", action="store_true", help="add the sets of tuning")
    given = parser.parse_args()
    ratios = []
    for data in sets(given.sets, given.tuned):
        for lam in given.lam:
            problem = Problem(data, lam)
            costs: dict[Method, list[Cost]] = {method: [] for method in METHODS}
            least = given.most / given.patience
            for seed in range(given.repeats):
                for method in METHODS:
                    most = max(given.patience * least, LEAST_SECONDS)
                    costs[method].append(run(problem, method, given.tolerance, seed, most))
                    least = min(least, costs[method][-1].seconds)
            seconds = {m: statistics.median(c.seconds for c in costs[m]) for m in METHODS}
            best = min(METHODS[1:], key=seconds.__getitem__)
            ratio = seconds["choose"] / seconds[best]
            ratios.append(ratio)
            each = "  ".join(
                f"{m} {1e3 * seconds[m]:.1f} ms, {statistics.median(c.work for c in costs[m]):.1f}"
                for m in METHODS
            )
            print(f"{data.name}, {lam:g}: {ratio:.2f} of {best}; {each}; "
                  f"{costs['choose'][0].remark}", flush=True)  # fmt: skip
    if ratios:
        print(f"largest {max(ratios):.2f}, median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
