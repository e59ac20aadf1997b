"""What hostile input found out about the readers, each as small as it will go."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import read_libsvm
from svmbench.data import csvtext, libsvm
from svmbench.data.cache import open_cached, store
from svmbench.data.catalogue import Csv, OwnFiles, read_entry, resolve
from svmbench.data.dataset import Dataset
from svmbench.data.idx import parse_idx
from svmbench.data.libsvm import parse_libsvm
from svmbench.errors import DataError
from svmbench.kernels.libsvm import ParseError, Parser

ROWS = b"".join(b"%d 1:%d 7:0.5\n" % (1 - 2 * (i % 2), i + 2) for i in range(400))


@given(st.binary(max_size=60))
def test_any_bytes_are_rows_or_one_complaint(content):
    parser = Parser()
    try:
        parser.feed(content)
        parser.take()
    except ParseError as error:
        complaint = error
    else:
        return
    assert 1 <= complaint.line <= content.count(b"\n") + 1
    assert complaint.column >= 1


def test_an_index_of_many_digits_is_refused_as_any_other(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"1 3:1 " + b"0" * 60 + b"3:1\n")
    with pytest.raises(DataError, match=r":1:7: index '?0+\.* stands twice"):
        parse_libsvm(path)


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".bz2", bz2.compress), (".xz", lzma.compress), (".gz", gzip.compress)]
)
def test_streams_behind_a_whole_one_are_read_or_the_file_is_refused(tmp_path, suffix, compress):
    path = tmp_path / f"rows{suffix}"
    first, second = compress(ROWS[:2000]), compress(ROWS[2000:])
    path.write_bytes(first + second)
    assert parse_libsvm(path).n_samples == 400
    for damaged in (bytes([second[0] ^ 1]) + second[1:], second[:-1], second[:2]):
        path.write_bytes(first + damaged)
        with pytest.raises(DataError, match="truncated or corrupt"):
            parse_libsvm(path)


def test_xz_may_be_padded(tmp_path):
    path = tmp_path / "rows.xz"
    first, second = lzma.compress(ROWS[:2000]), lzma.compress(ROWS[2000:])
    path.write_bytes(first + bytes(8) + second + bytes(4))
    assert parse_libsvm(path).n_samples == 400


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_line_without_an_end_is_refused_at_its_line(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(libsvm, "LONGEST_LINE", 3 << 20)
    path = tmp_path / ("rows" if pack is bytes else "rows.gz")
    path.write_bytes(pack(b"1 1:1\n-1 2:1\n" + b"7" * (5 << 20)))
    with pytest.raises(DataError, match=r":3:3145729: the line is longer than 3 MiB"):
        parse_libsvm(path)
    path.write_bytes(pack(b"1 1:1" + b" " * (5 << 19) + b"\n" + b"-1 1:1" + b" " * (5 << 19)))
    assert parse_libsvm(path).n_samples == 2


def test_a_line_of_delimited_text_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csvtext, "_LONGEST_LINE", 1000)
    path = tmp_path / "rows"
    path.write_bytes(b"1,2\n" + b"7" * 2000)
    with pytest.raises(DataError, match=r":2: the line is longer"):
        csvtext.parse_csv(path, Csv(header=False, label=1))


@pytest.mark.parametrize("line", [b'"1",2\r3\n', b'"1",' + b"2" * 200_000 + b"\n"])
def test_what_the_csv_module_refuses_is_one_complaint(tmp_path, line):
    path = tmp_path / "rows"
    path.write_bytes(b"1,2\n" + line)
    with pytest.raises(DataError, match=":2: "):
        csvtext.parse_csv(path, Csv(header=False, label=1))


def test_rows_beyond_the_memory_are_a_complaint(tmp_path, monkeypatch):
    path = tmp_path / "rows"
    path.write_bytes(ROWS)

    def none_left(*_):
        raise MemoryError("no room for 7 bytes of rows")

    monkeypatch.setattr(libsvm, "_parse", none_left)
    with pytest.raises(DataError, match=r"too large for the memory .no room for 7"):
        parse_libsvm(path)


def test_images_that_are_more_than_announced_are_not_kept(tmp_path):
    path, labels = tmp_path / "images.gz", tmp_path / "labels"
    head = b"\0\0\x08\x02" + np.array([1, 3], ">u4").tobytes()
    path.write_bytes(gzip.compress(head + bytes(50 << 20)))
    labels.write_bytes(b"\0\0\x08\x01\0\0\0\x01\x05")
    with pytest.raises(DataError, match="more than the 15 bytes that its header announces"):
        parse_idx(path, labels)


def test_images_of_too_many_dimensions_are_refused(tmp_path):
    path = tmp_path / "images"
    path.write_bytes(b"\0\0\x08\x40" + np.ones(64, ">u4").tobytes() + b"\x01")
    with pytest.raises(DataError, match="not the header of an IDX file"):
        parse_idx(path, path)


def test_pipes_and_devices_are_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero"):
        with pytest.raises(DataError, match="a pipe or a device"):
            read_libsvm(path)
        with pytest.raises(DataError, match="a device or a pipe, not a file"):
            resolve(OwnFiles(path=path))


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000 + "b", "nul\0nul"])
def test_names_that_no_file_can_have_are_refused(name):
    with pytest.raises(DataError):
        resolve(OwnFiles(path=name))
    with pytest.raises(DataError):
        read_libsvm(name)


@pytest.mark.parametrize(
    "line",
    [
        "title: again",
        "checked: 2020-99-99",
        "labels: !!int 1.5",
        "licence: &a [*a]",
        f"licence: {'[' * 5000}",
    ],
)
def test_descriptions_are_read_as_strictly_as_configurations(tmp_path, line):
    path = tmp_path / "x.yaml"
    path.write_text(f"name: x\ntitle: x\ntrain: {{file: x}}\n{line}\n")
    if line.startswith("checked"):
        assert read_entry(path).checked == "2020-99-99"
        return
    with pytest.raises(DataError, match=r"x\.yaml:\d+:\d+: "):
        read_entry(path)


def test_a_cached_column_outside_the_rows_is_damage(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    indptr, indices = np.array([0, 1, 2]), np.array([0, 3], np.uint16)
    data = Dataset("x", 4, indptr, indices, None, np.array([1, -1], np.int8))
    entry = store(data, "x")
    assert open_cached(entry) is not None
    path = entry / "indices.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"\x7f")
    assert open_cached(entry) is None
