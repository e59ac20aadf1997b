"""Fail every system call and allocation of a small sweep, one after another.

A library that is preloaded into the sweep's processes counts their calls and fails the chosen one
(``failing.c``). After each fault the same command is given once more, undisturbed: its numbers must
be those of a sweep that was never disturbed. The process that runs the sweep is forked from this
one, which has imported svmbench and all that it uses before, and so is the launcher of its runs: a
trial costs little. Starts of Python itself and imports are not under test.
"""

from __future__ import annotations

import csv
import ctypes
import faulthandler
import importlib
import json
import math
import mmap
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from faults import Findings, Place, children, compiled, differences, said_with

import svmbench
from svmbench.cli import main as run_svmbench
from svmbench.harness import launcher
from svmbench.harness.leftovers import adopt_orphans, end_children

HERE = Path(__file__).resolve().parent
ROOT_VARIABLE = "SVMBENCH_FAILING_ROOT"
PAGE_VARIABLE = "SVMBENCH_FAILING_PAGE"

#: What goes wrong, in the order of the library's constants.
ERRORS = ("io", "space", "access", "memory")
ROLES = ("parent", "worker")

#: Folders of the program and of Python: that these can be read is taken for granted.
PROGRAM = (
    Path(svmbench.__file__).parent,
    HERE.parents[1] / "kernels",
    Path(click.__file__).resolve().parents[1],
    Path(sys.base_prefix) / "lib",
)

#: Seconds after which a sweep that takes about one counts as hanging.
PATIENCE = 60.0

#: Calls by which a place may come earlier than in the sweep of which they were listed.
SLACK = 500

#: Seconds that its other processes have to end after it.
LINGERING = 10.0

CONFIG = """\
version: 1
name: every
datasets: [tiny-sparse]
loss: hinge
lambda: [1e-2]
solvers: [dcd, sgd-s]
stop: {accuracy: [1e-1], max_epochs: 3, time_limit: 24h}
repeats: 1
plots: []
reference: {gap: 1e-6, time_limit: 24h}
"""


class Page(ctypes.Structure):
    """The page shared with the library; the same fields as ``struct page``."""

    _fields_ = (
        ("armed", ctypes.c_int),
        ("role", ctypes.c_int),
        ("what", ctypes.c_int),
        ("parent", ctypes.c_int),
        ("target", ctypes.c_long),
        ("count", ctypes.c_long),
        ("least", ctypes.c_long),
        ("fired", ctypes.c_int),
        ("process", ctypes.c_int),
        ("call", ctypes.c_char * 32),
        ("path", ctypes.c_char * 400),
        ("root", ctypes.c_char * 400),
        ("program", ctypes.c_char * 400 * 4),
        ("place", ctypes.c_ulong),
        ("wanted", ctypes.c_ulong),
    )


@dataclass(frozen=True)
class Fault:
    """The call that is to fail.

    Parameters
    ----------
    role : {'parent', 'worker'}
        The process that runs the sweep, or its workers together.
    error : {'io', 'space', 'access', 'memory'}
    number : int
        The call's number; 0 for none.
    least : int
        Bytes of the smallest allocation that is counted.
    place : str
        If given, the first call of this place fails, not far before that number.
    """

    role: str
    error: str
    number: int
    least: int = 0
    place: str = ""


@dataclass(frozen=True)
class End:
    """How a sweep ended.

    Parameters
    ----------
    code : int or None
        Exit code; None if it did not end in time.
    said : str
        Standard error.
    calls : int
        Calls that were counted.
    failed : str
        The call that failed, with its path or size.
    place : str
        Place in the program that made this call, as a number.
    """

    code: int | None
    said: str
    calls: int
    failed: str
    place: str = ""


class Call(NamedTuple):
    """One call of a sweep.

    Parameters
    ----------
    what : str
        Its name, with its path or size.
    place : str
        Place in the program that makes it: the call and the innermost frames of its Python stack.
    """

    what: str
    place: str


