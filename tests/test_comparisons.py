"""`assert_close` accepts and refuses what `np.testing.assert_allclose` does."""

import numpy as np
import pytest

from problems import assert_close

INF, NAN = np.inf, np.nan


def accepts(check, found, expected):
    try:
        check(found, expected)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("found", "expected", "close"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 1e-9], True),
        ([1.0, 2.0], [1.0, 2.1], False),
        ([0.0], [1e-12], False),
        ([NAN, 1.0], [NAN, 1.0], True),
        ([NAN], [1.0], False),
        ([1.0], [NAN], False),
        ([INF, -INF], [INF, -INF], True),
        ([INF], [-INF], False),
        ([1.0], [INF], False),
        ([INF], [1.0], False),
        ([1.0, 1.0], [1.0], False),
        ([], [], True),
        (2.0, 2.0, True),
        (2.0, 3.0, False),
    ],
)
def test_what_is_close(found, expected, close):
    assert accepts(np.testing.assert_allclose, found, expected) is close
    assert accepts(assert_close, found, expected) is close
