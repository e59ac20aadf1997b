"""The frame of the command line: discovery, help, one line an error, exit codes."""

import errno
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from svmbench import cli
from svmbench.cli import Frame, main, one_line
from svmbench.cli.columns import align
from svmbench.errors import ConfigError, DataError, SvmbenchError
from svmbench.solvers import registry


def run(*args):
    return CliRunner().invoke(main, args, prog_name="svmbench")


def svmbench_process(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "svmbench", *args],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        **options,
    )


def every_command(command=main, path=("svmbench",)):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from every_command(command.get_command(context, name), (*path, name))


COMMANDS = dict(every_command())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_option_has_help(path):
    command = COMMANDS[path]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
        else:
            # An argument has no help of its own: the text of the command speaks of it.
            assert parameter.make_metavar(click.Context(command)).strip("[].") in command.help


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_answers_to_both_helps(path, flag):
    result = run(*path[1:], flag)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"Usage: {' '.join(path)} ")


EXAMPLES = [
    line.strip()
    for command in COMMANDS.values()
    for line in (command.epilog or "").splitlines()
    if line.startswith("  svmbench ")
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_helps_are_command_lines(example, tmp_path, monkeypatch):
    template = Path(__file__).parents[2] / "docs/plugin-template/src/svmbench_subgradient"
    shutil.copy(template / "__init__.py", tmp_path / "my_solver.py")  # read as soon as it is named
    monkeypatch.chdir(tmp_path)
    _, name, *args = shlex.split(example)
    try:
        COMMANDS["svmbench", name].make_context(name, args)
    finally:
        registry.forget_files()


def test_help_loads_nothing_heavy():
    code = (
        "import sys, click.testing, svmbench.cli as c\n"
        "click.testing.CliRunner().invoke(c.main, ['--help'], catch_exceptions=False)\n"
        "heavy = ['matplotlib', 'pandas', 'scipy', 'numpy', 'pydantic', 'rich']\n"
        "print(*(name for name in heavy if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rnu"], "unknown command 'rnu'; did you mean 'run'?"),
        (["zzz"], "unknown command 'zzz'; known: "),
        (["--bogus"], "No such option '--bogus'"),
        (["train", "x", "--losss"], "No such option '--losss'; did you mean '--loss'?"),
        (["run"], "Missing argument 'CONFIG'"),
        (["config"], "Missing command"),
        (["config", "shw"], "No such command 'shw'"),
        (["config", "check", "absent.yaml"], "absent.yaml: no such configuration; "),
        (["solvers", "sgdm"], "unknown solver 'sgdm'; did you mean 'sgd-m'?"),
    ],
)
def test_bad_usage_is_one_line_and_2(args, message):
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"svmbench: {message}")
    assert result.stderr.count("\n") == 1


# --- errors from within a command --------------------------------------------------


def run_failing(error, *args):
    """Run a frame whose only command raises ``error``, or returns it if it is none."""

    class Probe(Frame):
        def list_commands(self, ctx):
            return ["fail"]

        def get_command(self, ctx, cmd_name):
            return cli._completed(click.Command("fail", callback=fail))

    def fail():
        if isinstance(error, BaseException):
            raise error
        return error

    return CliRunner().invoke(Probe("probe"), ["fail", *args])


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (SvmbenchError("three runs failed"), 1, "svmbench: three runs failed\n"),
        (ConfigError("a.yaml:1:2: wrong; mend it"), 2, "svmbench: a.yaml:1:2: wrong; mend it\n"),
        (DataError("first\nsecond"), 3, "svmbench: first second\n"),
        (KeyboardInterrupt(), 130, "svmbench: interrupted\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
        (
            ZeroDivisionError("of one\nby nought"),
            1,
            "svmbench: internal error (ZeroDivisionError: of one by nought); "
            "rerun with --debug and report it\n",
        ),
        (
            MemoryError(),
            3,
            "svmbench: not enough memory; take fewer rows, features or jobs, or allow more "
            "memory\n",
        ),
        (
            MemoryError("3 GiB of rows"),
            3,
            "svmbench: not enough memory (3 GiB of rows); take fewer rows, features or jobs, or "
            "allow more memory\n",
        ),
        (
            OSError(errno.EMFILE, "Too many open files", "a.yaml"),
            3,
            "svmbench: a.yaml: cannot be opened (Too many open files); allow more (ulimit -n, "
            "memory), then give the same command again\n",
        ),
        (
            OSError(errno.EACCES, "Permission denied", "rows"),
            2,
            "svmbench: rows: cannot be read or written (Permission denied); allow it or choose "
            "another folder, then give the same command again\n",
        ),
        (
            OSError(errno.EAGAIN, "Resource temporarily unavailable"),
            1,
            "svmbench: Resource temporarily unavailable; give the same command again\n",
        ),
        (
            RuntimeError("can't allocate lock"),
            3,
            "svmbench: not enough memory (can't allocate lock); take fewer rows, features or jobs, "
            "or allow more memory\n",
        ),
        (
            SystemError("error return without exception set"),
            3,
            "svmbench: not enough memory (error return without exception set); take fewer rows, "
            "features or jobs, or allow more memory\n",
        ),
        (
            SystemError("<built-in function where> returned NULL without setting an exception"),
            3,
            "svmbench: not enough memory (<built-in function where> returned NULL without setting "
            "an exception); take fewer rows, features or jobs, or allow more memory\n",
        ),
        (click.exceptions.Exit(4), 4, ""),
        (4, 4, ""),
        (None, 0, ""),
    ],
)
def test_errors_become_one_line_and_a_code(error, code, line):
    result = run_failing(error)
    assert result.exit_code == code
    assert result.stderr == line
    assert result.stdout == ""


