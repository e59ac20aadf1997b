"""Told to halt, a method with a rule of its own returns when the rule first holds."""

import numpy as np
import pytest

from problems import PROBLEMS, at_start, with_class
from svmbench.solvers.registry import find_solver

RULES = [
    *(("auto", {"method": method}) for method in ("choose", "newton", "dual", "dual-newton")),
    ("dcd", {}),
    ("mpu", {"delta": 0.1}),
    ("ocas", {"tolerance": 1e-3}),
    ("sgd-m", {"epsilon": 0.1}),
    ("sgd-s", {"epsilon": 0.1}),
    ("smo", {"working_set": 8}),
    ("svmperf", {"epsilon": 1e-3}),
]


@pytest.mark.parametrize(("name", "parameters"), RULES, ids=str)
def test_it_returns_when_its_rule_first_holds_and_then_goes_on(name, parameters):
    problem = with_class(PROBLEMS["overlapping"], bias="free" if name == "smo" else "none")
    solver = find_solver(name)
    halting, patient = (at_start(solver, problem, 7, **parameters) for _ in range(2))
    halting.halts = True
    halting.advance(10**6)
    steps = 0
    while not patient.stopped:
        patient.advance(1)
        steps += 1
    assert 0 < steps < 10**6
    for _ in range(2):
        assert halting.stopped
        assert np.array_equal(halting.w, patient.w)
        assert halting.counters.presentations == patient.counters.presentations
        halting.advance(5)
        patient.advance(5)
