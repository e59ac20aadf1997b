"""A cache of its own for each test, and a way to install plug-ins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from svmbench.solvers import registry
from svmbench.solvers.plug_in import GROUP, executed_points

TESTS = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def apart(own_cache):
    """Each test has a cache of its own."""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install classes of a module in tests/ as plug-ins, as pip would: by a metadata folder."""

    def installer(*targets):
        folder = tmp_path / "installed"
        metadata = folder / "plugins-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugins\nVersion: 1.0\n")
        lines = [f"{target.rpartition(':')[2].lower()} = {target}" for target in targets]
        (metadata / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]) + "\n")
        monkeypatch.setattr(sys, "path", [str(folder), str(TESTS), *sys.path])
        monkeypatch.setenv("PYTHONPATH", f"{folder}:{TESTS}")
        registry.solvers.cache_clear()

    yield installer
    registry.solvers.cache_clear()
    executed_points.clear()
