"""From a name to rows in the cache; the second time without the text."""

import hashlib
import logging
import lzma
import os
from pathlib import Path

import numpy as np
import pytest

from svmbench.data import libsvm
from svmbench.data.cache import cache_dir, open_cached, verify
from svmbench.data.catalogue import DataFile, Entry
from svmbench.data.load import load
from svmbench.errors import ConfigError, DataError

REAL_MIRROR = os.environ.get("SVMBENCH_MIRROR")  # before a fixture names another
TRAIN = b"1 1:0.5 3:2\n2 2:1\n1\n"
TEST = b"2 1:1\n1 5:0.25\n"


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """An own cache, and a mirror with two small files."""
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "rows.xz").write_bytes(lzma.compress(TRAIN))
    (mirror / "rows.t").write_bytes(TEST)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SVMBENCH_MIRROR", str(mirror))
    monkeypatch.setenv("SVMBENCH_OFFLINE", "1")
    return tmp_path


def described(train=None, test=None, **more):
    facts = {"file": "rows", "sha256": hashlib.sha256(TRAIN).hexdigest(), **(train or {})}
    test_facts = {"file": "rows.t", "sha256": hashlib.sha256(TEST).hexdigest(), **(test or {})}
    return Entry(
        name="made",
        title="Made",
        train=DataFile(**facts),
        test=DataFile(**test_facts),
        **{"n_features": 6, "positive": (2,), **more},
    )


def refusal(spec, kind=DataError):
    with pytest.raises(kind) as caught:
        load(spec)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def no_reading(monkeypatch):
    """From the call on, every look at a raw file fails the test."""

    def forbid():
        def read(*_args, **_kwargs):
            raise AssertionError("the text was read again")

        monkeypatch.setattr(libsvm, "parse_libsvm", read)
        monkeypatch.setattr(libsvm, "open_text", read)

    return forbid


def test_rows_labels_and_names():
    loaded = load(described())
    assert (loaded.train.name, loaded.test.name) == ("made", "made.t")
    assert loaded.train.labels.tolist() == [-1, 1, -1]
    assert loaded.test.labels.tolist() == [1, -1]
    assert loaded.train.n_features == loaded.test.n_features == 6
    w = np.array([1.0, 10.0, 100.0, 0.0, 8.0, 0.0])
    assert loaded.train.rows.dot(w).tolist() == [200.5, 10.0, 0.0]
    assert loaded.test.rows.dot(w).tolist() == [1.0, 2.0]
    assert loaded.train.provenance.source == "rows"


def test_what_is_opened_is_the_cache():
    loaded = load(described())
    for data, path in ((loaded.train, loaded.train_path), (loaded.test, loaded.test_path)):
        assert path.is_relative_to(cache_dir())
        assert isinstance(data.labels.base, np.memmap)
        assert open_cached(path).identity == data.identity
        verify(path)


def test_second_load_needs_no_raw_file(places, no_reading):
    first = load(described())
    no_reading()
    for path in (places / "mirror").iterdir():
        path.unlink()
    second = load(described())
    assert second.train.identity == first.train.identity
    assert second.train_path == first.train_path


def test_second_load_of_own_files_reads_nothing(places, no_reading):
    spec = {"path": places / "mirror" / "rows.xz", "test": places / "mirror" / "rows.t"}
    first = load(spec)
    no_reading()
    assert load(spec).test.identity == first.test.identity


def test_own_files_decide_together(places):
    loaded = load({"path": places / "mirror" / "rows.xz", "test": places / "mirror" / "rows.t"})
    assert loaded.train.n_features == loaded.test.n_features == 5
    assert loaded.train.labels.tolist() == [-1, 1, -1]
    assert loaded.test.labels.tolist() == [1, -1]


def test_own_test_file_of_one_class(places):
    test = places / "only-ones"
    test.write_bytes(b"1 1:1\n1 2:1\n")
    loaded = load({"path": places / "mirror" / "rows.xz", "test": test})
    assert loaded.test.labels.tolist() == [-1, -1]  # 1 is the lesser label of the training rows


