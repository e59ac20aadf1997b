"""Stand-ins meet the published figures of the real sets, and what is recorded of it is true."""

import math

import pytest

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.catalogue import entry, names
from svmbench.data.shape import (
    ERROR_TOLERANCE,
    PRIMAL_TOLERANCE,
)
from svmbench.data.synthetic import GENERATOR_VERSION
from svmbench.data.transforms import scales_between

TARGETS = [(name, number) for name in names() for number, _ in enumerate(entry(name).targets)]


def chain(name, target):
    spec = {"name": name, "transforms": list(target.transforms)}
    return DatasetSpec.model_validate(spec).chain


@pytest.mark.parametrize(("name", "number"), TARGETS)
def test_every_target_is_met(name, number):
    found = entry(name)
    target = found.targets[number]
    reached = target.reached
    assert reached is not None
    assert reached.generator == GENERATOR_VERSION, "run scripts/calibrate.py NAME --record"
    # At full size: whatever the published rows leave out, the stand-in may leave out.
    _, most = scales_between(chain(name, target), found.stand_in.m, found.stand_in.m_test)
    assert reached.scale == pytest.approx(most)
    if target.primal is not None:
        assert abs(math.log(reached.primal / target.primal)) <= PRIMAL_TOLERANCE
    if target.test_error is not None:
        assert reached.test_error is not None
        assert abs(math.log(reached.test_error / target.test_error)) <= ERROR_TOLERANCE
