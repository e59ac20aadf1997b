"""Solvers in single files: loaded from their text, named in errors, part of a run's identity."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from click.testing import CliRunner
from small_sweep import run_sweep

from problems import edge_problems, ordinary_problems
from svmbench.cli import main
from svmbench.config import dump_sweep, load_sweep, with_plugins
from svmbench.data.csr import csr
from svmbench.errors import ConfigError
from svmbench.harness import supervise
from svmbench.solvers import registry, single_file

TEMPLATE = Path(__file__).parents[2] / "docs/plugin-template/src/svmbench_subgradient/__init__.py"

CONFIG = """
version: 1
name: mine
plugins: [solver.py]
datasets: [tiny-sparse]
lambda: 0.1
solvers: [subgradient, dcd]
stop: {accuracy: 0.1, max_epochs: 100, time_limit: 5s}
"""


@pytest.fixture(autouse=True)
def forgotten():
    """Forget the files that a test has loaded."""
    yield
    registry.forget_files()


@pytest.fixture
def file(tmp_path):
    """The template's solver in a single file."""
    path = tmp_path / "solver.py"
    path.write_text(TEMPLATE.read_text())
    return path


def fresh(path):
    """The solver of a file as a fresh process would load it."""
    single_file.unload_files()
    return single_file.load_file(path)[0]


def test_a_file_takes_part(file):
    (solver,) = registry.add_file(file)
    assert registry.find_solver("subgradient") is solver
    assert registry.add_file(file) == (solver,)  # a second time changes nothing
    assert list(registry.solvers()).count("subgradient") == 1
    assert single_file.file_of(solver) == file
    assert single_file.file_of(registry.find_solver("dcd")) is None


def test_another_process_finds_it_by_its_address(file):
    (solver,) = single_file.load_file(file)
    address = single_file.address(solver)
    script = (
        "import sys; from svmbench.harness.worker import loaded_solver\n"
        "print(loaded_solver(sys.argv[1], {'eta0': 0.25}).parameters.eta0)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, address], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0.25\n"


def test_a_changed_file_is_another_build_and_another_name_is_too(file, tmp_path):
    first = fresh(file).build()
    assert fresh(file).build() == first
    file.write_text(file.read_text() + "# changed\n")
    changed = fresh(file).build()
    assert changed != first
    other = tmp_path / "other.py"
    other.write_text(file.read_text())
    assert fresh(other).build() != changed


@pytest.mark.parametrize("end", ["# changed\n", "1/0\n", None])
def test_a_file_that_changes_during_a_sweep_interrupts_its_run(file, tmp_path, monkeypatch, end):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    config, results, text = file.with_name("mine.yaml"), tmp_path / "results", file.read_text()
    short = CONFIG.replace("[subgradient, dcd]", "[subgradient]") + "repeats: 1\nplots: []\n"
    config.write_text(short)
    header_of = supervise.header_of

    def changing(run, *more):
        if end is None:
            file.unlink()
        else:
            file.write_text(text + end)
        return header_of(run, *more)

    with monkeypatch.context() as patch:
        patch.setattr(supervise, "header_of", changing)
        run_sweep(load_sweep(config), results)
    (run,) = pd.read_csv(results / "runs.csv").to_dict("records")
    assert run["state"] == "interrupted"
    assert "changed during the sweep" in run["reason"] or "can no longer be read" in run["reason"]

    file.write_text(text)
    registry.forget_files()
    run_sweep(load_sweep(config), results)
    (again,) = pd.read_csv(results / "runs.csv").to_dict("records")
    assert again["id"] == run["id"]
    assert again["state"] in ("converged", "max_steps")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n1/0\n", r"bad\.py:2: cannot be imported \(ZeroDivisionError: division by zero\)"),
        ("x = 1\ny = = 2\n", r"bad\.py:2: cannot be imported \(SyntaxError: invalid syntax\)"),
        ("import no_such_module\n", r"bad\.py:1: cannot be imported \(ModuleNotFoundError: No mod"),
        ("raise SystemExit(0)\n", r"bad\.py:1: cannot be imported \(SystemExit: 0\)"),
        ("raise ValueError('x' * 5000)\n", r"bad\.py:1: cannot be .*x{300}\); repair it$"),
        ("\0", r"bad\.py.*: cannot be imported \(\w+: .*null bytes"),
        ("x = 1\n", r"bad\.py: defines no solver; it needs a subclass"),
        ("from svmbench.solvers.dual.dcd import Dcd\n", r"bad\.py: defines no solver"),
        (
            "from svmbench.solvers.base import Solver\n"
            "class Mine(Solver):\n    name = 'mine'\n    source = 'ours'\n",
            r"bad\.py: Mine does not define advance, start, w, summary$",
        ),
        (
            "from svmbench.solvers.dual.dcd import Dcd\nclass Mine(Dcd):\n"
            "    name, step = 'mine', 'rows'\n",
            r"bad\.py: Mine\.step must be 'presentation' or 'iteration', not 'rows'$",
        ),
        (
            "from svmbench.solvers.dual.dcd import Dcd\nclass Mine(Dcd):\n"
            "    name, horizon = 'mine', None\n",
            r"bad\.py: Mine\.horizon must be 'none' or 'steps' or 'accuracy', not None$",
        ),
        (
            "from svmbench.solvers.dual.dcd import Dcd\nclass Mine(Dcd):\n"
            "    name, schema = 'mine', None\n",
            r"bad\.py: Mine\.schema must be a subclass of Parameters$",
        ),
        (
            "from svmbench.solvers.dual.dcd import Dcd\nclass Mine(Dcd):\n"
            "    name, schema = 'mine', int\n",
            r"bad\.py: Mine\.schema must be a subclass of Parameters$",
        ),
        (
            "from svmbench.solvers.dual.dcd import Dcd\nclass Mine(Dcd):\n    name = 3\n",
            r"bad\.py: Mine\.name must be str, not 3$",
        ),
        (
            "from svmbench.solvers.dual.dcd import Dcd\nclass Mine(Dcd):\n    name = 'dcd'\n",
            r"solver 'dcd': claimed by \S+\.Dcd and \S+bad\.py\.Mine; rename one",
        ),
    ],
)
def test_a_bad_file_is_one_line_with_its_name(tmp_path, text, said):
    path = tmp_path / "bad.py"
    path.write_text(text)
    known = set(registry.solvers())
    for _ in range(2):
        with pytest.raises(ConfigError, match=said) as caught:
            registry.add_file(path)
        assert "\n" not in str(caught.value)
    assert set(registry.solvers()) == known


