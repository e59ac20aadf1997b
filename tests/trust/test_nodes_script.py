"""The script that kills nodes works, and its promises hold in the small."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed", reason="the extra cluster is not installed")

import nodes

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "trust" / "nodes.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_what_a_killed_node_leaves_is_gone_once_it_is_back(tmp_path, monkeypatch):
    """Its start may take longer than the runs of the others may go on."""
    monkeypatch.setattr(nodes, "PATIENCE", 0.0)
    left = [tmp_path / "run.part"]
    cluster = SimpleNamespace(runs=lambda: left, start_missing=left.clear)
    place = SimpleNamespace(results=tmp_path, left_alive=lambda: [])
    planner = SimpleNamespace(communicate=lambda: ("", ""), returncode=0, pid=1)
    trial = nodes.Trial(cluster, place, tmp_path, {"solvers": "dcd"}, seed=0)
    assert trial.ended(planner) == 0
    assert not trial.findings.wrong


def test_a_node_that_neither_ends_nor_comes_back_is_started_again(monkeypatch):
    monkeypatch.setattr(nodes, "STARTING", 0.2)
    known, started = {"a", "b"}, []
    cluster = object.__new__(nodes.Cluster)
    cluster.nodes = {name: SimpleNamespace(poll=lambda: None) for name in nodes.NAMES}
    monkeypatch.setattr(cluster, "_known", lambda: known | set(started))
    monkeypatch.setattr(cluster, "start", started.append)
    cluster.start_missing()
    assert started == ["with-nanny"]


@pytest.mark.parametrize("command", [("kills",), ("stops", "--longest", "3")])
def test_a_sweep_whose_nodes_are_disturbed_comes_to_the_same_numbers(command):
    words = [*command, "--smoke", "--times", "2", "--interval", "2"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, cwd=SCRIPT.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differences: none but times\n" in done.stdout
    assert "lost: 0\n" in done.stdout
    assert "doubled: 0\n" in done.stdout


def test_a_sweep_on_three_nodes_has_the_numbers_of_one_without_a_cluster():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "same", "--smoke", "--turns", "2"],
        capture_output=True,
        text=True,
        cwd=SCRIPT.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differences: none but times\n" in done.stdout
    assert re.search(r"processor time of all: \S+ \(\S+ to \S+\)\n", done.stdout)
    assert "exit codes: 4 x 0\n" in done.stdout
