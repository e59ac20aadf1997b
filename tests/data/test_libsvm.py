"""Files of LIBSVM text: compression, labels, and one clear line for what is wrong."""

import bz2
import csv
import gzip
import hashlib
import lzma
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from problems import read_libsvm
from svmbench.data import libsvm
from svmbench.data.libsvm import parse_libsvm
from svmbench.data.storage import join
from svmbench.data.text_files import text_sha256
from svmbench.errors import DataError

TEXT = b"+1 1:0.5 3:2\n-1\n+1 2:1e-2 # a comment\r\n"
PACK = {"": bytes, ".xz": lzma.compress, ".bz2": bz2.compress, ".gz": gzip.compress}


def write(folder, content, name="rows.libsvm"):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("suffix", PACK)
def test_compressions_give_the_same_rows(tmp_path, suffix):
    data = read_libsvm(write(tmp_path, PACK[suffix](TEXT), f"rows.libsvm{suffix}"))
    assert data.rows.dot(np.array([1.0, 10.0, 100.0])) == pytest.approx([200.5, 0.0, 0.1])
    assert data.labels.tolist() == [1, -1, 1]
    assert data.n_features == 3
    assert data.name == "rows.libsvm"
    assert data.provenance.source == "rows.libsvm"
    assert data.provenance.sha256 == hashlib.sha256(TEXT).hexdigest()


def test_text_longer_than_a_chunk(tmp_path):
    line = b"-1 1:1 2:-0.125\n+1 3:7\n"
    count = (10 << 20) // len(line)
    path = write(tmp_path, gzip.compress(line * count, 1), "long.gz")
    data = read_libsvm(path)
    assert data.n_samples == 2 * count
    assert data.labels.sum() == 0
    assert data.rows.dot(np.ones(3)).sum() == count * (0.875 + 7)
    assert data.provenance.sha256 == text_sha256(path) == hashlib.sha256(line * count).hexdigest()


@pytest.mark.parametrize(
    ("given", "positive", "expected"),
    [
        ("-1 +1 -1", None, [-1, 1, -1]),
        ("0 1 0", None, [-1, 1, -1]),
        ("1 2 1", None, [-1, 1, -1]),
        ("3.5 -2 3.5", None, [1, -1, 1]),
        ("1 1", None, [1, 1]),
        ("0 0", None, [-1, -1]),
        ("-1 -1", None, [-1, -1]),
        ("-1 +1", -1, [1, -1]),
        ("1 2 3 2", 2, [-1, 1, -1, 1]),
        ("1 2 3 2", (1, 3), [1, -1, 1, -1]),
        ("7 7", 7, [1, 1]),
    ],
)
def test_labels(tmp_path, given, positive, expected):
    rows = "".join(f"{label} 1:1\n" for label in given.split())
    data = read_libsvm(write(tmp_path, rows.encode()), positive=positive)
    assert data.labels.tolist() == expected
    assert data.labels.dtype == np.int8


@pytest.mark.parametrize("given", ["1 2 3", "7 7", "2"])
def test_labels_that_do_not_tell(tmp_path, given):
    path = write(tmp_path, "".join(f"{label} 1:1\n" for label in given.split()).encode())
    message = refusal(read_libsvm, path)
    assert message.startswith(f"{path}: cannot tell which of the labels ")
    assert ", ".join(sorted(set(given.split()))) in message
    assert message.endswith("state it as 'positive'")


def test_positive_label_that_no_row_bears(tmp_path):
    message = refusal(read_libsvm, write(tmp_path, TEXT), positive=(3, 4))
    assert "no row is labelled 3, 4" in message
    assert "the labels are -1, 1" in message


def test_declared_width(tmp_path):
    path = write(tmp_path, TEXT)
    assert read_libsvm(path, n_features=9).n_features == 9
    assert refusal(read_libsvm, path, n_features=2).startswith(f"{path}:1:10: index 3 in data of 2")


def test_zero_rows_are_kept_and_explicit_zeros_are_not(tmp_path):
    path = write(tmp_path, b"1 1:0 2:0.0\n-1\n1 4:-0\n")
    data = read_libsvm(path)
    assert (data.n_samples, data.nnz, data.n_features) == (3, 0, 4)
    assert data.rows.norms2().tolist() == [0.0, 0.0, 0.0]
    assert parse_libsvm(path).zeros == 3


