"""The wheel and the source distribution hold all a user needs, away from the checkout."""

from __future__ import annotations

import ast
import csv
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def call(*arguments, cwd, **environment):
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the files git would hand out, so that the checkout stays as it is."""
    target = tmp_path_factory.mktemp("sources") / "svmbench"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", "build", "dist", "results", "*.so", "*.egg-info", ".*_cache",
        ".hypothesis", "__pycache__",
    )  # fmt: skip
    shutil.copytree(ROOT, target, ignore=ignored)
    return target


@pytest.fixture(scope="module")
def sdist(sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    call(
        sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ".",
        cwd=sources,
    )  # fmt: skip
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Made from the source distribution, so that one that lacks a file is found out.

    Its kernels are not optimised, for which the compiler takes a fifth of the time. What Cython has
    made of the same sources for this checkout is taken over; it makes anew what is older.
    """
    folder, unpacked = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("unpacked")
    call(sys.executable, "-m", "tarfile", "--extract", sdist, unpacked, cwd=unpacked)
    (source,) = unpacked.iterdir()
    for made in (ROOT / "build").glob("cython-*"):
        shutil.copytree(made, source / "build" / made.name)
    call(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet",
        "--wheel-dir", folder, source,
        cwd=folder, SVMBENCH_NATIVE="0", SVMBENCH_CFLAGS="-O0",
    )  # fmt: skip
    (path,) = folder.iterdir()
    return path


def test_the_source_distribution_is_complete(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "setup.py",
        "LICENSE",
        "README.md",
        *(f"kernels/{path.name}" for path in ROOT.glob("kernels/*.p*")),
        "configs/smoke.yaml",
        "configs/papers/sgd-qn/paper.yaml",
        "datasets/adult.yaml",
        "tests/test_packaging.py",
    } <= names
    assert not any(name.endswith(".so") for name in names)


def test_every_file_of_the_package_is_named_for_the_wheel():
    (named,) = (
        ast.literal_eval(keyword.value)
        for call in ast.walk(ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "package_data"
    )
    folders = {
        name: ROOT / name.replace(".", "/")
        for name in named
        if (ROOT / name.replace(".", "/")).is_dir()
    }
    found = {
        path
        for name, folder in folders.items()
        for kind in named[name]
        for path in folder.glob(kind)
    }
    files = {path for path in (ROOT / "svmbench").rglob("*") if path.is_file()}
    assert {path for path in files - found if path.suffix not in (".py", ".pyc")} == set()


@pytest.mark.slow
def test_the_wheel_holds_configurations_data_and_kernels(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "svmbench/py.typed",
        "svmbench/report/svmbench.mplstyle",
        "svmbench/report/templates/uPlot.LICENSE",
        "svmbench/configs/smoke.yaml",
        *(f"svmbench/{path.relative_to(ROOT)}" for path in ROOT.glob("configs/papers/*/*.yaml")),
        "svmbench/datasets/adult.yaml",
        "svmbench/datasets/tiny/tiny-sparse.libsvm",
        "svmbench/kernels/rows.pxd",
    } <= names
    for source in ROOT.glob("kernels/*.pyx"):
        built = [n for n in names if n.startswith(f"svmbench/kernels/{source.stem}.")]
        assert any(n.endswith((".so", ".pyd")) for n in built), source.stem


@pytest.mark.slow
def test_an_installed_wheel_runs_a_bundled_configuration_elsewhere(wheel, tmp_path):
    site = tmp_path / "site"
    call(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel,
        cwd=tmp_path,
    )  # fmt: skip
    environment = {"PYTHONPATH": str(site), "SVMBENCH_CACHE": str(tmp_path / "cache")}
    where = call(
        sys.executable, "-P", "-c",
        "import svmbench, svmbench.kernels.rows as rows;"
        "print(svmbench.__file__, rows.__file__, rows.__build__['flags'], sep='\\n')",
        cwd=tmp_path, **environment,
    )  # fmt: skip
    package, kernel, flags = where.splitlines()
    assert Path(package).is_relative_to(site)
    assert Path(kernel).is_relative_to(site)
    assert "-march" not in flags
    config = tmp_path / "mine.yaml"
    config.write_text(
        "version: 1\nname: mine\ndatasets: [tiny-sparse]\nlambda: 0.01\nsolvers: [dcd, sgd-s]\n"
        "stop: {accuracy: [0.1, 0.01], max_epochs: 100}\nplots: []\n"
    )
    run = [sys.executable, "-P", "-m", "svmbench", "run"]
    call(*run, config, cwd=tmp_path, **environment)
    table = (tmp_path / "results" / "mine" / "tables" / "time.md").read_text()
    assert "dcd" in table
    assert "sgd-s" in table
    # From a folder that nobody can write, not even root, and with plots.
    nowhere = Path("/proc") if Path("/proc").is_dir() else tmp_path
    smoke = [*run, "smoke", "--offline", "--only", "tiny-sparse/*/dcd", "--out", tmp_path / "out"]
    call(*smoke, cwd=nowhere, **environment)
    with (tmp_path / "out" / "runs.csv").open(encoding="utf-8", newline="") as file:
        assert {row["state"] for row in csv.DictReader(file)} == {"converged"}
    listed = call(*run[:-1], "papers", "--list", cwd=tmp_path, **environment)
    assert "sgd-qn/table-5" in listed
