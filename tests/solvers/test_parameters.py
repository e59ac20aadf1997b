"""Parameters outside their range are refused, for every solver of ours whose parameters have one.

tests/solvers/test_auto.py has the values that auto refuses.
"""

import pytest
from pydantic import ValidationError

from svmbench.solvers.checked import checked
from svmbench.solvers.registry import find_solver

#: By solver and parameter, values just outside its range, or none of its choices.
REFUSED = {
    "adagrad": {"eta": [0.0], "epochs": [0.0]},
    "asdca": {"theta": [0.0, 1.5], "batch": [0], "caution": [2.0]},
    "dcd": {"tolerance": [0.0], "restore_after": [-1.0]},
    "gd": {"eta0": [0.0]},
    "minibatch-bias": {"mu0": [0.0], "increment": [-1.0], "batch": [0], "form": ["own"]},
    "mpu": {"delta": [0.0], "precision": ["float32"]},
    "newton": {"tolerance": [0.0], "precision": ["float32"]},
    "ocas": {"tolerance": [0.0, 1.0]},
    "olbfgs": {"rank": [0], "gain": [0.0], "t0": [0.0]},
    "pegasos": {"batch": [0], "sampling": ["sequential"]},
    "seg-pm": {"eta0": [0.0]},
    "sgd-qn": {"t0": [0.5], "skip": [0], "sampling": ["cyclic"]},
    "sgd-s": {"epsilon": [0.0, -1.0], "comparison_coefficient": [0]},
    "sgd-sqrt": {"eta0": [-1.0]},
    "smd": {"output": ["random"]},
    "smo": {"tolerance": [0.0], "working_set": [1], "precision": ["float32"]},
    "svmasgd": {"eta0": [-1.0], "average_after": [-0.5]},
    "svmperf": {"epsilon": [0.0, 1.0], "unit": ["%"]},
    "svmsgd": {"eta0": [0.0], "order": ["random"], "bias_rate": [0.0]},
    "svmsgd2": {"t0": [0.5], "skip": [0], "sampling": ["cyclic"]},
}


@pytest.mark.parametrize(
    ("solver", "name", "value"),
    [
        (solver, name, value)
        for solver, ranges in REFUSED.items()
        for name, values in ranges.items()
        for value in values
    ],
)
def test_a_value_outside_its_range_is_refused(solver, name, value):
    with pytest.raises(ValidationError, match=f"\n{name}\n  Input should be "):
        checked(find_solver(solver).schema, {name: value})
