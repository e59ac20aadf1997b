"""snapml: IBM's Snap Machine Learning."""

from __future__ import annotations

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.peers.peer import LimitedPeer


class SnapMl(LimitedPeer):
    """snapml's SupportVectorMachine and LogisticRegression on one thread."""

    name = "snapml"
    summary = "Snap ML's SupportVectorMachine or LogisticRegression, one thread"
    source = "Dünner and others, NeurIPS 2018; package snapml"
    losses = ("hinge", "squared-hinge", "logistic")
    package = "snapml"
    module = "snapml"
    mathematics = """
        problem  min r/2 ‖w‖² + Σ max(0, 1 - sᵢ) with regularizer r = λm; with the squares,
                 r = 2λm, because our P has a factor ½ before them; with
                 ln(1 + exp(-sᵢ)), its LogisticRegression, r = λm; fit_intercept is off
        dual     stochastic coordinate descent; its source is closed
        stop     the largest change of a weight in a pass, relative, below tolerance
        output   w
    """
    unstated = (
        *LimitedPeer.unstated,
        "Precision: the program converts the values to single precision during its training time.",
        "Seed: its random_state serves another method; its order of rows is the same in every run.",
    )

    def convert(self, problem: Problem) -> None:
        if problem.data.nnz == 0:
            raise RuntimeError("snapml refuses rows that are all zero; leave it out there")
        super().convert(problem)

    def _train(self) -> tuple[FloatArray, int]:
        program, loss = self._program(), self._problem.loss.name
        logistic = loss == "logistic"
        model = (program.LogisticRegression if logistic else program.SupportVectorMachine)(
            **({} if logistic else {"loss": loss.replace("-", "_")}),
            regularizer=1.0 / self._cost(),
            tol=self._tolerance(),
            max_iter=self._limit(),
            fit_intercept=False,
            n_jobs=1,
            random_state=self._seed,
        )
        fitted = model.fit(*self._rows)
        self._iterations = int(fitted.n_iter_)
        return fitted.coef_, self._iterations
