"""Rows that do not fit into memory: read into a file without a name, the same as in memory."""

import numpy as np
import pytest

from svmbench.data import storage
from svmbench.data.libsvm import parse_libsvm, to_dataset
from svmbench.errors import DataError

ROWS = 60_000


@pytest.fixture(autouse=True)
def on_a_disk(monkeypatch):
    """Folders of tests count as such, wherever they are."""
    monkeypatch.setattr(storage, "_OF_MEMORY", ())


def lines(kind):
    """Some megabytes of text, so that there are several parts."""
    rng = np.random.default_rng(3)
    if kind == "dense":
        columns, values = np.tile(np.arange(1, 9), (ROWS, 1)), rng.integers(1, 9, (ROWS, 8))
    else:
        width = {"wide": 10_000, "far": 100_000}.get(kind, 100)
        steps = rng.integers(1, width, (ROWS, 7))
        columns, values = np.cumsum(steps, axis=1), np.full((ROWS, 7), 0.25)
        values[: {"ones": ROWS, "mixed": ROWS // 2}.get(kind, 0)] = 1.0
    for i, (where, what) in enumerate(zip(columns.tolist(), values.tolist(), strict=True)):
        row = " ".join(f"{j}:{x:g}" for j, x in zip(where, what, strict=True))
        yield f"{1 if i % 3 else -1} {row}\n"


def rows_of(path, **how):
    text = parse_libsvm(path, **how)
    return to_dataset(text, name="a", n_features=text.max_index, positive=(1.0,))


@pytest.mark.parametrize("kind", ["ones", "mixed", "wide", "far", "dense"])
@pytest.mark.parametrize("memory", [0, 3_000_000])
def test_rows_in_a_file_are_those_in_memory(tmp_path, monkeypatch, kind, memory):
    path = tmp_path / "a.libsvm"
    path.write_text("".join(lines(kind)))
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    plain = rows_of(path)
    assert plain.mapped_bytes == 0
    monkeypatch.setattr(storage, "available_memory", lambda: memory)
    kept = rows_of(path, beyond_memory=True)
    assert kept.storage == plain.storage
    assert kept.provenance == plain.provenance
    assert kept.mapped_bytes == kept.nbytes
    for found, wanted in (
        (kept.indptr, plain.indptr),
        (kept.indices, plain.indices),
        (kept.values, plain.values),
        (kept.labels, plain.labels),
    ):
        assert (found is None) == (wanted is None)
        assert found is None or np.array_equal(found, wanted)
        assert found is None or found.dtype == wanted.dtype
    assert list((tmp_path / "cache").iterdir()) == []


def test_rows_that_fit_stay_in_memory(tmp_path, monkeypatch):
    path = tmp_path / "a.libsvm"
    path.write_text("".join(lines("ones")))
    monkeypatch.setattr(storage, "available_memory", lambda: 10**9)
    assert rows_of(path, beyond_memory=True).mapped_bytes == 0


def test_a_disk_without_room_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "a.libsvm"
    path.write_text("".join(lines("ones")))
    monkeypatch.setattr(storage, "available_memory", lambda: 0)
    monkeypatch.setattr(storage, "_SHARE", 0.0)
    with pytest.raises(
        DataError, match=r"a\.libsvm: reading further rows needs more than the 0\.0 GB"
    ):
        rows_of(path, beyond_memory=True)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "a.libsvm"
    path.write_text("".join(lines("ones")))
    monkeypatch.setattr(storage, "available_memory", lambda: 0)
    monkeypatch.setenv("SVMBENCH_CACHE", str(path / "below-a-file"))
    with pytest.raises(DataError, match="make room, or set SVMBENCH_CACHE"):
        rows_of(path, beyond_memory=True)
