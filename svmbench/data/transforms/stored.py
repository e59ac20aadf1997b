"""An explicit choice of storage, instead of the smallest form."""

from __future__ import annotations

from svmbench.data.dataset import Dataset
from svmbench.data.transforms.step import TrainAndTest, Transform


class Sparse(Transform):
    """Rows kept as column numbers and values, even where dense ones take fewer bytes.

    Values and precision are the same, so it isolates the cost of this form alone. Wherever it
    is among the transforms, it applies to their final result.
    """

    name = "sparse"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Return the rows unchanged: `apply_transforms` stores them at the end."""
        return train, test