class Trials:
    """Runs the sweep with one fault at a time.

    Parameters
    ----------
    root : Path
        A folder of its own.
    page : mmap
        The page shared with the library.
    """

    def __init__(self, root: Path, shared: mmap.mmap) -> None:
        self.page = Page.from_buffer(shared)
        self.page.root = str(root / "trial").encode()
        for number, folder in enumerate(PROGRAM):
            self.page.program[number].value = str(folder).encode()
        self.list = root / "calls"
        self.place = Place(root / "trial")
        self.peace = Place(root / "peace")
        self.temporary = root / "temporary"
        self.complaints = root / "complaints"
        self.modules = root / "modules"

    def in_peace(self) -> None:
        """Run the undisturbed sweep, and import what it has imported."""
        self._prepare(self.peace)
        end = self._sweep(self.peace, None)
        if end.code != 0:
            raise click.ClickException(f"the undisturbed sweep ended with {end.code}: {end.said}")
        for module in json.loads(self.modules.read_text()):
            with suppress(ImportError):
                importlib.import_module(module)

    def calls(self, role: str, error: str, least: int) -> list[Call]:
        """The calls of an undisturbed sweep."""
        self._prepare(self.place)
        self.list.write_text("")
        self._sweep(self.place, Fault(role, error, -1, least))
        lines = self.list.read_text(errors="replace").splitlines()
        parts = (line.rpartition("\t") for line in lines)
        return [Call(_without_numbers(what), place) for what, _, place in parts]

    def tried(self, fault: Fault) -> tuple[End, list[str]]:
        """Run the sweep with a fault and once more without; return the end and what is wrong.

        If the call did not come, there is no second sweep.
        """
        self._prepare(self.place)
        end = self._sweep(self.place, fault)
        if not end.failed:
            return end, []
        findings = Findings()
        for complaint in _complaints(end):
            findings.expect(False, complaint)
        findings.look(self.place.results)
        findings.wrong += [f"left alive: {pid}" for pid in self._left_alive()]
        # A run that was refused memory has ended for that, and is repeated only on request.
        retry = ["--retry-failed"] if "out_of_memory" in self._states() else []
        again = self._sweep(self.place, None, retry)
        findings.expect(again.code == 0, f"the next call: {again.code}, {again.said.strip()}")
        findings.look(self.place.results)
        try:
            different = differences(self.place.results, self.peace.results)
            if different:
                findings.wrong.append(f"other numbers: {len(different)} columns, {different[0]}")
        except (OSError, ValueError) as error:
            findings.wrong.append(f"no tables: {error}")
        findings.wrong += [f"stray: {path}" for path in self._strays()]
        return end, findings.wrong

    def _states(self) -> set[str]:
        path = self.place.results / "runs.csv"
        if not path.exists():
            return set()
        with path.open(encoding="utf-8", newline="") as file:
            return {row["state"] for row in csv.DictReader(file)}

    def _left_alive(self) -> list[int]:
        """Processes that outlive the sweep by more than it takes them to notice its end.

        They are children of this process, which adopts them.
        """
        until = time.monotonic() + LINGERING
        with suppress(ChildProcessError):
            while time.monotonic() < until:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.005)
        left = children(os.getpid())
        end_children()
        return left

    def _prepare(self, place: Place) -> None:
        for folder in (place.root, self.temporary):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        place.config.write_text(CONFIG)

    def _strays(self) -> list[Path]:
        known = {path.relative_to(self.peace.root).parts[:2] for path in _files(self.peace.root)}
        strays = [
            path
            for path in _files(self.place.root)
            if path.relative_to(self.place.root).parts[:2] not in known
            or path.suffix in (".tmp", ".part")
            or (path.name.startswith(".") and path.name != ".lock")
        ]
        return strays + list(self.temporary.rglob("*"))

    def _sweep(self, place: Place, fault: Fault | None, options: Iterable[str] = ()) -> End:
        page = self.page
        page.armed = page.fired = page.count = 0
        page.call, page.path = b"", b""
        if fault is not None:
            page.role, page.what = ROLES.index(fault.role), ERRORS.index(fault.error)
            page.target, page.least = fault.number, fault.least
            page.wanted = int(fault.place or "0", 16)
            if fault.place:
                page.target = max(1, fault.number - SLACK)
        child = os.fork()
        if child == 0:
            self._be_the_sweep(place, fault is not None, options)
        code = _awaited(child)
        page.armed = 0
        failed = f"{page.call.decode()} {page.path.decode(errors='replace')}" if page.fired else ""
        said = self.complaints.read_text(errors="replace")
        at = f"{page.place:x}" if page.fired else ""
        return End(code, said, page.count, failed.replace(str(place.root), ""), at)

    def _be_the_sweep(self, place: Place, disturbed: bool, options: Iterable[str]) -> None:
        code = 99
        try:
            os.setsid()
            for target, name in ((1, os.devnull), (2, str(self.complaints))):
                file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
                os.dup2(file, target)
                os.close(file)
            os.environ.update(place.environment(TMPDIR=str(self.temporary)))
            faulthandler.enable(2)  # a crash says where
            subprocess._USE_VFORK = False  # type: ignore[misc]  # fork can fail
            subprocess.Popen = _Forked  # type: ignore[assignment,misc]
            sys.argv = ["svmbench", *place.sweep, *options]
            if disturbed:
                self.page.parent = os.getpid()
                self.page.armed = 1
            try:
                run_svmbench(prog_name="svmbench")
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 98
            if not disturbed:
                self.modules.write_text(json.dumps(list(sys.modules)))
        except BaseException:  # what the interpreter would print
            import traceback

            self.page.armed = 0
            traceback.print_exc()
        finally:
            self.page.armed = 0
            os._exit(code)