def test_double_precision_on_request(tmp_path):
    path = write(tmp_path, b"1 1:0.1\n-1 900:2\n" * 3)
    assert read_libsvm(path).values.dtype == np.float32
    data = read_libsvm(path, dtype="float64")
    assert data.values.tolist() == [0.1, 2.0] * 3


def test_position_of_a_fault(tmp_path):
    path = write(tmp_path, lzma.compress(b"# head\n" + TEXT + b"-1 2:nan\n"), "rows.xz")
    assert refusal(read_libsvm, path).startswith(f"{path}:5:6: value 'nan' is not finite")


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("content", [b"", b"\n  \n# nothing\n"])
def test_no_rows(tmp_path, suffix, content):
    path = write(tmp_path, PACK[suffix](content), f"empty{suffix}")
    assert refusal(read_libsvm, path) == f"{path}: no rows; a data set needs at least one"


@pytest.mark.parametrize("suffix", [".xz", ".bz2", ".gz"])
@pytest.mark.parametrize("keep", [0.3, 0.6, 0.97])
def test_truncated_archive(tmp_path, suffix, keep):
    rng = np.random.default_rng(0)
    text = b"".join(b"1 1:%d\n" % x for x in rng.integers(1, 1 << 30, 2000))
    packed = PACK[suffix](text)
    path = write(tmp_path, packed[: int(keep * len(packed))], f"rows{suffix}")
    message = refusal(read_libsvm, path)
    assert message.startswith(f"{path}: truncated or corrupt (")
    assert message.endswith("fetch it again")


@pytest.mark.parametrize("suffix", [".xz", ".bz2", ".gz"])
def test_archive_that_is_none_or_damaged(tmp_path, suffix):
    assert "truncated or corrupt" in refusal(read_libsvm, write(tmp_path, TEXT, f"rows{suffix}"))
    packed = bytearray(PACK[suffix](TEXT * 100))
    packed[len(packed) // 2] ^= 0x55
    path = write(tmp_path, bytes(packed), f"bad{suffix}")
    assert refusal(read_libsvm, path).startswith(f"{path}")


def test_paths_that_are_no_file(tmp_path):
    missing = tmp_path / "absent.xz"
    assert refusal(read_libsvm, missing) == f"{missing}: no such file; check the path"
    assert refusal(read_libsvm, tmp_path) == f"{tmp_path}: a folder; name a file"


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"a,b,label\n0.5,1,1\n", "CSV: let its name end"),
        (b"# a comment\n\n0.5;1;1\n", "CSV: let its name end"),
        (PACK[".gz"](TEXT), "gzip: unpack it, or let its name end in .gz"),
        (PACK[".bz2"](TEXT), "bzip2: "),
        (PACK[".xz"](TEXT), "xz: "),
        (b"PK\3\4" + b"\0" * 26 + b"X.npy", "NumPy's .npz: let its name end"),
        (b"PK\3\4" + b"\n" * 26 + b"a.txt", "zip: unpack it"),
        (b"\x93NUMPY\1\0", "NumPy's .npy: let its name end"),
        (b"PAR1\x15\x04", "Parquet: let its name end"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",  # gzip's header holds the time
)
def test_files_of_other_kinds_are_recognised(tmp_path, content, looks):
    path = write(tmp_path, content)
    assert refusal(read_libsvm, path).startswith(f"{path}: this looks like {looks}")


def test_zero_based_rows(tmp_path):
    zero, one = write(tmp_path, b"1 0:5 2:7\n-1 1:2\n"), write(tmp_path, TEXT, "one.libsvm")
    assert "--zero-based" in refusal(parse_libsvm, zero)
    text = parse_libsvm(zero, zero_based=True)
    assert text.max_index == 3
    data = libsvm.to_dataset(text, name="x", n_features=3, positive=(1.0,))
    assert data.rows.dot(np.array([1.0, 10.0, 100.0])).tolist() == [705.0, 20.0]
    message = refusal(parse_libsvm, zero, zero_based=True, n_features=2)
    assert message.startswith(f"{zero}:1:7: index 2 in data of 2 features")
    identities = set()
    for zero_based in (False, True):
        text = parse_libsvm(one, zero_based=zero_based)
        made = libsvm.to_dataset(text, name="x", n_features=9, positive=(1.0,))
        identities.add(made.identity)
    assert len(identities) == 2


