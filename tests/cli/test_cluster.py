"""`svmbench papers` and `svmbench bench` with their runs on the nodes of a cluster."""

import pandas as pd
import pytest
from click.testing import CliRunner
from small_cluster import ANOTHER_MACHINE, two_nodes
from small_paper import TABLE, write_small_paper
from small_sweep import linux

from svmbench.bench import champion
from svmbench.cli import main

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = linux

from svmbench.harness.cluster import place as planner  # noqa: E402, only with distributed

ITEM = """\
sweeps:
  dense:
    datasets: [tiny-dense, tiny-sparse]
    lambda: 1e-2
    solvers: [dcd, sgd-s]
    stop: {accuracy: 1e-2, max_epochs: 200, time_limit: 600s}
    repeats: 2
tables:
  - rows: [dataset]
    columns: [solver]
    measures: [{epochs: 1e-2}]
claims:
  - text: Both come within 1 %.
    source: Table 1
    kind: reaches
    solvers: [dcd, sgd-s]
    measure: {epochs: 1e-2}
"""

PROFILE = """\
version: 1
name: tiny
title: A tiny benchmark
sets: [tiny-sparse]
sweeps:
  oracle: {lambda: 1e-2, accuracy: [1e-1, 1e-2], solvers: [champion, sgd-s], repeats: 2,
           max_epochs: 300, time_limit: 600s}
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call svmbench in a folder with a small paper and a small profile; returns its result."""
    write_small_paper(tmp_path / "papers", table_1=TABLE + ITEM)
    (tmp_path / "tiny.yaml").write_text(PROFILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    monkeypatch.setattr(planner, "SETTLING", 0.1)
    monkeypatch.setattr(champion, "CHAMPION", "dcd")

    def called(*arguments):
        return CliRunner().invoke(main, arguments)

    return called


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with two_nodes(tmp_path_factory.mktemp("cluster")) as both:
        yield both


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Nodes that are another machine than this one."""
    with two_nodes(tmp_path_factory.mktemp("cluster"), preload=ANOTHER_MACHINE) as both:
        yield both


def ends(folder):
    """Nodes and results besides times of the runs below a folder, by what was run."""
    key = ["dataset", "label", "repeat"]
    runs = pd.concat(pd.read_csv(path) for path in sorted(folder.rglob("runs.csv")))
    runs = runs.set_index(key).sort_index()
    assert runs.index.is_unique
    return runs["node"], runs[["state", "epochs", "primal", "accuracy"]]


def test_papers_on_nodes_are_those_of_this_machine_in_all_but_times(two, call, tmp_path):
    words = "papers", "--from", "papers"
    there = call(*words, "--cluster", two.address, "--out", "there")
    assert there.exit_code == 0, there.output
    assert "8 new runs, 0 reused" in there.stdout
    here = call(*words, "--out", "here")
    assert here.exit_code == 0, here.output
    nodes, made = ends(tmp_path / "there")
    assert set(nodes) == {"a", "b"}
    pd.testing.assert_frame_equal(made, ends(tmp_path / "here")[1])
    one, other = (
        pd.read_csv(tmp_path / place / "small" / "table-1" / "table-1.csv")
        for place in ("there", "here")
    )
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.slow
def test_the_benchmark_on_nodes_of_this_kind_is_whole(two, call, tmp_path):
    words = "bench", "tiny.yaml", "--cluster", two.address
    assert "2 nodes: a, b; " in call(*words, "--dry-run").stdout
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert "4 new runs, 0 reused" in done.stdout
    root = tmp_path / "results" / "bench" / "tiny"
    nodes, _ = ends(root)
    assert set(nodes) <= {"a", "b"}
    assert "0 new runs, 4 reused" in call(*words).stdout


@pytest.mark.parametrize("command", ["papers", "bench"])
def test_a_report_needs_no_cluster(command, call):
    done = call(command, "--report-only", "--cluster", "here:1")
    assert done.exit_code == 2
    assert "--report-only runs nothing; leave --cluster out" in done.stderr
