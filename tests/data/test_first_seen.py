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


def test_stated_hashes_and_own_files_have_no_record(path):
    stated = DataFile(file="rows", sha256="cd" * 32)
    own = DataFile(file="rows", path=str(path))
    for wanted in (stated, own):
        remember(wanted, stamp(path), SHA256)
    assert not record_path(WANTED).exists()
    remember(WANTED, stamp(path), SHA256)
    assert expected_sha256(stated) == "cd" * 32
    assert expected_sha256(own) is None


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff"])
def test_a_damaged_record_is_none(path, content):
    remember(WANTED, stamp(path), SHA256)
    record_path(WANTED).write_bytes(content)
    assert first_seen(WANTED) is None
