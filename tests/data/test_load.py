"""From a name to rows in the cache; the second time without the text."""

import gzip
import hashlib
import logging
import lzma
import os

import numpy as np
import pytest
from refusals import refusal

from svmbench.data import libsvm, text_files
from svmbench.data.cache import cache_dir, open_cached, verify
from svmbench.data.catalogue import Chosen, Csv, DataFile, Entry, OwnFiles
from svmbench.data.load import load
from svmbench.data.transforms import Derived, Rows, Swap
from svmbench.errors import DataError

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


@pytest.fixture
def no_reading(monkeypatch):
    """From the call on, every look at a raw file fails the test."""

    def forbid():
        def read(*_args, **_kwargs):
            raise AssertionError("the text was read again")

        monkeypatch.setattr(libsvm, "parse_libsvm", read)
        monkeypatch.setattr(text_files, "open_text", read)

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
    spec = OwnFiles(path=places / "mirror" / "rows.xz", test=places / "mirror" / "rows.t")
    first = load(spec)
    no_reading()
    assert load(spec).test.identity == first.test.identity


def test_own_files_decide_together(places):
    loaded = load(OwnFiles(path=places / "mirror" / "rows.xz", test=places / "mirror" / "rows.t"))
    assert loaded.train.n_features == loaded.test.n_features == 5
    assert loaded.train.labels.tolist() == [-1, 1, -1]
    assert loaded.test.labels.tolist() == [1, -1]


def test_own_test_file_of_one_class(places):
    test = places / "only-ones"
    test.write_bytes(b"1 1:1\n1 2:1\n")
    loaded = load(OwnFiles(path=places / "mirror" / "rows.xz", test=test))
    assert loaded.test.labels.tolist() == [-1, -1]  # 1 is the lesser label of the training rows


def test_own_test_file_with_strange_labels(places):
    test = places / "strange"
    test.write_bytes(b"0 1:1\n3 2:1\n")
    message = refusal(load, OwnFiles(path=places / "mirror" / "rows.xz", test=test))
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
        load(described(n_features=7, zero_based=True)).train_path,
    }
    assert len(paths) == 4


def test_wrong_hash(places):
    (places / "mirror" / "rows.t").write_bytes(TEST + b"1 1:1\n")
    message = refusal(load, described())
    found = hashlib.sha256(TEST + b"1 1:1\n").hexdigest()
    expected = hashlib.sha256(TEST).hexdigest()
    assert message.startswith(f"{places / 'mirror' / 'rows.t'}: not the expected rows.t: ")
    assert f"sha256 {found}, not {expected}; replace or delete it" in message
    assert not list((cache_dir() / "datasets").glob("*"))


def test_a_wrong_file_is_told_from_a_malformed_one(places):
    (places / "mirror" / "rows.t").write_bytes(b"<html>gone</html>\n")
    assert "not the expected rows.t" in refusal(load, described())
    assert ":1:1: label '<html>gone</html>'" in refusal(load, described(test={"sha256": None}))


@pytest.mark.parametrize(("what", "found"), [("rows", 3), ("positives", 1), ("nnz", 3)])
def test_wrong_counts(what, found):
    message = refusal(load, described(train={what: found + 1}))
    assert f": {what} {found}, not {found + 1} as its description states" in message


def test_rows_of_labels_with_many_digits_are_told_apart(places):
    path = places / "ids.libsvm"
    path.write_text("1000001 1:1\n1000002 1:2\n1000003 1:3\n")
    one, other = (
        load(OwnFiles(path=str(path), positive=label)).train for label in (1000001, 1000002)
    )
    assert (one.labels.tolist(), other.labels.tolist()) == ([1, -1, -1], [-1, 1, -1])
    assert other.provenance.transforms == ("positive 1000002",)
    assert one.identity != other.identity
    with pytest.raises(DataError, match="labels 1000001, 1000002, 1000003 is"):
        load(str(path))


def test_positive_label_that_does_not_occur():
    assert "no row is labelled 9" in refusal(load, described(positive=(9,)))


def unstated(**more):
    return described(train={"sha256": None}, test={"sha256": None}, **more)


def test_content_of_unstated_hash_is_remembered(places, no_reading):
    first = load(unstated())
    no_reading()
    second = load(unstated())
    assert second.train_path == first.train_path
    assert len(list((cache_dir() / "datasets").iterdir())) == 2
    for path in (places / "mirror").iterdir():
        path.unlink()
    assert load(unstated()).test.identity == first.test.identity


