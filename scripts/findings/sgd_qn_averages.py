"""The weights of sgd-qn's averages, printed and released: t0, and costs beside Figure 3's."""

from __future__ import annotations

import csv
import math
from functools import cache
from typing import Literal

import numpy as np
from measure import markdown, wants_real

from svmbench.bundled import bundled
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.catalogue import entry
from svmbench.data.dataset import FloatArray
from svmbench.data.synthetic import stand_in
from svmbench.data.transforms import apply_transforms
from svmbench.kernels import objective
from svmbench.kernels.rng import Generator
from svmbench.kernels.sgd_qn import SgdQn as Kernel
from svmbench.kernels.sgd_qn import mean_loss
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.scheduled import SkipParameters
from svmbench.solvers.stochastic.sgd_qn import SgdQn, SgdQnParameters
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2

SKIP = 16
SEEDS = (1, 2)
SEARCHED = tuple(10.0**k for k in range(5, 9))
SHOWN = {"svmsgd2": (1.2, 2.0, 4.0, 6.0, 8.0, 10.0), "sgd-qn": (0.6, 1.2, 2.4, 3.9, 6.0, 8.1, 10.0)}
FROM = 0.6

#: Rows whose losses at all iterates are computed at a time.
AT_A_TIME = 4096


@cache
def alpha() -> Problem:
    """The stand-in of alpha as the paper prepares alpha: 100,000 rows, λ = 1e-5."""
    found = entry("alpha")
    assert found.stand_in is not None
    rows, tests = stand_in(found.stand_in, "alpha", scale=0.3)
    target = found.targets[0]
    spec = DatasetSpec.model_validate({"name": "alpha", "transforms": list(target.transforms)})
    train = apply_transforms(rows, tests, spec.chain, name="alpha")[0]
    return Problem(train, target.lam, Loss("squared-hinge"))


def searched(averaging: str) -> list[str]:
    """P on the first tenth of the shuffled rows after a pass over it, for each t0."""
    problem, shown = alpha(), list[str]()
    order = np.arange(problem.data.n_samples, dtype=np.int32)
    Generator(SEEDS[0]).shuffle(order)
    first = order[: len(order) // 10]
    for t0 in SEARCHED:
        kernel = Kernel(
            problem.data.rows, first, problem.lam, t0, SKIP, problem.loss, precision="float32"
        )
        kernel.released = averaging == "released"
        kernel.advance(len(first))
        w = kernel.w
        losses = mean_loss(problem.data.rows, w, first, problem.loss)
        shown.append(f"{0.5 * problem.lam * float(w @ w) + losses:.3f}")
    return shown


def published(solver: str) -> dict[float, float]:
    """The digitised points of Figure 3, left, by epochs, without those on the frame."""
    path = bundled("configs") / "papers" / "sgd-qn" / "figure-3.tsv"
    text = path.read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return {
        float(row["at"]): float(row["value"])
        for row in rows
        if (row["solver"], row["x"]) == (solver, "epochs") and float(row["value"]) < 0.4
    }


def costs(run: SgdQn | Svmsgd2, at: list[float], seed: int) -> list[float]:
    """P after each of these epochs."""
    problem, iterates = alpha(), list[FloatArray]()
    run.start(problem, seed)
    for epochs in at:
        steps = round(epochs * problem.data.n_samples) - run.counters.presentations
        run.advance(steps)
        iterates.append(run.w)
    return primals(problem, np.array(iterates))


def primals(problem: Problem, iterates: FloatArray) -> list[float]:
    """P at each iterate, one a line: the rows are dense, and are read once for all iterates."""
    values, labels = problem.data.values, problem.data.labels
    assert values is not None
    losses = np.zeros(len(iterates))
    for first in range(0, len(labels), AT_A_TIME):
        part = slice(first, first + AT_A_TIME)
        margins = (iterates @ values[part].astype(np.float64).T) * labels[part]
        losses += objective.losses(margins.ravel(), problem.loss).reshape(margins.shape).sum(axis=1)
    norms = np.square(iterates).sum(axis=1)
    found: list[float] = (0.5 * problem.lam * norms + losses / len(labels)).tolist()
    return found


def shown_of(points: dict[float, float], solver: str) -> list[str]:
    """The costs at the points next to the shown epochs."""
    epochs = np.array(sorted(points))
    nearest = [float(epochs[np.argmin(np.abs(epochs - want))]) for want in SHOWN[solver]]
    return [f"{points[x]:.3f}" for x in nearest]


def curve(run: SgdQn | Svmsgd2) -> list[str]:
    """Mean costs of the seeds, and their deviation from the published ones."""
    points = {x: y for x, y in published(run.name).items() if x >= FROM}
    at = sorted(points)
    means = np.mean([costs(run, at, seed) for seed in SEEDS], axis=0)
    ours = dict(zip(at, means.tolist(), strict=True))
    return [f"{run.t0:.3g}", *shown_of(ours, run.name), *apart(points, ours)]


def apart(points: dict[float, float], ours: dict[float, float]) -> list[str]:
    """The mean and the root mean square of the logarithms of our values over the published."""
    logs = [math.log(ours[x] / points[x]) for x in sorted(points)]
    mean, square = float(np.mean(logs)), float(np.mean(np.square(logs)))
    return [f"{100 * mean:+.1f} %", f"{100 * math.sqrt(square):.1f} %"]


def sgd_qn(averaging: Literal["printed", "released"], t0: float | None = None) -> SgdQn:
    """SGD-QN with t0, or with that of its search."""
    parameters = SgdQnParameters(skip=SKIP, precision="float32", averaging=averaging, t0=t0)
    return SgdQn(parameters)


def svmsgd2(t0: float | None = None) -> Svmsgd2:
    """SVMSGD2 with t0, or with that of its program."""
    return Svmsgd2(SkipParameters(skip=SKIP, precision="float32", t0_rule="released", t0=t0))


def digitised(solver: str) -> list[str]:
    """The published costs at the shown epochs."""
    return ["published", "", *shown_of(published(solver), solver), "", ""]


def header(solver: str) -> list[str]:
    """Of a table of costs."""
    return [solver, "t0", *(f"{x:g}" for x in SHOWN[solver]), "mean", "root mean square"]


def main() -> None:
    """Print the tables of the page."""
    wants_real(__doc__)
    print(
        markdown(
            ["averages", *(f"t0 = {t0:.0e}" for t0 in SEARCHED)],
            [[name, *searched(name)] for name in ("printed", "released")],
        )
    )
    print(
        markdown(
            header("sgd-qn"),
            [
                digitised("sgd-qn"),
                ["released", *curve(sgd_qn("released"))],
                ["printed", *curve(sgd_qn("printed"))],
                ["printed, t0 of Table 4", *curve(sgd_qn("printed", 1e6))],
            ],
        )
    )
    print(
        markdown(
            header("svmsgd2"),
            [
                digitised("svmsgd2"),
                ["t0 of the released program", *curve(svmsgd2())],
                ["t0 of Table 4", *curve(svmsgd2(1e6))],
            ],
        ),
        end="",
    )


if __name__ == "__main__":
    main()