class _Forked(subprocess.Popen[bytes]):
    """A process that is forked where it would execute a module of Python, which takes long."""

    def __init__(self, arguments: list[str], **named: Any) -> None:
        if arguments[:3] == [sys.executable, "-P", "-m"]:
            named["preexec_fn"] = partial(_become, arguments[3])
        super().__init__(arguments, **named)


def _become(module: str) -> None:
    """Be a process that has executed a module, and end with it."""
    code = 1
    try:
        os.closerange(3, 1 << 12)  # as by executing a program, for which it is taken
        # Populating pages takes long, too.
        launcher.populate = lambda pages: True  # type: ignore[attr-defined]
        importlib.import_module(module).main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    finally:
        os._exit(code)


def _without_numbers(call: str) -> str:
    """A call whose path has no random names and ids of processes, which differ in each sweep."""
    return re.sub(r"-[0-9a-z_]{8}\.tmp|(?<=/proc/)\d+|\d{3,}", "N", call)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()]


def _awaited(child: int) -> int | None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _complaints(end: End) -> Iterable[str]:
    """What is wrong with the exit code and the message of a sweep that met a fault."""
    if end.code not in (0, 1, 2, 3):
        yield f"exit code {end.code}: {end.said.strip()[-300:]}"
        return
    if "Traceback" in end.said or "internal error" in end.said:
        yield f"no clear line: {end.said.strip()[-300:]}"
    lines = end.said.splitlines()
    if any(not line.startswith("svmbench: ") for line in lines):
        yield f"not a line of svmbench: {end.said.strip()[-300:]}"
    muted = str(Path("complaints")) in end.failed
    if end.code in (2, 3) and len(lines) != 1 and not muted:
        yield f"not one line: {end.said.strip()[-300:]}"


# ------------------------------------------------------------------ the library


def failing(folder: Path) -> Path | None:
    """The library that fails calls; None without a C compiler or where it cannot be preloaded."""
    library = folder / "failing.so"
    if sys.platform != "linux" or not compiled(HERE / "failing.c", library):
        return None
    said = said_with(library, "print('works')")
    return library if said.stdout == "works\n" and not said.stderr else None


def preloaded() -> tuple[Path, mmap.mmap]:
    """The trial's folder and the shared page, in a process into which the library is preloaded.

    Any other process starts itself again with the library, and ends here.
    """
    root = os.environ.get(ROOT_VARIABLE)
    if root is None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            library = failing(Path(folder))
            if library is None:
                click.echo("skipped: no C compiler, or no preloading here")
                sys.exit(0)
            page = Path(folder).resolve() / "page"
            page.write_bytes(bytes(mmap.PAGESIZE))
            mine = {ROOT_VARIABLE: str(page.parent), PAGE_VARIABLE: str(page)}
            preload = {"LD_PRELOAD": str(library), "PYTHONFAULTHANDLER": ""}
            again = [sys.executable, str(Path(__file__).resolve()), *sys.argv[1:]]
            sys.exit(subprocess.run(again, env=os.environ | mine | preload).returncode)
    for module in pkgutil.walk_packages(svmbench.__path__, "svmbench."):
        # Dask may not be installed, and starts threads.
        if not module.name.endswith("__main__") and ".harness.cluster." not in module.name:
            importlib.import_module(module.name)
    with Path(os.environ[PAGE_VARIABLE]).open("r+b") as file:
        return Path(root), mmap.mmap(file.fileno(), 0)


