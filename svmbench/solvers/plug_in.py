"""The files that define a plug-in, which are part of its runs' identity."""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Iterator
from functools import cache
from importlib.machinery import all_suffixes
from pathlib import Path

#: Entry-point group in which plug-in packages name their solver classes.
GROUP = "svmbench.solvers"

#: The texts of the single files that this process has executed, by their paths.
executed_texts: dict[Path, bytes] = {}

#: The entry points that this process has loaded.
executed_points: set[str] = set()


def place_in(error: BaseException) -> str:
    """The innermost line of a plug-in's code in which an error arose; empty if in none."""
    tops = {point.partition(":")[0].partition(".")[0] for point in executed_points}
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        name, path = frame.f_globals.get("__name__", ""), Path(frame.f_code.co_filename)
        if path in executed_texts or str(name).partition(".")[0] in tops:
            found = f"{path.name}:{line}"
    return found


def files_of(module_name: str) -> set[Path]:
    """All files of the distribution that a plug-in's module belongs to, and of its package.

    Of one installed to be edited no file is listed: a module in no package counts with its imports.
    """
    top, module = module_name.partition(".")[0], sys.modules.get(module_name)
    if module is None:
        return set()
    found = set(_of_distribution(top))
    package = sys.modules.get(top, module)
    if not hasattr(package, "__path__"):
        found |= _with_neighbours(Path(module.__file__ or ""))
    for folder in getattr(package, "__path__", ()):
        found |= {path for path in Path(folder).rglob("*") if path.is_file()}
    return {path for path in found if path.suffix != ".pyc"}


@cache
def imports_of(text: bytes) -> frozenset[str]:
    """Full names of the modules that a Python source imports, and of what is imported from them."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):  # of a plug-in, which never imports it
        return frozenset()
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def source_of(path: Path) -> bytes:
    """The text of a file; of a single file that this process has executed, the text it executed."""
    return executed_texts[path] if path in executed_texts else path.read_bytes()


def _of_distribution(top: str) -> Iterator[Path]:
    from importlib.metadata import entry_points  # slow to load, and most runs have no plug-in

    for point in entry_points(group=GROUP):
        if point.module.partition(".")[0] != top or point.dist is None:
            continue
        for file in point.dist.files or ():
            path = Path(str(file.locate()))
            # Its metadata name the place and the tool of its installation.
            if not file.parts[0].endswith((".dist-info", ".egg-info")) and path.is_file():
                yield path


def _with_neighbours(path: Path) -> set[Path]:
    """A module's file, and those of the modules in its folder that it imports, wherever it does."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        one = waiting.pop()
        found.add(one)
        for name in {name.partition(".")[0] for name in imports_of(source_of(one))}:
            beside = {one.with_name(name + suffix) for suffix in all_suffixes()}
            waiting += [file for file in beside - found if file.is_file()]
    return found
