"""Files of examples that change while they are read."""

import os

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data import libsvm

ROWS = "1 1:1\n-1 1:2\n1 1:0.5\n-1 1:3\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text(ROWS)
    return path


def cut(path):
    os.truncate(path, 12)


def replaced(path):
    path.with_suffix(".new").write_text(ROWS)
    path.with_suffix(".new").replace(path)


def grown(path):
    with path.open("a") as text:
        text.write(ROWS)


@pytest.mark.parametrize("change", [cut, replaced, grown, os.unlink])
@pytest.mark.parametrize("command", ["train", "predict", "info"])
def test_a_file_that_changes_while_it_is_read_is_refused(file, monkeypatch, command, change):
    model = file.with_suffix(".model")
    words = {
        "train": ["train", file, "-o", model],
        "predict": ["predict", model, file, "-o", file.with_suffix(".out")],
        "info": ["data", "info", file],
    }
    first = CliRunner().invoke(main, [*map(str, words["train"])])
    assert first.exit_code == 0, first.output
    model_before = model.read_bytes()
    reading = libsvm.parse_libsvm

    def changed(path, **how):
        found = reading(path, **how)
        change(path)
        return found

    monkeypatch.setattr(libsvm, "parse_libsvm", changed)
    done = CliRunner().invoke(main, [*map(str, words[command])])
    assert done.exit_code == 3, done.output
    assert "rows.libsvm: it was changed or replaced while it was read" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert model.read_bytes() == model_before
