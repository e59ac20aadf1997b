"""The first hash of a file counts where nobody states one."""

import os

import pytest

from svmbench.data.catalogue import DataFile
from svmbench.data.first_seen import expected_sha256, first_seen, record_path, remember
from svmbench.data.stamp import stamp

WANTED = DataFile(file="rows")
SHA256 = "ab" * 32


@pytest.fixture(autouse=True)
def path(tmp_path, monkeypatch):
    """A raw file, and a cache of its own."""
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    raw = tmp_path / "rows.xz"
    raw.write_bytes(b"raw")
    return raw


def test_a_hash_is_remembered(path):
    assert expected_sha256(WANTED) is None
    remember(WANTED, stamp(path), SHA256)
    assert expected_sha256(WANTED) == SHA256
    assert first_seen(WANTED).is_untouched(path)
    assert [file.name for file in record_path(WANTED).parent.iterdir()] == ["rows.json"]


@pytest.mark.parametrize("touch", ["content", "time", "place"])
def test_a_touched_file_is_noticed(path, touch):
    remember(WANTED, stamp(path), SHA256)
    if touch == "content":
        path.write_bytes(b"other")
    elif touch == "time":
        os.utime(path, ns=(1, 1))
    else:
        path = path.rename(path.with_name("rows"))
    assert not first_seen(WANTED).is_untouched(path)