@pytest.mark.parametrize("error", [ConfigError("wrong"), ValueError("unforeseen")])
def test_debug_shows_the_traceback_and_keeps_the_code(error):
    plain, debug = run_failing(error), run_failing(error, "--debug")
    assert debug.exit_code == plain.exit_code
    assert debug.stderr.startswith("Traceback (most recent call last):")
    assert debug.stderr.endswith(plain.stderr)
    assert "Traceback" not in plain.stderr


def test_warnings_of_the_program_are_lines_on_stderr():
    @click.group(cls=Frame)
    def probe():
        logging.getLogger("svmbench.data").warning("cache %s\nis made again", "x")
        logging.getLogger("svmbench.data").debug("looked at y")

    assert CliRunner().invoke(probe, ["solvers"]).stderr == "svmbench: cache x is made again\n"
    shown = CliRunner().invoke(probe, ["solvers", "--debug"]).stderr
    assert shown == "svmbench: cache x is made again\nsvmbench: looked at y\n"


# --- the program itself ------------------------------------------------------------


def test_the_program_says_one_line_and_exits_with_its_code(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\nnaem: x\n")
    done = svmbench_process("run", str(path), "--dry-run", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"svmbench: {path}:2:1: unknown key 'naem'; did you mean 'name'? (and 3 more)\n"
    )


def interrupted(code, says, number, **how):
    """Exit code and errors of a command that is sent a signal once it says something."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, "config", "check", "smoke"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )
    assert process.stdout.readline() == f"{says}\n"
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    return process.returncode, error


@pytest.mark.parametrize("inherited", [signal.SIG_DFL, signal.SIG_IGN])
def test_an_interruption_from_outside_is_one_line_and_130(inherited):
    """Also if the process inherits that SIGINT is ignored, as a script's background jobs do."""
    code = (
        "import time, svmbench.config as c\n"
        "c.load_sweep = lambda file: (print('ready', flush=True), time.sleep(60))\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    ended = interrupted(
        code, "ready", signal.SIGINT, preexec_fn=lambda: signal.signal(signal.SIGINT, inherited)
    )
    assert ended == (130, "svmbench: interrupted\n")


def test_the_installed_command_is_the_one_that_can_be_interrupted():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert settings["project"]["scripts"] == {"svmbench": "svmbench.__main__:main"}


@pytest.mark.parametrize("args", [["--help"], ["solvers"]])
def test_a_reader_that_goes_away_is_no_error_to_speak_of(args):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = svmbench_process(*args, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_what_a_file_says_does_nothing_to_a_terminal():
    assert one_line("a\x1b[31m\x00b\n c\u202ed") == "a\\x1b[31m\\x00b c\\u202ed"
    assert align(["a", "≥\xa0b"], [["\x9b2J", "c\n"]]) == "a       ≥\xa0b\n\\x9b2J  c\\n"


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        ("plo", "plot"),
        ("solvers pegas", "pegasos"),
        ("data info imdb", "imdb.tfidf"),
        ("papers sgd-q", "sgd-qn"),
        ("papers sgd-qn/table-5", "sgd-qn/table-5"),
    ],
)
def test_the_shell_completes_commands_and_names(begun, found):
    asked = {
        "_SVMBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": f"svmbench {begun}",
        "COMP_CWORD": str(len(begun.split())),
    }
    command = [sys.executable, "-c", "from svmbench.cli import main; main(prog_name='svmbench')"]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True)
    assert f"plain,{found}" in done.stdout.split()


def test_kernels_of_another_version_are_no_internal_error(monkeypatch):
    def load(file):
        raise ImportError("cannot import name 'x'", name="svmbench.kernels.normal")

    monkeypatch.setattr("svmbench.config.load_sweep", load)
    done = CliRunner().invoke(main, ["config", "check", "smoke"])
    assert done.exit_code == 1
    assert "the compiled kernels do not fit this version; compile them again" in done.stderr
