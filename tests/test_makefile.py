"""What `make` needs of a machine is said before anything is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def without_venv(tmp_path):
    """A Python that lacks venv, as Debian's does until python3-venv is installed."""
    script = tmp_path / "python3"
    script.write_text(
        f'#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"\n'
    )
    script.chmod(0o755)
    return script


@pytest.fixture
def set_up(tmp_path):
    """A folder that `make` takes for an environment with the package and its kernels."""
    folder = tmp_path / "venv"
    for name in ("bin/python", ".installed"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize("target", ["demo", "test", "docs", "bench"])
def test_what_is_installed_and_compiled_serves_every_target(target, set_up):
    command = ["make", "--no-print-directory", "--dry-run", f"VENV={set_up}", "LOCKED=", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "python" in done.stdout or "svmbench" in done.stdout
    assert "--editable" not in done.stdout
    assert ".[" not in done.stdout


def made(folder, *variables):
    target = f"{folder}/bin/python"
    command = ["make", "--no-print-directory", f"VENV={folder}", *variables, target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_a_missing_compiler_is_one_line(tmp_path):
    result = made(tmp_path / "venv", f"PYTHON={sys.executable}", "CC=no-such-compiler")
    assert result.returncode != 0
    assert result.stderr.startswith("no C compiler; install one")
    assert not (tmp_path / "venv").exists()


def test_a_missing_venv_is_one_line(tmp_path, without_venv):
    result = made(tmp_path / "venv", f"PYTHON={without_venv}")
    assert result.returncode != 0
    assert result.stderr.startswith("this Python has no venv; install it")
    assert not (tmp_path / "venv").exists()


@pytest.mark.slow
def test_a_folder_with_the_name_of_the_package_does_not_hide_it(tmp_path):
    result = made(tmp_path / "venv", f"PYTHON={sys.executable}")
    assert result.returncode == 0, result.stderr
    (tmp_path / "svmbench").mkdir()
    where = "import importlib.util; print(importlib.util.find_spec('svmbench').origin)"
    command = [tmp_path / "venv" / "bin" / "python", "-c", where]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout.strip() == str(ROOT / "svmbench" / "__init__.py")
