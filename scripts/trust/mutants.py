"""Change a module in one place at a time, and count the changes that its tests detect.

    python scripts/trust/mutants.py svmbench.reference.search tests/reference --minutes 10

Each change ("mutant") is one operator, comparison, constant, condition, keyword, result, call or
statement. The tests run in a forked process in which an import of the module finds the changed
one, as it does in the processes of Python that the tests start, unless these ignore PYTHONPATH. A
change is detected if a test fails, or if the tests take too long. Those that are not detected are
printed with their line. Docstrings, annotations, assertions and the texts of errors are not
changed.

Tests have to pass without a change first. With ``--log`` a call leaves out what an earlier one has
tried, so that a long experiment can be done in parts.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import marshal
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import click
import pytest

COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {
    one: other
    for pair in ("min max", "any all", "minimum maximum", "zeros ones", "argmin argmax", "sum max")
    for one, other in (pair.split(), pair.split()[::-1])
} | {"floor": "ceil", "ceil": "floor", "isfinite": "isnan"}
IDENTITY = ast.parse("lambda x, *_: x", mode="eval").body


@dataclass(frozen=True)
class Change:
    """One change of a syntax tree: a value for one field of a node.

    Parameters
    ----------
    line : int
    words : str
        The place and the change, for the reader and the log.
    node : ast.AST
    field : str
    value : object
    """

    line: int
    words: str
    node: ast.AST
    field: str
    value: Any


def changes(tree: ast.Module) -> Iterator[Change]:
    """All changes of a module's syntax tree, in the order of its nodes."""
    left_out = _left_out(tree)
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        for place, field, value, words in _of_node(node):
            line = getattr(node, "lineno", 0) or getattr(place, "lineno", 0)
            yield Change(line, words, place, field, value)


def _left_out(tree: ast.Module) -> set[int]:
    """Nodes that say something to readers alone: docstrings, annotations, texts of errors."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found += ast.walk(first)
        for field in ("annotation", "returns"):
            note = getattr(node, field, None)
            found += ast.walk(note) if isinstance(note, ast.AST) else []
        if isinstance(node, ast.Raise) and node.exc is not None:
            found += ast.walk(node.exc)
        if isinstance(node, ast.JoinedStr | ast.Assert):
            found += ast.walk(node)
    return {id(node) for node in found}


def _of_node(node: ast.AST) -> Iterator[tuple[ast.AST, str, Any, str]]:
    """Node, field, value and words of each change at a node."""
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                    yield node, "ops", ops, f"{_text(node)}: {other.__name__}"
        case ast.BinOp() | ast.AugAssign() if type(node.op) in OPERATORS:
            other = OPERATORS[type(node.op)]
            yield node, "op", other(), f"{_text(node)}: {other.__name__}"
        case ast.BoolOp():
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield node, "op", other(), f"{_text(node)}: {other.__name__}"
            for at, value in enumerate(node.values):
                rest = [*node.values[:at], *node.values[at + 1 :]]
                yield node, "values", rest, f"{_text(node)}: without {_text(value)}"
        case ast.UnaryOp(op=ast.USub()):
            yield node, "op", ast.UAdd(), f"{_text(node)}: without its sign"
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            again = ast.copy_location(ast.UnaryOp(type(node.op)(), node.operand), node)
            yield node, "operand", again, f"{_text(node)}: twice"
        case ast.Constant(value=bool(flag)):
            yield node, "value", not flag, f"{flag}: {not flag}"
        case ast.Constant(value=int(number)):
            yield node, "value", number + 1, f"{number!r}: {number + 1!r}"
        case ast.Constant(value=float(share)):
            more = 2.0 * share or 1.0
            yield node, "value", more, f"{share!r}: {more!r}"
        case ast.Constant(value=str(text)) if text.strip():
            yield node, "value", text + "XX", f"{text!r}: another text"
        case ast.If() | ast.IfExp():
            for truth in (True, False):
                constant = ast.copy_location(ast.Constant(truth), node)
                yield node, "test", constant, f"if {_text(node.test)}: {truth}"
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            nothing = ast.copy_location(ast.Constant(None), node)
            yield node, "value", nothing, f"{_text(node)}: None"
        case ast.Call():
            yield from _of_call(node)
    for field in ("body", "orelse"):
        found = getattr(node, field, None)
        statements: list[ast.stmt] = found if isinstance(found, list) else []
        for at, statement in enumerate(statements):
            if isinstance(statement, ast.Raise | ast.AugAssign | ast.Expr) and not (
                isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Call)
            ):
                left = ast.copy_location(ast.Pass(), statement)
                shorter = [*statements[:at], left, *statements[at + 1 :]]
                yield node, field, shorter, f"{statement.lineno}: without {_text(statement)}"


def _of_call(node: ast.Call) -> Iterator[tuple[ast.AST, str, Any, str]]:
    called = node.func
    if isinstance(called, ast.Attribute | ast.Name):
        field = "attr" if isinstance(called, ast.Attribute) else "id"
        name = getattr(called, field)
        if name in NAMES:
            yield called, field, NAMES[name], f"{_text(node)}: {NAMES[name]}"
        if name in ("abs", "sqrt"):
            yield node, "func", IDENTITY, f"{_text(node)}: without {name}"
    for at, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:at], *node.keywords[at + 1 :]]
        yield node, "keywords", rest, f"{_text(node)}: without {keyword.arg}"


def _text(node: ast.AST) -> str:
    """The first line of a node's text, not too long."""
    line = ast.unparse(node).partition("\n")[0]
    return line if len(line) <= 100 else f"{line[:97]}..."