def test_content_that_changed_since_it_was_first_seen(places):
    load(unstated())
    path = places / "mirror" / "rows.t"
    path.write_bytes(TEST + b"1 1:1\n")
    message = refusal(load, unstated())
    assert message.startswith(f"{path}: rows.t has changed: its text has sha256 ")
    record = cache_dir() / "first-seen" / "rows.t.json"
    assert f"or delete {record} to accept this one" in message
    record.unlink()
    assert load(unstated()).test.n_samples == 3


def test_same_content_in_another_file(places, no_reading):
    first = load(unstated())
    (places / "mirror" / "rows.xz").unlink()
    (places / "mirror" / "rows.gz").write_bytes(gzip.compress(TRAIN))
    assert load(unstated()).train_path == first.train_path
    no_reading()
    assert load(unstated()).train_path == first.train_path


def test_a_malformed_file_is_not_remembered(places):
    path = places / "mirror" / "rows.t"
    path.write_bytes(b"<html>gone</html>\n")
    assert ":1:1: label '<html>gone</html>'" in refusal(load, unstated())
    path.write_bytes(TEST)
    assert load(unstated()).test.n_samples == 2


def test_several_labels_a_row(places):
    text = b"3,17 1:0.5\n 2:1\n4 3:2\n17,4\n"
    (places / "mirror" / "topics").write_bytes(text)
    topics = Entry(
        name="topics",
        title="Topics",
        format="multilabel",
        train=DataFile(file="topics", rows=4, positives=2),
        positive=(17,),
    )
    assert load(topics).train.labels.tolist() == [1, -1, -1, 1]
    other = topics.model_copy(update={"positive": (3.0, 4.0), "train": DataFile(file="topics")})
    assert load(other).train.labels.tolist() == [1, -1, 1, 1]
    open_ = topics.model_copy(update={"positive": None})
    assert "cannot tell which of the labels 3, 4, 17 is +1; state it" in refusal(load, open_)
    absent = topics.model_copy(update={"positive": (9.0,)})
    assert "no row is labelled 9" in refusal(load, absent)


def test_delimited_text(places):
    (places / "mirror" / "rows.csv").write_bytes(b"a,b,c\n0.5,1,0\n2,0,1\n")
    table = Entry(
        name="table",
        title="Table",
        format="csv",
        csv=Csv(label="c", drop=("b",)),
        train=DataFile(file="rows.csv"),
        n_features=1,
        positive=(1,),
    )
    loaded = load(table)
    assert loaded.train.labels.tolist() == [-1, 1]
    assert loaded.train.rows.dot(np.ones(1)).tolist() == [0.5, 2.0]
    wider = table.model_copy(update={"csv": Csv(label="c"), "n_features": None})
    assert load(wider).train.n_features == 2
    wrong = table.model_copy(update={"n_features": 2})
    assert "rows.csv: 1 columns, not 2 as its description states" in refusal(load, wrong)


def test_labels_in_a_file_of_their_own(places):
    values, labels = b"1 2\n3 4\n", b"1\n-1\n"
    (places / "mirror" / "v.dat").write_bytes(values)
    (places / "mirror" / "v.lab").write_bytes(labels)

    def apart(**hashes):
        names = {"file": "v.dat", "label_file": {"file": "v.lab", **hashes}}
        layout = Csv(separator="blanks", header=False)
        train = DataFile.model_validate(names)
        return Entry(name="v", title="V", format="csv", csv=layout, train=train, positive=(1,))

    assert load(apart(sha256=hashlib.sha256(labels).hexdigest())).train.labels.tolist() == [1, -1]
    assert "v.lab: not the expected v.lab: " in refusal(load, apart(sha256="0" * 64))
    assert load(apart()).train.n_features == 2
    (places / "mirror" / "v.lab").write_bytes(b"-1\n1\n")
    assert "v.lab: v.lab has changed: " in refusal(load, apart())
    (places / "mirror" / "v.lab").unlink()
    assert load(apart()).train.labels.tolist() == [1, -1]  # from the cache


def test_a_set_without_its_test_file_is_opened_and_this_is_said_once(places, caplog):
    whole = load(described())
    (places / "mirror" / "rows.t").unlink()
    assert load(described()).test.identity == whole.test.identity  # from the cache
    assert not caplog.records
    absent = described(test={"file": "absent", "sha256": "0" * 64})
    loaded = load(absent)
    assert (loaded.test, loaded.test_path) == (None, None)
    assert loaded.train_path == whole.train_path
    load(absent)
    [record] = caplog.records
    message = record.getMessage()
    assert message.startswith("made: no test rows, so no test error: absent is missing (")
    assert f"into {places / 'mirror'} (SVMBENCH_MIRROR)" in message
    assert "\n" not in message


