"""The command line: one command per file, and the frame in which all of them run.

A command may return its exit code; errors it raises become one line and an exit code here.
"""

from __future__ import annotations

import importlib
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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

#: Each is a module of this package, which defines ``command``.
COMMANDS = (
    *("bench", "compare", "config", "data", "demo", "doctor", "new-solver", "papers"),
    *("plot", "predict", "publish", "report", "run", "solvers", "table", "train", "verify"),
)


class InterruptionError(SvmbenchError):
    """The user stopped the program."""

    exit_code = INTERRUPTED


class OutputClosedError(SvmbenchError):
    """The reader of standard output has closed it, as after ``| head``."""

    exit_code = CLOSED


class Frame(click.Group):
    """A group that finds its commands in this package and turns errors into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; its module is imported only now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}")
        return _completed(module.command)

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
        with _stops_as_errors():
            return super().invoke(ctx)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        own_process = args is None
        args = sys.argv[1:] if args is None else list(args)
        debug = "--debug" in args  # anywhere: it is needed in hindsight
        args = [each for each in args if each != "--debug"]
        _log_to_stderr(logging.DEBUG if debug else logging.WARNING)
        os.environ.pop("MPLBACKEND", None)  # commands draw into files
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without λ is no reason to stop
        extra["standalone_mode"] = False
        with _terminable(own_process) as interruptions:
            run = lambda: super(Frame, self).main(args, prog_name, **extra)  # noqa: E731
            try:
                code = _exit_code(run, debug, interruptions)
            except KeyboardInterrupt:  # another one, while the first was being reported
                code = INTERRUPTED
        sys.exit(code)


@contextmanager
def _terminable(own_process: bool) -> Iterator[list[int]]:
    """Treat SIGTERM, SIGHUP and SIGQUIT like Ctrl-C: what was measured is kept.

    Yields a list of the signals that came. A process of our own ignores them afterwards: it is
    exiting with a code that says how it ended.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, _: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    endings = [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
    caught = [each for each in endings if signal.getsignal(each) is not signal.SIG_IGN]  # nohup
    # A job that a shell script starts in the background inherits that SIGINT is ignored.
    caught += [signal.SIGINT] if own_process else []
    before = {number: signal.signal(number, interrupt) for number in caught}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if own_process else handler)


@contextmanager
def _stops_as_errors() -> Iterator[None]:
    """Turn an interruption and a closed pipe into our own errors, before click sees them."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptionError("interrupted") from error
    except BrokenPipeError as error:
        raise OutputClosedError("output closed") from error


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
        _discard(sys.stdout, sys.__stdout__)
        return CLOSED
    except click.ClickException as error:
        return _fail(_usage(error), error.exit_code, debug)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", INTERRUPTED, debug)
    except Exception as error:  # the outermost place: the user gets one line for any error
        # An interruption can come out as another error, as of an extension amid its loading.
        known = InterruptionError("interrupted") if interruptions else _known(error)
        return _fail(str(known), known.exit_code, debug)


def _known(error: Exception) -> SvmbenchError:
    """The error as one of ours: what the system refused, else a plug-in's fault or our own."""
    if isinstance(error, SvmbenchError):
        return error
    if lacks_memory(error):
        why = f" ({error})" if str(error) else ""
        remedy = "take fewer rows, features or jobs, or allow more memory"
        return DataError(f"not enough memory{why}; {remedy}")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        refusal = refused(error) or unopened(error, error.filename or "a file")
        return refusal or SvmbenchError(f"{where}{error.strerror}; give the same command again")
    if isinstance(error, ImportError) and (error.name or "").startswith("svmbench.kernels"):
        remedy = "compile them again: 'pip install .', or 'make demo' in a checkout"
        return SvmbenchError(f"the compiled kernels do not fit this version; {remedy}")
    what = f"{type(error).__name__}: {error}"
    plug_in = sys.modules.get("svmbench.solvers.plug_in")
    if plug_in is not None and (place := plug_in.place_in(error)):
        return ConfigError(f"{place}: the plug-in raises {what}; repair it, --debug shows where")
    return SvmbenchError(f"internal error ({what}); rerun with --debug and report it")


def _fail(message: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    _say(message)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        _discard(sys.stdout, sys.__stdout__)
    return code


def _say(message: str) -> None:
    """One line on standard error; nothing where that cannot be written, as a full disk."""
    try:
        click.echo(f"svmbench: {one_line(message)}", err=True)
    except OSError:
        _discard(sys.stderr, sys.__stderr__)


def _discard(stream: Any, of_process: Any) -> None:
    """Drop what is left of an output: the interpreter's own flush would change the exit code."""
    if of_process is not None and stream is of_process:
        os.dup2(os.open(os.devnull, os.O_WRONLY), of_process.fileno())


def one_line(message: str) -> str:
    """A message, which may quote a file, without line ends and terminal control characters."""
    from svmbench.cli.columns import printable  # most commands end without a message

    return printable(" ".join(message.split()))


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    if isinstance(error, click.UsageError) and error.ctx is not None and ";" not in message:
        message += f"; see '{error.ctx.command_path} --help'"
    return message


def _completed(command: click.Command) -> click.Command:
    """Say in each command's help where the exit codes are."""
    if _EXIT_CODES not in (command.epilog or ""):
        command.epilog = "\n\n".join(filter(None, [command.epilog, _EXIT_CODES]))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _completed(below)
    return command


@click.group(
    cls=Frame,
    name="svmbench",
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    help="Show the traceback of an error, and log messages; also behind any command.",
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
