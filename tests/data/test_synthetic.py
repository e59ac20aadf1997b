"""Stand-ins have the shape, the balance and the difficulty that were asked for."""

import json
import math

import numpy as np
import pytest
from refusals import refusal
from scipy.stats import ks_2samp

from problems import dense
from svmbench.data import synthetic
from svmbench.data.catalogue import Chosen, entry, names
from svmbench.data.dataset import scale_in
from svmbench.data.load import load
from svmbench.data.shape import Shape
from svmbench.data.synthetic import Maker, stand_in
from svmbench.data.transforms import Derived, MaxAbs, Rows, Swap
from svmbench.errors import DataError

TEXT = {
    "m": 3000,
    "d": 5000,
    "nnz_row": 30,
    "columns": {"law": "zipf"},
    "values": {"kind": "tfidf"},
    "unit_norm": True,
}
SHAPES = {
    "text": TEXT,
    "wide ones": {**TEXT, "d": 70_000, "values": {"kind": "ones"}, "unit_norm": False},
    "filled": {**TEXT, "d": 100, "nnz_row": 60},
    "counts": {"m": 3000, "d": 80, "density": 0.2, "values": {"kind": "counts"}},
    "scattered": {"m": 3000, "d": 3000, "density": 0.01, "conditioning": 3},
    "dense": {"m": 3000, "d": 40, "density": 1, "columns": {"law": "dense"}, "conditioning": 2},
    "dense unit": {
        **{"m": 3000, "d": 40, "density": 1, "columns": {"law": "dense"}},
        **{"values": {"kind": "counts"}, "unit_norm": True},
    },
}
#: Shapes whose rows have a class before they have values; no plane divides them.
BY_CLASS = {
    "topics": {**TEXT, "topics": {"count": 2, "words": 100, "share": 0.3}},
    "means": {
        **{"m": 3000, "d": 40, "density": 1, "columns": {"law": "dense"}},
        **{"means": {"distance": 3.0, "skew": 0.8}, "size": 2.0},
    },
}
ALL = {**SHAPES, **BY_CLASS}


def made(shape, **facts):
    shape = Shape(**{**shape, **facts})
    train, test = stand_in(shape, "made")
    train.rows.dot(np.zeros(train.n_features))  # columns ascend, none twice, none too large
    return shape, train, test


@pytest.fixture
def small(monkeypatch):
    """Chunks and threshold of few rows, for sets of few rows."""
    monkeypatch.setattr(synthetic, "_CHUNK_ENTRIES", 1 << 12)
    monkeypatch.setattr(synthetic, "_CHUNK_ROWS", 256)
    monkeypatch.setattr(synthetic, "_PILOT_ROWS", 256)


# --- the rows ----------------------------------------------------------------------


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", SHAPES)
def test_shape_and_density(name):
    shape, train, test = made(SHAPES[name], m_test=500)
    assert (train.n_samples, train.n_features) == (shape.m, shape.d)
    assert (test.n_samples, test.n_features) == (500, shape.d)
    assert train.nnz / shape.m / shape.d == pytest.approx(shape.fraction, rel=0.03)
    if train.indptr is not None:
        assert np.diff(train.indptr).min() >= 1


@pytest.mark.parametrize("name", ["scattered", "dense"])
def test_conditioning_is_the_spread_of_the_columns(name):
    shape, train, _ = made(SHAPES[name])
    X = dense(train)
    present = np.maximum(np.count_nonzero(X, axis=0), 1)
    scales = np.log10(np.sqrt(np.square(X).sum(axis=0) / present))
    assert np.ptp(scales) == pytest.approx(shape.conditioning, rel=0.15)
    rank = np.argsort(np.argsort(scales))
    assert abs(np.corrcoef(rank, np.arange(shape.d))[0, 1]) < 0.5  # in no order


@pytest.mark.parametrize("facts", [{}, {"conditioning": 1}, {"margin_noise": 0.5}])
def test_offset_is_the_mean_of_every_column_in_its_deviations(facts):
    shape = {"m": 3000, "d": 40, "density": 1, "columns": {"law": "dense"}, **facts}
    X, moved = dense(made(shape)[1]), made(shape, offset=0.6)[1]
    Y = dense(moved)
    np.testing.assert_allclose(Y.mean(axis=0) / Y.std(axis=0), 0.6, atol=0.1)
    np.testing.assert_allclose(Y.std(axis=0), X.std(axis=0), rtol=1e-5)
    assert np.mean(moved.labels > 0) == pytest.approx(0.5, abs=0.03)


def column_shares(data):
    return np.bincount(data.indices, minlength=data.n_features) / data.n_samples


