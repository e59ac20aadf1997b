"""Decision values against sums in the order of the columns, for every storage."""

import numpy as np
import pytest

from problems import dataset, dense, every_storage
from svmbench.kernels.normal import decision_values


@every_storage
@pytest.mark.parametrize("known", [0, 5, 9, 12])
@pytest.mark.parametrize("classes", [1, 3])
def test_columns_are_added_in_their_order(storage, known, classes):
    rng = np.random.default_rng(0)
    X = (rng.random((23, 9)) < 0.6) * rng.normal(size=(23, 9)).astype(np.float32)
    X[3] = 0.0
    data = dataset(X, np.ones(23, dtype=np.int8), storage)
    weights = rng.normal(size=(known, classes))
    wanted = np.zeros((23, classes))
    for j in range(min(9, known)):
        wanted += dense(data)[:, j : j + 1] * weights[j]
    assert np.array_equal(decision_values(data.rows, weights), wanted)
