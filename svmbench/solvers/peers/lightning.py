"""lightning: coordinate descent in the dual from scikit-learn-contrib."""

from __future__ import annotations

from svmbench.data.dataset import FloatArray
from svmbench.solvers.peers.peer import UNLIMITED, LimitedPeer


class Lightning(LimitedPeer):
    """lightning's LinearSVC."""

    name = "lightning"
    summary = "lightning's LinearSVC: coordinate descent in the dual"
    source = "Blondel and Pedregosa, Lightning, 2016; package sklearn-contrib-lightning"
    losses = ("hinge", "squared-hinge")
    package = "sklearn-contrib-lightning"
    module = "lightning.classification"
    remedy = "pip install sklearn-contrib-lightning, with help: see docs/measuring.md, Peers"
    colour = "#6A3D9A"
    mathematics = """
        problem  min ½‖w‖² + C Σ max(0, 1 - sᵢ) with C = 1/(λm); with the squares, C = 1/(2λm),
                 because our P has a factor ½ before them
        dual     coordinate descent in random order, with shrinking
        stop     projected gradients of the full set within an interval of length tolerance
        output   w
    """
    unstated = (
        *LimitedPeer.unstated,
        "Passes: counted by a callback once per pass; the program reports them in no other way.",
    )

    def _train(self) -> tuple[FloatArray, int]:
        passes = 0

        def count(_: object) -> None:
            nonlocal passes
            passes += 1

        estimator = self._program().LinearSVC(
            C=self._cost(),
            loss=self._problem.loss.name.replace("-", "_"),
            tol=self._tolerance(),
            max_iter=self._limit(),
            permute=True,
            shrinking=True,
            random_state=self._seed,
            callback=count,
            n_calls=UNLIMITED,  # rows between two calls: one call per pass
        )
        fitted = estimator.fit(*self._rows)
        self._iterations = passes
        return fitted.coef_, passes
