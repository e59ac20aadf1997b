"""A course report's accuracies, by our NumPy twins fed with the author's own random draws.

NumPy's legacy generator, seeded once with 2018, draws the data and goes on to draw the rows of
every run, in the notebook's order.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from measure import markdown, matrix, wants_real

from svmbench.data.catalogue import entry
from svmbench.data.dataset import FloatArray
from svmbench.data.load import load
from svmbench.problem import HINGE

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

LAM, EPOCHS, BATCH, THETA, GAMMA = 1e-3, 50, 8, 0.15, 1.0

#: The step after which the notebook begins its averages: 50 epochs of all 1000 rows, halved.
BEGIN = 25_000

#: The notebook's printed accuracies on 330 test rows: of the last iterate and of the average, in
#: the order of its runs.
PRINTED = {
    "sdca random": (0.9121212121212121, 0.9181818181818182),
    "sdca perm": (0.9303030303030303, 0.9333333333333333),
    "sdca cyclic": (0.9151515151515152, 0.9242424242424242),
    "pegasos": (0.9151515151515152, 0.9181818181818182),
    "pegasos projected": (0.9030303030303031, 0.9121212121212121),
    "asdca": (0.8818181818181818, 0.9030303030303031),
    "mini-batch pegasos": (0.9212121212121213, 0.9181818181818182),
    "mini-batch projected": (0.9121212121212121, 0.9242424242424242),
}
PRINTED_TRUTH = 0.9454545454545454


#: Partial sums of an inner product in which ASDCA is run in the notebook's order of operations.
PARTIAL_SUMS = (1, 2, 4, 8, 16, 32)


class LegacyDraws:
    """NumPy's legacy generator behind the interface of the twins' own."""

    def __init__(self, state: np.random.RandomState) -> None:
        self.state = state

    def below(self, n: int) -> int:
        """A uniform integer in 0 .. n - 1."""
        return int(self.state.randint(0, n))

    def shuffle(self, order: list[int]) -> None:
        """Replace ``order`` by a permutation of 0 .. n - 1, whatever it held."""
        order[:] = self.state.permutation(len(order)).tolist()

    def batch(self) -> list[int]:
        """Distinct rows."""
        chosen: list[int] = self.state.choice(self.m, BATCH, replace=False).tolist()
        return chosen

    m: int = 0


def twins(X: FloatArray, y: FloatArray, draws: LegacyDraws) -> dict[str, tuple[Any, str, int]]:
    """The runs: each twin, its attribute with the weights, and its number of steps."""
    sdca, pegasos, asdca = (
        import_module(f"twins.{name}") for name in ("sdca", "pegasos_options", "asdca")
    )
    draws.m = m = len(y)
    steps = EPOCHS * m
    runs: dict[str, tuple[Any, str, int]] = {}
    for name, sampling in (("random", "random"), ("perm", "perm"), ("cyclic", "fixed")):
        runs[f"sdca {name}"] = (sdca.Sdca(X, y, LAM, HINGE, 0, sampling), "w", steps)
    for name, project in (("pegasos", False), ("pegasos projected", True)):
        runs[name] = (pegasos.Pegasos(X, y, LAM, 0, project), "w", steps - 1)
    runs["asdca"] = (asdca.Asdca(X, y, LAM, GAMMA, 0, THETA, BATCH), "x", steps)
    runs["asdca"][0].draw = draws.batch
    for name, project in (("mini-batch pegasos", False), ("mini-batch projected", True)):
        runs[name] = (pegasos.Pegasos(X, y, LAM, 0, project, BATCH), "w", steps - 1)
        runs[name][0].next_batch = draws.batch
    for twin, _, _ in runs.values():
        twin.rng = draws
    return runs


def trained(twin: Any, weights: str, steps: int) -> tuple[FloatArray, FloatArray]:
    """The last iterate, and the mean of those after the steps from ``BEGIN`` on."""
    total = 0.0
    for step in range(steps):
        twin.step()
        twin.iterates[-1] = None  # their number is the step; they themselves are not needed
        if step >= BEGIN:
            total = total + getattr(twin, weights)
    last: FloatArray = getattr(twin, weights)
    mean: FloatArray = np.asarray(total) / (steps - BEGIN)
    return last, mean


def inner_products(rows: FloatArray, u: FloatArray, parts: int) -> FloatArray:
    """Products of rows with u, shape (rows,); each ``parts``-th term is in a sum of its own.

    Vector units sum like this. The partial sums are then added by halves, and last the terms that
    are left over. Each operation is rounded by itself, so that all machines give the same bits.
    """
    terms = rows * u
    whole = terms.shape[1] - terms.shape[1] % parts
    sums = np.add.accumulate(terms[:, :whole].reshape(len(rows), -1, parts), axis=1)[:, -1]
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    total: FloatArray = sums[:, 0]
    if whole < terms.shape[1]:
        total = total + np.add.accumulate(terms[:, whole:], axis=1)[:, -1]
    return total


def in_its_order(
    X: FloatArray, y: FloatArray, batches: list[list[int]], parts: int
) -> tuple[FloatArray, FloatArray]:
    """ASDCA's last iterate and average, by the notebook's operations in its order.

    The notebook keeps a vector for each row, the gradient times θ summed up, and the mean of these
    vectors; the twin keeps a number for each row.
    """
    m, d = X.shape
    vectors, mean, w = np.zeros((m, d)), np.zeros(d), np.zeros(d)
    later = []
    for step, rows in enumerate(np.array(batches)):
        u = (1.0 - THETA) * w + (THETA / LAM) * mean
        points, labels, old = X[rows], y[rows], vectors[rows]
        margins = labels * inner_products(points, u, parts)
        slopes = np.where(margins < 0.0, -labels, np.minimum(margins - 1.0, 0.0) * labels)
        new = (1.0 - THETA) * old - THETA * (slopes[:, None] * points)
        vectors[rows] = new
        mean = mean + (1.0 / m) * np.add.accumulate(new - old, axis=0)[-1]
        w = (1.0 - THETA) * w + (THETA / LAM) * mean
        if step >= BEGIN:
            later.append(w)
    return w, np.mean(later, axis=0)


@dataclass(frozen=True)
class Found:
    """Accuracies on the test rows."""

    runs: dict[str, tuple[float, float]]  # of each run's last iterate and average
    truth: float  # of the vector that made the labels
    # of ASDCA in the notebook's order of operations, by the partial sums of inner products
    orders: dict[int, tuple[float, float]]


def accuracies() -> Found:
    """Train everything in the notebook's order."""
    recipe = entry("simulated").recipe
    assert recipe is not None
    rows = load("simulated")
    assert rows.test is not None
    X, y = (np.asarray(part, dtype=np.float64) for part in (rows.train.values, rows.train.labels))
    test, labels = matrix(rows.test), rows.test.labels

    def accuracy(w: FloatArray) -> float:
        return float(np.mean(np.where(test @ w >= 0.0, 1, -1) == labels))

    state = np.random.RandomState(recipe.seed)
    state.randn(recipe.m, recipe.d)
    truth = state.randn(recipe.d)
    state.randn(recipe.m)  # the noise of the labels
    runs = {}
    orders = {}
    for name, (twin, weights, steps) in twins(X, y, LegacyDraws(state)).items():
        last, mean = trained(twin, weights, steps)
        runs[name] = (accuracy(last), accuracy(mean))
        if name == "asdca":
            for parts in PARTIAL_SUMS:
                last, mean = in_its_order(X, y, twin.picked, parts)
                orders[parts] = (accuracy(last), accuracy(mean))
    return Found(runs, accuracy(truth), orders)


