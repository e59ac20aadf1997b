"""What results must not change while the house does: `make golden` shows and writes it."""

import pytest
from golden.golden import PARTS, differences, made


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_results_are_those_of_before(part):
    assert differences(made(part)) == []
