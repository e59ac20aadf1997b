"""sgd-classifier: scikit-learn's stochastic gradient descent."""

from __future__ import annotations

import math

from svmbench.data.dataset import FloatArray
from svmbench.solvers.base import parameter
from svmbench.solvers.peers.peer import PeerParameters
from svmbench.solvers.peers.scikit_learn import ScikitLearn

#: Epochs where none are given: nothing but the number of them is known to end it.
EPOCHS = 1024.0


class SgdClassifierParameters(PeerParameters):
    """Parameters of sgd-classifier."""

    epochs: float | None = parameter(
        None,
        "Epochs it makes, its max_iter, rounded up. Where none are given, a sweep runs 1, 2, 4, "
        "... to its limit, up to the first that has the tightest accuracy.",
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
    """scikit-learn's SGDClassifier, learning_rate optimal, for so many epochs."""

    name = "sgd-classifier"
    summary = "scikit-learn's SGDClassifier, so many epochs"
    source = "Pedregosa and others, JMLR 12 (2011); package scikit-learn"
    losses = ("hinge", "squared-hinge")
    horizon = "steps"
    horizon_parameter = "epochs"
    module = "sklearn.linear_model"
    colour = "#FF7F00"
    schema = SgdClassifierParameters
    mathematics = """
        problem  min α/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ) with α = λ; with the squares, α = 2λ and
                 twice our P; fit_intercept is off
        update   w = 0 at the start; t = 1, 2, ...; every epoch in a random order of the rows:
                     η = 1/(α (t₀ + t));   w ← (1 - ηα) w - η loss'(sᵢ) yᵢ xᵢ
                 t₀ by its own heuristic, from the size of the loss' derivative
        output   the last w, or the mean of all
    """

    def _train(self) -> tuple[FloatArray, int]:
        squared = self._problem.loss.name == "squared-hinge"
        epochs = math.ceil(self.parameters.epochs or EPOCHS)
        estimator = self._program().SGDClassifier(
            loss=self._problem.loss.name.replace("-", "_"),
            penalty="l2",
            alpha=(2.0 if squared else 1.0) * self._problem.lam,
            fit_intercept=False,
            max_iter=epochs,
            tol=None,
            learning_rate="optimal",
            average=self.parameters.average,
            n_jobs=1,
            random_state=self._seed,
        )
        return self._fitted(estimator).coef_, epochs
