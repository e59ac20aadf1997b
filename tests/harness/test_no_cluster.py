"""What the command line says about clusters if there are none."""

import sys

from click.testing import CliRunner

from svmbench.cli import main


def test_without_dask_its_package_is_named(monkeypatch):
    for name in ("svmbench.harness.cluster.place", "svmbench.harness.cluster.node"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = CliRunner().invoke(main, ["run", "smoke", "--cluster", "tcp://127.0.0.1:9"])
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "svmbench: --cluster needs Dask, which is not installed: pip install distributed"
    ]


def test_jobs_are_for_this_machine():
    done = CliRunner().invoke(main, ["run", "smoke", "--cluster", "here:1", "--jobs", "2"])
    assert done.exit_code == 2
    assert "a node carries out one run at a time" in done.stderr
