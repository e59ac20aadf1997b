"""Cache entries come back as they were stored, or not at all."""

import json
import logging
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from svmbench.data import cache
from svmbench.data.cache import entry_path, open_cached, store, verify
from svmbench.data.dataset import Dataset, Provenance
from svmbench.errors import DataError

INDPTR = np.array([0, 2, 2, 3], dtype=np.int64)
LABELS = np.array([1, -1, 1], dtype=np.int8)
FORMS = {
    "uint16+float32": (np.uint16, np.float32),
    "int32+float64": (np.int32, np.float64),
    "uint16+ones": (np.uint16, None),
    "dense float32": (None, np.float32),
    "dense float64": (None, np.float64),
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))


def dataset(form="uint16+float32", seed=0):
    index_type, value_type = FORMS[form]
    rng = np.random.default_rng(seed)
    provenance = Provenance("rows.libsvm", "ab" * 32, ("max-abs", "rows 0:3"), stand_in=True)
    if index_type is None:
        values = rng.normal(size=(3, 4)).astype(value_type)
        return Dataset("rows", 4, None, None, values, LABELS.copy(), provenance)
    indices = np.array([0, 3, 1], dtype=index_type)
    values = None if value_type is None else rng.normal(size=3).astype(value_type)
    return Dataset("rows", 4, INDPTR.copy(), indices, values, LABELS.copy(), provenance)


def assert_same(found, wanted):
    assert found is not None
    assert (found.name, found.n_features, found.storage) == (
        wanted.name,
        wanted.n_features,
        wanted.storage,
    )
    assert found.provenance == wanted.provenance
    assert found.identity == wanted.identity
    for name in ("indptr", "indices", "values", "labels"):
        stored, original = getattr(found, name), getattr(wanted, name)
        if original is None:
            assert stored is None
        else:
            assert stored.dtype == original.dtype
            assert np.array_equal(stored, original)
    assert np.array_equal(found.rows.dot(np.arange(4.0)), wanted.rows.dot(np.arange(4.0)))


@pytest.mark.parametrize("form", FORMS)
def test_round_trip(form):
    data = dataset(form)
    path = store(data, "some-key")
    assert path == entry_path("some-key")
    found = open_cached(path)
    assert_same(found, data)
    assert isinstance(found.labels.base, np.memmap)
    assert (found.mapped_bytes, data.mapped_bytes) == (found.nbytes, 0)
    assert not found.labels.flags.writeable
    verify(path)


def test_absent_entry_is_no_news(caplog):
    assert open_cached(entry_path("nothing")) is None
    assert caplog.records == []


def edit_header(path, change):
    header = json.loads((path / "header.json").read_text())
    change(header)
    (path / "header.json").write_text(json.dumps(header))


def replace_bytes(path, old, new):
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def nest_head(path):
    """A head that Python's parser refuses with a MemoryError, in a file of the same size."""
    head = b"-" * 9900 + b"1"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    facts = json.loads((path.parent / "header.json").read_text())["arrays"]
    path.write_bytes(content)
    facts[path.stem]["bytes"] = len(content)
    list_arrays(path.parent, facts)


def list_arrays(path, facts):
    """Other arrays in a header, and its hash."""
    header = json.loads((path / "header.json").read_text()) | {"arrays": facts}
    header.pop("sha256")
    header["sha256"] = cache._header_sha256(header)
    (path / "header.json").write_text(json.dumps(header))


def forget_labels(path):
    facts = json.loads((path / "header.json").read_text())["arrays"]
    list_arrays(path, {name: each for name, each in facts.items() if name != "labels"})


