"""The bounds on rounding against the formulas of the module's docstring, computed row by row.

`test_extended` shows that no bound is too small. Here none may be larger than documented either:
a larger one would let `svmbench verify` accept a wrong figure.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from problems import STORAGES, dataset, dense
from svmbench.names import LOSSES
from svmbench.problem import Loss, Problem
from svmbench.verify import extended
from svmbench.verify.extended import Bounded, Facts

#: Rounding units of double precision, and of double and extended precision together.
UNIT = 2.0**-53
BOTH = UNIT + float(np.finfo(np.longdouble).eps) / 2.0

CASES = [(loss, bias) for loss in LOSSES for bias in ("none", "free")]


def made(seed, storage="dense float64", loss="hinge", bias="none"):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(9, 4)), 2)
    X[2] = 0.0
    X[:, 3] *= 3.0 * (rng.random(9) < 0.5)
    data = dataset(X, rng.permutation([1, -1, 1] * 3), storage)
    problem = Problem(data, 0.3, Loss(loss, 0.7 if loss == "smoothed-hinge" else 0.5), bias)
    w = rng.normal(size=4)
    alpha = 0.1 + 0.8 * rng.random(9)
    alpha[[0, 4]] = [0.0, 1.0]
    return problem, w, 0.4 if bias == "free" else 0.0, problem.repaired(alpha)


def entries(data):
    """Stored entries of each row and column."""
    if data.indices is None:
        return np.full(data.n_samples, data.n_features), np.full(data.n_features, data.n_samples)
    return np.diff(data.indptr), np.bincount(data.indices, minlength=data.n_features)


def slope(facts, margin):
    short = max(0.0, 1.0 - margin)
    return {
        "hinge": float(short > 0.0),
        "squared-hinge": short / facts.gamma,
        "smoothed-hinge": min(1.0, short / facts.gamma),
        "logistic": 1.0 / (1.0 + math.exp(margin)),
    }[facts.loss]


def loss_at(facts, margin):
    short, gamma = max(0.0, 1.0 - margin), facts.gamma
    if facts.loss == "logistic":
        return math.log1p(math.exp(-margin))
    if facts.loss == "hinge":
        return short
    if facts.loss == "smoothed-hinge" and short >= gamma:
        return short - gamma / 2.0
    return short * short / (2.0 * gamma)


def bound_of_primal(data, facts, w, bias, moved=0.0):
    counts, _ = entries(data)
    rows, m, d = dense(data), data.n_samples, data.n_features
    total = losses = 0.0
    for x, y, n in zip(rows, data.labels.tolist(), counts, strict=True):
        margin = y * (float(x @ w) + bias)
        size = float(np.abs(x) @ np.abs(w)) + abs(bias)
        off = ((n + 3) * BOTH + moved) * size
        found = loss_at(facts, margin)
        total += slope(facts, margin) * off + off * off / facts.gamma
        total += 4.0 * BOTH * (1.0 + found) * max(1.0, 1.0 / facts.gamma)
        losses += found
    regular = facts.lam / 2.0 * float(w @ w)
    primal = regular + losses / m
    return total / m + ((d + 4) * BOTH + 2.0 * moved) * regular + 8.0 * BOTH * primal


def terms(facts, alpha):
    """The sum of the sizes of the terms of q, and the size of alpha q'(alpha)."""
    if facts.loss != "logistic":
        curved = facts.nu / 2.0 * alpha * alpha
        return alpha + curved, 2.0 * (alpha + curved)
    if not 0.0 < alpha < 1.0:
        return 0.0, 40.0 * alpha
    entropy = -alpha * math.log(alpha) - (1.0 - alpha) * math.log(1.0 - alpha)
    return entropy, abs(alpha * math.log((1.0 - alpha) / alpha))


