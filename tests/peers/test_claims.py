"""What papers claim of their methods, held against certified optima.

That sgd-s and sgd-m keep their dual variables in the box and enclose the optimum after every pass
is tested in tests/solvers/test_perceptron.py, and regret bounds beside the solvers they are of.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from problems import dataset, dense, labels, ordinary_problems
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.cutting_plane.ocas import Ocas, OcasParameters
from svmbench.solvers.cutting_plane.svmperf import Svmperf, SvmperfParameters
from svmbench.solvers.dual.sdca import Sdca
from svmbench.solvers.stochastic.pegasos import Pegasos, PegasosParameters
from twins.optimum import optimum
from twins.rng import Generator

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


@pytest.mark.parametrize("name", ordinary_problems())
def test_the_regret_of_projected_pegasos_is_within_its_bound(name):
    # Lemma 1 and theorem 1 of the paper: at every T and for every order of the rows,
    # sum f_t(w_t) - f_t(w*) <= (sqrt(lambda) + R)^2 (1 + ln T)/(2 lambda).
    problem = ordinary_problems()[name]
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    order = list(range(len(y)))
    Generator(11).shuffle(order)
    run = Pegasos(PegasosParameters(project=True, sampling="fixed"))
    run.start(problem, 11)
    best = optimum(problem).w
    size = (np.sqrt(lam) + np.linalg.norm(X, axis=1).max()) ** 2
    regret = 0.0
    for t in range(1, 601):
        i = order[(t - 1) % len(order)]
        before, w = run.counters.updates, run.w
        losses = [max(0.0, 1.0 - y[i] * (X[i] @ point)) for point in (w, best)]
        regret += lam / 2.0 * (w @ w - best @ best) + losses[0] - losses[1]
        assert regret <= size * (1.0 + np.log(t)) / (2.0 * lam)
        run.advance(1)
        assert (run.counters.updates > before) == (losses[0] > 0.0)  # it was row i


TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@cache
def cutting_plane_problems():
    """The ordinary problems, and two on which many cuts are needed."""
    rng = np.random.default_rng(7)
    X = rng.exponential(size=(400, 60)) * (rng.random((400, 60)) < 0.2)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1e-9)[:, None]
    y = np.where(X @ rng.normal(size=60) + 0.2 * rng.normal(size=400) > 0.0, 1, -1)
    many = dataset(X, y)
    return {
        **ordinary_problems(),
        "many rows": Problem(many, 2.0**-8),
        "many rows, small lambda": Problem(many, 2.0**-12),
    }


every_tolerance = pytest.mark.parametrize("tolerance", TOLERANCES)
every_cutting_plane_problem = pytest.mark.parametrize("name", cutting_plane_problems())


def bounds(problem):
    """Two numbers that P* lies between, nearer than any tolerance here asks."""
    best = certified_optimum(problem, 1e-9, 20.0)
    assert best.gap <= 1e-9
    return best.dual, best.primal


@every_tolerance
@every_cutting_plane_problem
@pytest.mark.usefixtures("own_cache")
def test_ocas_stops_when_its_rule_first_holds_and_then_keeps_its_promise(name, tolerance):
    problem = cutting_plane_problems()[name]
    lower, upper = bounds(problem)
    run = Ocas(OcasParameters(tolerance=tolerance))
    run.start(problem, 0)
    for _ in range(2000):
        run.advance(1)
        primal = problem.primal(run.w)
        assert run.dual() <= upper  # what it stops by is a bound at every iteration
        if run.stopped:
            break
        assert primal - run.dual() > tolerance * primal * (1.0 - 1e-9)
    assert run.stopped
    assert primal - lower <= tolerance * primal + (upper - lower)


@every_tolerance
@pytest.mark.parametrize("unit", ["accuracy", "objective"])
@every_cutting_plane_problem
@pytest.mark.usefixtures("own_cache")
def test_svmperf_stops_and_then_keeps_its_promise(name, unit, tolerance):
    problem = cutting_plane_problems()[name]
    lower, upper = bounds(problem)
    run = Svmperf(SvmperfParameters(epsilon=tolerance, unit=unit))
    run.start(problem, 0)
    run.halts = True
    run.advance(5000)
    assert run.stopped
    assert run.dual() <= upper
    # epsilon bounds the loss's excess over the slack, and half of it the reduced problem's gap.
    promised = tolerance * upper if unit == "accuracy" else 1.5 * tolerance
    assert problem.primal(run.w) - lower <= promised + (upper - lower)
    # Its own bound shows as much.
    assert problem.primal(run.w) - run.dual() <= promised * (1.0 + 1e-9)
