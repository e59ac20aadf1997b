"""One meaning a name: classes of svmbench have different names, and so have types with a name."""

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


def named_types(root):
    """The definitions of each named type, such as ``Key = tuple[str, int]``; a class is its own."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set()).add(path.as_posix())
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
                for target in node.targets:
                    found.setdefault(ast.unparse(target), set()).add(ast.unparse(node.value))
    return found


def test_no_two_classes_share_a_name():
    assert shared_names(ROOT) == {}


def test_no_named_type_has_the_name_of_another():
    assert {name: found for name, found in named_types(ROOT).items() if len(found) > 1} == {}


def test_a_named_type_with_the_name_of_a_class_is_found(tmp_path):
    for file, text in {
        "data/a.py": "class Part: ...\nOther = list[int]\n",
        "claims/b.py": "Part = tuple[str, int]\nSame = list[int]\n",
        "papers/c.py": "Same = list[int]\nOther = list[str]\n",
    }.items():
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shared = {name for name, found in named_types(tmp_path).items() if len(found) > 1}
    assert shared == {"Part", "Other"}


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