def test_a_test_file_that_arrives_later_is_used(places, caplog):
    (places / "mirror" / "rows.t").unlink()
    assert load(described()).test is None
    (places / "mirror" / "rows.t").write_bytes(TEST)
    assert load(described()).test.n_samples == 2
    assert len(caplog.records) == 1


def test_transforms_of_a_set_without_its_test_file(places, caplog):
    (places / "mirror" / "rows.t").unlink()
    loaded = load(Derived(described(), (Rows(start=0, stop=2),), "two"))
    assert loaded.train.n_samples == 2
    assert loaded.test is None
    assert len(caplog.records) == 1
    message = refusal(load, Derived(described(), (Swap(),), "swapped"))
    assert "there are no test rows; leave the swap out" in message


def test_a_wrong_test_file_is_not_a_missing_one(places):
    (places / "mirror" / "rows.t").write_bytes(TEST + b"1 1:1\n")
    assert "not the expected rows.t" in refusal(load, described())


@pytest.mark.parametrize("name", ["tiny-sparse", "tiny-dense", "tiny-separable"])
def test_tiny_sets_need_nothing(name, monkeypatch):
    monkeypatch.delenv("SVMBENCH_MIRROR")
    loaded = load(name, offline=True)
    assert loaded.train.storage == ("dense float32" if "dense" in name else "uint16+float32")
    assert (loaded.test is None) == (name == "tiny-separable")


def test_mnist(real_data, monkeypatch):
    monkeypatch.setenv("SVMBENCH_MIRROR", str(real_data))
    loaded = load(Chosen(name="mnist", positive=[1, 3, 5, 7, 9]))
    assert (loaded.train.n_samples, loaded.train.nnz) == (60000, 8994156)
    assert (loaded.test.n_samples, loaded.test.nnz) == (10000, 1511219)
    assert loaded.train.n_features == loaded.test.n_features == 784
    assert loaded.train.storage == "uint16+float32"
    assert loaded.train.values.max() == 1.0
    positives = [np.count_nonzero(data.labels == 1) for data in (loaded.train, loaded.test)]
    assert positives == [30508, 5074]


def test_adult(real_data, monkeypatch):
    monkeypatch.setenv("SVMBENCH_MIRROR", str(real_data))
    loaded = load("adult")
    assert (loaded.train.n_samples, loaded.test.n_samples) == (32561, 16281)
    assert loaded.train.n_features == loaded.test.n_features == 123
    assert loaded.train.storage == "uint16+ones"
    assert np.count_nonzero(loaded.train.labels == 1) == 7841


@pytest.mark.parametrize("how", ["replaced", "rewritten", "removed"])
def test_a_file_that_changes_while_it_is_read_is_not_cached(how, tmp_path, monkeypatch):
    path = tmp_path / "mine.libsvm"
    path.write_text("+1 1:1\n-1 2:1\n")
    before, read = path.stat(), libsvm.parse_libsvm

    def read_and_change(*args, **extra):
        text = read(*args, **extra)
        if how == "replaced":
            other = tmp_path / "other"
            other.write_text("-1 1:1\n+1 2:1\n")
            other.replace(path)
        elif how == "rewritten":
            path.write_text("-1 1:1\n+1 2:1\n")
        if how == "removed":
            path.unlink()
        else:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return text

    monkeypatch.setattr(libsvm, "parse_libsvm", read_and_change)
    changed = f"{path}: it was changed or replaced while it was read; run again once it is complete"
    assert refusal(load, str(path)) == changed
    assert not list(cache_dir().glob("datasets/*"))
    monkeypatch.setattr(libsvm, "parse_libsvm", read)
    if how != "removed":
        assert load(str(path)).train.labels.tolist() == [-1, 1]


def test_what_a_description_says_of_labels_and_columns_is_part_of_the_identity(places):
    content = b"1,2,3\n-1,3,4\n"
    (places / "mirror" / "rows.csv").write_bytes(content)
    train = DataFile(file="rows.csv", sha256=hashlib.sha256(content).hexdigest())

    def of_column(drop):
        layout = Csv(header=False, label=1, drop=(drop,))
        return Entry(name="v", title="V", format="csv", csv=layout, train=train, positive=(1,))

    entries = [described(positive=(1,)), described(positive=(2,)), of_column(2), of_column(3)]
    assert len({load(entry).train.identity for entry in entries}) == 4
