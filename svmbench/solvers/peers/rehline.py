"""rehline: coordinate descent for piecewise linear and quadratic losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.solvers.peers.peer import LimitedPeer


class ReHLine(LimitedPeer):
    """ReHLine's solver."""

    name = "rehline"
    summary = "ReHLine: coordinate descent for piecewise linear-quadratic losses"
    source = "Dai and Qiu, NeurIPS 2023; package rehline"
    losses = ("hinge", "squared-hinge", "smoothed-hinge")
    package = "rehline"
    module = "rehline"
    one_class = True
    mathematics = """
        problem  min ½‖w‖² + Σ ReLU(uᵢ xᵢ·w + vᵢ) + Σ ReHU_τ(aᵢ xᵢ·w + bᵢ), ReLU(z) = max(0, z),
                 ReHU_τ(z) = ½ z² from 0 to τ and τ(z - τ/2) beyond. With C = 1/(λm):
                 hinge: uᵢ = -C yᵢ, vᵢ = C;  squared: aᵢ = -√C yᵢ, bᵢ = √C, τ = ∞;
                 smoothed: aᵢ = -√(C/γ) yᵢ, bᵢ = √(C/γ), τ = √(Cγ)
        dual     coordinate descent in random order, with shrinking
        stop     |P - D| ≤ tolerance max(1, |P|, |D|) for its own P and D
        output   w
    """

    def _train(self) -> tuple[FloatArray, int]:
        X, y = self._rows
        result = self._program().ReHLine_solver(
            X,
            **self._terms(y[np.newaxis]),
            max_iter=self._limit(),
            tol=self._tolerance(),
            shrink=1,
            verbose=0,
            coordinate_seed=self._seed,
        )
        self._iterations = int(result.niter)
        return result.beta, self._iterations

    def _terms(self, y: FloatArray) -> dict[str, Any]:
        """The loss as the program's arguments, each of shape (1, m), or (0, m) if unused."""
        loss = self._problem.loss
        C = 1.0 / (self._problem.lam * y.size)
        none = np.empty((0, y.size))
        if loss.name == "hinge":
            return {"U": -C * y, "V": np.full_like(y, C)}
        gamma, tau = 1.0, np.inf
        if loss.name == "smoothed-hinge":
            gamma, tau = loss.gamma, np.sqrt(C * loss.gamma)
        slope = np.sqrt(C / gamma)
        parabola = {"S": -slope * y, "T": np.full_like(y, slope), "Tau": np.full_like(y, tau)}
        return {"U": none, "V": none, **parabola}
