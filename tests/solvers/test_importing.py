"""A plug-in that ends the process, or takes its standard streams, while it is imported."""

import csv
import decimal
import gc
import json
import locale
import os
import resource
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from svmbench.errors import ConfigError
from svmbench.solvers import importing
from svmbench.solvers.importing import kept_alive, process_settings, settings_kept
from svmbench.solvers.registry import add_file, forget_files

SOLVER = """
from svmbench.solvers.dual.dcd import Dcd


class Mine(Dcd):
    name = "mine"
"""


def listed(tmp_path, text, *options):
    """`svmbench solvers --json` with a plug-in of that text before its solver."""
    file = tmp_path / "plug_in.py"
    file.write_text(text + SOLVER)
    command = [sys.executable, "-P", "-m", "svmbench", "solvers", "--json", "--plugin", str(file)]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("os._exit(0)", "_exit"),
        ("os.execl('/bin/true', 'true')", "execv"),
        ("os.execve('/bin/true', ['true'], {})", "execve"),
    ],
)
def test_a_plug_in_that_ends_the_process_is_refused_by_name(tmp_path, call, name):
    made = listed(tmp_path, f"import os\n{call}\n")
    assert made.returncode == 2, made.stderr
    assert f"plug_in.py:2: cannot be imported (EndedError: it called os.{name})" in made.stderr
    assert made.stderr.count("\n") == 1


def test_a_plug_in_that_forbids_to_open_files_is_refused_by_name(tmp_path):
    text = "import sys\ndef hook(event, _):\n    assert event != 'open'\nsys.addaudithook(hook)\n"
    made = listed(tmp_path, text + "open(__file__)\n")
    assert made.returncode == 2, made.stderr
    assert "plug_in.py:3: cannot be imported (AssertionError: no message)" in made.stderr
    assert made.stderr.count("\n") == 1


#: What leaves a process without standard error.
MUTING = [
    "import sys\nsys.stdout = sys.stderr = None",
    "import sys\nsys.stderr.close()",
    "import os\nos.closerange(0, 3)",
]


@pytest.mark.parametrize(
    "text",
    [
        *MUTING,
        "import sys\nsys.stdout.close()",
        "import sys\nsys.__stdout__.close()",
        "import os\nos.close(1)",
        "import os\nos.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
        "print('from the plug-in')",
        "import os\nos.write(1, b'from the plug-in')",
        "import os\nos.fork()",
        "import os, sys\nif os.fork() == 0:\n    sys.exit()",
        "import os\nif os.fork() == 0:\n    os._exit(3)\nassert os.wait()[1] == 3 << 8",
    ],
)
def test_the_standard_streams_stay_as_they_are(tmp_path, text):
    made = listed(tmp_path, text + "\n")
    assert made.returncode == 0, made.stderr
    assert "mine" in {solver["name"] for solver in json.loads(made.stdout)}
    assert ("from the plug-in" in made.stderr) == ("from the plug-in" in text)


@pytest.mark.parametrize("text", MUTING)
def test_a_later_error_is_said(tmp_path, text):
    # An unknown option, say, would be refused before the plug-in is imported.
    made = listed(tmp_path, text + "\n", "nix")
    assert made.returncode == 2
    assert "svmbench: unknown solver 'nix'; " in made.stderr


def test_the_current_folder_the_mask_and_the_signals_stay_as_they_are(tmp_path, monkeypatch):
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    mask = os.umask(0o022)
    try:
        with kept_alive():
            os.chdir(tmp_path)
            os.umask(0o777)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda *_: None)
        assert Path.cwd() == place
        assert os.umask(0o022) == 0o022
        now = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        assert now == before
    finally:
        os.umask(mask)
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)


def test_a_current_folder_that_is_gone_stays_so(tmp_path, monkeypatch):
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    place.rmdir()
    with kept_alive():
        os.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        Path.cwd()


def settings():
    """What a plug-in could change of Python's settings, in words that can be compared."""
    return {
        "decimal": repr(decimal.getcontext()),
        "depth": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "locale": locale.setlocale(locale.LC_ALL),
        "numpy": np.geterr(),
        "warnings": list(warnings.filters),
        "gc": (gc.isenabled(), list(gc.callbacks)),
        "called": (sys.getprofile(), threading.getprofile(), threading.gettrace()),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook),
        "process": process_settings(os.getpid()),
        "variables": dict(os.environ),
    }


def nothing(*_):
    """Of what the interpreter calls."""


