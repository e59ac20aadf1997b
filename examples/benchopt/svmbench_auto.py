"""svmbench's LinearSVC as a solver of benchopt's linear-SVM benchmark.

Run ``pip install '.[sklearn]'`` in the clone of svmbench, and put this file into the folder
``solvers`` of the benchmark:
https://github.com/benchopt/benchmark_linear_svm_binary_classif_no_intercept
"""

from benchopt import BaseObjective, BaseSolver, safe_import_context
from benchopt.stopping_criterion import SufficientProgressCriterion

with safe_import_context() as import_ctx:
    import numpy as np
    from scipy import sparse

    from svmbench import LinearSVC


class Solver(BaseSolver):
    """Certified training: a tolerance is a relative duality gap."""

    name = "svmbench"
    install_cmd = "conda"
    requirements = ["pip:scikit-learn"]  # noqa: RUF012, which benchopt reads as a list
    support_sparse = True

    # The first name is that of present versions of benchopt, the second that of versions up to 1.3.
    sampling_strategy = stopping_strategy = "tolerance"
    # A fit often ends far below its tolerance, and then the next few repeat it.
    stopping_criterion = SufficientProgressCriterion(strategy="tolerance", patience=10)

    def get_next(self, tolerance):
        """The next tolerance: a quarter. The first is infinite."""
        return max(min(tolerance, 1.0) / 4.0, 1e-12)

    def set_objective(self, X, y, C):
        """Take the problem; the layout of the rows is changed off the clock."""
        self.X = sparse.csr_matrix(X) if sparse.issparse(X) else np.ascontiguousarray(X)
        self.y, self.C = y, C

    def run(self, tolerance):
        """Train from scratch to a relative gap."""
        tol = min(tolerance, 1.0)
        model = LinearSVC(C=self.C, loss="hinge", fit_intercept=False, tol=tol)
        self.beta = model.fit(self.X, self.y).coef_.ravel()

    def get_result(self):
        """The weights: a dictionary, or for versions up to 1.3 an array."""
        return {"beta": self.beta} if hasattr(BaseObjective, "evaluate_result") else self.beta
