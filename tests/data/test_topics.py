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
