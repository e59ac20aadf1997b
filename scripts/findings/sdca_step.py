"""The step of SDCA as a course report prints it, with an obvious correction, and in correct form.

All three store the dual variables with their labels' signs, a_i = y_i alpha_i, like the report:
w = 1/(lam m) sum a_i x_i. Only the clip differs; the unclipped step is the same in all three.
"""

from __future__ import annotations

import numpy as np
from measure import catalogued, lower_bound, made, markdown, matrix, wants_real

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem

#: Least and largest a_i y_i for y_i = +1 and y_i = -1.
FORMS = {
    "right": {+1: (0.0, 1.0), -1: (0.0, 1.0)},
    "as printed": {+1: (-1.0, np.inf), -1: (-np.inf, 1.0)},
    "clipped to [-1, 1]": {+1: (-1.0, 1.0), -1: (-1.0, 1.0)},
}
PASSES = (1, 10, 400)


def ascend(problem: Problem, form: str) -> list[tuple[float, FloatArray, FloatArray]]:
    """Dual value, w and alpha = y a after each number of ``PASSES`` over permuted rows."""
    X, y, lam = matrix(problem.data), problem.data.labels, problem.lam
    m, norms2 = len(y), (X * X).sum(axis=1)
    rng = np.random.default_rng(1)
    alpha, w = np.zeros(m), np.zeros(X.shape[1])
    bounds = [FORMS[form][int(sign)] for sign in y]
    seen = []
    for number in range(1, PASSES[-1] + 1):
        for i in rng.permutation(m):
            if norms2[i] == 0.0:
                continue
            least, largest = bounds[i]
            new = alpha[i] + (1.0 - y[i] * (X[i] @ w)) * lam * m / norms2[i]
            new = min(max(new, least), largest)
            w += (new - alpha[i]) * y[i] * X[i] / (lam * m)
            alpha[i] = new
        if number in PASSES:
            w = (alpha * y) @ X / (lam * m)
            value = float(alpha.mean() - 0.5 * lam * (w @ w))
            seen.append((value, w.copy(), alpha.copy()))
    return seen


def gaussian(m: int, d: int) -> Problem:
    """Normal rows, labelled by a hyperplane; a tenth of the labels are random."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(m, d))
    y = np.where(X @ rng.normal(size=d) > 0.0, 1, -1)
    drawn = rng.random(m) < 0.1
    y[drawn] = rng.choice([-1, 1], size=int(drawn.sum()))
    return made(f"gaussian {m} x {d}", X, y, 0.01)


def shown(accuracy: float) -> str:
    """An accuracy, to the precision that D_ref supports."""
    return f"{accuracy:.1e}" if accuracy > 1e-8 else "< 1e-8"


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        return
    problems = [catalogued("tiny-dense", 0.01), gaussian(200, 20)]
    ends, values, blank = [], [], [""] * (len(PASSES) - 1)
    for problem in problems:
        least = lower_bound(problem, 1e-9)
        for form in FORMS:
            seen = ascend(problem, form)
            _, w, alpha = seen[-1]
            outside = np.count_nonzero((alpha < 0.0) | (alpha > 1.0))
            ends.append(
                (
                    problem.data.name,
                    form,
                    f"{outside} of {len(alpha)}",
                    f"{alpha.max():.3g}",
                    f"{problem.primal(w):.4g}",
                    shown(problem.primal(w) / least - 1.0),
                )
            )
            values.append((problem.data.name, form, *(f"{one[0]:.5g}" for one in seen)))
        values.append((problem.data.name, "P*, certified", *blank, f"{least:.5g}"))
    header = ("data", "step", "α outside [0, 1]", "largest α", "P(w)", "P(w)/P* - 1")
    print(markdown(header, ends))
    print(markdown(("data", "step", *(f"pass {n}" for n in PASSES)), values), end="")


if __name__ == "__main__":
    main()
