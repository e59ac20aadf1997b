"""pegasos's options: batches, orders, projection and outputs, alone and together."""

import math
from functools import partial

import numpy as np
import pytest

from problems import (
    PRECISIONS,
    PROBLEMS,
    assert_close,
    at_start,
    dense,
    labels,
)
from svmbench.solvers.stochastic.pegasos import Pegasos
from twins.iterates import mean_from
from twins.pegasos_options import Pegasos as Twin

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
SAMPLINGS = ("iid", "without-replacement", "permuted", "fixed")
every_output = pytest.mark.parametrize("kind", ["last", "average", "average of the second half"])
every_sampling = pytest.mark.parametrize("sampling", SAMPLINGS)
projection = pytest.mark.parametrize("project", [False, True])
started = partial(at_start, Pegasos)


def twin_of(problem, seed, **parameters):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, seed, **parameters)


def steps_of(sampling, m, batch, presentations):
    """Steps that reach a number of presentations: a permuted epoch ends with a short batch."""
    batch = min(batch, m)
    if sampling in ("iid", "without-replacement"):
        return math.ceil(presentations / batch)
    epochs, rest = divmod(presentations, m)
    return epochs * math.ceil(m / batch) + math.ceil(rest / batch)


@every_output
@every_sampling
@projection
@pytest.mark.parametrize("batch", [1, 3, 8, 1000])
def test_equals_its_twin_step_by_step(kind, sampling, project, batch):
    for name, epochs in (("sparse", 4.3), ("overlapping", 5.0), ("zero-rows", 12.7)):
        problem, seed = PROBLEMS[name], 17
        options = {"project": project, "batch": batch, "sampling": sampling}
        m = problem.data.n_samples
        steps = steps_of(sampling, m, batch, math.ceil(epochs * m))
        first = steps // 2 if kind.endswith("half") else 0
        shown = {"output": kind.partition(" ")[0], "begin": first}
        runs = {
            each: started(problem, seed, precision=each, **shown, **options) for each in PRECISIONS
        }
        plain = twin_of(problem, seed, **options)
        size = 1.0 / np.sqrt(problem.lam)
        for _ in range(steps + 2):  # and a little further
            plain.step()
            expected = plain.w if kind == "last" else mean_from(first, plain.iterates, plain.w)
            for precision, run in runs.items():
                run.advance(1)
                assert run.counters.presentations == plain.presentations
                assert run.counters.updates == plain.updates
                assert_close(run.w, expected, rtol=0.0, atol=TOLERANCE[precision] * size)
        norms = [np.linalg.norm(w) for w in plain.iterates[1:]]
        assert max(norms) <= (1.0 + 1e-12) * size or not project
