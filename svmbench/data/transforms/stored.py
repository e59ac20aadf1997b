"""How the rows are to be stored, whatever takes the least room."""

from __future__ import annotations

from svmbench.data.dataset import Dataset
from svmbench.data.transforms.step import Pair, Transform


class Sparse(Transform):
    """Rows kept as column numbers and values, even where dense ones take fewer bytes.

    The values are the same, and so is their precision: it tells what this form alone costs.
    Wherever it stands among the transforms, it is about the rows that come of them all.
    """

    name = "sparse"

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Leave the rows as they are: `apply_transforms` stores them when all is done."""
        return train, test
