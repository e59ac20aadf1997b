"""What of a results folder is not a file or a folder of its own is named."""

import os

import pytest

from svmbench.verify.own import FILES, FOLDERS, foreign_entries


@pytest.fixture
def folder(tmp_path):
    """A folder with all its files, and one in each of its folders."""
    folder = tmp_path / "results"
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    for place in [*FILES, *(f"{name}/x" for name in FOLDERS)]:
        (folder / place).write_text("x")
    return folder


def test_files_and_folders_of_its_own(folder, tmp_path):
    assert list(foreign_entries(folder)) == []
    (tmp_path / "link").symlink_to(folder)
    assert list(foreign_entries(tmp_path / "link")) == []
    (folder / "notes").symlink_to(tmp_path / "link")  # it is no part of the results
    assert list(foreign_entries(folder)) == []
    (tmp_path / "empty").mkdir()
    assert list(foreign_entries(tmp_path / "empty")) == []


@pytest.mark.parametrize("place", [*FILES, *(f"{name}/x" for name in FOLDERS)])
def test_what_is_in_place_of_a_file(folder, place):
    path = folder / place
    path.unlink()
    path.symlink_to(folder / "nowhere")
    assert list(foreign_entries(folder)) == [place]
    path.unlink()
    path.mkdir()
    assert list(foreign_entries(folder)) == [place]
    path.rmdir()
    os.mkfifo(path)
    assert list(foreign_entries(folder)) == [place]


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_in_place_of_a_folder(folder, name):
    elsewhere = (folder / name).rename(folder / "elsewhere")
    assert list(foreign_entries(folder)) == []
    for target in (elsewhere, folder / "nowhere"):
        (folder / name).symlink_to(target)
        assert list(foreign_entries(folder)) == [name]
        (folder / name).unlink()
    (folder / name).write_text("x")
    assert list(foreign_entries(folder)) == [name]


def test_they_are_named_in_an_order(folder):
    for name in ("b", "a", "c"):
        (folder / "plots" / name).mkdir()
    assert list(foreign_entries(folder)) == ["plots/a", "plots/b", "plots/c"]


def test_every_file_of_a_results_folder_is_looked_at():
    assert {"runs.csv", "traces.csv", "regret.csv", "config.yaml"} < set(FILES)
    assert {"environment.json", "report.html"} < set(FILES)
    assert set(FOLDERS) == {"runs", "tables", "plots"}