def test_own_test_file_with_strange_labels(places):
    test = places / "strange"
    test.write_bytes(b"0 1:1\n3 2:1\n")
    message = refusal({"path": places / "mirror" / "rows.xz", "test": test})
    assert message.startswith(f"{test}: labels 0, 3 do not occur in ")


def test_own_file_that_changed_is_read_again(places):
    path = places / "mine"
    path.write_bytes(b"1 1:1\n-1 2:1\n")
    first = load(str(path))
    assert first.test is None
    assert first.test_path is None
    path.write_bytes(b"1 1:1\n-1 2:1\n1 3:7\n")
    second = load(str(path))
    assert second.train.n_samples == 3
    assert second.train_path != first.train_path


def test_a_damaged_entry_is_made_again(caplog):
    first = load(described())
    os.truncate(first.test_path / "labels.npy", 10)
    with caplog.at_level(logging.WARNING):
        again = load(described())
    assert again.test.labels.tolist() == [1, -1]
    assert "damaged cache entry" in caplog.text


def test_description_is_part_of_the_key():
    paths = {
        load(described()).train_path,
        load(described(n_features=7)).train_path,
        load(described(positive=(1,))).train_path,
    }
    assert len(paths) == 3


def test_wrong_hash(places):
    (places / "mirror" / "rows.t").write_bytes(TEST + b"1 1:1\n")
    message = refusal(described())
    found = hashlib.sha256(TEST + b"1 1:1\n").hexdigest()
    expected = hashlib.sha256(TEST).hexdigest()
    assert message.startswith(f"{places / 'mirror' / 'rows.t'}: not the expected rows.t: ")
    assert f"sha256 {found}, not {expected}; replace or delete it" in message
    assert not list((cache_dir() / "datasets").glob("*"))


def test_a_wrong_file_is_told_from_a_malformed_one(places):
    (places / "mirror" / "rows.t").write_bytes(b"<html>gone</html>\n")
    assert "not the expected rows.t" in refusal(described())
    assert ":1:1: label '<html>gone</html>'" in refusal(described(test={"sha256": None}))


@pytest.mark.parametrize(("what", "found"), [("rows", 3), ("positives", 1), ("nnz", 3)])
def test_counts_are_checked(what, found):
    assert load(described(train={what: found})).train.n_samples == 3


@pytest.mark.parametrize(("what", "found"), [("rows", 3), ("positives", 1), ("nnz", 3)])
def test_wrong_counts(what, found):
    message = refusal(described(train={what: found + 1}))
    assert f": {what} {found}, not {found + 1} as its description states" in message


def test_positive_label_that_does_not_occur():
    assert "no row is labelled 9" in refusal(described(positive=(9,)))


def test_missing_file():
    message = refusal(described(train={"file": "absent", "sha256": "0" * 64}))
    assert message.startswith("made: absent is missing (")


def test_errors_of_the_name():
    assert "no data set 'adlut'" in refusal("adlut")
    assert "Extra inputs" in refusal({"path": "x", "lamda": 1}, kind=ConfigError)


@pytest.mark.parametrize("name", ["tiny-sparse", "tiny-dense", "tiny-separable"])
def test_tiny_sets_need_nothing(name, monkeypatch):
    monkeypatch.delenv("SVMBENCH_MIRROR")
    loaded = load(name, offline=True)
    assert loaded.train.storage == ("dense float32" if "dense" in name else "uint16+float32")
    assert (loaded.test is None) == (name == "tiny-separable")


def test_adult(monkeypatch):
    if not REAL_MIRROR or not list(Path(REAL_MIRROR).glob("a9a*")):
        pytest.skip("SVMBENCH_MIRROR names no folder with a9a")
    monkeypatch.setenv("SVMBENCH_MIRROR", REAL_MIRROR)
    loaded = load("adult")
    assert (loaded.train.n_samples, loaded.test.n_samples) == (32561, 16281)
    assert loaded.train.n_features == loaded.test.n_features == 123
    assert loaded.train.storage == "uint16+ones"
    assert np.count_nonzero(loaded.train.labels == 1) == 7841
