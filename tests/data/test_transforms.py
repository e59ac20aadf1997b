"""Transforms against dense NumPy, in every storage; precision, provenance, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import STORAGES, dataset, dense, dyadic
from svmbench import memory
from svmbench.data import blocks
from svmbench.data.cache import open_cached
from svmbench.data.catalogue import Chosen
from svmbench.data.dataset import Provenance
from svmbench.data.derived import take_rows
from svmbench.data.load import load
from svmbench.data.transforms import (
    Balance,
    Bias,
    CompactColumns,
    Derived,
    Factor,
    MaxAbs,
    Rows,
    Shuffled,
    Split,
    Standardise,
    Subsample,
    Swap,
    UnitNorm,
    apply_transforms,
    columns,
)
from svmbench.errors import DataError

FLOAT32_ROUNDING = 2.0**-24


@pytest.fixture(params=[1 << 20, 7], ids=["one block", "many blocks"])
def cut(request, monkeypatch):
    """Sets of the size that tests use, cut into many blocks too."""
    monkeypatch.setattr(blocks, "_BLOCK", request.param)


def pair(storage="uint16+float64", seed=3, m=23, d=9, **facts):
    """Training and test rows of one storage; ones hold the pattern only."""
    made = []
    for shift, rows in enumerate((m, 11)):
        X, y = dyadic(seed + shift, rows, d, **facts)
        X[rows // 2] = 0.0
        X[:, d - 2] = 0.0 if shift == 0 else X[:, d - 2]
        if storage.endswith("ones"):
            X = (X != 0.0).astype(float)
        data = dataset(X, y, storage)
        made.append(replace(data, provenance=Provenance(f"text {shift}", str(shift) * 64)))
    return made


def done(transform, train, test=None):
    """What one transform makes of them, as dense rows where they are not None."""
    after = apply_transforms(train, test, [transform], name="made")
    for data in filter(None, after):
        data.rows.dot(np.zeros(data.n_features))  # kernels take them
    return after


# --- which rows --------------------------------------------------------------------


@given(st.sampled_from(STORAGES), st.lists(st.integers(0, 22)))
def test_rows_are_taken_in_the_order_given(storage, order):
    train, _ = pair(storage)
    order = np.array(order, dtype=np.int64)
    taken = take_rows(train, order)
    assert np.array_equal(dense(taken), dense(train)[order])
    assert np.array_equal(taken.labels, train.labels[order])
    assert taken.storage == train.storage


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("storage", STORAGES)
def test_shuffled_is_a_permutation_laid_out_anew(storage):
    train, test = pair(storage)
    tagged = replace(train, labels=train.labels)
    order = Shuffled(seed=5).shuffled_rows(23, 5)
    assert sorted(order) == list(range(23))
    after, after_test = Shuffled(seed=5).apply(tagged, test)
    assert np.array_equal(dense(after), dense(train)[order])
    assert np.array_equal(after.labels, train.labels[order])
    assert after_test is test
    assert not np.array_equal(order, np.arange(23))


def test_a_slice():
    train, test = pair()
    after, after_test = Rows(start=4, stop=9).apply(train, test)
    assert np.array_equal(dense(after), dense(train)[4:9])
    assert np.array_equal(after.labels, train.labels[4:9])
    assert after_test is test


@pytest.mark.parametrize(("size", "count"), [(1, 1), (7, 7), (23, 23), (0.1, 2), (0.99, 23)])
def test_a_subsample_keeps_the_order(size, count):
    train, test = pair()
    train = replace(train, values=np.arange(1.0, train.nnz + 1))
    after, after_test = Subsample(size=size, seed=2).apply(train, test)
    assert after.n_samples == count
    assert np.all(np.diff(after.values) > 0)
    assert after_test is test
    others, _ = Subsample(size=size, seed=3).apply(train, test)
    if 1 < count < 23:
        assert not np.array_equal(others.values, after.values)


@pytest.mark.parametrize(("count", "kept"), [(None, 6), (9, 9), (3, 3), (17, 17)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_balance_thins_out_the_larger_class(count, kept, sign):
    X, _ = dyadic(1, 23, 4, density=1.0)
    y = np.full(23, sign)
    y[[2, 3, 8, 11, 12, 20]] = -sign
    train = dataset(X, y)
    after, _ = Balance(count=count, seed=4).apply(train, None)
    assert np.count_nonzero(after.labels == -sign) == 6
    assert np.count_nonzero(after.labels == sign) == kept
    positions = [np.flatnonzero((row == X).all(axis=1)) for row in dense(after)]
    assert sorted(np.concatenate(positions)) == np.concatenate(positions).tolist()


@pytest.mark.parametrize(("part", "count"), [(0.1, 2), (5, 5), (22, 22), (0.001, 1)])
def test_a_split_parts_the_rows(part, count):
    train, _ = pair()
    train = replace(train, labels=train.labels, values=np.arange(1.0, train.nnz + 1))
    rest, apart = Split(test=part, seed=6).apply(train, None)
    assert (rest.n_samples, apart.n_samples) == (23 - count, count)
    both = np.concatenate([rest.values, apart.values])
    assert sorted(both) == train.values.tolist()
    assert np.all(np.diff(rest.values) > 0)
    assert np.all(np.diff(apart.values) > 0)


@pytest.mark.parametrize("part", [0.33, 7])
def test_a_stratified_split_keeps_the_shares_of_the_classes(part):
    train, _ = pair()
    rest, apart = Split(test=part, seed=6, stratified=True).apply(train, None)
    count = apart.n_samples
    assert count == (round(0.33 * 23) if part == 0.33 else 7)
    positives = int(np.sum(train.labels == 1))
    assert int(np.sum(apart.labels == 1)) == round(count * positives / 23)
    assert int(np.sum(rest.labels == 1) + np.sum(apart.labels == 1)) == positives
    rows = sorted(map(tuple, [*dense(rest), *dense(apart)]))
    assert rows == sorted(map(tuple, dense(train)))
    other, _ = Split(test=part, seed=7, stratified=True).apply(train, None)
    assert not np.array_equal(dense(rest), dense(other))


def test_frauds_in_the_test_rows_of_the_credit_card_data():
    # 492 of 284,807 rows; always "no fraud" is right in 0.998276, which a course report prints
    frauds = np.where(np.arange(284_807) < 492, 1, -1)
    train = dataset(np.ones((len(frauds), 1)), frauds, "dense float64")
    _, test = Split(test=0.33, seed=1, stratified=True).apply(train, None)
    assert np.sum(test.labels == 1) == 162
    assert round(np.mean(test.labels == -1), 6) == 0.998276


def test_swap_exchanges_rows_and_keeps_names():
    train, test = pair()
    after, after_test = apply_transforms(train, test, [Swap()], name="made")
    assert np.array_equal(dense(after), dense(test))
    assert np.array_equal(dense(after_test), dense(train))
    assert (after.name, after_test.name) == ("made", "made.t")
    assert after.provenance.source == "text 1"


# --- their values ------------------------------------------------------------------


def assert_close(found, wanted):
    """Equal up to rounding in the precision the rows are stored in."""
    single = found.values is None or found.values.dtype == np.float32
    rounding = FLOAT32_ROUNDING if single else 2.0**-50
    np.testing.assert_allclose(dense(found), wanted, rtol=rounding, atol=rounding * 1e-3)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("storage", STORAGES)
def test_unit_norm(storage):
    for data in pair(storage):
        X = dense(data)
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        after, _ = done(UnitNorm(), data)
        assert_close(after, X / np.where(norms == 0.0, 1.0, norms))
        assert np.all(np.isclose(after.rows.norms2(), 1.0) | (norms[:, 0] == 0.0))
        assert after.rows.norms2()[data.n_samples // 2] == 0.0


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("storage", STORAGES)
def test_max_abs_is_the_training_rows(storage):
    train, test = pair(storage)
    largest = np.abs(dense(train)).max(axis=0)
    assert largest.min() == 0.0
    largest[largest == 0.0] = 1.0
    after, after_test = done(MaxAbs(), train, test)
    assert_close(after, dense(train) / largest)
    assert_close(after_test, dense(test) / largest)
    assert set(np.abs(dense(after)).max(axis=0)) <= {0.0, 1.0}  # exactly


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("storage", STORAGES)
def test_factor(storage):
    train, test = pair(storage)
    after, after_test = done(Factor(by=0.001), train, test)
    assert_close(after, dense(train) * 0.001)
    assert_close(after_test, dense(test) * 0.001)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("storage", STORAGES)
def test_standardise_by_the_training_rows(storage):
    train, test = pair(storage)
    X = dense(train)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    after, after_test = done(Standardise(), train, test)
    for found, data in ((after, train), (after_test, test)):
        np.testing.assert_allclose(
            dense(found), (dense(data) - mean) / deviation, rtol=1e-14, atol=1e-14
        )


def test_a_constant_column_is_only_shifted():
    X = np.full((5, 2), 0.1)
    X[:, 1] = [1, 2, 3, 4, 5]
    for storage in ("dense float64", "uint16+float64"):
        after, after_test = done(
            Standardise(), dataset(X, [1, -1, 1, 1, 1], storage), dataset(X[:2] + 1, [1, 1])
        )
        assert np.array_equal(dense(after)[:, 0], np.zeros(5))
        np.testing.assert_allclose(dense(after_test)[:, 0], [1.0, 1.0])


# --- their columns -----------------------------------------------------------------


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("storage", STORAGES)
def test_columns_empty_in_the_training_rows_are_left_out_of_both(storage):
    train, test = pair(storage)  # column 8 has entries in test rows alone
    assert dense(test)[:, 7].any()
    occurs = dense(train).any(axis=0)
    assert not occurs[7]
    after, after_test = done(CompactColumns(), train, test)
    assert after.n_features == after_test.n_features == np.count_nonzero(occurs)
    assert np.array_equal(dense(after), dense(train)[:, occurs])
    assert np.array_equal(dense(after_test), dense(test)[:, occurs])
    assert after.provenance.transforms == (f"compact-columns of text 0 {'0' * 12}",)
    assert after_test.provenance.transforms == after.provenance.transforms
    again, _ = done(CompactColumns(), after)
    assert np.array_equal(dense(again), dense(after))


@pytest.mark.parametrize("transform", [MaxAbs(), Standardise()])
def test_transforms_of_more_columns_than_memory_are_refused(monkeypatch, transform):
    monkeypatch.setattr(memory, "available_memory", lambda: 80)
    with pytest.raises(DataError, match=r"^data set mine: .* 9 columns needs .* compact-columns"):
        apply_transforms(NINE, None, [transform], name="made")
    apply_transforms(NINE, None, [CompactColumns()], name="made")


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("rho", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("storage", STORAGES)
def test_bias_is_one_more_feature(storage, rho):
    train, test = pair(storage)
    after, after_test = done(Bias(rho=rho), train, test)
    for found, data in ((after, train), (after_test, test)):
        assert found.n_features == 10
        assert_close(found, np.column_stack([dense(data), np.full(data.n_samples, rho)]))


# --- precision ---------------------------------------------------------------------


@given(
    st.floats(1e-30, 1e30),
    st.lists(st.floats(-1e6, 1e6, width=32).filter(lambda x: abs(x) > 1e-3), min_size=1),
)
def test_single_precision_keeps_six_digits(by, values):
    data = dataset([values], [1], "uint16+float32")
    after, _ = done(Factor(by=by), data)
    exact = np.array(values) * by
    assert np.all(np.abs(dense(after)[0] - exact) <= 1e-7 * np.abs(exact))


# --- a chain -----------------------------------------------------------------------


def test_what_was_done_is_recorded_in_order():
    train, test = pair()
    chain = [MaxAbs(), Shuffled(seed=1), Rows(start=0, stop=9), Factor(by=0.5)]
    after, after_test = apply_transforms(train, test, chain, name="made")
    assert after.provenance.transforms == (
        "max-abs of text 0 000000000000",
        "shuffled(seed=1)",
        "rows(start=0, stop=9)",
        "factor(by=0.5)",
    )
    assert after_test.provenance.transforms == after.provenance.transforms
    assert after.provenance.source == "text 0"


def test_test_rows_scaled_by_other_training_rows_are_others():
    train, test = pair()
    other = replace(train, provenance=Provenance("another text", "f" * 64))
    made = [apply_transforms(data, test, [MaxAbs()], name="made")[1] for data in (train, other)]
    assert made[0].identity != made[1].identity


# --- through the cache -------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


CHAIN = (MaxAbs(), Shuffled(seed=2), Bias())


@pytest.mark.usefixtures("cache")
def test_a_derived_set_is_opened_from_the_cache():
    plain = load("tiny-sparse")
    loaded = load(Derived("tiny-sparse", CHAIN, "my own"))
    wanted = apply_transforms(plain.train, plain.test, CHAIN, name="my own")
    for data, path, made in zip(
        (loaded.train, loaded.test), (loaded.train_path, loaded.test_path), wanted, strict=True
    ):
        assert isinstance(data.labels.base, np.memmap)
        assert np.array_equal(dense(data), dense(made))
        assert data.identity == made.identity == open_cached(path).identity
    assert (loaded.train.name, loaded.test.name) == ("my own", "my own.t")


@pytest.mark.usefixtures("cache")
def test_a_derived_set_is_made_once(monkeypatch):
    first = load(Derived("tiny-sparse", CHAIN, "mine"))

    def forbidden(*_args, **_kwargs):
        raise AssertionError("made again")

    monkeypatch.setattr("svmbench.data.load.apply_transforms", forbidden)
    second = load(Derived("tiny-sparse", CHAIN, "mine"))
    assert second.train_path == first.train_path
    assert second.train.identity == first.train.identity


@pytest.mark.usefixtures("cache")
def test_all_that_is_done_is_part_of_the_key():
    specs = [
        Derived("tiny-sparse", CHAIN, "mine"),
        Derived("tiny-sparse", CHAIN, "other"),
        Derived("tiny-sparse", CHAIN[:2], "mine"),
        Derived("tiny-sparse", (CHAIN[0], Shuffled(seed=3), CHAIN[2]), "mine"),
        Derived("tiny-sparse", CHAIN[::-1], "mine"),
        Derived("tiny-dense", CHAIN, "mine"),
        Derived("tiny-sparse", (), "mine"),
        Derived(Chosen(name="tiny-sparse", positive=-1), CHAIN, "mine"),
    ]
    loaded = [load(spec) for spec in specs]
    assert len({one.train_path for one in loaded}) == len(specs)
    assert len({one.train.identity for one in loaded}) == len(specs)


@pytest.mark.usefixtures("cache", "real_data")
def test_real_text():
    plain = load("reuters21578", offline=True)
    loaded = load(Derived("reuters21578", (Swap(), UnitNorm(), Bias()), "mine"), offline=True)
    assert (loaded.train.n_samples, loaded.test.n_samples) == (3299, 9603)
    assert loaded.train.storage == plain.train.storage == "uint16+float32"
    assert loaded.train.nnz == plain.test.nnz + 3299
    np.testing.assert_allclose(loaded.test.rows.norms2(), 2.0, rtol=1e-6)


# --- what is refused ---------------------------------------------------------------


def with_values(*values):
    return dataset([values], [1], "uint16+float64", name="mine")


NINE = dataset(np.eye(9), np.repeat([1, -1], [3, 6]), name="mine")


@pytest.mark.parametrize(
    ("transform", "data", "message"),
    [
        (Rows(start=0, stop=10), NINE, "there are only 9 rows; end at that at most"),
        (Subsample(size=10), NINE, "there are only 9 rows; take at most those"),
        (Balance(count=7), NINE, "the larger class has only 6 rows; keep at most those"),
        (Balance(), with_values(1.0), "all rows are of one class; leave balance out"),
        (Split(test=9), NINE, "no row would be left for training; take fewer for the test"),
        (Swap(), NINE, "there are no test rows; leave the swap out"),
        (UnitNorm(), with_values(1e200), "a row's norm is out of range; put a factor before it"),
        (UnitNorm(), with_values(1e-200), "a row's norm is out of range; put a factor before it"),
        (
            Factor(by=1e300),
            with_values(1e10),
            "a value becomes too large for a double; use a smaller factor",
        ),
        (
            Standardise(),
            dataset([[1e300], [-1e300]], [1, 1], "dense float64", "mine"),
            "a column's deviation overflows; put a factor before it",
        ),
        (CompactColumns(), with_values(0.0), "no column has an entry; leave the transform out"),
    ],
)
def test_refused_in_one_line(transform, data, message):
    with pytest.raises(DataError) as caught:
        apply_transforms(data, None, [transform], name="made")
    assert str(caught.value) == f"mine: {transform}: {message}"


def test_a_second_split_is_refused():
    with pytest.raises(DataError, match="there are test rows already; leave the split out"):
        apply_transforms(NINE, NINE, [Split(test=0.5)], name="made")


def test_sparse_rows_are_not_filled_up_without_bound(monkeypatch):
    monkeypatch.setattr(columns, "MOST_ENTRIES", 80)
    with pytest.raises(DataError, match=r"81 nonzero entries .* limit is 80; use max-abs"):
        apply_transforms(NINE, None, [Standardise()], name="made")
    full = dataset(np.eye(9), np.ones(9), "dense float32")
    apply_transforms(full, None, [Standardise()], name="made")
