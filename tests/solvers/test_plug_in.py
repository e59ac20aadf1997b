"""What of a plug-in is part of its runs' identity."""

import errno
import importlib
import os
import sys

import pytest

from svmbench.errors import ConfigError, InterruptedRunError
from svmbench.harness.worker import _require_unchanged
from svmbench.solvers.base import Solver
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.plug_in import GROUP, build_of

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


SOLVER = """
{imported}
from svmbench.solvers.dual.dcd import Dcd

class Helped(Dcd):
    name = "helped"
"""


@pytest.mark.parametrize(
    "imported",
    ["from helped_two import PACE", "def late():\n    from helped_two import PACE"],
    ids=["a constant", "later"],
)
def test_a_module_beside_it_counts_however_it_is_imported(build, imported):
    files = {"helped_one.py": SOLVER.format(imported=imported), "helped_two.py": "PACE = 1\n"}
    first = build("helped_one", files)
    assert build("helped_one", files) == first
    assert build("helped_one", files | {"helped_two.py": "PACE = 22\n"}) != first


def test_a_module_beside_it_counts_in_a_distribution_that_is_installed_to_be_edited(build):
    files = {
        "helped_one.py": MODULE.format(helper="helped_two"),
        "helped_two.py": "PACE = 1\n",
        "helped.pth": "/where/the/modules/are\n",
    }
    listed = ["helped.pth", "helped-1.0.dist-info/RECORD"]
    first = build("helped_one", files, listed)
    assert build("helped_one", files, listed) == first
    assert build("helped_one", files | {"helped_two.py": "PACE = 22\n"}, listed) != first


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


def test_all_files_of_a_distribution_count(build):
    files = {
        "helped_one.py": MODULE.format(helper="helped_two"),
        "helped_two.py": "PACE = 1\n",
        "data/table.bin": "1",
    }
    listed = [*files, "helped-1.0.dist-info/RECORD"]
    first = build("helped_one", files, listed)
    assert build("helped_one", files, [*listed, "helped-1.0.dist-info/INSTALLER"]) == first
    assert build("helped_one", files | {"data/table.bin": "2"}, listed) != first


def test_the_versions_of_the_libraries_count(build, monkeypatch):
    files = {"helped_one.py": MODULE.format(helper="helped_two"), "helped_two.py": "PACE = 1\n"}
    first = build("helped_one", files)
    assert [entry.split()[0] for entry in first["libraries"]] == ["numpy", "scipy"]
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.0")
    assert build("helped_one", files)["libraries"] == ["numpy 99.0", "scipy 99.0"]


def test_a_package_that_changes_during_a_sweep_is_noticed(build):
    files = {
        "helped_package/__init__.py": MODULE.format(helper="helped_package.pace").replace(
            "pace = helped_package.pace.PACE", "pace = 1"
        ),
        "helped_package/pace.py": "PACE = 1\n",
    }
    planned = build("helped_package", files)
    build("helped_package", files)
    _require_unchanged(sys.modules["helped_package"].Helped(), planned)
    build("helped_package", files | {"helped_package/pace.py": "PACE = 22\n"})
    with pytest.raises(InterruptedRunError, match="plug-in's files changed during the sweep"):
        _require_unchanged(sys.modules["helped_package"].Helped(), planned)


def test_a_module_that_changes_during_a_sweep_is_noticed(build, monkeypatch):
    files = {"helped_one.py": MODULE.format(helper="helped_two"), "helped_two.py": "PACE = 1\n"}
    planned = build("helped_one", files)
    _require_unchanged(sys.modules["helped_one"].Helped(), planned)
    build("helped_one", files | {"helped_two.py": "PACE = 22\n"})
    solver = sys.modules["helped_one"].Helped()
    with pytest.raises(InterruptedRunError, match="plug-in's files changed during the sweep"):
        _require_unchanged(solver, planned)

    def refuse():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(solver, "build", refuse)
    with pytest.raises(InterruptedRunError, match=r"can no longer be read \(Too many open files\)"):
        _require_unchanged(solver, planned)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"source_sha256": "", 1: 2}, "the key 1 of it is no text"),
        ({"source_sha256": "", "a": {"b": 1, 2: 3}}, "the key 2 of 'a' is no text"),
        ({"source_sha256": "", "a": [b"1"]}, "0 is bytes"),
        ({"source_sha256": "", "a": (1,)}, "'a' is tuple"),
        ({"source_sha256": "", "a": 10**5000}, "'a' is int"),
        ({"source_sha256": "", "a": float("nan")}, "'a' is float"),
        ({"a": 1}, "it lacks 'source_sha256'"),
        (None, "it lacks 'source_sha256'"),
        ([], "it lacks 'source_sha256'"),
    ],
)
def test_a_build_that_json_does_not_give_back_is_refused_by_name(found, said):
    class Mine(Dcd):
        name = "mine"

        @classmethod
        def build(cls):
            return found

    with pytest.raises(ConfigError, match=rf"^solver 'mine': build\(\) is wrong: {said}; add to"):
        build_of(Mine, Mine.schema())


def test_a_build_with_itself_in_it_is_refused():
    class Mine(Dcd):
        name = "mine"

        @classmethod
        def build(cls):
            found = {"source_sha256": ""}
            found["a"] = found
            return found

    with pytest.raises(ConfigError, match="'a' is dict"):
        build_of(Mine, Mine.schema())


def test_a_build_of_texts_numbers_lists_and_mappings_is_taken():
    class Mine(Dcd):
        name = "mine"

        @classmethod
        def build(cls):
            return super().build() | {"a": [1, 2.5, None, True, {"b": "c"}]}

    assert build_of(Mine, Mine.schema())["a"] == [1, 2.5, None, True, {"b": "c"}]
