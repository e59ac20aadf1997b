"""Documents draw from their class's topics as much as they should, and their classes show it."""

import numpy as np
import pytest

from svmbench.data.shape import Shape, Topics
from svmbench.data.synthetic import stand_in
from svmbench.data.topics import TopicModel

TEXT = {
    "m": 4000,
    "m_test": 2000,
    "d": 6000,
    "nnz_row": 40,
    "columns": {"law": "zipf"},
    "values": {"kind": "tfidf"},
    "unit_norm": True,
    "topics": {"count": 3, "words": 200, "share": 0.4, "spread": 0.3},
}


@pytest.fixture
def model():
    background = np.full(1000, 1e-3)
    topics = Topics(count=2, words=50, share=0.4, spread=0.5)
    return TopicModel(topics, 0.3, background, np.random.default_rng(3))


def test_a_topic_has_that_many_columns(model):
    assert model.words.shape == (4, 50)
    assert all(len(set(words)) == 50 for words in model.words)


def test_documents_have_classes_topics_and_shares(model):
    documents = model.documents(np.random.default_rng(1), 100_000)
    assert documents.positive.mean() == pytest.approx(0.3, abs=0.01)
    assert np.array_equal(documents.topic % 2 == 1, documents.positive)
    for sign in (0, 1):
        of_class = documents.topic[documents.positive == sign]
        assert np.bincount(of_class // 2) / len(of_class) == pytest.approx(0.5, abs=0.02)
    assert documents.share.mean() == pytest.approx(0.4, rel=0.02)
    assert documents.share.max() <= 0.95
    logs = np.log(documents.share[documents.share < 0.9])
    assert logs.std() == pytest.approx(0.5, rel=0.1)


def test_a_share_of_the_words_comes_from_the_topic(model):
    rng, n = np.random.default_rng(2), 50_000
    columns = model.draw(rng, np.full(n, 3), np.full(n, 0.4))
    own = np.isin(columns, model.words[3])
    assert own.mean() == pytest.approx(0.4 + 0.6 * 0.05, abs=0.01)
    first, tenth = ((columns == model.words[3, rank]).mean() for rank in (0, 10))
    assert first / tenth == pytest.approx(21 / 11, rel=0.15)


def test_frequencies_are_those_of_the_documents(model):
    rng = np.random.default_rng(5)
    documents = model.documents(rng, 400_000)
    columns = model.draw(rng, documents.topic, documents.share)
    shares = np.bincount(columns, minlength=1000) / len(columns)
    assert model.frequencies().sum() == pytest.approx(1.0)
    np.testing.assert_allclose(shares, model.frequencies(), atol=4e-4)


def test_weights_of_rows_are_the_law_of_their_words(model):
    documents = model.documents(np.random.default_rng(7), 5)
    weights = model.row_weights(documents)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    word = model.words[documents.topic[0], 0]
    share = documents.share[0]
    assert weights[0, word] == pytest.approx(share * model.weights[0] + (1 - share) * 1e-3)


def rule(train):
    """The difference of the classes' mean rows: a crude linear rule."""
    signs = train.labels / np.where(
        train.labels > 0, *[np.count_nonzero(train.labels == sign) for sign in (1, -1)]
    )
    entries = np.repeat(signs, np.diff(train.indptr)) * train.values
    return np.bincount(train.indices, weights=entries, minlength=train.n_features)


def error(**facts):
    train, test = stand_in(Shape(**{**TEXT, **facts}), "made")
    w = rule(train)
    threshold = np.mean([train.rows.dot(w)[train.labels == sign].mean() for sign in (-1, 1)])
    return np.mean(np.where(test.rows.dot(w) > threshold, 1, -1) != test.labels)


def test_single_columns_tell_the_classes():
    train, _ = stand_in(Shape(**TEXT), "made")
    held = np.zeros((2, 6000))
    np.add.at(
        held, (np.repeat(train.labels > 0, np.diff(train.indptr)).astype(int), train.indices), 1
    )
    often = held.sum(axis=0) >= 50
    balance = held[1, often] / held.sum(axis=0)[often]
    assert np.mean((balance < 0.15) | (balance > 0.85)) > 0.3
    assert np.mean((balance > 0.35) & (balance < 0.65)) > 0.3  # the background's


def test_more_words_of_a_topic_make_it_easier():
    errors = [error(topics={**TEXT["topics"], "share": share}) for share in (0.05, 0.15, 0.4)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.02


def test_unlike_documents_are_harder():
    alike, unlike = (
        error(topics={**TEXT["topics"], "share": 0.15, "spread": spread}) for spread in (0.0, 1.2)
    )
    assert unlike > 1.5 * alike


def test_noise_is_added_to_what_topics_leave():
    assert error(noise=0.1) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("d", [6000, 100])
def test_shape_balance_and_norm(d):
    facts = {**TEXT, "d": d, "topics": {**TEXT["topics"], "words": 30}, "positives": 0.2}
    train, _ = stand_in(Shape(**facts), "made")
    assert train.nnz / train.n_samples == pytest.approx(40, rel=0.03)
    assert np.mean(train.labels == 1) == pytest.approx(0.2, abs=0.03)
    np.testing.assert_allclose(train.rows.norms2(), 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"columns": {"law": "uniform"}}, "topics need columns of Zipf's law"),
        ({"margin_noise": 0.1}, "margin_noise belongs to labels from a plane"),
        ({"size": 2.0}, "size has no effect on rows of unit norm"),
        ({"means": {"distance": 1}}, "means need dense columns"),
        ({"offset": 0.5}, "offset belongs to normal values"),
    ],
)
def test_what_does_not_go_together_is_refused(facts, message):
    with pytest.raises(ValueError, match=message):
        Shape(**{**TEXT, **facts})


def test_means_need_columns_of_variance_1():
    facts = {
        **{"m": 100, "d": 5, "density": 1, "columns": {"law": "dense"}, "seed": 1},
        **{"values": {"kind": "normal"}, "positives": 0.5, "means": {"distance": 1}},
    }
    Shape(**facts)
    with pytest.raises(ValueError, match="leave 'conditioning' out"):
        Shape(**facts, conditioning=1.0)
    with pytest.raises(ValueError, match="leave 'offset' out"):
        Shape(**facts, offset=1.0)