# ------------------------------------------------------------------ commands


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Fail every system call and allocation of a small sweep, one after another."""


@main.command()
@click.option("--role", type=click.Choice(ROLES), default="parent", show_default=True)
@click.option("--error", type=click.Choice(ERRORS), default="io", show_default=True)
@click.option("--least", default=0, show_default=True, help="Bytes of the smallest allocation.")
@click.option("--from", "first", default=1, show_default=True, help="The first call to fail.")
@click.option("--to", "last", default=sys.maxsize, help="The last one; by default all.")
@click.option("--every", default=1, show_default=True, help="Take each so manieth call only.")
@click.option("--same", default=2, show_default=True, help="So many of the same call and path.")
@click.option("--places", is_flag=True, help="One call of each place in the program.")
@click.option("--minutes", type=float, help="Stop after this time.")
@click.option("--log", type=click.Path(path_type=Path), help="Results; calls in it are left out.")
def sweep(
    role: str,
    error: str,
    least: int,
    first: int,
    last: int,
    every: int,
    same: int,
    places: bool,
    minutes: float | None,
    log: Path | None,
) -> None:
    """Fail calls of a sweep, in the process that runs it or in its workers."""
    trials = Trials(*preloaded())
    adopt_orphans()
    trials.in_peace()
    calls = trials.calls(role, error, least)
    known = _known(log, role, error, least)
    chosen = _one_of_each_place(calls) if places else _chosen([c.what for c in calls], same)
    until = math.inf if minutes is None else time.monotonic() + 60.0 * minutes
    seen = {each["place"] for each in known.values()}
    found: list[tuple[End, list[str]]] = []
    for number in chosen:
        if time.monotonic() > until:
            break
        asked = first <= number <= last and (number - first) % every == 0
        tried = calls[number - 1].place in seen if places else number in known
        if tried or not asked:
            continue
        place = calls[number - 1].place if places else ""
        end, wrong = trials.tried(Fault(role, error, number, least, place))
        if not end.failed:
            continue  # the number of calls differs a little from sweep to sweep
        seen.add(end.place)
        found.append((end, wrong))
        for line in wrong:
            click.echo(f"broken: {number}, {end.failed}: {line}")
        if log is not None:
            _append(log, Fault(role, error, number, least), end, wrong)
    broken = sum(bool(wrong) for _, wrong in found)
    click.echo(
        f"{error}, {role}: {len(calls)} calls, {len(chosen)} chosen, {len(found)} failed,"
        f" {broken} broken"
    )
    there = {call.place for call in calls}
    click.echo(f"  {len(there)} places, {len(there & seen)} of them failed once or more")
    failed = Counter(end.failed.split()[0] for end, _ in found)
    codes = Counter(end.code for end, _ in found)
    click.echo("  " + ", ".join(f"{count} {call}" for call, count in failed.most_common()))
    click.echo("  exit codes: " + ", ".join(f"{n} x {code}" for code, n in codes.most_common()))
    sys.exit(1 if broken else 0)


def _append(log: Path, fault: Fault, end: End, wrong: list[str]) -> None:
    """Add the result of a failed call to a log."""
    facts: dict[str, Any] = {"role": fault.role, "error": fault.error, "least": fault.least}
    facts |= {"number": fault.number, "failed": end.failed, "code": end.code}
    facts |= {"place": end.place, "said": end.said, "wrong": wrong}
    with log.open("a") as file:
        file.write(json.dumps(facts) + "\n")


def _chosen(calls: list[str], same: int) -> list[int]:
    """Numbers of the calls to fail: so many of each call and path."""
    seen: Counter[str] = Counter(calls[:0])
    chosen = []
    for number, call in enumerate(calls, 1):
        seen[call] += 1
        if seen[call] <= same:
            chosen.append(number)
    return chosen


def _one_of_each_place(calls: list[Call]) -> list[int]:
    """Numbers of the first call of each place."""
    first: dict[str, int] = {}
    for number, call in enumerate(calls, 1):
        first.setdefault(call.place, number)
    return list(first.values())


def _known(log: Path | None, *kind: object) -> dict[int, dict[str, Any]]:
    """The results in a log, by the call's number."""
    if log is None or not log.exists():
        return {}
    lines = [{"place": ""} | json.loads(line) for line in log.read_text().splitlines()]
    return {
        line["number"]: line
        for line in lines
        if (line["role"], line["error"], line["least"]) == kind and not line["wrong"]
    }


if __name__ == "__main__":
    main()