def test_zipf_columns_follow_their_law():
    shape, train, _ = made(TEXT, m=20_000)
    shares = np.sort(column_shares(train))[::-1]
    ranks = np.array([1, 10, 100, 1000])
    weights = 1.0 / (ranks + 30.0)
    wanted = 30 * weights / np.sum(1.0 / (np.arange(1, shape.d + 1) + 30.0))
    np.testing.assert_allclose(shares[ranks - 1], wanted, rtol=0.15)
    # The commonest are not the first ones.
    first = np.argsort(column_shares(train))[::-1][:100]
    assert 1000 < first.mean() < 4000


# --- the labels --------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("positives", "noise"), [(0.5, 0.0), (0.2, 0.1), (0.9, 0.05)])
def test_balance(name, positives, noise):
    plane = {} if name in BY_CLASS else {"margin_noise": 0.3}
    _, train, _ = made(ALL[name], positives=positives, noise=noise, **plane)
    # Of the rows and of those the threshold was taken from.
    tolerance = 5 * math.sqrt(positives * (1 - positives) * (1 / 3000 + 1 / 16384))
    assert np.mean(train.labels == 1) == pytest.approx(positives, abs=tolerance)


def errors(shape, data):
    maker = Maker(shape, shape.seed)
    scores = data.rows.dot(maker.w) + maker.plane[0]
    return np.where(scores > 0.0, 1, -1) != data.labels, scores


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_true_plane_separates_as_far_as_the_noise_allows(name, noise):
    shape, train, test = made(SHAPES[name], m_test=2000, noise=noise, positives=0.3)
    for data in (train, test):
        wrong, _ = errors(shape, data)
        deviation = math.sqrt(noise * (1 - noise) / data.n_samples)
        assert np.mean(wrong) == pytest.approx(noise, abs=5 * deviation)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["text", "counts", "dense"])
def test_test_rows_are_of_the_same_law(name):
    shape, train, test = made(SHAPES[name], m_test=3000)
    if train.indptr is not None:
        assert ks_2samp(np.diff(train.indptr), np.diff(test.indptr)).pvalue > 1e-4
    # One entry a row: the others have the same norm as divisor and are not independent of it.
    firsts = [
        data.values[:, 0] if data.indptr is None else data.values[data.indptr[:-1]]
        for data in (train, test)
    ]
    assert ks_2samp(*firsts).pvalue > 1e-4
    assert ks_2samp(errors(shape, train)[1], errors(shape, test)[1]).pvalue > 1e-4
    assert not np.array_equal(train.values.ravel()[:100], test.values.ravel()[:100])


def test_means_of_the_classes_are_that_far_apart():
    _, train, _ = made(BY_CLASS["means"], m=40_000, positives=0.3)
    X = dense(train) / 2.0  # its size
    means = [X[train.labels == sign].mean(axis=0) for sign in (1, -1)]
    assert np.linalg.norm(means[0] - means[1]) == pytest.approx(3.0, rel=0.03)
    along = (X[train.labels == -1] - means[1]) @ (means[0] - means[1]) / 3.0
    # Of variance 1 and skewed as a log-normal variable is.
    assert along.var() == pytest.approx(1.0, rel=0.15)
    spread = math.exp(0.8**2)
    assert np.mean(along**3) == pytest.approx((spread + 2) * math.sqrt(spread - 1), rel=0.4)
    assert np.mean(along < 0.0) > 0.6
    across = X[train.labels == -1].std(axis=0)
    assert across == pytest.approx(1.0, abs=0.03)


# --- seeds and scales --------------------------------------------------------------


def arrays(data):
    return [a for a in (data.indptr, data.indices, data.values, data.labels) if a is not None]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", [0, 1, 2**40])
@pytest.mark.parametrize("name", ALL)
def test_a_seed_names_the_rows(name, seed):
    shape = Shape(**{**ALL[name], "m": 60, "m_test": 20, "noise": 0.1})
    one, again = (stand_in(shape, "made", seed=seed) for _ in range(2))
    for first, second in zip(one, again, strict=True):
        assert first.identity == second.identity
        pairs = zip(arrays(first), arrays(second), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs)
    other, _ = stand_in(shape, "made", seed=seed + 1)
    assert other.identity != one[0].identity
    assert not np.array_equal(other.labels, one[0].labels)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ALL)
def test_a_smaller_one_is_the_beginning_of_a_larger_one(name):
    shape = Shape(**ALL[name], m_test=600)
    for large, small in zip(
        stand_in(shape, "made"), stand_in(shape, "made", scale=0.35), strict=True
    ):
        m = round(0.35 * large.n_samples)
        assert small.n_samples == m
        assert np.array_equal(small.labels, large.labels[:m])
        assert small.n_features == large.n_features
        if large.indptr is None:
            assert np.array_equal(small.values, large.values[:m])
        else:
            assert np.array_equal(small.indptr, large.indptr[: m + 1])
            assert np.array_equal(small.indices, large.indices[: small.nnz])
        assert small.identity != large.identity


