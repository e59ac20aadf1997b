"""mpu: the margin perceptron with unlearning."""

from __future__ import annotations

import math

from svmbench.data.dataset import FloatArray
from svmbench.errors import ConfigError
from svmbench.kernels.mpu import MarginPerceptron
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.row_method import DualMethod

#: Largest count up to which doubles represent every integer.
LARGEST_COUNT = 2.0**53


class MpuParameters(Parameters):
    delta: float | None = parameter(
        None,
        "Relative gap P/D - 1 that a pass without change guarantees. It determines N, the number "
        "of values of a dual variable, before the run. If it is not given: 0.01.",
        source="ours; ICML 2010 chooses the accuracy before the run",
        gt=0.0,
    )


class Mpu(DualMethod):
    """Perceptron updates at margins up to b, undone at margins beyond b + ||x_i||^2.

    With integers 0 <= I_i <= N, a = sum I_i y_i x_i and b = N lambda m, the weights are a/b and
    alpha_i = I_i/N. After a pass without change every row with I_i < N has no loss, and every
    row with I_i > 0 has a margin of at most 1 + g, g = max ||x_i||^2/b, so that P/D - 1 is at most
    2g/(1 - g). N is the least value for which this is at most delta.
    """

    name = "mpu"
    summary = "Margin perceptron with unlearning: integer duals, accuracy fixed before the run"
    source = "Panagiotakopoulos and Tsampouka, ICML 2010; its steps and stop are reconstructed"
    horizon = "accuracy"
    horizon_parameter = "delta"
    anytime = True
    schema = MpuParameters
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   integers 0 ≤ Iᵢ ≤ N, 0 at the start; a = Σ Iᵢ yᵢ xᵢ, b = Nλm; the next
             row i of a new permutation, p = yᵢ a·xᵢ:
                 learn    p ≤ b and Iᵢ < N:       κ = min(N - Iᵢ, floor((b-p)/nᵢ) + 1)
                          Iᵢ ← Iᵢ + κ,  a ← a + κ yᵢ xᵢ
                 unlearn  p > b + nᵢ and Iᵢ > 0:  κ = min(Iᵢ, floor((p-b)/nᵢ))
                          Iᵢ ← Iᵢ - κ,  a ← a - κ yᵢ xᵢ
    stop     after a pass without change, which proves P/D - 1 ≤ δ for
             N = ceil((2+δ) max nᵢ/(δλm))
    output   w = a/b; αᵢ = Iᵢ/N is feasible, so that D(α) ≤ P*
    cost     nnz of the row, nnz more where Iᵢ moves
"""
    reconstructed = (
        "The steps of learning and unlearning, from the paper's description of them.",
        "The strict inequality of unlearning, exceeded by one part in 1e12: otherwise a row at "
        "equality would be learnt and unlearnt for ever.",
        "The stop after a pass without change, and N for a δ: they follow from these steps.",
    )
    unstated = ("The order of the rows: a new permutation in every pass.",)

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        self._problem = problem
        self._rng = Generator(seed)
        self._delta: float = self.parameters.delta or 0.01
        self._take(MarginPerceptron(data.rows), drawn=True)
        most = self._largest_count()
        self._kernel.begin(most, most * problem.lam * data.n_samples)
        self._stopped = False
        self._rng.shuffle(self._order)

    def _end_pass(self) -> None:
        self._stopped = self._stopped or self._kernel.changes == 0
        self._rng.shuffle(self._order)
        self._kernel.begin_pass()

    @property
    def w(self) -> FloatArray:
        w: FloatArray = self._kernel.a / self._kernel.threshold
        return w

    @property
    def alpha(self) -> FloatArray:
        """The dual variables I_i/N, shape (m,); a new array."""
        alpha: FloatArray = self._kernel.alpha / self._kernel.most
        return alpha

    @property
    def stopped(self) -> bool:
        """Whether a pass changed nothing."""
        return self._stopped

    @property
    def exhausted(self) -> bool:
        """Whether a pass has changed nothing: no later pass would change anything either."""
        return self._stopped

    def _largest_count(self) -> float:
        """N, which determines b: rounding b separately would make the two inconsistent."""
        problem, delta = self._problem, self._delta
        longest2 = float(self._kernel.norms2.max())
        most = (2.0 + delta) * longest2 / (delta * problem.lam * problem.data.n_samples)
        if not most <= LARGEST_COUNT:
            raise ConfigError(
                f"solver {self.name}: delta {delta:g} needs {most:.2g} values per dual variable, "
                "more than 2^53; raise delta or scale the rows"
            )
        return float(max(math.ceil(most), 1))
