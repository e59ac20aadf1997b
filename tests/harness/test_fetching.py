"""What is downloaded before the runs."""

import pytest

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data import fetch
from svmbench.data.fetch import MissingFileError
from svmbench.harness import sources
from svmbench.harness.sources import MOST_BYTES

PLAIN = [DatasetSpec(name=name) for name in ("rcv1.binary", "heart_scale", "w8a")]
SWAPPED = DatasetSpec.model_validate({"name": "rcv1.binary", "transforms": ["swap"], "label": "r"})


@pytest.fixture(autouse=True)
def nothing_here(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    monkeypatch.setenv("SVMBENCH_OFFLINE", "0")
    monkeypatch.setattr(fetch, "_offline", (0.0, ""))  # whatever an earlier test has found


def names(missing):
    return [[file.file for file in each.files] for each in missing]


def test_small_files_are_downloaded_first_and_only_so_many():
    found = sources.fetching([*PLAIN, *PLAIN])
    wanted = [["heart_scale"], ["w8a.t"], ["w8a"], ["rcv1_train.binary"]]
    assert names(found.wanted) == wanted
    assert sum(each.size for each in found.wanted) <= MOST_BYTES
    assert names(found.left) == [["rcv1_test.binary"]]
    downloaded, left = found.words
    assert downloaded.startswith("to be downloaded, about 19 MB in all: ")
    assert left == f"downloaded with --fetch-all only: {found.left[0]}"
    everything = sources.fetching(PLAIN, everything=True)
    assert names(everything.wanted) == [*wanted, ["rcv1_test.binary"]]
    assert not everything.left


def test_a_swap_needs_both_files_or_none():
    assert names(sources.fetching([SWAPPED]).left) == [["rcv1_train.binary", "rcv1_test.binary"]]


def test_what_is_here_or_a_users_own_or_not_served_is_not_downloaded(tmp_path):
    own = DatasetSpec.model_validate({"path": str(tmp_path / "own.libsvm")})
    unserved = DatasetSpec(name="astro-ph")
    found = sources.fetching([DatasetSpec(name="tiny-dense"), unserved, own])
    assert found == sources.Fetching((), ())


def test_without_a_network_the_first_failure_is_the_last_one(monkeypatch, caplog):
    asked = []

    def unreachable(name, file):
        asked.append(file.file)
        monkeypatch.setattr(fetch, "_offline", (float("inf"), "no route"))
        raise MissingFileError(name, f"{file.file} is missing (no route)")

    monkeypatch.setattr(sources, "locate", unreachable)
    sources.fetching(PLAIN).fetch()
    assert asked == ["heart_scale"]
    assert caplog.messages == ["no network, so nothing is downloaded: no route"]


def test_where_the_network_is_switched_off_nothing_is_asked_or_said(monkeypatch, caplog):
    monkeypatch.setenv("SVMBENCH_OFFLINE", "1")
    found = sources.fetching(PLAIN)
    found.fetch()
    assert not caplog.records
    assert found.words == []