@pytest.mark.usefixtures("small")
def test_it_says_what_it_is():
    shape = Shape(**TEXT, m_test=9, noise=0.1)
    for data in stand_in(shape, "rcv1.binary", scale=0.5, seed=3):
        assert data.name.startswith("rcv1.binary")
        assert data.provenance.stand_in
        kind, settings = data.provenance.source.split(" ", 1)
        settings = json.loads(settings)
        assert kind == "stand-in"
        assert (settings["scale"], settings["seed"]) == (0.5, 3)
        assert settings["generator"] == synthetic.GENERATOR_VERSION
        assert Shape(**settings["shape"]) == shape


# --- through the cache -------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An own cache, and no files to be had."""
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SVMBENCH_MIRROR", str(tmp_path))
    monkeypatch.setenv("SVMBENCH_OFFLINE", "1")


@pytest.mark.usefixtures("cache", "small")
def test_a_stand_in_takes_the_place_of_a_set(monkeypatch):
    loaded = load("rcv1.binary", stand_in=0.001)
    train, test = stand_in(entry("rcv1.binary").stand_in, "rcv1.binary", scale=0.001)
    for data, made in ((loaded.train, train), (loaded.test, test)):
        assert data.identity == made.identity
        assert data.name == made.name
        assert np.array_equal(data.values, made.values)
        assert data.provenance.stand_in
    monkeypatch.setattr("svmbench.data.load.make_stand_in", None)
    assert load("rcv1.binary", stand_in=0.001).train_path == loaded.train_path


@pytest.mark.usefixtures("cache", "small")
def test_stand_ins_of_other_scales_and_classes_are_others():
    spec = Chosen(name="mnist", positive=3)
    loaded = [
        load("mnist", stand_in=0.001),
        load("mnist", stand_in=0.002),
        load(spec, stand_in=0.001),
    ]
    assert len({one.train_path for one in loaded}) == 3
    assert len({one.train.identity for one in loaded}) == 3
    assert not np.array_equal(loaded[0].train.labels, loaded[2].train.labels)


@pytest.mark.usefixtures("cache", "small")
def test_a_real_set_that_is_here_is_left_alone():
    with pytest.raises(DataError, match=r"^tiny-sparse: no stand-in is described; run without"):
        load("tiny-sparse", stand_in=1.0)


@pytest.mark.usefixtures("cache", "small")
def test_transforms_of_a_stand_in_are_those_of_the_set():
    chain = (Swap(), Rows(start=0, stop=100), MaxAbs())
    loaded = load(Derived("rcv1.binary", chain, "rcv1.binary"), stand_in=0.001)
    assert loaded.train.n_samples == 100
    assert loaded.train.provenance.stand_in
    assert loaded.train.provenance.transforms[1] == "rows(start=0, stop=100)"
    assert loaded.train.provenance.transforms[2].startswith("max-abs of stand-in ")


@pytest.mark.usefixtures("cache", "small")
def test_rows_that_a_stand_in_has_not_are_refused():
    chain = (Swap(), Rows(start=0, stop=100_000))
    with pytest.raises(DataError, match=r"stop=100000\): there are only 677 rows; end at that"):
        load(Derived("rcv1.binary", chain, "rcv1.binary"), stand_in=0.001)


@pytest.mark.usefixtures("cache")
def test_of_a_set_that_cannot_be_had_the_stand_in_is_named():
    message = refusal(load, "rcv1.binary")
    assert message.startswith("rcv1.binary: rcv1_train.binary is missing (")
    assert message.endswith("without --real 'svmbench run CONFIG' uses synthetic rows of its shape")


# --- what is refused ---------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scales_that_mean_nothing(scale):
    with pytest.raises(DataError, match=r"^made: the stand-in's scale is .*; give a positive"):
        stand_in(Shape(**TEXT), "made", scale=scale)


def is_fast(shape):
    """Whether its columns are few enough for a fast test."""
    return shape is not None and shape.fraction * shape.d * shape.d <= 1e9


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", [name for name in names() if is_fast(entry(name).stand_in)])
def test_every_stand_in_of_the_catalogue_can_be_made(name):
    shape = entry(name).stand_in
    train, test = stand_in(shape, name, scale=50 / max(shape.m, shape.m_test))
    assert (test is None) == (shape.m_test == 0)
    for data in filter(None, (train, test)):
        assert data.n_features == shape.d
        data.rows.norms2()


@pytest.mark.parametrize(
    "source",
    [
        "",
        "rows.libsvm",
        "stand-in {}",
        "stand-in []",
        'stand-in {"scale": []}',
        f'stand-in {{"scale": {10**400}}}',
        "stand-in " + "[" * 100_000,
        math.nan,
    ],
)
def test_a_source_that_tells_no_scale_is_of_an_unknown_one(source):
    assert math.isnan(scale_in(source))
