"""linear-svc: LIBLINEAR as scikit-learn distributes it."""

from __future__ import annotations

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.peers.liblinear import LiblinearParameters
from svmbench.solvers.peers.peer import LimitedParameters, LimitedPeer, ScikitLearn


class LinearSvcParameters(LimitedParameters, LiblinearParameters):
    """Parameters of linear-svc."""


class LinearSvc(ScikitLearn, LimitedPeer):
    """scikit-learn's LinearSVC: its own copy of LIBLINEAR, without a limit of iterations."""

    name = "linear-svc"
    summary = "scikit-learn's LinearSVC: LIBLINEAR without a limit of iterations"
    source = "Pedregosa and others, JMLR 12 (2011); package scikit-learn"
    losses = ("hinge", "squared-hinge")
    module = "sklearn.svm"
    schema = LinearSvcParameters
    mathematics = """
        problem  min ½‖w‖² + C Σ max(0, 1 - sᵢ) with C = 1/(λm); with the squares, C = 1/(2λm),
                 because our P has a factor ½ before them; fit_intercept is off
        dual     coordinate descent in random order, with shrinking
        primal   a trust-region Newton method
        stop     dual: projected gradients of the full set within an interval of length
                 tolerance; primal: ‖J'(w)‖ ≤ tolerance min(m₊, m₋)/m ‖J'(0)‖
        output   w
    """
    unstated = (
        *LimitedPeer.unstated,
        "Passes of Newton's method: it reports its steps but not their conjugate-gradient "
        "iterations, so that presentations are too low.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        if self.parameters.method == "primal" and problem.loss.name != "squared-hinge":
            raise RuntimeError("linear-svc's method primal takes loss squared-hinge only")
        super().start(problem, seed)

    def _train(self) -> tuple[FloatArray, int]:
        estimator = self._program().LinearSVC(
            loss=self._problem.loss.name.replace("-", "_"),
            dual=self.parameters.method == "dual",
            C=self._cost(),
            tol=self._tolerance(),
            max_iter=self._limit(),
            fit_intercept=False,
            random_state=self._seed,
        )
        fitted = self._fitted(estimator)
        self._iterations = int(fitted.n_iter_)
        return fitted.coef_, self._iterations
