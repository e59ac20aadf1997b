"""What the peers from scikit-learn have in common."""

from __future__ import annotations

import warnings
from typing import Any

from svmbench.solvers.peers.peer import Peer


class ScikitLearn(Peer):
    """An estimator of scikit-learn. Its checks of what it is handed are part of its training."""

    package = "scikit-learn"

    def _fitted(self, estimator: Any) -> Any:
        """The estimator, trained; that its limit ended it is no news to us."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return estimator.fit(*self._rows)
