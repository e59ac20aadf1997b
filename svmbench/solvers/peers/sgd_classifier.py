"""sgd-classifier: scikit-learn's stochastic gradient descent."""

from __future__ import annotations

import math

from svmbench.data.dataset import FloatArray
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.peers.peer import ScikitLearn

#: Epochs if none are given. Only the number of epochs ends a run.
EPOCHS = 1024.0


class SgdClassifierParameters(Parameters):
    epochs: float | None = parameter(
        None,
        "Epochs of the run, its max_iter, rounded up. If it is not given, a sweep runs 1, 2, 4, "
        "... up to its limit or the first that reaches the tightest accuracy.",
        source="ours; scikit-learn's is 1000, fewer when the training loss no longer falls by tol",
        unit="epochs",
        gt=0.0,
    )
    average: bool = parameter(
        False,
        "Whether the output is the mean of all iterates.",
        source="scikit-learn's default",
    )


class SgdClassifier(ScikitLearn):
    """scikit-learn's SGDClassifier with learning_rate optimal, for a given number of epochs."""

    name = "sgd-classifier"
    summary = "scikit-learn's SGDClassifier, for a given number of epochs"
    source = "Pedregosa and others, JMLR 12 (2011); package scikit-learn"
    losses = ("hinge", "squared-hinge", "logistic")
    horizon = "steps"
    horizon_parameter = "epochs"
    module = "sklearn.linear_model"
    schema = SgdClassifierParameters
    mathematics = """
        problem  min α/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ) with α = λ; with the squares, α = 2λ and
                 twice our P; with ln(1 + exp(-sᵢ)), α = λ; fit_intercept is off
        update   w = 0 at the start; t = 1, 2, ...; every epoch in a random order of the rows:
                     η = 1/(α (t₀ + t));   w ← (1 - ηα) w - η loss'(sᵢ) yᵢ xᵢ
                 its own heuristic sets t₀ from the size of the loss's derivative
        output   the last w, or the mean of all
    """

    def _train(self) -> tuple[FloatArray, int]:
        loss = self._problem.loss.name
        epochs = math.ceil(self.parameters.epochs or EPOCHS)
        estimator = self._program().SGDClassifier(
            loss="log_loss" if loss == "logistic" else loss.replace("-", "_"),
            penalty="l2",
            alpha=(2.0 if loss == "squared-hinge" else 1.0) * self._problem.lam,
            fit_intercept=False,
            max_iter=epochs,
            tol=None,
            learning_rate="optimal",
            average=self.parameters.average,
            n_jobs=1,
            random_state=self._seed,
        )
        return self._fitted(estimator).coef_, epochs
