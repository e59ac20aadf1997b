"""What two certified answers to one problem must have in common, and what a tolerance proves.

P is lambda-strongly convex, so that lambda/2 ||w - w*||^2 <= P(w) - P*: with a lower bound D on
P*, every w lies within sqrt(2 (P(w) - D)/lambda) of w*. Nothing here is fitted; the one allowance
is for rounding, `ROUNDING` times the size of what was summed.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from twins.objective import gap_of

#: Sums of m <= 1e5 terms and products of d <= 1e5 entries in float64, most of them far smaller:
#: u sqrt(m) = 4e-14 is what to expect and this is a multiple of it.
ROUNDING = 1e-12

#: Projected gradients that coordinate descent leaves alone (LIBLINEAR, and so ours).
SKIPPED = 1e-12


def matrix(data):
    """The rows of a data set as a scipy matrix in float64, as other programs take them."""
    if data.indices is None:
        return scipy.sparse.csr_matrix(data.values.astype(np.float64))
    values = np.ones(data.nnz) if data.values is None else data.values.astype(np.float64)
    shape = (data.n_samples, data.n_features)
    return scipy.sparse.csr_matrix((values, data.indices.astype(np.int32), data.indptr), shape)


def norms(X):
    """||x_i||, shape (m,)."""
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())


def distance(problem, primal, dual):
    """A bound on ||w - w*|| for a w of that P, by a lower bound on P*."""
    excess = max(primal - dual, 0.0) + ROUNDING * max(1.0, primal)
    return np.sqrt(2.0 * excess / problem.lam)


def assert_same_answer(problem, first, second, dual):
    """Two weight vectors and what they predict differ by no more than certificates allow."""
    apart = sum(distance(problem, problem.primal(w), dual) for w in (first, second))
    assert np.linalg.norm(first - second) <= apart
    doubt = norms(matrix(problem.data)) * apart
    assert_same_predictions(problem, ((first, 0.0), (second, 0.0)), doubt)


def assert_same_plane(problem, first, second, alpha):
    """The same for two pairs of w and a free b, of hinge problems, by duals that certify both.

    A row whose term is at least min(alpha_i, 1 - alpha_i)|1 - s_i|, and at most m times the gap,
    tells how far b can be from y_i - w.x_i.
    """
    m, lengths = problem.data.n_samples, norms(matrix(problem.data))
    excesses = [gap_of(problem, w, alpha, b) + ROUNDING for w, b in (first, second)]
    apart = np.sum(np.sqrt(2.0 * np.array(excesses) / problem.lam))
    assert np.linalg.norm(first[0] - second[0]) <= apart
    inside = np.minimum(alpha, 1.0 - alpha)
    i = np.argmax(inside)
    shift = lengths[i] * apart + m * sum(excesses) / inside[i] if inside[i] > 0.0 else np.inf
    assert abs(first[1] - second[1]) <= shift
    assert_same_predictions(problem, (first, second), lengths * apart + shift)


def assert_same_predictions(problem, points, doubt):
    """Signs agree, and rows err, in both or in neither wherever a score exceeds its ``doubt``."""
    X, y = matrix(problem.data), problem.data.labels
    scores = [X @ w + b for w, b in points]
    clear = np.abs(scores[0]) > doubt
    np.testing.assert_array_equal(np.sign(scores[0][clear]), np.sign(scores[1][clear]))
    wrong = int(np.sum(y[clear] * scores[0][clear] <= 0.0))
    for w, b in points:
        assert wrong <= problem.evaluate(w, b).errors <= wrong + int(np.sum(~clear))


def certified(solver, problem, gap=1e-10):
    """Our solver, run until its own pair of points is certified to ``gap``, in units of P(0)."""
    run = solver()
    run.start(problem, 1)
    steps = 20 * problem.data.n_samples if solver.step == "presentation" else 1
    for _ in range(1000):
        run.advance(steps)
        if gap_of(problem, run.w, problem.repaired(run.alpha), run.bias) <= gap:
            return run
    raise AssertionError(f"{solver.name} was not certified")


def carried(problem, w, tolerance):
    """How far each margin can have moved since coordinate descent left its row, shape (m,).

    For a w at which a pass over all rows stayed within ``tolerance``. Row j was moved in that
    pass only if its |gradient| <= tolerance as it came up, and then by no more than
    tolerance/(||x_j||^2 + nu lambda m): w moved by no more than `reach`, their sum over the rows
    that can have been moved, each times ||x_j||. For the hinge (nu = 0) the gradient is s_j - 1, so
    that the last margins tell which rows these can be: from all of them downwards.
    """
    lengths = norms(matrix(problem.data))
    m = problem.data.n_samples
    if problem.loss.name == "squared-hinge":
        reach = tolerance * np.sum(lengths / (lengths**2 + problem.lam * m))
    else:
        off = np.abs(problem.data.labels * (matrix(problem.data) @ w) - 1.0)
        inverse = np.divide(1.0, lengths, out=np.zeros(m), where=lengths > 0.0)
        reach = tolerance * inverse.sum()
        for _ in range(100):
            reach = tolerance * inverse[off <= tolerance + lengths * reach].sum()
    return lengths * reach + SKIPPED


def descent_gap(problem, w, tolerance):
    """The gap P(w) - D(alpha) that such a pass can leave.

    Right after its visit a row's term of the gap is zero: the variable is 0 and s >= 1, at its
    upper bound and s <= 1, or between and the gradient 0. What carries s by c afterwards raises it
    to c^2/2 at most for the squared hinge. For the hinge it stays zero while s stays on its side
    of 1, and is |s - 1| at most where it does not.
    """
    moved = carried(problem, w, tolerance)
    if problem.loss.name == "squared-hinge":
        return 0.5 * np.mean(moved**2)
    off = np.abs(problem.data.labels * (matrix(problem.data) @ w) - 1.0)
    return np.mean(np.where(off <= moved, off, 0.0))


def gradient_gap(problem, tolerance):
    """P(w) - P* for the squared hinge where the gradient is small compared to that at zero.

    |J'(w)| <= tolerance min(positives, negatives)/m |J'(0)|, and J = P/lambda is 1-strongly convex.
    """
    X, y = matrix(problem.data), problem.data.labels.astype(np.float64)
    m = len(y)
    rarer = max(min(np.sum(y > 0.0), np.sum(y < 0.0)), 1)
    first = np.linalg.norm(X.T @ y) / (problem.lam * m)
    return problem.lam / 2.0 * (tolerance * rarer / m * first) ** 2
