"""liblinear: LIBLINEAR as its authors distribute it."""

from __future__ import annotations

import ctypes
import re
from importlib import import_module
from typing import Any, Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.base import parameter
from svmbench.solvers.peers.peer import TolerantParameters, TolerantPeer

#: LIBLINEAR's -s by method and loss.
KINDS = {
    "dual": {"hinge": 3, "squared-hinge": 1, "logistic": 7},
    "primal": {"squared-hinge": 2, "logistic": 0},
}


class LiblinearParameters(TolerantParameters):
    method: Literal["dual", "primal"] = parameter(
        "dual",
        "dual: coordinate descent, -s 3 for the hinge, -s 1 for its square and -s 7 for the "
        "logistic loss. primal: a trust-region Newton method, -s 2 and -s 0, not for the hinge.",
        source="LIBLINEAR's default is -s 1",
    )


class Liblinear(TolerantPeer):
    """LIBLINEAR through its Python package, with its built-in limit of 300 iterations."""

    name = "liblinear"
    summary = "LIBLINEAR as distributed, with its limit of 300 iterations"
    source = "Fan, Chang, Hsieh, Wang and Lin, JMLR 9 (2008); package liblinear-official"
    losses = ("hinge", "squared-hinge", "logistic")
    package = "liblinear-official"
    module = "liblinear.liblinearutil"
    one_class = True
    schema = LiblinearParameters
    mathematics = """
        problem  min ½‖w‖² + C Σ max(0, 1 - sᵢ), -s 3, with C = 1/(λm); with the squares,
                 -s 1 and -s 2, C = 1/(2λm), because our P has a factor ½ before them; with
                 ln(1 + exp(-sᵢ)), -s 7 and -s 0, C = 1/(λm)
        dual     coordinate descent in random order, with shrinking
        primal   Newton's method, its steps by conjugate gradients
        stop     dual: projected gradients of the full set within an interval of length
                 tolerance, or for the logistic loss all of them below tolerance;
                 primal: ‖J'(w)‖ ≤ tolerance min(m₊, m₋)/m ‖J'(0)‖
        limit    300 iterations of the dual: for the hinge they end the run; for the others
                 the primal method then starts from scratch, with its own tolerance
        output   w
    """
    unstated = (
        *TolerantPeer.unstated,
        "Passes of Newton's method: one per step, and one per conjugate-gradient iteration.",
        "Seed: the program uses the C library's rand and never seeds it; we seed it with srand.",
        "The program has no option for the limit of iterations. linear-svc is the same method "
        "without the limit.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        if problem.loss.name not in KINDS[self.parameters.method]:
            raise RuntimeError("liblinear's method primal does not take loss hinge")
        super().start(problem, seed)
        self._exhausted = False

    @property
    def exhausted(self) -> bool:
        """Whether the limit of iterations ended the run."""
        return self._exhausted

    def _converted(self, rows: Any, labels: FloatArray) -> Any:
        import scipy.sparse  # type: ignore[import-untyped]

        # The package converts dense rows entry by entry in Python, which is slow.
        sparse = rows if scipy.sparse.issparse(rows) else scipy.sparse.csr_matrix(rows)
        # The package never swaps the labels +1 and -1.
        return self._program().problem(labels, sparse)

    def _train(self) -> tuple[FloatArray, int]:
        program = self._program()
        said: list[bytes] = []
        loss = self._problem.loss.name
        kind = KINDS[self.parameters.method][loss]
        options = f"-s {kind} -c {self._cost()!r} -e {self._tolerance()!r} -B -1 -q"
        asked = program.parameter(options)
        asked.print_func = import_module("liblinear.liblinear").PRINT_STRING_FUN(said.append)
        ctypes.CDLL(None).srand(ctypes.c_uint(self._seed))
        model = program.train(self._rows, asked)
        text = b"".join(said).decode()
        self._exhausted = "WARNING" in text and loss == "hinge"
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        w = np.zeros(self._problem.data.n_features)
        found = np.asarray(model.get_decfun()[0])
        w[: len(found)] = sign * found
        return w, _passes(text)


def _passes(said: str) -> int:
    """Passes over the rows that the program's output reports."""
    descents = sum(map(int, re.findall(r"#iter = (\d+)", said)))
    gradients = [int(count) for count in re.findall(r"^iter .* CG +(\d+)", said, re.MULTILINE)]
    return descents + len(gradients) + sum(gradients)
