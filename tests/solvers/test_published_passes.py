"""Passes that sgd-s and sgd-m take on the real Adult and Web, held against the published ones.

Tables 2, 4 and 6 of ECML-PKDD 2013 give, for each C, the epsilon that a method was given and the
passes T after which its own rule held.
"""

import pytest

from svmbench.data.catalogue import OwnFiles
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.solvers.stochastic.perceptron import PassParameters
from svmbench.solvers.stochastic.sgd_m import SgdM, SgdMParameters
from svmbench.solvers.stochastic.sgd_s import SgdS

#: By data set and C: epsilon and T of sgd-s, epsilon and T of sgd-m.
PUBLISHED = {
    ("a9a", 0.05): ((0.07, 10), (0.15, 6)),
    ("a9a", 1.0): ((0.105, 111), (0.33, 50)),
    ("a9a", 10.0): ((0.098, 1172), (0.35, 455)),
    ("w8a", 0.05): ((0.06, 2), (0.06, 2)),
    ("w8a", 1.0): ((0.054, 26), (0.1, 14)),
    ("w8a", 10.0): ((0.049, 220), (0.105, 99)),
}
FEATURES = {"a9a": 123, "w8a": 300}
WITHIN = 0.15


@pytest.fixture(scope="module")
def training_rows(real_data):
    """The training rows of a set, from the folder of raw files."""
    found = {}

    def rows(name):
        path = next(path for path in real_data.iterdir() if path.stem == name or path.name == name)
        if name not in found:
            own = OwnFiles(path=path, n_features=FEATURES[name], name=f"{name}-as-published")
            found[name] = load(own).train
        return found[name]

    return rows


def passes_until_its_rule_holds(run, data, C):
    """Passes over the data until P/D - 1 <= epsilon, and that gap."""
    problem = Problem(data, 1.0 / (C * data.n_samples))
    run.start(problem, 1)
    run.halts = True
    run.advance(3000 * data.n_samples)
    assert run.stopped
    return run.visits() / data.n_samples, problem.primal(run.w) / run.dual() - 1.0


@pytest.mark.parametrize(("name", "C"), PUBLISHED, ids=str)
def test_passes_are_the_published_ones(name, C, training_rows):
    (epsilon_s, T_s), (epsilon_m, T_m) = PUBLISHED[name, C]
    for run, epsilon, T in (
        (SgdS(PassParameters(epsilon=epsilon_s)), epsilon_s, T_s),
        (SgdM(SgdMParameters(epsilon=epsilon_m)), epsilon_m, T_m),
    ):
        passes, gap = passes_until_its_rule_holds(run, training_rows(name), C)
        assert passes == int(passes)  # the rule is tested after whole passes
        assert gap <= epsilon
        assert abs(passes - T) <= max(1.0, WITHIN * T), (run.name, passes, T)