#: Executed when Python starts: it has an import of one module find the changed one.
STARTED = """\
import importlib.util
import marshal
import os
import sys
from importlib.machinery import SourceFileLoader


class Changed(SourceFileLoader):
    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_code(self, name):
        with open(os.environ["MUTANT_CODE"], "rb") as file:
            return marshal.load(file)


sys.meta_path.insert(0, Changed(os.environ["MUTANT_NAME"], os.environ["MUTANT_FILE"]))
"""


@dataclass(frozen=True)
class Changed:
    """A module whose code is another one in all processes of the tests.

    Parameters
    ----------
    name : str
    file : Path
        The module's own, which stays as it is.
    folder : Path
        For what is executed when Python starts.
    """

    name: str
    file: Path
    folder: Path

    def prepare(self, code: CodeType) -> None:
        """Have the module be that code."""
        (self.folder / "sitecustomize.py").write_text(STARTED, encoding="utf-8")
        (self.folder / "code").write_bytes(marshal.dumps(code))

    def apply(self) -> None:
        """Have this process, and those that it starts, find the code."""
        paths = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ |= {
            "PYTHONPATH": os.pathsep.join(paths),
            "MUTANT_NAME": self.name,
            "MUTANT_FILE": str(self.file),
            "MUTANT_CODE": str(self.folder / "code"),
        }
        exec(STARTED, {"__name__": "sitecustomize"})


def outcome(changed: Changed, tests: tuple[str, ...], seconds: float, loaded: int = -1) -> str:
    """What the tests say of a changed module: 'passed', 'failed' or 'too long'.

    Parameters
    ----------
    changed : Changed
    tests : tuple of str
        Arguments of pytest.
    seconds : float
        After which the tests are ended.
    loaded : int
        Descriptor to which the process writes the names of the modules that it has loaded.
    """
    pid = os.fork()
    if pid == 0:
        _run_tests(changed, tests, loaded)
    until = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return "passed" if os.waitstatus_to_exitcode(status) == 0 else "failed"
        if time.monotonic() > until:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "too long"
        time.sleep(0.02)


def _run_tests(changed: Changed, tests: tuple[str, ...], loaded: int) -> None:
    """Run the tests in this process, and end it."""
    code = 99
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        changed.apply()
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
        if loaded >= 0:
            with os.fdopen(loaded, "w") as file:
                json.dump(list(sys.modules), file)
    finally:
        os._exit(code)


