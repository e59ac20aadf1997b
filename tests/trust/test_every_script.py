"""The script that fails every call works, and its promises hold for some calls."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "trust" / "every.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs preloading")


@pytest.mark.parametrize(
    ("role", "error", "every"), [("parent", "space", 120), ("worker", "io", 90)]
)
def test_a_sweep_survives_the_failure_of_some_calls(tmp_path, role, error, every):
    log = tmp_path / "log"
    command = ["sweep", "--role", role, "--error", error, "--every", str(every), "--log", str(log)]
    done = subprocess.run([sys.executable, str(SCRIPT), *command], capture_output=True, text=True)
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    tried = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(tried) >= 2
    assert all(each["failed"] for each in tried)
    assert ", 0 broken\n" in done.stdout


def test_calls_are_chosen_by_name_and_path(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    every = importlib.import_module("every")
    calls = ["read a", "read b", "read a", "read a", "write a"]
    assert every._chosen(calls, 2) == [1, 2, 3, 5]
    same = ("open x/.t.csv.123-ab_cd3fg.tmp", "open x/.t.csv.123456-zzzzzzzz.tmp")
    assert len({every._without_numbers(call) for call in same}) == 1
    assert every._without_numbers("read /proc/7/stat") == every._without_numbers(
        "read /proc/88/stat"
    )


def test_one_call_of_each_place_is_chosen(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    every = importlib.import_module("every")
    calls = [every.Call(*each) for each in (("read a", "1"), ("read b", "1"), ("open a", "2"))]
    assert every._one_of_each_place(calls) == [1, 3]


def test_the_judge_of_ends_finds_what_is_wrong(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    every = importlib.import_module("every")

    def judged(code, said):
        return list(every._complaints(every.End(code, said, 9, "read x")))

    assert judged(0, "") == []
    assert judged(2, "svmbench: x: cannot be written; make room\n") == []
    assert judged(None, "")[0].startswith("exit code None")
    assert judged(-11, "")[0].startswith("exit code -11")
    assert judged(2, "svmbench: one\nsvmbench: two\n")[0].startswith("not one line")
    assert judged(1, "svmbench: internal error (KeyError: 1)\n")[0].startswith("no clear line")
    assert judged(0, "Exception ignored in x\n")[0].startswith("not a line of svmbench")


def test_the_documentation_shows_commands_that_there_are(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    main = importlib.import_module("every").main
    page = (SCRIPT.parents[2] / "docs" / "trust-faults.md").read_text()
    shown = re.findall(r"python scripts/trust/every\.py ([^`\n]+)", page)
    assert shown
    for command in shown:
        result = CliRunner().invoke(main, [*command.split(), "--help"])
        assert result.exit_code == 0, result.output