def test_a_configuration_names_files_beside_it(file):
    config = file.with_name("mine.yaml")
    config.write_text(CONFIG)
    sweep = load_sweep(config)
    assert [solver.name for solver in sweep.solvers] == ["subgradient", "dcd"]
    config.write_text(dump_sweep(sweep))
    assert load_sweep(config) == sweep
    file.write_text("1/0")
    single_file.unload_files()
    said = r"mine\.yaml:\d+:\d+: solver\.py:1: cannot be imported \(ZeroDivisionError"
    with pytest.raises(ConfigError, match=said):
        load_sweep(config)


def test_a_configuration_of_results_executes_nothing(file, tmp_path):
    config, mark = file.with_name("mine.yaml"), tmp_path / "executed"
    config.write_text(CONFIG)
    file.write_text(f"{file.read_text()}open({str(mark)!r}, 'w').close()\n")
    said = rf"'subgradient' is of a plug-in, .* add --plugin {file} if you trust it"
    with pytest.raises(ConfigError, match=said):
        load_sweep(config, load_plugins=False)
    assert not mark.exists()
    load_sweep(config)
    assert mark.exists()


def test_the_option_adds_a_row_unless_there_is_one(file):
    sweep = load_sweep(Path("smoke"))
    added = with_plugins(sweep, [file])
    assert [spec.name for spec in added.solvers] == [
        *(spec.name for spec in sweep.solvers),
        "subgradient",
    ]
    assert with_plugins(added, [file]) == added
    assert with_plugins(sweep, []) is sweep
    squared = sweep.model_copy(update={"loss": type(sweep.loss)(name="squared-hinge")})
    with pytest.raises(ConfigError, match=r"--plugin \S+solver\.py: \S+ cannot train the loss"):
        with_plugins(squared, [file])


@pytest.mark.parametrize(
    "command",
    [
        ("run", "smoke", "--dry-run"),
        ("bench", "smoke", "--dry-run"),
        ("solvers", "subgradient"),
    ],
)
def test_commands_take_the_option(file, command):
    done = CliRunner().invoke(main, [*command, "--plugin", str(file)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    if command[0] != "bench":  # which counts cells
        assert "subgradient" in done.output


def test_a_bad_file_ends_a_command_with_code_2(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "svmbench", "solvers", "--plugin", tmp_path / "none.py"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "none.py: cannot be read (No such file or directory); name a file" in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_not_read(tmp_path, kind):
    path = tmp_path / "solver.py"
    if kind == "pipe":
        os.mkfifo(path)  # whoever opens it waits
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(ConfigError, match=r"cannot be read \(no file\); name a file"):
        single_file.load_file(path)


@pytest.mark.parametrize("name", [*ordinary_problems(), *edge_problems()])
@pytest.mark.parametrize("dtype", [None, np.float32, np.float64])
def test_csr_has_the_same_rows(name, dtype):
    data = {**ordinary_problems(), **edge_problems()}[name].data
    rows = csr(data, dtype)
    assert scipy.sparse.issparse(rows)
    assert rows.format == "csr"
    assert rows.shape == (data.n_samples, data.n_features)
    assert dtype is None or rows.dtype == dtype
    rows.check_format(full_check=True)
    w = np.random.default_rng(3).normal(size=data.n_features)
    rounding = 1e-5 if rows.dtype == np.float32 and data.values is not None else 1e-12
    wanted = data.rows.dot(w)
    assert np.allclose(rows @ w, wanted, rtol=rounding, atol=rounding * np.abs(w).max() * 10)