def _load_what_tests_need(module: str, names: list[str]) -> None:
    """Import the packages of others that the tests have imported, once for all processes."""
    own = module.partition(".")[0]
    for name in names:
        spec = None
        with suppress(Exception):
            spec = importlib.util.find_spec(name.partition(".")[0])
        there = "site-packages" in str(getattr(spec, "origin", ""))
        if there and name.partition(".")[0] != own and not name.startswith("__"):
            with suppress(Exception):
                importlib.import_module(name)


def _chosen(change: Change, lines: str | None) -> bool:
    if lines is None:
        return True
    ranges = (part.partition("-") for part in lines.split(","))
    return any(int(low) <= change.line <= int(high or low) for low, _, high in ranges)


@click.command()
@click.argument("module")
@click.argument("tests", nargs=-1, required=True)
@click.option("--lines", help="Lines of the module that are changed, such as 10-20,35.")
@click.option("--every", default=1, show_default=True, help="Try one change out of so many.")
@click.option("--first", default=0, show_default=True, help="Number of the first of these.")
@click.option("--seconds", default=60.0, show_default=True, help="Most seconds of the tests.")
@click.option("--minutes", default=float("inf"), help="Minutes after which nothing is begun.")
@click.option("--log", type=click.Path(path_type=Path), help="Results; what it has is left out.")
def main(
    module: str,
    tests: tuple[str, ...],
    lines: str | None,
    every: int,
    first: int,
    seconds: float,
    minutes: float,
    log: Path | None,
) -> None:
    """Change MODULE in one place at a time, and run TESTS (arguments of pytest) each time."""
    until = time.monotonic() + 60.0 * minutes
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or module in sys.modules:
        raise click.UsageError(f"{module}: not a module of Python that can be changed")
    path = Path(spec.origin)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    folder = tempfile.TemporaryDirectory()
    click.get_current_context().with_resource(folder)
    changed = Changed(module, path, Path(folder.name))
    changed.prepare(compile(tree, str(path), "exec"))
    with tempfile.TemporaryFile("w+") as loaded:  # more than a pipe takes
        if outcome(changed, tests, seconds, loaded.fileno()) != "passed":
            raise click.ClickException("the tests do not pass without a change")
        loaded.seek(0)
        _load_what_tests_need(module, json.loads(loaded.read() or "[]"))
    known = dict(_logged(log))
    selected = [change for change in changes(tree) if _chosen(change, lines)][first::every]
    results: dict[str, str] = {}
    for number, change in enumerate(selected):
        key = f"{module} {first + every * number} {change.line} {change.words}"
        if key not in known:
            if time.monotonic() > until:
                break
            known[key] = _try(tree, change, changed, tests, seconds)
            if log is not None:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, known[key]]) + "\n")
        results[key] = known[key]
        if known[key] == "passed":
            click.echo(f"not detected: {path.name}:{change.line}: {change.words}")
    tried = [result for result in results.values() if result != "no program"]
    detected = sum(result != "passed" for result in tried)
    click.echo(
        f"{module}: {detected} of {len(tried)} changes detected, {tried.count('too long')} of them"
        f" by time; {len(selected) - len(results)} not tried"
    )


def _try(
    tree: ast.Module, change: Change, changed: Changed, tests: tuple[str, ...], most: float
) -> str:
    """The outcome for one change of the tree, which is undone."""
    before = getattr(change.node, change.field)
    setattr(change.node, change.field, change.value)
    try:
        code = compile(ast.fix_missing_locations(tree), str(changed.file), "exec")
    except (SyntaxError, ValueError):
        return "no program"
    finally:
        setattr(change.node, change.field, before)
    changed.prepare(code)
    return outcome(changed, tests, most)


def _logged(log: Path | None) -> Iterator[tuple[str, str]]:
    if log is not None and log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            key, result = json.loads(line)
            yield key, result


if __name__ == "__main__":
    main()
