"""The weights of sgd-qn's averages, printed and released: t0, and costs beside Figure 3's."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from measure import lower_bound, markdown, wants_real

from svmbench.bundled import bundled
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.catalogue import entry
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.synthetic import stand_in
from svmbench.data.transforms import apply_transforms
from svmbench.kernels import terms
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

#: The rows of delta that the paper has, as its figures prepare them; squared norms of rows and the
#: values of t0 that are tried on them.
DELTA: tuple[Any, ...] = ({"rows": [0, 150000]}, {"split": 0.333333}, "unit-norm")
NORMS = (1.0, 0.5, 0.3, 0.1)
ON_DELTA = tuple(10.0**k for k in range(4, 7))

#: The lowest published cost of Figure 3.
LOWEST = 0.3149

#: Rows whose losses at all iterates are computed at a time.
AT_A_TIME = 4096

#: Readings of what the paper leaves open: decades of column scales, squared norm of rows, t0.
READINGS = tuple(
    (decades, norm, t0)
    for decades in (0.0, 1.0)
    for norm, t0 in ((1.0, 1.056e5), (1.0, 2e5), (1.0, 5e5), (0.78, 1.056e5))
)


@cache
def alpha() -> Problem:
    """The stand-in of alpha as the paper prepares alpha: 100,000 rows, λ = 1e-5."""
    found = entry("alpha")
    assert found.stand_in is not None
    return changed(found.stand_in.conditioning, 1.0)


@cache
def changed(decades: float, squared_norm: float) -> Problem:
    """`alpha` with column scales spread over some decades, and rows of another norm."""
    target = entry("alpha").targets[0]
    return Problem(scaled(spread(decades), squared_norm), target.lam, Loss("squared-hinge"))


@cache
def spread(decades: float) -> Dataset:
    """The training rows of `alpha` with column scales spread over some decades."""
    found = entry("alpha")
    assert found.stand_in is not None
    shape = found.stand_in.model_copy(update={"conditioning": decades})
    rows, tests = stand_in(shape, "alpha", scale=0.3)
    return transformed(rows, tests, found.targets[0].transforms)


def transformed(rows: Dataset, tests: Dataset | None, chain: Sequence[Any]) -> Dataset:
    """The training rows after the transforms."""
    spec = DatasetSpec.model_validate({"name": rows.name, "transforms": list(chain)})
    return apply_transforms(rows, tests, spec.chain, name=rows.name)[0]


def scaled(rows: Dataset, squared_norm: float) -> Dataset:
    """Rows of norm 1, multiplied to another norm."""
    if squared_norm == 1.0:
        return rows
    return transformed(rows, None, [{"factor": math.sqrt(squared_norm)}])


def searched(
    averaging: str, problem: Problem | None = None, tried: Sequence[float] = SEARCHED
) -> list[str]:
    """P on the first tenth of the shuffled rows after a pass over it, for each t0."""
    problem, shown = problem or alpha(), list[str]()
    order = np.arange(problem.data.n_samples, dtype=np.int32)
    Generator(SEEDS[0]).shuffle(order)
    first = order[: len(order) // 10]
    for t0 in tried:
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


def later() -> dict[float, float]:
    """SVMSGD2's points of Figure 3, right, beyond ten epochs, by epochs.

    The panel over time has the points of the panel over epochs, one every 0.4 epochs, and goes on.
    """
    path = bundled("configs") / "papers" / "sgd-qn" / "figure-3.tsv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    shown = [
        float(row["value"])
        for row in rows
        if (row["solver"], row["x"], row["note"]) == ("svmsgd2", "seconds_after_setup", "")
    ]
    first = list(published("svmsgd2").values())
    assert shown[: len(first)] == first, "the two panels have other points"
    return {
        round(10.0 + 0.4 * at, 1): value for at, value in enumerate(shown[len(first) :], start=1)
    }


def costs(
    run: SgdQn | Svmsgd2, at: list[float], seed: int, problem: Problem | None = None
) -> list[float]:
    """P after each of these epochs, on the stand-in of alpha unless another problem is given."""
    problem, iterates = problem or alpha(), list[FloatArray]()
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
        losses += terms.losses(margins.ravel(), problem.loss).reshape(margins.shape).sum(axis=1)
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


@cache
def least_of(decades: float, squared_norm: float) -> float:
    """A lower bound on the optimum of `changed`, certified to a tenth of the tables' last digit."""
    return lower_bound(changed(decades, squared_norm), 1e-4)


def searched_on_delta() -> list[list[str]]:
    """`searched`, on the stand-in of delta with rows of some norms, and the released weights."""
    found, shown = entry("delta"), []
    assert found.stand_in is not None
    train = transformed(*stand_in(found.stand_in, "delta", scale=0.3), DELTA)
    for norm in NORMS:
        problem = Problem(scaled(train, norm), 1e-4, Loss("squared-hinge"))
        shown.append([f"{norm:g}", *searched("released", problem, ON_DELTA)])
    return shown


@cache
def over_optimum(decades: float, squared_norm: float, t0: float) -> dict[float, float]:
    """SVMSGD2's cost over the optimum by epochs: beyond ten only on columns of equal scales."""
    problem = changed(decades, squared_norm)
    at = sorted({*published("svmsgd2"), *(() if decades else later())})
    found = np.mean([costs(svmsgd2(t0), at, seed, problem) for seed in SEEDS], axis=0)
    return dict(zip(at, (found / least_of(decades, squared_norm)).tolist(), strict=True))


def reading(decades: float, squared_norm: float, t0: float) -> list[str]:
    """How SVMSGD2's cost over the optimum compares with the published one over the lowest."""
    points, ours = published("svmsgd2"), over_optimum(decades, squared_norm, t0)
    near = [x for x in sorted(points) if ours[x] <= 1.1]
    return [
        f"{t0:.3g}",
        f"{squared_norm:g}",
        f"{decades:g}",
        *apart({x: cost / LOWEST for x, cost in points.items()}, ours),
        f"{near[0]:.1f}" if near else "–",
    ]


def reading_later(squared_norm: float, t0: float) -> list[str]:
    """As `reading`, beyond ten epochs, on columns of equal scales."""
    points = {x: cost / LOWEST for x, cost in later().items()}
    return [
        f"{t0:.3g}",
        f"{squared_norm:g}",
        *apart(points, over_optimum(0.0, squared_norm, t0)),
    ]


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
        )
    )
    print(
        markdown(
            ["t0", "squared norm", "decades", "mean", "root mean square", "within 10 %"],
            [reading(*each) for each in READINGS],
        )
    )
    print(
        markdown(
            ["t0", "squared norm", "mean", "root mean square"],
            [reading_later(norm, t0) for decades, norm, t0 in READINGS if not decades],
        )
    )
    print(
        markdown(
            ["squared norm", *(f"t0 = {t0:.0e}" for t0 in ON_DELTA)],
            searched_on_delta(),
        ),
        end="",
    )


if __name__ == "__main__":
    main()
