import json
import subprocess
import sys
from pathlib import Path

from svmbench.harness.environment import (
    environment,
    fingerprint,
)


def test_the_record_says_what_a_reader_needs():
    facts = json.loads(json.dumps(environment()))
    for key in ("cpu", "logical_cpus", "compiler", "flags", "python", "packages", "recorded"):
        assert facts[key], key
    assert "-O3" in facts["flags"]
    assert facts["packages"]["numpy"]


def test_what_cannot_be_read_of_a_machine_is_left_out(monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(Path, "glob", refuse)
    facts = environment()
    assert facts["git"] is None
    assert facts["caches"] == {}


def test_the_fingerprint_is_the_same_in_another_process():
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "from svmbench.harness.environment import fingerprint; print(fingerprint())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == fingerprint()
