"""lightning: coordinate descent from scikit-learn-contrib."""

from __future__ import annotations

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.peers.peer import UNLIMITED, LimitedPeer


class Lightning(LimitedPeer):
    """lightning's LinearSVC, and its CDClassifier for the logistic loss."""

    name = "lightning"
    summary = "lightning's LinearSVC (dual) or CDClassifier (primal): coordinate descent"
    source = "Blondel and Pedregosa, Lightning, 2016; package sklearn-contrib-lightning"
    losses = ("hinge", "squared-hinge", "logistic")
    package = "sklearn-contrib-lightning"
    module = "lightning.classification"
    remedy = "pip install sklearn-contrib-lightning, with help: see docs/peers.md"
    mathematics = """
        problem  min ½‖w‖² + C Σ max(0, 1 - sᵢ) with C = 1/(λm); with the squares, C = 1/(2λm),
                 because our P has a factor ½ before them; with ln(1 + exp(-sᵢ)), C = 1/(λm)
        hinges   coordinate descent in the dual in random order, with shrinking; stop if the
                 projected gradients of the full set are within an interval of length tolerance
        logistic coordinate descent in the primal, its CDClassifier, features in random order,
                 with a line search and shrinking; stop if Σ |J'(w)ⱼ| of a pass is at most
                 tolerance min(m₊, m₋)/m times that of the first
        output   w
    """
    unstated = (
        *LimitedPeer.unstated,
        "Passes: counted by a callback once per pass; the program reports them in no other way.",
    )

    def convert(self, problem: Problem) -> None:
        super().convert(problem)
        rows, labels = self._rows
        if problem.loss.name == "logistic" and not (rows.T @ labels).any():
            # CDClassifier compares with the gradient at w = 0, and never stops if that is zero.
            raise RuntimeError("lightning refuses rows with w = 0 as optimum; leave it out there")

    def _train(self) -> tuple[FloatArray, int]:
        passes = 0

        def count(_: object) -> None:
            nonlocal passes
            passes += 1

        program, loss = self._program(), self._problem.loss.name
        logistic = loss == "logistic"
        estimator = (program.CDClassifier if logistic else program.LinearSVC)(
            C=self._cost(),
            loss="log" if logistic else loss.replace("-", "_"),
            tol=self._tolerance(),
            max_iter=self._limit(),
            permute=True,
            shrinking=True,
            random_state=self._seed,
            callback=count,
            n_calls=UNLIMITED,  # rows or features between two calls: one call per pass
        )
        fitted = estimator.fit(*self._rows)
        self._iterations = passes
        return fitted.coef_, passes
