"""Solvers in single Python files, which take part without packaging.

They are compiled from their text, never from cached bytecode: its hash is part of a run's identity.
"""

from __future__ import annotations

import errno
import hashlib
import inspect
import stat
import sys
import traceback
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType

from svmbench.errors import ConfigError, InterruptedRunError
from svmbench.solvers.base import Solver
from svmbench.solvers.plug_in import executed_texts

#: Beginning of the names of their modules, which no import statement can find.
MODULE = "svmbench_plugin_"

#: Where our own solvers are, and those among them that import or start programs of others.
_OURS, _OF_OTHERS = "svmbench.solvers.", ("svmbench.solvers.peers.", "svmbench.solvers.program")

#: Characters of an exception's message that are shown.
_SHOWN = 300


def load_file(path: Path, expected: str | None = None) -> tuple[type[Solver], ...]:
    """Execute a file, unless it is loaded, and return the solvers that it defines.

    Raises ConfigError; or InterruptedRunError if its text is no longer the expected one.
    """
    path = path.absolute()
    _require_text(path)
    name = _module_name(path)
    module = sys.modules.get(name) or _executed(path, name, expected)
    found = [
        member
        for member in vars(module).values()
        if inspect.isclass(member)
        and issubclass(member, Solver)
        and member.__module__ == name
        and "name" in vars(member)
    ]
    if not found:
        unload_file(path)
        raise ConfigError(
            f"{path.name}: defines no solver; it needs a subclass of "
            "svmbench.solvers.base.Solver with a name"
        )
    return tuple(sorted(set(found), key=lambda solver: str(solver.name)))


def unload_file(path: Path) -> None:
    """Forget a file that this process has executed, so that it is executed again when loaded."""
    sys.modules.pop(_module_name(path.absolute()), None)
    executed_texts.pop(path.absolute(), None)


def unload_files() -> None:
    """Forget all files that this process has executed."""
    for name in [name for name in sys.modules if name.startswith(MODULE)]:
        del sys.modules[name]
    executed_texts.clear()


def file_of(solver: type[Solver]) -> Path | None:
    """The single file that defines a solver; None for a solver of a package."""
    if not solver.__module__.startswith(MODULE):
        return None
    return Path(sys.modules[solver.__module__].__file__ or "")


def address(solver: type[Solver]) -> str:
    """Where another process finds a solver: ``module:class``, or ``file:class``."""
    return f"{file_of(solver) or solver.__module__}:{solver.__qualname__}"


def is_ours(address: str) -> bool:
    """Whether a solver at that address is one of ours, whose code is all in this package."""
    return address.startswith(_OURS) and not address.startswith(_OF_OTHERS)


def text_hash(solver: type[Solver]) -> str | None:
    """Hash of the text that defines a solver of a single file; None for a solver of a package."""
    path = file_of(solver)
    return None if path is None else hashlib.sha256(executed_texts[path]).hexdigest()


def solver_at(address: str, expected: str | None = None) -> type[Solver]:
    """The solver at an address.

    Raises ConfigError; or InterruptedRunError if its file's text is no longer the expected one.
    """
    place, _, name = address.rpartition(":")
    if not Path(place).is_absolute():
        found: type[Solver] = getattr(import_module(place), name)
        return found
    for solver in load_file(Path(place), expected):
        if solver.__qualname__ == name:
            return solver
    raise ConfigError(f"{place}: no longer defines {name}; run again")


def _module_name(path: Path) -> str:
    return MODULE + hashlib.sha256(str(path).encode()).hexdigest()[:16]


def _require_text(path: Path) -> None:
    """Refuse a path that is not UTF-8: configurations and builds of runs have it as text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"{path}: the name of this file, or of a folder above it, is not UTF-8; rename it"
        ) from None


def _text(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "no file")  # a pipe or a device may never end
    return path.read_bytes()


def _executed(path: Path, name: str, expected: str | None) -> ModuleType:
    try:
        text = _text(path)
    except OSError as error:
        if expected is not None:
            said = f"{path.name}: can no longer be read ({error.strerror}); run again"
            raise InterruptedRunError(said) from None
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name a file") from None
    if expected not in (None, hashlib.sha256(text).hexdigest()):
        raise InterruptedRunError(f"{path.name}: changed during the sweep; run again")
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        code = compile(text, str(path), "exec", dont_inherit=True)
        with redirect_stdout(sys.stderr):
            exec(code, vars(module))
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:  # also SystemExit: it would end the command in silence
        del sys.modules[name]
        reason = " ".join(str(getattr(error, "msg", error)).split()) or "no message"
        raise ConfigError(
            f"{path.name}{_line(error, path)}: cannot be imported ({type(error).__name__}: "
            f"{reason[:_SHOWN]}); repair it"
        ) from error
    executed_texts[path] = text
    return module


def _line(error: BaseException, path: Path) -> str:
    """``:LINE`` of the file where an exception arose; empty if that is unknown."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f":{error.lineno}"
    # Not `extract_tb`, which reads the file: the plug-in may have forbidden that (`addaudithook`).
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == str(path)
    ]
    return f":{lines[-1]}" if lines else ""
