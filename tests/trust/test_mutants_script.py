"""The script that changes a module in one place at a time finds what its tests do not detect."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "trust" / "mutants.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")

MODULE = '''\
"""A module."""


def share(part: int, whole: int) -> float:
    """A share."""
    if whole <= 0:
        raise ValueError(f"{whole} is too small")
    return part / whole

'''

TESTS = """\
import pytest
from small import share


def test_share():
    assert share(1, 4) == 0.25
    with pytest.raises(ValueError):
        share(1, -1)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.py").write_text(MODULE)
    (tmp_path / "test_small.py").write_text(TESTS)
    return tmp_path


def run(folder, *options):
    command = [sys.executable, str(SCRIPT), "small", "test_small.py", "--seconds", "10", *options]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_what_tests_do_not_detect_is_named_once_for_all(folder):
    log = folder / "log"
    made = run(folder, "--log", str(log))
    assert made.returncode == 0, made.stderr
    *survivors, summary = made.stdout.splitlines()
    # No test has a whole of 0 or 1.
    assert survivors == [
        "not detected: small.py:6: whole <= 0: Lt",
        "not detected: small.py:6: 0: 1",
    ]
    tried = [json.loads(line) for line in log.read_text().splitlines()]
    detected = sum(result != "passed" for _, result in tried)
    assert len(tried) - detected == len(survivors)
    assert summary.startswith(f"small: {detected} of {len(tried)} changes detected, ")
    assert summary.endswith("; 0 not tried")
    assert run(folder, "--log", str(log), "--minutes", "0").stdout == made.stdout


def test_processes_that_tests_start_find_the_change_too(folder):
    child = "import small; print(small.share(1, 4)); small.share(1, -1)"
    (folder / "test_small.py").write_text(f"""\
import subprocess
import sys


def test_share():
    command = [sys.executable, "-P", "-c", {child!r}]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.stdout == "0.25\\n"
    assert "ValueError: -1 is too small" in made.stderr
""")
    made = run(folder)
    assert made.returncode == 0, made.stderr
    assert made.stdout.splitlines()[:-1] == [
        "not detected: small.py:6: whole <= 0: Lt",
        "not detected: small.py:6: 0: 1",
    ]


def test_tests_that_fail_anyway_prove_nothing(folder):
    (folder / "test_small.py").write_text("def test():\n    assert False\n")
    made = run(folder)
    assert made.returncode == 1
    assert "do not pass without a change" in made.stderr


def test_each_kind_of_place_is_changed_once(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    mutants = importlib.import_module("mutants")
    text = """
def f(a: int = 1, *, b="x"):
    '''Text.'''
    assert a > 0, "text"
    g(a, key=True)
    return not a if a and b else -abs(min(a, 2.5)) + 1
"""
    found = [change.words for change in mutants.changes(ast.parse(text))]
    assert sorted(found) == sorted(
        [
            *("1: 2", "1: 2", "2.5: 5.0", "'x': another text", "True: False"),
            *("5: without g(a, key=True)", "g(a, key=True): without key"),
            *("if a and b: True", "if a and b: False", "a and b: Or"),
            *("a and b: without a", "a and b: without b", "not a: twice"),
            "-abs(min(a, 2.5)): without its sign",
            "abs(min(a, 2.5)): without abs",
            "min(a, 2.5): max",
            "-abs(min(a, 2.5)) + 1: Sub",
            "return not a if a and b else -abs(min(a, 2.5)) + 1: None",
        ]
    )


def test_tests_may_load_many_modules(folder):
    tests = folder / "test_small.py"
    many = "import sys\nsys.modules.update((f'{number:0200}', sys) for number in range(1000))\n"
    tests.write_text(many + tests.read_text())
    made = run(folder, "--every", "100")
    assert made.returncode == 0, made.stderr
