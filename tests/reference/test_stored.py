"""Stored references that are not sound are refused, and each problem gets its methods in turn."""

import errno
import os
import time
import zipfile

import numpy as np
import pytest

from problems import dataset
from svmbench.errors import DataError
from svmbench.problem import Loss, Problem
from svmbench.reference import optimum as references
from svmbench.reference.optimum import certified_optimum, reference_path, stored_pair

pytestmark = pytest.mark.usefixtures("own_cache")

DAY = 24 * 3600.0


def made(loss="hinge", bias="none", radius=np.inf, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, d))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=20) > 0, 1, -1)
    return Problem(
        dataset(X, y), 0.1, Loss(loss, 0.5 if loss == "smoothed-hinge" else 1.0), bias, radius
    )


@pytest.fixture
def stored():
    """A stored reference: its path, its arrays, and a function that writes others."""
    problem = made()
    certified_optimum(problem, 1e-6, 30.0)
    path = reference_path(problem.facts())
    with np.load(path) as file:
        arrays = dict(file)

    def write(**changed):
        whole = {name: array for name, array in (arrays | changed).items() if array is not None}
        np.savez(path, **whole)
        return stored_pair(path, 3, 20)

    return path, arrays, write


def test_a_sound_reference_is_read_as_it_was_written(stored):
    path, arrays, write = stored
    w, bias, alpha = stored_pair(path, 3, 20)
    assert (w == arrays["w"]).all()
    assert (alpha == arrays["alpha"]).all()
    assert bias == arrays["bias"] == 0.0
    assert write() is not None
    assert write(sought=None) is not None  # earlier versions did not write it


@pytest.mark.parametrize("name", ["schema_version", "w", "alpha", "bias", "seconds"])
def test_a_reference_without_an_array_is_refused(stored, name):
    assert stored[2](**{name: None}) is None


def test_a_pipe_in_place_of_a_reference_is_not_read(stored):
    path = stored[0]
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert stored_pair(path, 3, 20) is None


@pytest.mark.parametrize("name", ["w", "alpha", "bias", "seconds", "sought"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_reference_with_one_number_that_is_not_finite_is_refused(stored, name, value):
    array = stored[1][name].copy()
    array.flat[-1] = value
    assert stored[2](**{name: array}) is None


def test_a_reference_of_another_shape_type_or_version_is_refused(stored):
    path, arrays, write = stored
    assert stored_pair(path, 4, 20) is None
    assert stored_pair(path, 3, 21) is None
    for changed in (
        *({"w": arrays["w"].astype(kind)} for kind in (np.float32, np.int64, complex, str)),
        {"alpha": arrays["alpha"].astype(np.float32)},
        {"bias": np.zeros(1)},
        {"bias": np.array("0.0")},
        {"schema_version": np.array(int(arrays["schema_version"]) + 1)},
    ):
        assert write(**changed) is None, changed


def test_an_archive_that_unpacks_to_more_than_a_reference_is_refused_unread(stored, monkeypatch):
    _, _, write = stored
    assert write(more=np.zeros(100)) is not None

    def load(*_, **__):
        raise AssertionError("it was unpacked")

    monkeypatch.setattr(np, "load", load)
    assert write(more=np.zeros(1 << 16)) is None


@pytest.mark.parametrize("head", ["-" * 9900 + "1", "shape of 2**60"], ids=["deep", "large"])
def test_an_array_whose_head_asks_for_memory_is_damaged(stored, head):
    path, arrays, _ = stored
    if head.startswith("shape"):
        head = "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693951,), }"
    spoilt = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    np.savez(path, **{name: array for name, array in arrays.items() if name != "w"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("w.npy", spoilt)
    assert stored_pair(path, 3, 20) is None


@pytest.mark.parametrize(
    "error",
    [
        *(OSError(code, os.strerror(code)) for code in (errno.EMFILE, errno.ENFILE, errno.ENOMEM)),
        MemoryError(),
    ],
    ids=str,
)
def test_a_reference_that_the_system_does_not_let_us_open_is_not_damaged(
    stored, monkeypatch, error
):
    def refuse(*_):
        raise error

    monkeypatch.setattr(references, "unpacked", refuse)
    with pytest.raises(DataError, match="cannot be opened"):
        stored_pair(stored[0], 3, 20)


def test_files_of_killed_processes_are_removed_after_a_day(stored):
    path, _, _ = stored
    old, new = (path.parent / f".{path.name}.999999999-{word}.tmp" for word in ("old", "new"))
    for file, age in ((old, 2.0 * DAY), (new, 0.0)):
        file.touch()
        os.utime(file, (time.time() - age, time.time() - age))
    certified_optimum(made(bias="free"), 1e-6, 30.0)
    assert not old.exists()
    assert new.exists()


FEW, MANY = 2000, 2001


def test_the_time_of_the_better_search_is_kept(monkeypatch):
    problem = made()
    first = certified_optimum(problem, 1e-2, 30.0)
    again = certified_optimum(problem, 1e-10, 30.0)
    assert again.gap < first.gap
    path = reference_path(problem.facts())
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {"seconds": np.array(123.0)}))

    def nothing(problem, *_):
        w, alpha = np.zeros(3), np.zeros(20)
        return references.Reference(w, alpha, problem.primal(w), problem.dual(alpha), 7.0)

    monkeypatch.setattr(references, "_search", nothing)
    kept = certified_optimum(problem, 0.0, 30.0)
    assert (kept.primal, kept.dual) == (again.primal, again.dual)
    assert kept.seconds == 123.0
