"""One meaning a name: the classes of svmbench have different names."""

from __future__ import annotations

import ast
from pathlib import Path

import svmbench

ROOT = Path(svmbench.__file__).parent


def shared_names(root):
    """The top-level classes that share a name: the files of each such name."""
    files = {}
    for path in sorted(root.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(path.relative_to(root).as_posix())
    return {name: paths for name, paths in files.items() if len(paths) > 1}


def test_no_two_classes_share_a_name():
    assert shared_names(ROOT) == {}


def test_two_classes_of_one_name_are_found(tmp_path):
    for file, text in {
        "a.py": "class Part: ...\nclass Other: ...\n",
        "b/c.py": "class Part: ...\n",
        "d.py": "def part():\n    class Part: ...\n",
    }.items():
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert shared_names(tmp_path) == {"Part": ["a.py", "b/c.py"]}
