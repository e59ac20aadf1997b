"""A plug-in that ends the process, or takes its standard streams, while it is imported."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from svmbench.solvers.importing import kept_alive

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


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.stdout.close()",
        "import sys\nsys.__stdout__.close()",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\nsys.stderr.close()",
        "import os\nos.close(1)",
        "import os\nos.closerange(0, 3)",
        "import os\nos.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
        "print('from the plug-in')",
        "import os\nos.write(1, b'from the plug-in')",
        "import os\nif os.fork() == 0:\n    os._exit(3)\nassert os.wait()[1] == 3 << 8",
    ],
)
def test_the_standard_streams_stay_as_they_are(tmp_path, text):
    made = listed(tmp_path, text + "\n")
    assert made.returncode == 0, made.stderr
    assert "mine" in {solver["name"] for solver in json.loads(made.stdout)}
    assert ("from the plug-in" in made.stderr) == ("from the plug-in" in text)
    refused = listed(tmp_path, text + "\n", "--no-such-option")
    assert refused.returncode == 2
    assert "--no-such-option" in refused.stderr


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
