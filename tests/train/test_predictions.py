"""LIBLINEAR's predict and ours on slices of the real sets."""

import gzip
import lzma
import os
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from svmbench.bundled import bundled

SCRIPT = Path(__file__).parents[2] / "scripts" / "train" / "predictions.py"
ROWS, EVERY = 300, 7

pytestmark = pytest.mark.skipif(
    shutil.which("liblinear-predict") is None, reason="LIBLINEAR's programs are not installed"
)


def agree(*args):
    done = subprocess.run([sys.executable, SCRIPT, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines
    assert all(": 0 of " in line for line in lines)
    return lines


def test_the_bundled_rows():
    tiny = bundled("datasets") / "tiny"
    assert len(agree(tiny / "tiny-sparse.libsvm", "--test", tiny / "tiny-sparse.t.libsvm")) == 9


def test_a_difference_is_found(tmp_path):
    # A program that turns one label around stands in for LIBLINEAR's.
    fake = tmp_path / "liblinear-predict"
    real = shutil.which("liblinear-predict")
    fake.write_text(f'#!/bin/sh\n{real} "$@" && sed -i "1s/^/-/; 1s/^--//" "$3"\n')
    fake.chmod(0o755)
    rows = bundled("datasets") / "tiny" / "tiny-dense.libsvm"
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, SCRIPT, rows, "--loss", "hinge"],
        capture_output=True, text=True, env=os.environ | {"PATH": path},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stdout.count(": 1 of 300 labels differ") == 3


def test_slices_of_the_real_sets(real_data, tmp_path):
    slices = []
    for file in sorted(real_data.glob("*.xz")):
        with lzma.open(file, "rt") as text:
            lines = list(islice(text, 0, ROWS * EVERY, EVERY))
        if len({float(line.split()[0]) for line in lines}) > 1:
            slices.append(tmp_path / file.stem)
            slices[-1].write_text("".join(lines))
    agree(*slices, "--loss", "hinge", "--loss", "logistic")


def test_ten_classes_of_images(real_data, tmp_path):
    names = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
    images, labels = (gzip.decompress((real_data / name).read_bytes()) for name in names)
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:ROWS] / 255.0
    y = np.frombuffer(labels, np.uint8, offset=8)[:ROWS]
    with (tmp_path / "mnist").open("w") as file:
        for label, row in zip(y.tolist(), X, strict=True):
            entries = " ".join(f"{j + 1}:{row[j]:.6g}" for j in np.flatnonzero(row))
            file.write(f"{label} {entries}\n")
    agree(tmp_path / "mnist", "--loss", "squared-hinge")
