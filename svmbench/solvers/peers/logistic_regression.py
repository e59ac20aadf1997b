"""logistic-regression: scikit-learn's LogisticRegression."""

from __future__ import annotations

from typing import Literal

from svmbench.data.dataset import FloatArray
from svmbench.solvers.base import parameter
from svmbench.solvers.peers.peer import LimitedParameters, LimitedPeer, ScikitLearn


class ScikitLogisticParameters(LimitedParameters):
    method: Literal["lbfgs", "newton-cg", "newton-cholesky", "liblinear"] = parameter(
        "lbfgs",
        "Its solver. newton-cholesky: a d x d matrix is stored and factored. liblinear: "
        "scikit-learn's copy of LIBLINEAR, -s 0.",
        source="scikit-learn's default",
    )


class ScikitLogistic(ScikitLearn, LimitedPeer):
    """scikit-learn's LogisticRegression with one of its methods for dense and sparse rows."""

    name = "logistic-regression"
    summary = "scikit-learn's LogisticRegression: lbfgs, Newton or LIBLINEAR"
    source = "Pedregosa and others, JMLR 12 (2011); package scikit-learn"
    losses = ("logistic",)
    module = "sklearn.linear_model"
    schema = ScikitLogisticParameters
    mathematics = """
        problem  min ½‖w‖² + C Σ ln(1 + exp(-sᵢ)) with C = 1/(λm); fit_intercept is off
        lbfgs    quasi-Newton steps from ten pairs of differences, by SciPy
        newton   steps by conjugate gradients or by a Cholesky factor, with a line search
        stop     max |P'(w)| ≤ tolerance, lbfgs also if P falls by rounding only;
                 liblinear: ‖J'(w)‖ ≤ tolerance min(m₊, m₋)/m ‖J'(0)‖
        output   w
    """
    unstated = (
        *LimitedPeer.unstated,
        "Passes: it reports its iterations, but neither their line searches nor their "
        "conjugate-gradient iterations, so that presentations are too low.",
    )

    def _train(self) -> tuple[FloatArray, int]:
        estimator = self._program().LogisticRegression(
            solver=self.parameters.method,
            C=self._cost(),
            tol=self._tolerance(),
            max_iter=self._limit(),
            fit_intercept=False,
            random_state=self._seed,
        )
        fitted = self._fitted(estimator)
        self._iterations = int(fitted.n_iter_[0])
        return fitted.coef_, self._iterations
