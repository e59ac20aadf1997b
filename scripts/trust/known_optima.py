"""Random problems with known optima, constructed around their optimum.

The construction first draws margins s_i, which determine alpha_i through the loss's slope. It then
chooses rows for which w* has these margins and satisfies the condition of optimality,

    x_i = (y_i s_i - b)/||w*||^2 w* + r_i,   r_i orthogonal to w*,
    sum_i alpha_i y_i x_i = lam m u,   u = w*, or w* + tau g with g in the subdifferential of
                                       ||w*||_1 where a ball of that radius confines w.

The component along w* gives lam. Shifts of each r_i in proportion to alpha_i satisfy the orthogonal
component. With a free bias the alpha of the two classes come in pairs, so that
sum_i alpha_i y_i = 0. The rows are then stored in double or single precision. P(w*) and D(alpha*),
both in extended precision, enclose the optimum of the stored rows: this interval is proved,
whatever the rounding errors of the construction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray, Provenance
from svmbench.problem import Loss, Problem
from svmbench.verify.extended import Facts, dual, evaluate

#: Kinds of problems; they determine the shares of the kinds of margins.
SHAPES = (
    "ordinary",
    "separable",
    "one class",
    "duplicates",
    "zero rows",
    "contradictory",
    "only contradictions",
    "one feature",
    "one row",
)

SCALES = (1e-8, 1e-4, 1.0, 1.0, 1.0, 1e4, 1e8)

#: Ratio of the size of rows orthogonal to w* to their size along it.
CONDITIONS = (0.1, 1.0, 10.0, 100.0, 1e4)

STORAGES = ("int32+float64", "uint16+float32", "dense float64", "dense float32")


@dataclass(frozen=True, eq=False)
class Known:
    """A problem with an interval that contains its optimum."""

    problem: Problem
    lower: float  # lower, upper: lower <= P* <= upper, up to ``rounding``
    upper: float
    rounding: float  # rounding error of P or D near the optimum, computed in doubles
    shape: str
    scale: float  # factor of the features
    condition: float  # one of `CONDITIONS`; 0 for one feature

    @property
    def gap(self) -> float:
        """Relative width of the interval; inf where its lower end is not positive."""
        return (self.upper - self.lower) / self.lower if self.lower > 0.0 else math.inf

    @property
    def words(self) -> str:
        """The problem in one line."""
        problem = self.problem
        data = problem.data
        return (
            f"{self.shape}, {problem.loss.name}, bias {problem.bias}, {problem.constraint}, "
            f"m {data.n_samples}, d {data.n_features}, lam {problem.lam:.1e}, "
            f"scale {self.scale:g}, condition {self.condition:g}, {data.storage}"
        )


def known_problem(
    seed: int,
    loss: str = "hinge",
    bias: str = "none",
    constraint: str = "none",
    shape: str | None = None,
    largest: int = 2000,
    condition: float | None = None,
) -> Known:
    """A random problem of this class; the seed determines everything else.

    - ``loss, bias, constraint``: names as in `svmbench.problem`.
    - ``shape``: one of `SHAPES`; by default random.
    - ``largest``: most rows and most features.
    - ``condition``: one of `CONDITIONS`; by default random.
    """
    rng = np.random.default_rng(seed)
    shapes = [s for s in SHAPES if bias == "none" or s not in ("one class", "one row")]
    if constraint == "l1":
        shapes.remove("only contradictions")  # w* = 0: there is no ball of its radius
    shape = str(rng.choice(shapes)) if shape is None else shape
    m = 1 if shape == "one row" else 2 * round(0.5 * _log_uniform(rng, 2.0, largest))
    d = 1 if shape == "one feature" else round(_log_uniform(rng, 1.0, largest))
    while m * d > 500_000:
        m, d = max(2, m // 4 * 2), max(1, d // 2)
    if constraint == "l1":
        d = max(d, 2)
    kind = Loss(loss, float(rng.choice([0.01, 0.5, 1.0])))
    drawn = float(rng.choice(CONDITIONS))
    condition = 0.0 if d == 1 else drawn if condition is None else condition
    scale, storage = float(rng.choice(SCALES)), str(rng.choice(STORAGES))
    if condition > 10.0 or shape == "separable":
        # Rows rounded to single precision would have another optimum.
        storage = storage.replace("float32", "float64")
    made = _made(rng, kind, bias, constraint, shape, m, d, condition).scaled(scale)
    data = stored(made.X, made.y, storage, f"{shape} {seed}")
    problem = Problem(data, made.lam, kind, bias, made.radius)
    facts = Facts.of(problem.facts())
    alpha = problem.repaired(made.alpha)
    lower, found = dual(data, facts, alpha), evaluate(data, facts, made.w, made.b).primal
    rounding = lower.rounding + found.rounding
    return Known(problem, lower.value, found.value, rounding, shape, scale, condition)


@dataclass(frozen=True)
class _Made:
    """Rows and labels, their problem's lambda and radius, and its optimum: w, b and alpha."""

    X: FloatArray
    y: FloatArray
    w: FloatArray
    lam: float
    b: float
    alpha: FloatArray
    radius: float = math.inf

    def scaled(self, scale: float) -> _Made:
        """The same optimum, of rows that are so many times as long."""
        return replace(
            self,
            X=self.X * scale,
            w=self.w / scale,
            lam=self.lam * scale**2,
            radius=self.radius / scale,
        )


