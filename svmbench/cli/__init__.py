"""The command line: one command per file, and the frame in which all of them run.

Each module of this package that defines ``command`` is a command with the module's name. A
command may return its exit code; errors it raises become one line and an exit code here.
"""

from __future__ import annotations

import _thread
import atexit
import errno
import importlib
import io
import logging
import os
import pkgutil
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import click

import svmbench
from svmbench.durable import refused
from svmbench.errors import ConfigError, DataError, SvmbenchError, lacks_memory, nearest, unopened

EPILOG = """\b
Exit codes:
  0    success
  1    some runs failed, a resource ran out, or svmbench has an internal error
  2    the command line or a configuration is invalid
  3    a data set is missing, unreadable or not as expected
  4    a comparison found a regression
  130  interrupted
  141  the reader of the output closed the pipe"""

_EXIT_CODES = "'svmbench --help' lists the exit codes."

INTERRUPTED = 130
CLOSED = 141

#: Seconds after which a signal that came amid a finaliser comes again.
_FINALISED = 0.01


class InterruptionError(SvmbenchError):
    """The user stopped the program."""

    exit_code = INTERRUPTED


class OutputClosedError(SvmbenchError):
    """The reader of standard output has closed it, as after ``| head``."""

    exit_code = CLOSED


class Frame(click.Group):
    """A group that finds its commands in this package and turns errors into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, sorted."""
        return list(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; its module is imported only now."""
        module = f"{__name__}.{cmd_name.replace('-', '_')}"
        named = cmd_name.replace("-", "").isalnum()
        if not (named and find_spec(module) is not None):
            return None
        command: click.Command | None = getattr(importlib.import_module(module), "command", None)
        return None if command is None else _completed(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, suggest the nearest known one."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            raise click.UsageError(f"unknown command {name!r}; {nearest(name, known)}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command line, which may print help."""
        with _stops_as_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        _require_folder()
        _require_loadable()
        with _stops_as_errors():
            return super().invoke(ctx)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run one command line and exit."""
        own_process = args is None
        args = sys.argv[1:] if args is None else list(args)
        debug = "--debug" in args
        _log_to_stderr(logging.DEBUG if debug else logging.WARNING)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without λ is no reason to stop
        extra["standalone_mode"] = False
        with _terminable(own_process) as interruptions:
            try:
                run = lambda: super(Frame, self).main(args, prog_name, **extra)  # noqa: E731
                code = _exit_code(run, debug, interruptions)
            except KeyboardInterrupt:  # another one, while the first was being reported
                code = INTERRUPTED
        if own_process and interruptions:
            _leave(code)
        sys.exit(code)


def _require_folder() -> None:
    """Refuse a working folder that somebody has deleted: nothing can be found or written there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise ConfigError("the working folder has been deleted; change to another one") from None


def _require_loadable() -> None:
    """Refuse a SOURCE_DATE_EPOCH with which NumPy and matplotlib cannot be loaded.

    The error of such an import would be reported as one of whatever has led to it. Neither is
    matplotlib loaded if MPLBACKEND names no backend, and commands need none: they draw into files.
    """
    os.environ.pop("MPLBACKEND", None)
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return
    from datetime import UTC, datetime

    try:
        datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise ConfigError(
            f"SOURCE_DATE_EPOCH={given}: not a date in whole seconds since 1970; correct or unset "
            "this variable of the environment"
        ) from None


def _endings() -> list[int]:
    """Signals besides Ctrl-C's that end a process, unless it ignores them, as under nohup."""
    numbers = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP", "SIGQUIT")]
    return [n for n in numbers if n is not None and signal.getsignal(n) is not signal.SIG_IGN]


@contextmanager
def _terminable(own_process: bool) -> Iterator[list[int]]:
    """Treat SIGTERM, SIGHUP and SIGQUIT like Ctrl-C: what was measured is kept.

    Yields a list of the signals that came. Afterwards this process ignores them: it is exiting with
    a code that says how it ended, and a further signal would replace that code.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, _: object) -> None:
        came.append(number)
        if number == getattr(signal, "SIGQUIT", None):  # a second one ends the process at once
            signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    def unraisable(dropped: sys.UnraisableHookArgs) -> None:
        if not (came and dropped.exc_type is KeyboardInterrupt):
            report(dropped)
            return
        # Python drops what is raised amid a finaliser, of which an import has many. The signal
        # comes again once this function has ended, which would wait for the start of a Timer.
        _thread.start_new_thread(again, ())

    def again() -> None:
        time.sleep(_FINALISED)
        os.kill(os.getpid(), came[-1])

    before = {number: signal.signal(number, interrupt) for number in _endings()}
    report = sys.unraisablehook
    if own_process:
        sys.unraisablehook = unraisable
        # A job that a shell script starts in the background inherits that SIGINT is ignored.
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if own_process else handler)
        if own_process:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            sys.unraisablehook = report
            _forget_interruption()


def _leave(code: int) -> NoReturn:
    """End this process without taking the interpreter apart.

    An extension whose loading was interrupted may crash while that is done: modules of scipy that
    are made with pybind11 do, by SIGSEGV or SIGABRT.
    """
    atexit._run_exitfuncs()  # of workers and temporary files
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _forget_interruption() -> None:
    """Keep CPython from ending the process by SIGINT for an interruption that was handled.

    It remembers one that came while a text was executed, as `dataclass` does during many an
    import, until it executes the next.
    """
    exec("")


@contextmanager
def _stops_as_errors() -> Iterator[None]:
    """Turn an interruption, a closed pipe and an exit into our own errors, before click sees them.

    No command exits by itself, but code of a plug-in may: the command would end in silence.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptionError("interrupted") from error
    except BrokenPipeError as error:
        raise OutputClosedError("output closed") from error
    except Exception:
        raise
    except BaseException as error:
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise SvmbenchError(
            f"something ended the command ({said}), probably code of a plug-in; --debug shows where"
        ) from error


class _LineHandler(logging.Handler):
    """Writes each message as one line to the present standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        _say(record.getMessage())


def _log_to_stderr(level: int) -> None:
    logger = logging.getLogger("svmbench")
    logger.setLevel(level)
    if not any(isinstance(handler, _LineHandler) for handler in logger.handlers):
        logger.addHandler(_LineHandler())


def _exit_code(run: Callable[[], Any], debug: bool, interruptions: Sequence[int]) -> int:
    """Exit code of ``run``, after errors have been reported."""
    try:
        result = run()
        if sys.stdout is not None:  # as after >&-
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (OutputClosedError, BrokenPipeError):
        return _abandon_output()
    except SvmbenchError as error:
        return _fail(str(error), error.exit_code, debug)
    except click.Abort:
        return _fail("interrupted", INTERRUPTED, debug)
    except click.ClickException as error:
        return _fail(_usage(error), error.exit_code, debug)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, debug)
    except Exception as error:  # the outermost place: the user gets one line for any error
        # An interruption can come out as another error: of an extension that it meets while it is
        # loaded, or of a lock, where a second one meets a wait that the first has ended.
        if interruptions:
            return _fail("interrupted", INTERRUPTED, debug)
        if lacks_memory(error):
            why = f" ({error})" if str(error) else ""
            remedy = "take fewer rows, features or jobs, or allow more memory"
            return _fail(f"not enough memory{why}; {remedy}", DataError.exit_code, debug)
        refusal: SvmbenchError | None = refused(error) if isinstance(error, OSError) else None
        filename = getattr(error, "filename", None)
        if filename or getattr(error, "errno", None) != errno.ENOMEM:  # as of a fork
            refusal = refusal or unopened(error, filename or "a file")
        if refusal is not None:
            return _fail(str(refusal), refusal.exit_code, debug)
        shortage = _shortage(error)
        if shortage:
            return _fail(f"{shortage}; give the same command again", 1, debug)
        if isinstance(error, ImportError) and (error.name or "").startswith("svmbench.kernels"):
            remedy = "compile them again: 'pip install .', or 'make demo' in a checkout"
            return _fail(f"the compiled kernels do not fit this version; {remedy}", 1, debug)
        return _unknown(error, debug)


def _unknown(error: Exception, debug: bool) -> int:
    """Report an error that nobody has foreseen: of a plug-in's code, or of our own."""
    what = f"{type(error).__name__}: {error}"
    plug_in = sys.modules.get("svmbench.solvers.plug_in")
    if plug_in is not None and (place := plug_in.place_in(error)):
        line = f"{place}: the plug-in raises {what}; repair it, --debug shows where"
        return _fail(line, ConfigError.exit_code, debug)
    # A plug-in's code may have changed anything of this process.
    names = plug_in.executed() if plug_in is not None else []
    without = f", without {' and '.join(names)} if you can," if names else ""
    return _fail(f"internal error ({what}); rerun with --debug{without} and report it", 1, debug)


def _shortage(error: Exception) -> str:
    """What the system refused, such as an open file, a process or a thread; else empty."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # CPython has no class of its own for it.
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return "the system has no more threads"
    return ""


def _fail(message: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    _say(message)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        # What is left would fail again at the interpreter's end, with an exit code of its own.
        _discard_output()
    return code


def _say(message: str) -> None:
    """One line on standard error; nothing where that cannot be written, as a full disk."""
    try:
        click.echo(f"svmbench: {one_line(message)}", err=True)
    except OSError:
        # The interpreter flushes on exit, and would then replace the exit code by its own.
        if sys.__stderr__ is not None and sys.stderr is sys.__stderr__:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stderr__.fileno())


def one_line(message: str) -> str:
    """A message without line ends and terminal control characters.

    It may quote a file, or a file's name, which can contain anything.
    """
    from svmbench.cli.columns import printable  # most commands end without a message

    return printable(" ".join(message.split()))


def _abandon_output() -> int:
    # The interpreter flushes on exit, and would then complain about the pipe.
    _discard_output()
    return CLOSED


def _discard_output() -> None:
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    if isinstance(error, click.UsageError) and error.ctx is not None and ";" not in message:
        message += f"; see '{error.ctx.command_path} --help'"
    return message


@cache
def _commands() -> dict[str, str]:
    """Module of each command by its name, sorted."""
    modules = (f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
    return {
        module.rpartition(".")[2].replace("_", "-"): module
        for module in sorted(modules)
        if _defines_command(module)
    }


def _defines_command(module: str) -> bool:
    """Whether a module defines ``command``, without importing all that it needs."""
    spec = find_spec(module)
    loader = spec.loader if spec is not None else None
    get_source = getattr(loader, "get_source", None)  # importlib.abc is slow to load
    source = get_source(module) if get_source is not None else None
    if source is None:
        return hasattr(importlib.import_module(module), "command")
    return re.search(r"^(def command\(|command\b.*=)", source, re.MULTILINE) is not None


def _completed(command: click.Command) -> click.Command:
    """Add what every command has: --debug, needed in hindsight, and where its exit codes are."""
    if not any(parameter.name == "debug" for parameter in command.params):
        command.params.append(_debug_option())
        command.epilog = "\n\n".join(filter(None, [command.epilog, _EXIT_CODES]))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _completed(below)
    return command


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        help="Show the traceback of an error, and log messages.",
    )


@click.group(
    cls=Frame,
    name="svmbench",
    epilog=EPILOG,
    invoke_without_command=True,
    params=[_debug_option()],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(svmbench.__version__, prog_name="svmbench", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Certified benchmarks of linear support vector machine training.

    Start with "svmbench demo": it takes some seconds, needs no network, and writes a page to
    results/demo/. "svmbench train FILE" trains a model on your own data.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