def bound_of_dual(data, facts, alpha, share=0.0, tau=0.0):
    _, counts = entries(data)
    signed, m, d = alpha * data.labels, data.n_samples, data.n_features
    scale = facts.lam * m
    combined = dense(data).T @ signed / scale
    sizes = np.abs(dense(data)).T @ np.abs(signed) / scale
    nearest = np.sign(combined) * np.maximum(np.abs(combined) - tau, 0.0)
    off = (counts + 4) * BOTH * sizes
    square = float(nearest @ nearest) / 2.0 + (tau * facts.radius if tau else 0.0)
    both = [terms(facts, each) for each in alpha.tolist()]
    size, steep = (sum(each) / m for each in zip(*both, strict=True))
    found = 6.0 * BOTH * size
    found += facts.lam * (float(np.abs(nearest) @ off + off @ off) + (d + 6) * BOTH * square)
    return found + share * (steep + facts.lam * float(np.abs(nearest) @ sizes))


@pytest.mark.parametrize(("loss", "bias"), CASES)
@pytest.mark.parametrize("storage", STORAGES)
def test_no_bound_is_larger_than_documented(storage, loss, bias):
    problem, w, b, alpha = made(3, storage, loss, bias)
    facts = Facts.of(problem.facts())
    found = extended.evaluate(problem.data, facts, w, b).primal
    assert found.rounding == pytest.approx(
        bound_of_primal(problem.data, facts, w, b), rel=1e-9, abs=0.0
    )
    share = extended._balance(problem.data, alpha.astype(np.longdouble)) if bias == "free" else 0.0
    assert share < 1e-14
    found = extended.dual(problem.data, facts, alpha)
    expected = bound_of_dual(problem.data, facts, alpha, share)
    assert found.rounding == pytest.approx(expected, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_the_bounds_of_a_ball(bias):
    problem, w, b, alpha = made(4, "uint16+float64", "hinge", bias)
    combined = np.abs(problem.weights(alpha))
    radius = 0.6 * float(combined.sum())
    ball = Problem(problem.data, problem.lam, problem.loss, bias, radius)
    facts = Facts.of(ball.facts())
    lowest, highest = 0.0, float(combined.max())
    for _ in range(200):  # by bisection, not by sorting
        tau = (lowest + highest) / 2.0
        outside = np.maximum(combined - tau, 0.0).sum() > radius
        lowest, highest = (tau, highest) if outside else (lowest, tau)
    found = extended.dual(ball.data, facts, alpha)
    assert found.value == pytest.approx(ball.dual(alpha), rel=1e-12, abs=0.0)
    assert found.rounding == pytest.approx(
        bound_of_dual(ball.data, facts, alpha, 0.0, tau), rel=1e-6
    )
    size = float(np.abs(w).sum())
    for factor, moved in ((0.5, 0.0), (1.0 - 1e-9, 0.0), (1.0, 8 * UNIT), (1.0 + 9e-6, 8 * UNIT)):
        weights = w * (factor * radius / size)
        bound = bound_of_primal(ball.data, facts, weights, b, moved)
        recomputed = extended.evaluate(ball.data, facts, weights, b).primal
        assert recomputed.rounding == pytest.approx(bound, rel=1e-3, abs=0.0)
        assert recomputed.value == pytest.approx(ball.primal(weights, b), rel=1e-13, abs=0.0)
    assert (
        extended.evaluate(ball.data, facts, w * (radius / size * (1.0 + 1.1e-5)), b).primal.value
        == math.inf
    )


def test_a_margin_on_the_kink_may_have_either_slope():
    data = dataset(np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 1], "dense float64")
    facts = Facts(0.3, "hinge", 1.0, False, math.inf)
    beside, on = np.array([1.0 + 1e-12, 2.0]), np.array([1.0, 2.0])
    more = (
        extended.evaluate(data, facts, on, 0.0).primal.rounding
        - extended.evaluate(data, facts, beside, 0.0).primal.rounding
    )
    assert more == pytest.approx(
        5.0 * BOTH / 2.0, rel=1e-6, abs=0.0
    )  # (2 + 3) u |w x|, of one row of two


