"""The walk-through of docs/cluster.md, as it is printed."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from small_sweep import linux

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = linux

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cluster.md"


def test_the_walk_through_works_as_printed(tmp_path):
    # Later commands of the page are run elsewhere (test_docs, test_forecast).
    script, *_ = re.findall(r"```bash\n(.*?)```", PAGE.read_text(), re.DOTALL)
    installing, rest = script.split("\n", 1)
    assert installing == "pip install distributed"
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "SVMBENCH_CACHE": str(tmp_path / "cache"),
    }
    script = f"set -e -m\n{rest}"
    done = subprocess.Popen(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = done.communicate(timeout=300)
    finally:
        if done.poll() is None:
            os.killpg(done.pid, signal.SIGKILL)
    assert done.returncode == 0, said
    runs = pd.read_csv(tmp_path / "results" / "demo" / "runs.csv")
    assert set(runs["node"]) == {"a", "b"}
    assert runs["contended"].all()
    assert {path.name for path in tmp_path.glob("cache-*")} == {"cache-a", "cache-b"}