def put_a_pipe(path):
    """Something in a file's place of which a reading never ends."""
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    "header gone": lambda path: (path / "header.json").unlink(),
    "header cut": lambda path: os.truncate(path / "header.json", 40),
    "header a pipe": lambda path: put_a_pipe(path / "header.json"),
    "array a pipe": lambda path: put_a_pipe(path / "values.npy"),
    "header of no use": lambda path: (path / "header.json").write_text("[]"),
    "header binary": lambda path: (path / "header.json").write_bytes(b"\xff\xfe\x00"),
    "other version": lambda path: replace_bytes(
        path / "header.json", b'"schema_version": 1', b'"schema_version": 2'
    ),
    "other width": lambda path: replace_bytes(
        path / "header.json", b'"n_features": 4', b'"n_features": 5'
    ),
    "no checksum": lambda path: edit_header(path, lambda h: h.pop("sha256")),
    "no labels": forget_labels,
    "array gone": lambda path: (path / "values.npy").unlink(),
    "array cut": lambda path: os.truncate(path / "values.npy", 130),
    "array empty": lambda path: os.truncate(path / "labels.npy", 0),
    "array head unclosed": lambda path: replace_bytes(path / "values.npy", b"}", b"("),
    "array head too deep for Python": lambda path: nest_head(path / "values.npy"),
    "array head of no use": lambda path: replace_bytes(path / "values.npy", b"{", b"["),
    "array overwritten": lambda path: (path / "indices.npy").write_bytes(
        b"x" * (path / "indices.npy").stat().st_size
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_and_repaired(damage, caplog):
    data = dataset()
    path = store(data, "key")
    DAMAGES[damage](path)
    with caplog.at_level(logging.WARNING):
        assert open_cached(path) is None
    (record,) = caplog.records
    message = record.getMessage()
    assert message.startswith(f"{path}: damaged cache entry (")
    assert message.endswith("; it is rebuilt when needed")
    assert "\n" not in message
    with pytest.raises(DataError, match=r"damaged|sha256"):
        verify(path)
    assert store(data, "key") == path
    assert_same(open_cached(path), data)
    assert [entry.name for entry in path.parent.iterdir()] == ["key"]


def test_verify_reads_every_byte():
    path = store(dataset(), "key")
    content = bytearray((path / "values.npy").read_bytes())
    content[-1] ^= 1
    (path / "values.npy").write_bytes(content)
    assert open_cached(path) is not None
    with pytest.raises(DataError, match=r"key: values\.npy has sha256 .*; delete this folder"):
        verify(path)


def store_many(folder, seed):
    os.environ["SVMBENCH_CACHE"] = folder
    for round_ in range(30):
        for key in ("a", "b"):
            path = store(dataset(), key)
            if (seed + round_) % 7 == 0:  # as a careless user might
                (path / "header.json").unlink(missing_ok=True)
    return True


def test_processes_that_write_the_same_entries(tmp_path):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        assert all(pool.map(store_many, [str(tmp_path)] * 3, range(3)))
    for key in ("a", "b"):
        assert_same(open_cached(store(dataset(), key)), dataset())
    assert sorted(path.name for path in (tmp_path / "datasets").iterdir()) == ["a", "b"]


def test_leftovers_of_killed_processes_go():
    path = store(dataset(), "key")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    old = path.with_name(f".writing-{gone.pid}-old")
    new = path.with_name(f".writing-{gone.pid}-new")
    under_way = path.with_name(f".writing-{os.getpid()}-old")  # and somebody has set the clock
    for folder in (old, new, under_way):
        folder.mkdir()
        (folder / "labels.npy").write_bytes(b"half")
    for folder in (old, under_way):
        os.utime(folder, (0, 0))
    store(dataset(), "other")
    assert not old.exists()
    assert new.exists()
    assert under_way.exists()


def test_a_failed_write_leaves_nothing(monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"No space left on device\); make room, or set"):
        store(dataset(), "key")
    assert list(entry_path("key").parent.iterdir()) == []


def test_cache_that_cannot_be_written(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SVMBENCH_CACHE", str(blocked))
    with pytest.raises(DataError, match="cannot write the cache"):
        store(dataset(), "key")