@pytest.mark.parametrize("share", [1e-13, 2.9e-12, 3.1e-12, 1e-6, 1.0])
@pytest.mark.parametrize("larger", [1, -1])
def test_unequal_classes_are_made_equal(larger, share):
    problem, _, _, alpha = made(6, "int32+float64", "smoothed-hinge", "free")
    labels, facts = problem.data.labels, Facts.of(problem.facts())
    equal = alpha.copy()
    alpha = 0.9 * alpha
    equal = 0.9 * equal
    alpha[labels == -larger] *= 1.0 - share
    equal = alpha.copy()
    equal[labels == larger] *= alpha[labels == -larger].sum() / alpha[labels == larger].sum()
    found = extended.dual(problem.data, facts, alpha)
    assert found.value == pytest.approx(
        extended.dual(problem.data, facts, equal).value, rel=1e-12, abs=0.0
    )
    allowed = share if share <= 3e-12 else 0.0
    expected = bound_of_dual(problem.data, facts, equal, allowed)
    assert found.rounding == pytest.approx(expected, rel=1e-2, abs=0.0)


def test_one_class_alone_has_no_dual_but_that_of_zero():
    problem, _, _, alpha = made(6, "int32+float64", "hinge", "free")
    facts = Facts.of(problem.facts())
    alpha[problem.data.labels < 0] = 0.0
    assert extended.dual(problem.data, facts, alpha) == Bounded(0.0, 0.0)
    assert extended.dual(problem.data, facts, 0.0 * alpha) == Bounded(0.0, 0.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_alpha_outside_its_box_has_no_bound(loss):
    problem, _, _, alpha = made(7, loss=loss)
    facts = Facts.of(problem.facts())
    for wrong in (-1e-300, math.nan, math.inf, *([] if loss == "squared-hinge" else [1.0 + 1e-15])):
        changed = alpha.copy()
        changed[5] = wrong
        assert extended.dual(problem.data, facts, changed) == Bounded(-math.inf, 0.0)
    for right in (0.0, 1.0, *([1.5] if loss == "squared-hinge" else [])):
        changed = alpha.copy()
        changed[5] = right
        assert math.isfinite(extended.dual(problem.data, facts, changed).value)


def test_the_logistic_loss_against_decimal_arithmetic():
    problem, w, b, alpha = made(8, "dense float64", "logistic", "free")
    facts, m = Facts.of(problem.facts()), problem.data.n_samples
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(x) for x in row] for row in dense(problem.data).tolist()]
        labels = problem.data.labels.tolist()
        weights, lam = [Decimal(v) for v in w.tolist()], Decimal(problem.lam)
        primal = lam / 2 * sum(v * v for v in weights)
        for row, label in zip(rows, labels, strict=True):
            margin = label * (sum(x * v for x, v in zip(row, weights, strict=True)) + Decimal(b))
            primal += (1 + (-margin).exp()).ln() / m
        variables = [Decimal(a) for a in alpha.tolist()]
        sums = {
            s: sum(a for a, y in zip(variables, labels, strict=True) if y == s) for s in (1, -1)
        }
        least = min(sums.values())
        variables = [a * least / sums[y] for a, y in zip(variables, labels, strict=True)]
        dual = Decimal(0)
        for a in variables:
            if 0 < a < 1:
                dual -= (a * a.ln() + (1 - a) * (1 - a).ln()) / m
        for j in range(problem.data.n_features):
            u = sum(a * y * row[j] for a, y, row in zip(variables, labels, rows, strict=True))
            dual -= u * u / (2 * lam * m * m)
    for found, truth in (
        (extended.evaluate(problem.data, facts, w, b).primal, primal),
        (extended.dual(problem.data, facts, alpha), dual),
    ):
        assert abs(Decimal(found.value) - truth) <= Decimal(found.rounding)
        assert abs(Decimal(found.value) - truth) <= Decimal("2e-16")