def change_settings():
    """Change all of them, as a plug-in may when it is imported."""
    decimal.getcontext().prec = 1
    decimal.getcontext().traps[decimal.FloatOperation] = True
    sys.setrecursionlimit(sys.getrecursionlimit() + 7)
    sys.set_int_max_str_digits(640)
    locale.setlocale(locale.LC_ALL, "C")
    np.seterr(all="raise")
    warnings.simplefilter("error")
    gc.disable()
    gc.callbacks.append(nothing)
    threading.setprofile(nothing)
    threading.settrace(nothing)
    sys.excepthook = sys.unraisablehook = threading.excepthook = nothing
    if sys.platform == "linux":
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, files))
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["PYTHONHOME"] = "/nowhere"
    sys.setprofile(nothing)


def test_pythons_settings_stay_as_they_are():
    before = settings()
    with settings_kept("mine"):
        change_settings()
    assert settings() == before


@pytest.mark.skipif(sys.platform != "linux", reason="these settings are Linux's")
@pytest.mark.parametrize(
    "change", ["os.nice(1)", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"]
)
def test_a_plug_in_that_changes_its_process_for_good_is_refused_by_name(
    tmp_path, monkeypatch, change
):
    """A user without privileges can neither raise a priority nor a limit again."""
    _, hard = before = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0 and "CORE" in change:
        pytest.skip("the limit is the lowest already")
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    file = tmp_path / "plug_in.py"
    file.write_text(f"import os, resource\n{change}\n{SOLVER}")
    monkeypatch.setattr(importing, "_restore", lambda _: None)
    try:
        with pytest.raises(ConfigError, match=r"^plug_in\.py: its import changes the priority"):
            add_file(file)
    finally:
        forget_files()
        with suppress(OSError, ValueError):
            os.setpriority(os.PRIO_PROCESS, 0, priority)
            resource.setrlimit(resource.RLIMIT_CORE, before)


def test_the_command_imports_plug_ins_with_its_settings_kept(tmp_path):
    file = tmp_path / "plug_in.py"
    file.write_text("import sys\nsys.setrecursionlimit(sys.getrecursionlimit() + 7)\n" + SOLVER)
    depth = sys.getrecursionlimit()
    try:
        add_file(file)
    finally:
        forget_files()
    assert sys.getrecursionlimit() == depth


def test_a_sweep_ends_as_usual_whatever_a_plug_in_sets(tmp_path):
    made = run(tmp_path, "import decimal\ndecimal.getcontext().prec = 1\n" + SOLVER)
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""


def test_a_plug_in_that_lets_calls_be_less_deep_fails_once_and_for_all(tmp_path):
    made = run(tmp_path, "import sys\nsys.setrecursionlimit(60)\n" + SOLVER, "plots: []\n")
    (row,) = csv.DictReader((tmp_path / "out" / "runs.csv").open(encoding="utf-8"))
    assert (row["state"], made.stderr) == ("failed", "")
    assert "RecursionError" in row["reason"]


def run(tmp_path, text, more=""):
    """A small sweep of the solver of that plug-in."""
    file, config = tmp_path / "plug_in.py", tmp_path / "config.yaml"
    file.write_text(text)
    config.write_text(
        "version: 1\nname: one\ndatasets: [tiny-separable]\nlambda: [0.1]\nsolvers: [mine]\n"
        f"stop: {{accuracy: [0.1], max_epochs: 10, time_limit: 5.0}}\nrepeats: 1\n{more}"
    )
    command = [sys.executable, "-P", "-m", "svmbench", "run", str(config), "--quiet"]
    options = ["--plugin", str(file), "--out", str(tmp_path / "out")]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)


def test_an_error_of_a_plug_ins_code_names_its_line(tmp_path):
    text = f"{SOLVER}    @classmethod\n    def missing(cls):\n        return {{}}['what']\n"
    made = run(tmp_path, text)
    assert made.returncode == 2, made.stderr
    place = f"plug_in.py:{text.count(chr(10))}"
    assert made.stderr.startswith(f"svmbench: {place}: the plug-in raises KeyError: 'what'")
    assert made.stderr.count("\n") == 1


def test_an_error_that_a_plug_in_may_have_caused_names_it(tmp_path):
    made = run(tmp_path, "import sys\nsys.path.clear()\n" + SOLVER)
    assert made.returncode == 1, made.stderr
    assert "rerun with --debug, without plug_in.py if you can, and report it" in made.stderr
    assert made.stderr.count("\n") == 1
