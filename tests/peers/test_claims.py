"""What papers claim of their methods, held against certified optima.

That sgd-s and sgd-m keep their dual variables in the box and enclose the optimum after every pass
is tested in tests/solvers/test_perceptron.py, and regret bounds beside the solvers they are of.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.dual.sdca import Sdca
from svmbench.solvers.stochastic.pegasos import Pegasos

SEEDS = range(15)
STEPS = 200_000
LAMBDAS = 2.0 ** -np.arange(6, 13)

#: Standard errors of the median of normal numbers, in those of their mean.
OF_A_MEDIAN = np.sqrt(np.pi / 2.0)


@cache
def overlapping_rows():
    """Many more rows than features and classes that overlap, so that w* hardly feels lambda."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(300) < 0.5, 1, -1)
    X = rng.normal(size=(300, 8)) / np.sqrt(8.0)
    X[:, 0] += 0.2 * y
    return dataset(X, y, "dense float64")


def excesses(solver, problem, **parameters):
    """P(w) - P* after `STEPS` presentations, for every seed."""
    best = certified_optimum(problem, 1e-9, 10.0)
    assert best.gap <= 1e-9
    found = []
    for seed in SEEDS:
        run = solver(solver.schema(**parameters))
        run.start(problem, seed)
        run.advance(STEPS)
        found.append(problem.primal(run.w) - best.dual)
    return np.array(found)


@pytest.mark.usefixtures("own_cache")
def test_what_pegasos_lacks_grows_with_the_inverse_of_lambda_and_what_sdca_lacks_does_not():
    problems = [Problem(overlapping_rows(), float(lam)) for lam in LAMBDAS]
    pegasos = np.log([excesses(Pegasos, problem) for problem in problems])
    # With steps 1/(lambda t), gradient noise of covariance S and curvature h + lambda of P in a
    # direction, a share S (h + lambda)/(2 (2 h + lambda) lambda T) is lacking there: between
    # S/(4 lambda T) and S/(2 lambda T). At worst it passes from the latter to the former on the
    # way down, which takes ln 2 off the rise.
    x = np.log(LAMBDAS)
    flattest = -1.0 + np.log(2.0) / (x[0] - x[-1])
    # And four standard errors of a slope through medians that spread as the seeds show.
    spread = np.sqrt(np.mean(np.var(pegasos, axis=1, ddof=1)))
    of_median = OF_A_MEDIAN * spread / np.sqrt(len(SEEDS))
    slack = 4.0 * of_median / np.sqrt(np.sum((x - x.mean()) ** 2))
    slope = np.polyfit(x, np.median(pegasos, axis=1), 1)[0]
    assert -1.0 - slack <= slope <= flattest + slack
    assert flattest + slack < -0.5  # a growth with the root would be told apart
    assert -1.0 - slack > -2.0  # and one with the square
    # sdca lacks less where pegasos lacks most than pegasos where it lacks least.
    sdca = [np.median(excesses(Sdca, problem)) for problem in problems]
    assert max(sdca) < np.exp(np.min(np.median(pegasos, axis=1)))
