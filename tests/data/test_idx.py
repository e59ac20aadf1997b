"""IDX files: images and labels, whole and broken."""

import gzip
import hashlib
import lzma
import struct

import numpy as np
import pytest
from refusals import refusal

from svmbench.data.idx import parse_idx
from svmbench.data.libsvm import to_dataset

IMAGES = np.array([[[0, 1, 255], [7, 0, 0]], [[0, 0, 0], [0, 0, 0]]], dtype=np.uint8)
LABELS = np.array([3, 0], dtype=np.uint8)


def idx(array, kind=8, announced=None):
    shape = announced or array.shape
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, kind, len(shape), *shape) + array.tobytes()


def write(folder, images=None, labels=None, pack=bytes, suffix=""):
    paths = folder / f"images{suffix}", folder / f"labels{suffix}"
    paths[0].write_bytes(pack(idx(IMAGES) if images is None else images))
    paths[1].write_bytes(pack(idx(LABELS) if labels is None else labels))
    return paths


@pytest.mark.parametrize(
    ("pack", "suffix"), [(bytes, ""), (gzip.compress, ".gz"), (lzma.compress, ".xz")]
)
def test_images_and_labels(tmp_path, pack, suffix):
    text = parse_idx(*write(tmp_path, pack=pack, suffix=suffix))
    assert text.labels.tolist() == [3, 0]
    (part,) = text.parts
    assert part.indptr.tolist() == [0, 3, 3]
    assert part.indices.tolist() == [1, 2, 3]
    assert part.values.tolist() == [1, 255, 7]
    assert text.max_index == 6
    assert text.sha256 == hashlib.sha256(idx(IMAGES)).hexdigest()
    assert text.label_sha256 == hashlib.sha256(idx(LABELS)).hexdigest()
    assert text.provenance.source == "images"


def test_other_labels_are_another_content(tmp_path):
    first = parse_idx(*write(tmp_path))
    second = parse_idx(*write(tmp_path, labels=idx(LABELS[::-1].copy())))
    assert first.sha256 == second.sha256
    assert first.provenance != second.provenance


def test_scaled_entries_are_single_precision(tmp_path):
    text = parse_idx(*write(tmp_path), scale=1 / 255)
    scaled = np.float32([1 / 255, 1.0, 7 * (1 / 255)])
    assert text.parts[0].values.tolist() == scaled.tolist()
    data = to_dataset(text, name="digits", n_features=6, positive=(3,))
    assert data.values.dtype == np.float32
    assert data.labels.tolist() == [1, -1]
    assert data.rows.dot(np.ones(6)) == pytest.approx([263 / 255, 0], rel=1e-7)


def test_full_images_are_stored_dense(tmp_path):
    full = np.full((5, 4, 4), 9, dtype=np.uint8)
    paths = write(tmp_path, idx(full), idx(np.arange(5, dtype=np.uint8)))
    data = to_dataset(parse_idx(*paths), name="full", n_features=16, positive=(1,))
    assert data.storage == "dense float32"


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (b"", None, "images: byte 0: not the header of an IDX file"),
        (b"\x1f\x8b\x08\x00" + b"x" * 40, None, "images: byte 0: not the header"),
        (idx(IMAGES)[:9], None, "images: byte 0: not the header"),
        (idx(IMAGES, kind=0x0D), None, "images: byte 2: entries of type 0x0d; only unsigned"),
        (idx(IMAGES)[:-1], None, "images: 27 bytes, not the 28 bytes that its header announces"),
        (idx(IMAGES) + b"x", None, "images: more than the 28 bytes"),
        (idx(LABELS), None, "images: 1 dimension; rows and columns"),
        (None, idx(IMAGES), "labels: 3 dimensions; labels have one"),
        (None, idx(LABELS[:1]), "labels: 1 labels for the 2 rows of images"),
        (idx(IMAGES[:0]), idx(LABELS[:0]), "images: no rows"),
    ],
)
def test_files_that_are_wrong(tmp_path, images, labels, words):
    assert words in refusal(parse_idx, *write(tmp_path, images, labels))


def test_missing_and_corrupt_files(tmp_path):
    images, labels = write(tmp_path)
    assert "no such file" in refusal(parse_idx, images, tmp_path / "absent")
    packed = tmp_path / "images.gz"
    packed.write_bytes(gzip.compress(idx(IMAGES))[:-9])
    assert "truncated or corrupt" in refusal(parse_idx, packed, labels)