def agreeing(found: Found, asdca: tuple[float, float]) -> int:
    """How many of the 17 printed accuracies come out to every digit, with these two of ASDCA."""
    ours = found.runs | {"asdca": asdca}
    same = [printed[at] == ours[name][at] for name, printed in PRINTED.items() for at in (0, 1)]
    return sum(same) + (found.truth == PRINTED_TRUTH)


def main() -> None:
    """Print the table."""
    if wants_real(__doc__):
        return
    found = accuracies()
    rows = []
    for name, printed in PRINTED.items():
        # ASDCA's accuracies depend on the machine's rounding; the second table is about them.
        ours = [f"{value:.5f}" if name != "asdca" else "see below" for value in found.runs[name]]
        rows.append((name, f"{printed[0]:.5f}", ours[0], f"{printed[1]:.5f}", ours[1]))
    rows.append(("the true β", f"{PRINTED_TRUTH:.5f}", f"{found.truth:.5f}", "", ""))
    header = ("run", "last iterate, printed", "ours", "average, printed", "ours")
    print(markdown(header, rows))
    print(
        markdown(
            ("partial sums", "asdca, last", "asdca, average", "printed ones that come out"),
            [
                (str(parts), f"{last:.5f}", f"{mean:.5f}", f"{agreeing(found, (last, mean))} of 17")
                for parts, (last, mean) in found.orders.items()
            ],
        ),
        end="",
    )


if __name__ == "__main__":
    main()
