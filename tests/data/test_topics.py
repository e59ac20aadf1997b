"""Documents draw from their class's topics as much as they should, and their classes show it."""

import pytest

from svmbench.data.shape import Shape

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
