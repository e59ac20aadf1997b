"""What of a plug-in is part of its runs' identity."""

import importlib
import sys

import pytest

from svmbench.solvers.base import Solver
from svmbench.solvers.plug_in import GROUP

MODULE = """
import {helper}
from svmbench.solvers.dual.dcd import Dcd

class Helped(Dcd):
    name = "helped"
    pace = {helper}.PACE
"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    """The build of a plug-in whose files are these texts, as a fresh process would find it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def builder(module, files, listed=()):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        metadata = tmp_path / "helped-1.0.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: helped\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{GROUP}]\nhelped = {module}:Helped\n")
        if listed:
            (metadata / "RECORD").write_text("".join(f"{name},,\n" for name in listed))
        for name in [n for n in sys.modules if n.partition(".")[0].startswith("helped")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        Solver.build.__func__.cache_clear()
        return importlib.import_module(module).Helped.build()

    yield builder
    for name in [n for n in sys.modules if n.partition(".")[0].startswith("helped")]:
        del sys.modules[name]
    Solver.build.__func__.cache_clear()


def test_a_module_beside_it_counts_if_it_is_used(build):
    files = {
        "helped_one.py": MODULE.format(helper="helped_two"),
        "helped_two.py": "from helped_three import PACE\nimport helped_three\n",
        "helped_three.py": "PACE = 1\n",
        "unrelated.py": "X = 1\n",
    }
    first = build("helped_one", files)
    assert build("helped_one", files) == first
    assert build("helped_one", files | {"unrelated.py": "X = 2\n"}) == first
    assert build("helped_one", files | {"helped_three.py": "PACE = 22\n"}) != first


def test_all_files_of_a_package_count(build):
    files = {
        "helped/__init__.py": "",
        "helped/solver.py": MODULE.format(helper="helped.deep.helper").replace(
            "helped.deep.helper.PACE", "1"
        ),
        "helped/deep/__init__.py": "",
        "helped/deep/helper.py": "def lazily():\n    import helped.deep.later\n",
        "helped/deep/later.py": "",
        "helped/table.bin": "1",
    }
    first = build("helped.solver", files)
    assert build("helped.solver", files) == first
    for name in ("helped/deep/later.py", "helped/table.bin"):
        assert build("helped.solver", files | {name: "2"}) != first