row_texts = st.sampled_from(
    [
        b"+1 1:0.5 3:2",
        b"-1",
        b"2 2:1 70000:1 # a comment",
        b"-1 1:0.1234567",
        b"1 2:7 3:0",
        b"1 1:0.3\r",
        b"# nothing",
        b"",
        b"1 " + b" ".join(b"%d:1.5" % j for j in range(1, 40)),
    ]
)
faults = st.sampled_from([b"1 0:1", b"1 2:nan", b"x", b"1 3:1 3:1", b"1 1:1\r 2:2"])


def outcome(path, threads, piece):
    """All that is read, or the complaint."""
    with mock.patch.object(libsvm, "_PIECE", piece):
        try:
            text = parse_libsvm(path, threads=threads)
        except DataError as error:
            return str(error)
    parts = join(text.parts, max(text.max_index, 1))
    facts = (text.sha256, text.n_samples, text.nnz, text.max_index, text.zeros)
    arrays = [None if a is None else (a.dtype.name, a.shape, a.tolist()) for a in parts]
    return facts, text.labels.tolist(), arrays


@settings(max_examples=60, deadline=None)
@given(
    st.lists(row_texts, max_size=12),
    st.lists(st.tuples(st.integers(0, 12), faults), max_size=2),
    st.sampled_from(["", ".gz"]),
    st.integers(1, 90),
    st.sampled_from([1.0, 0.5]),
)
def test_threads_and_pieces_do_not_matter(tmp_path_factory, rows, wrong, suffix, piece, keep):
    for place, fault in wrong:
        rows.insert(place, fault)
    packed = PACK[suffix](b"\n".join(rows))
    if suffix:
        packed = packed[: math.ceil(keep * len(packed))]
    path = write(tmp_path_factory.getbasetemp(), packed, f"threads{suffix}")
    whole = outcome(path, 1, 1 << 20)
    for threads in (1, 2, 3):
        found = outcome(path, threads, piece)
        if keep < 1 and suffix and not wrong:
            # A cut archive may end a row or a piece earlier or later, but it complains.
            assert isinstance(found, str)
        elif keep == 1 or not suffix:
            assert found == whole
        assert found == outcome(path, 1, piece)


def test_a_late_value_turns_all_to_double(tmp_path, monkeypatch):
    monkeypatch.setattr(libsvm, "_PIECE", 64)
    rows = b"".join(b"%d 1:0.%d 90:1\n" % (i % 2, i + 1) for i in range(200))
    single = read_libsvm(write(tmp_path, rows))
    double = read_libsvm(write(tmp_path, rows + b"1 1:0.1234567\n"))
    assert single.values.dtype == np.float32
    assert double.values.dtype == np.float64
    assert double.values[::2].tolist() == [*(float(f"0.{i + 1}") for i in range(200)), 0.1234567]


def test_first_fault_of_the_text_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(libsvm, "_PIECE", 1000)
    rows = [b"1 1:1 2:0.5"] * 2000
    rows[1234] = b"1 2:1 1:1"
    rows[1999] = b"y"
    path = write(tmp_path, b"\n".join(rows))
    for threads in (1, 2, 3):
        with pytest.raises(DataError, match="index 1 after 2") as caught:
            parse_libsvm(path, threads=threads)
        assert str(caught.value).startswith(f"{path}:1235:7: ")


def test_real_files_are_as_their_manifest_says(real_data):
    with (real_data / "MANIFEST.tsv").open(encoding="utf-8") as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream, delimiter="\t")}
    for name in ("a9a", "a9a.t", "mushrooms", "heart_scale", "covtype.20k"):
        facts = rows[name]
        data = read_libsvm(real_data / facts["file"], positive=1)
        assert data.provenance.sha256 == facts["sha256_uncompressed"]
        stored = np.count_nonzero(data.values) if data.indices is None else data.nnz
        found = (data.n_samples, data.n_features, stored, np.count_nonzero(data.labels == 1))
        stated = tuple(int(facts[key]) for key in ("rows", "features", "nnz", "positives"))
        assert found == stated