def test_a_number_that_is_not_finite_and_one_that_is_finite():
    number, infinite = Bounded(2.0, 0.25), Bounded(math.inf, 0.0)
    assert [number.agrees(x) for x in (1.74, 1.75, 2.25, 2.26)] == [False, True, True, False]
    assert [number.agrees(x) for x in (None, math.nan, math.inf)] == [False] * 3
    assert [infinite.agrees(x) for x in (None, math.nan, 1.0)] == [True, True, False]
    assert Bounded(2.0, 0.25, True).agrees(None)
    assert [Bounded(x, 0.0).agrees(None) for x in (9e299, 1e300, -1e300, math.nan)] == [
        False, True, True, True,
    ]  # fmt: skip
    assert number.deviation(1.0) == 0.5
    assert number.deviation(None) == math.inf
    assert infinite.deviation(None) == 0.0
    assert infinite.deviation(1.0) == math.inf
    assert Bounded(0.0, 0.0).deviation(1e-300) == 1.0
    assert Bounded(-4.0, 0.0).deviation(-3.0) == 0.25


@pytest.mark.parametrize("weights", [(math.inf, math.inf), (math.nan, 0.0), (-math.inf, 1.0)])
@pytest.mark.parametrize("radius", [1.0, math.inf])
def test_weights_that_are_not_finite_have_no_value_and_cause_no_warning(weights, radius):
    data = dataset(np.array([[1.0, -1.0], [2.0, 1.0]]), [1, -1], "dense float64")
    found = extended.evaluate(data, Facts(0.3, "hinge", 1.0, False, radius), np.array(weights), 0.0)
    assert math.isnan(found.primal.value)
    assert found.primal.agrees(None)


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_a_ball_that_does_not_bind_changes_nothing(factor):
    problem, _, _, alpha = made(5)
    free = Facts.of(problem.facts())
    sizes = float(np.abs(problem.weights(alpha)).sum())
    ball = Facts(free.lam, free.loss, free.gamma, False, factor * sizes * (1.0 + 1e-12))
    assert extended.dual(problem.data, ball, alpha) == extended.dual(problem.data, free, alpha)


def test_the_facts_of_a_header():
    facts = {"lambda": 0.5, "loss": "smoothed-hinge", "gamma": 0.25, "bias": "free"}
    assert Facts.of(facts | {"l1_radius": 3.0}) == Facts(0.5, "smoothed-hinge", 0.25, True, 3.0)
    plain = Facts.of(facts | {"loss": "hinge", "gamma": None, "bias": "none", "l1_radius": None})
    assert plain == Facts(0.5, "hinge", 1.0, False, math.inf)
    assert (plain.nu, plain.upper) == (0.0, 1.0)
    curved = Facts(0.5, "squared-hinge", 1.0, False, math.inf)
    assert (curved.nu, curved.upper) == (1.0, math.inf)


def test_rows_far_beyond_double_precision_may_count_as_errors_or_not():
    data = dataset(np.array([[1e300], [1e300], [1.0]]), [1, -1, 1], "dense float64")
    found = extended.evaluate(data, Facts(1.0, "hinge", 1.0, False, math.inf), np.array([2.0]), 0.0)
    assert (found.least_errors, found.most_errors) == (0, 2)
    assert found.primal.overflows
    less = extended.count_errors(data, np.array([0.9]), 0.0)
    assert less == (1, 1)


@pytest.mark.parametrize("storage", STORAGES)
def test_blocks_have_the_entries_that_are_asked_for(monkeypatch, storage):
    X = np.ones((10, 3))
    data = dataset(X, [1, -1] * 5, storage)
    for most, lengths in ((7, [2] * 5), (6, [2] * 5), (5, [1] * 10), (1, [1] * 10), (30, [10])):
        monkeypatch.setattr(extended, "ENTRIES", most)
        blocks = list(extended.blocks(data))
        assert [rows.stop - rows.start for rows, _ in blocks] == lengths
        assert [rows.start for rows, _ in blocks] == [0, *np.cumsum(lengths)[:-1]]
        assert all(found.shape == (n, 3) and found.dtype == np.longdouble
                   for n, (_, found) in zip(lengths, blocks, strict=True))  # fmt: skip
