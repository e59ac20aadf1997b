"""Sets drawn by a recipe are the author's own, number by number."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from svmbench.data.catalogue import Chosen, entry
from svmbench.data.load import load
from svmbench.data.synthetic import draw
from svmbench.errors import DataError

SIMULATED = entry("simulated").recipe

#: Of the rows in millionths, which does not depend on the last bits of a logarithm.
CHECKSUMS = {
    "train": "8ccc2a15134c896f4a709c09227752a69b545826021b490201b9104b868c77d1",
    "test": "3b759e3f5638a44b614de523b6c39bcdde844c3c00227469963fa10d5edadb9a",
}


def millionths(values):
    return hashlib.sha256(np.rint(values * 1e6).astype("<i8").tobytes()).hexdigest()


def test_the_rows_have_their_stored_checksums():
    train, test = draw(SIMULATED, "simulated")
    assert {"train": millionths(train.values), "test": millionths(test.values)} == CHECKSUMS


def test_the_rows_are_those_of_scikit_learn():
    model_selection = pytest.importorskip("sklearn.model_selection")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    state = np.random.RandomState(2018)
    X = state.randn(1000, 100)
    y = np.sign(X @ state.randn(100) + state.randn(1000))
    X = preprocessing.StandardScaler().fit_transform(X)
    parts = model_selection.train_test_split(X, y, test_size=0.33, random_state=42)
    train, test = draw(SIMULATED, "simulated")
    for found, values, labels in ((train, parts[0], parts[2]), (test, parts[1], parts[3])):
        np.testing.assert_allclose(found.values, values, rtol=0.0, atol=1e-13)
        np.testing.assert_array_equal(found.labels, labels)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("stand_in: {m: 6, m_test: 4, d: 3, density: 1, columns: {law: dense}}", "stand_in"),
        ("", "has no files"),
    ],
)
def test_a_recipe_excludes_files_and_a_stand_in(more, message, tmp_path):
    from svmbench.data.catalogue import read_entry
    from svmbench.errors import DataError

    urls = "" if more else ", urls: [https://example.org/mine]"
    recipe = ", ".join(f"{key}: {value}" for key, value in SIMULATED.model_dump().items())
    path = Path(tmp_path) / "mine.yaml"
    path.write_text(
        f"name: mine\ntitle: Mine\ntrain: {{file: mine{urls}}}\nrecipe: {{{recipe}}}\n{more}\n",
        encoding="utf-8",
    )
    with pytest.raises(DataError, match=message):
        read_entry(path)


def test_drawn_rows_have_labels_of_their_own():
    with pytest.raises(DataError, match=r"^simulated: .* leave 'positive' out$"):
        load(Chosen(name="simulated", positive=-1))
