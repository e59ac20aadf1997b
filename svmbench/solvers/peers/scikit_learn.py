"""Common base of the peers from scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

from svmbench.solvers.peers.peer import Peer


class ScikitLearn(Peer):
    """An estimator of scikit-learn. Its checks of its input count as training."""

    package = "scikit-learn"

    def _fitted(self, estimator: Any) -> Any:
        """Train the estimator; suppress its warning that the limit of iterations was reached."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return estimator.fit(*self._rows)
