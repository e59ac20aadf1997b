"""What a plug-in does while it is imported stays with it."""

import os
import subprocess
import sys
from pathlib import Path

from svmbench.solvers.importing import kept_apart

SOLVER = """
from svmbench.solvers.dual.dcd import Dcd


class Mine(Dcd):
    name = "mine"
"""


def test_what_it_prints_goes_to_standard_error(capsys):
    with kept_apart():
        print("hello")
    assert capsys.readouterr() == ("", "hello\n")


def test_the_folder_and_the_variables_are_those_from_before(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    place = Path.cwd()
    with kept_apart():
        os.chdir(tmp_path)
        os.environ["OMP_NUM_THREADS"] = "8"
        os.environ["MORE"] = "1"
    assert Path.cwd() == place
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "MORE" not in os.environ


def test_a_current_folder_that_is_gone_stays_so(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with kept_apart():
        pass


def test_a_plug_in_that_ends_python_is_refused_by_name(tmp_path):
    made = run(tmp_path, "import sys\nsys.exit(0)\n" + SOLVER)
    assert made.returncode == 2
    assert "plug_in.py:2: cannot be imported (SystemExit: 0)" in made.stderr


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