def _made(
    rng: np.random.Generator,
    kind: Loss,
    bias: str,
    constraint: str,
    shape: str,
    m: int,
    d: int,
    condition: float,
) -> _Made:
    """Rows of a shape around an optimum, at scale 1."""
    y, margins, alpha = _margins(rng, kind, bias, shape, m)
    m = len(y)
    if shape == "only contradictions":
        X = np.repeat(rng.normal(size=(m // 2, d)), 2, axis=0)
        return _Made(X, y, np.zeros(d), _log_uniform(rng, 1e-8, 1e2), 0.0, alpha)
    # Rows without entries have the margin y b: with b = 0 their alpha balance.
    b = float(rng.normal()) if bias == "free" and shape != "zero rows" else 0.0
    pull = float(alpha @ margins) / m  # lam u.w* must be this
    if constraint == "l1":
        w = rng.normal(size=d) * (rng.random(d) < 0.5)
        w[0] = 1.0
        sign = np.where(w != 0.0, np.sign(w), rng.uniform(-0.9, 0.9, size=d))
        u = w + float(rng.choice([0.1, 1.0, 10.0])) * sign
        radius = float(np.abs(w).sum())
    else:
        w, radius = rng.normal(size=d), math.inf
        u = w
    # The condition links lam and the length of w*: lam is drawn, and everything else is scaled.
    wanted = _log_uniform(rng, 1e-8, 1e2)
    stretch = math.sqrt(pull / (wanted * float(u @ w)))
    w, u, radius = w * stretch, u * stretch, radius * stretch
    lam = pull / float(u @ w)
    square = float(w @ w)
    across = _across(rng, w, m, condition)
    target = lam * m * (u - (float(u @ w) / square) * w)
    signed = alpha * y
    across += np.outer(signed, target - across.T @ signed) / float(signed @ signed)
    X = np.outer((y * margins - b) / square, w) + across
    made = _Made(X, y, w, lam, b, alpha, radius)
    return _with_shape(rng, shape, kind, condition, made)


def _margins(
    rng: np.random.Generator, kind: Loss, bias: str, shape: str, m: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Labels, margins and their alpha, with a positive sum alpha s."""
    if shape == "only contradictions":
        alpha = np.repeat(_alpha(rng, kind, np.zeros(1)), m)
        return np.tile([1.0, -1.0], max(1, m // 2)), np.zeros(m), alpha
    halves = 2 if bias == "free" else 1  # both classes have the same margins
    count = max(1, m // halves)
    if shape == "separable":
        margins = np.where(rng.random(count) < 0.5, 1.0, 1.0 + rng.exponential(size=count))
    else:
        margins = rng.choice([0.0, 1.0, 1.0], size=count) + rng.normal(size=count) * 0.7
        margins[rng.random(count) < 0.2] = 1.0
    margins[0] = 1.0 if kind.name == "hinge" else 0.5
    alpha = _alpha(rng, kind, margins)
    if shape == "separable":
        # The smaller the multipliers, the smaller the optimum.
        small = 10.0 ** rng.uniform(-8.0, -0.3)
        if kind.name == "hinge":
            alpha *= small
        else:
            margins = np.maximum(margins, 1.0)
            margins[rng.random(count) < 0.5] = 1.0 - small
            margins[0] = 1.0 - small
            alpha = _alpha(rng, kind, margins)
    while float(alpha @ margins) <= 0.005 * float(alpha.sum()):
        # Rows of negative margin outweigh the others: move them up.
        margins = np.where(margins < 0.5, margins + 0.5, margins)
        alpha = _alpha(rng, kind, margins)
    if halves == 2:
        margins, alpha = np.tile(margins, 2), np.tile(alpha, 2)
        return np.repeat([1.0, -1.0], count), margins, alpha
    y = np.ones(count) if shape == "one class" else rng.choice([-1.0, 1.0], size=count)
    return y, margins, alpha


def _alpha(rng: np.random.Generator, kind: Loss, margins: FloatArray) -> FloatArray:
    """Minus the slope of the loss at each margin; at the hinge's kink, random in the box."""
    short = np.maximum(1.0 - margins, 0.0)
    if kind.name == "hinge":
        alpha = (margins < 1.0).astype(float)
        kink = margins == 1.0
        alpha[kink] = rng.uniform(0.1, 0.9, size=int(kink.sum()))
        return alpha
    return np.minimum(short / kind.nu, kind.upper)


def _across(rng: np.random.Generator, w: FloatArray, m: int, condition: float) -> FloatArray:
    """Random rows orthogonal to w, with columns of different sizes."""
    d = len(w)
    length = float(np.sqrt(w @ w))
    rows = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-1.0, 0.0, size=d)
    rows *= condition / (length * math.sqrt(d))
    direction = w / length
    return rows - np.outer(rows @ direction, direction)


def _with_shape(
    rng: np.random.Generator,
    shape: str,
    kind: Loss,
    condition: float,
    made: _Made,
) -> _Made:
    """The rows, with the additional ones of the shape, in random order."""
    X, y, w, lam, alpha = made.X, made.y, made.w, made.lam, made.alpha
    m = len(y)
    at_zero = float(_alpha(rng, kind, np.zeros(1))[0])
    if shape == "duplicates":
        times = int(rng.integers(2, 6))
        X, y, alpha = np.repeat(X, times, axis=0), np.repeat(y, times), np.repeat(alpha, times)
    elif shape in ("zero rows", "contradictory"):
        # Pairs of both labels: rows without entries, or (x, +1) and (x, -1) with margins t and -t
        # so close to 0 that alpha is the same for both. In both cases they cancel in w(alpha).
        pairs = max(1, m // 4)
        more = np.zeros((pairs, X.shape[1]))
        if shape == "contradictory":
            room = {"hinge": 1.0, "squared-hinge": 0.0}.get(kind.name, max(0.0, 1.0 - kind.gamma))
            t = 0.99 * rng.uniform(-room, room, size=pairs)
            more = _across(rng, w, pairs, condition) + np.outer((t - made.b) / float(w @ w), w)
        X = np.vstack([X, np.repeat(more, 2, axis=0)])
        y = np.concatenate([y, np.tile([1.0, -1.0], pairs)])
        alpha = np.concatenate([alpha, np.full(2 * pairs, at_zero)])
        lam *= m / (m + 2 * pairs)
    order = rng.permutation(len(y))
    return replace(made, X=X[order], y=y[order], lam=lam, alpha=alpha[order])


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def stored(X: FloatArray, y: FloatArray, storage: str, name: str) -> Dataset:
    """The rows as a data set in this storage."""
    labels = np.asarray(y, dtype=np.int8)
    m, d = X.shape
    provenance = Provenance("made around its optimum", name)
    if storage.startswith("dense"):
        values = np.ascontiguousarray(X, dtype=storage.split()[1])
        return Dataset(name, d, None, None, values, labels, provenance)
    index_type, value_type = storage.split("+")
    rows, columns = np.nonzero(X)
    indptr = np.zeros(m + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=m), out=indptr[1:])
    values = X[rows, columns].astype(value_type)
    return Dataset(name, d, indptr, columns.astype(index_type), values, labels, provenance)
