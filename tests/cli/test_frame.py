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

import svmbench
from svmbench import cli
from svmbench.cli import Frame, main, one_line
from svmbench.cli.columns import align
from svmbench.cli.verify import _line
from svmbench.errors import ConfigError, DataError, SvmbenchError
from svmbench.solvers import registry
from svmbench.verify.outcome import Verification


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
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: {' '.join(path)} ")
    assert "--debug" in result.stdout


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


def test_every_help_says_where_exit_codes_are():
    assert len(EXAMPLES) > 20
    for path, command in COMMANDS.items():
        assert "xit codes" in command.epilog, path


def test_commands_are_the_modules_that_define_one():
    folder = Path(cli.__file__).parent
    modules = {path.stem.replace("_", "-") for path in folder.glob("*.py")} - {"--init--"}
    found = set(main.list_commands(click.Context(main)))
    assert {"config", "data", "report", "run", "solvers"} <= found < modules
    assert "columns" not in found


def test_help_lists_commands_and_exit_codes():
    result = run()
    assert result.exit_code == 0
    assert result.stdout == run("--help").stdout
    for code in ("0 ", "1 ", "2 ", "3 ", "4 ", "130 ", "141 "):
        assert f"\n    {code}" in result.stdout


def test_version():
    assert run("--version").stdout == f"svmbench {svmbench.__version__}\n"


def test_help_loads_nothing_heavy():
    code = (
        "import sys, click.testing, svmbench.cli as c\n"
        "click.testing.CliRunner().invoke(c.main, ['--help'], catch_exceptions=False)\n"
        "heavy = ['matplotlib', 'pandas', 'scipy', 'numpy', 'pydantic', 'pooch']\n"
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
            SystemExit(0),
            1,
            "svmbench: something ended the command (SystemExit: 0), probably code of a plug-in; "
            "--debug shows where\n",
        ),
        (
            GeneratorExit(),
            1,
            "svmbench: something ended the command (GeneratorExit), probably code of a plug-in; "
            "--debug shows where\n",
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
            RuntimeError("can't start new thread"),
            1,
            "svmbench: the system has no more threads; give the same command again\n",
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


@pytest.mark.parametrize("command", [("papers",), ("run", "demo", "--dry-run"), ("data", "list")])
@pytest.mark.parametrize("date", ["x", "", "9" * 20])
def test_a_date_that_libraries_cannot_read_is_named(command, date, tmp_path):
    environment = os.environ | {"SOURCE_DATE_EPOCH": date}
    done = svmbench_process(*command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"svmbench: SOURCE_DATE_EPOCH={date}: not a date in whole seconds since 1970; correct or "
        "unset this variable of the environment\n"
    )


def test_figures_need_no_backend_of_the_user_s():
    program = (
        "from svmbench.cli import _require_loadable; _require_loadable(); import matplotlib;"
        "from svmbench.report.sheet import uniform_style\nwith uniform_style(): print('drawn')"
    )
    environment = os.environ | {"MPLBACKEND": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "drawn\n", done.stderr


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("loading", ["svmbench.cli", "click", "numpy"])
def test_an_interruption_while_the_program_is_loaded_is_one_line_and_130(loading, number):
    code = (
        "import signal, sys\n"
        "class Interrupter:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {loading!r}:\n"
        f"            signal.raise_signal({int(number)})\n"
        "sys.meta_path.insert(0, Interrupter())\n"
        "from svmbench.__main__ import main\n"
        "main('svmbench')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "train", "none"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "svmbench: interrupted\n")


def test_the_installed_command_is_the_one_that_can_be_interrupted():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert settings["project"]["scripts"] == {"svmbench": "svmbench.__main__:main"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_of_a_process_that_is_leaving_does_not_change_its_exit_code(number):
    code = (
        "import atexit, sys, time, svmbench.config as c\n"
        "def stop(file):\n    raise KeyboardInterrupt\n"
        "c.load_sweep = stop\n"
        "atexit.register(lambda: (print('leaving', flush=True), time.sleep(1)))\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    assert interrupted(code, "leaving", number) == (130, "svmbench: interrupted\n")


def test_an_interruption_of_an_import_does_not_change_the_exit_code(tmp_path):
    (tmp_path / "interrupted_import.py").write_text(
        "import svmbench.config as c\n"
        # dataclasses and named tuples are made of texts: in those an interruption is remembered
        "c.load_sweep = lambda file: exec('raise KeyboardInterrupt')\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "interrupted_import", "config", "check", "smoke"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (130, "svmbench: interrupted\n")


@pytest.mark.parametrize("args", [["--help"], ["config", "schema"]])
def test_a_reader_that_goes_away_is_no_error_to_speak_of(args):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = svmbench_process(*args, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_terminal_without_greek_letters_gets_the_rest():
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = svmbench_process("solvers", stdout=subprocess.PIPE, env=environment, encoding="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "steps 1/(?t)" in done.stdout


def test_what_a_file_says_does_nothing_to_a_terminal():
    assert one_line("a\x1b[31m\x00b\n c\u202ed") == "a\\x1b[31m\\x00b c\\u202ed"
    assert align(["a", "≥\xa0b"], [["\x9b2J", "c\n"]]) == "a       ≥\xa0b\n\\x9b2J  c\\n"


def test_what_a_verified_folder_says_does_nothing_to_a_terminal():
    wrong = Verification("run", "a\x1b[2J", "does not hold", "runs.csv: label is \x9b\n")
    assert _line(wrong) == "  does not hold: a\\x1b[2J: runs.csv: label is \\x9b\\n"


@pytest.mark.parametrize("group", [[], ["data"], ["config"]])
def test_lists_of_commands_are_not_cut_at_80_columns(group):
    listed = CliRunner().invoke(main, [*group, "--help"], terminal_width=80).output
    assert "..." not in listed.partition("Commands:")[2]


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


def python_process(code, *args):
    """Execute a text in a new interpreter, with arguments."""
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "error", ["RuntimeError('release unlocked lock')", "ImportError('initialization failed')"]
)
def test_an_interruption_that_comes_out_as_another_error_is_one(number, error):
    code = (
        "import os, time, svmbench.config as c\n"
        "def stop(file):\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "        time.sleep(60)\n"
        f"    except KeyboardInterrupt:\n        raise {error} from None\n"
        "c.load_sweep = stop\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    done = python_process(code, "config", "check", "smoke")
    assert (done.returncode, done.stderr) == (130, "svmbench: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_that_comes_amid_a_finaliser_is_not_lost(number):
    code = (
        "import os, time, svmbench.config as c\n"
        "class Finalised:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "        time.sleep(10)\n"
        "def load(file):\n"
        "    Finalised()\n"
        "    time.sleep(10)\n"
        "c.load_sweep = load\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    done = python_process(code, "config", "check", "smoke")
    assert (done.returncode, done.stderr) == (130, "svmbench: interrupted\n")


def test_other_errors_of_finalisers_are_reported():
    code = (
        "import svmbench.config as c\n"
        "class Finalised:\n"
        "    def __del__(self):\n        raise ValueError('of a finaliser')\n"
        "c.load_sweep = lambda file: (Finalised(), 1 / 0)\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    done = python_process(code, "config", "check", "smoke")
    assert (done.returncode, "ValueError: of a finaliser" in done.stderr) == (1, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_extension_that_was_interrupted_while_it_was_loaded_cannot_crash_the_exit(number):
    code = (
        "import atexit, os, sys, time, svmbench.config as c\n"
        "class Half:\n"
        "    def __del__(self, abort=os.abort):\n        abort()\n"
        "def load(file):\n"
        "    sys.modules['half'] = Half()\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    time.sleep(60)\n"
        "c.load_sweep = load\n"
        "atexit.register(print, 'tidied up')\n"
        "from svmbench.cli import main\n"
        "main(prog_name='svmbench')"
    )
    done = python_process(code, "config", "check", "smoke")
    assert (done.returncode, done.stdout) == (130, "tidied up\n")
    assert done.stderr == "svmbench: interrupted\n"


_ENDING = """
import atexit, os, sys
from types import SimpleNamespace
from svmbench import __main__ as program

class Module:
    def __del__(self, write=os.write):
        write(1, b"taken apart\\n")

sys.modules["module"] = Module()

def command(prog_name):
    atexit.register(print, "at its exit")
    sys.stdout.write("done, ")
    sys.exit(4)

sys.modules["svmbench.cli"] = SimpleNamespace(main=command)
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "done, at its exit\n"),
        # A profiler writes its numbers at the exit: nothing that others wait for is left out.
        ("atexit.register(print, 'others')", "done, at its exit\nothers\ntaken apart\n"),
    ],
)
def test_a_process_that_has_ended_is_not_taken_apart(before, said):
    code = f"{_ENDING}\n{before}\nprogram.main()"
    plain = {name: value for name, value in os.environ.items() if "COVERAGE_PROCESS" not in name}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, env=plain, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (4, said, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_output_that_cannot_be_flushed_at_the_end_is_said():
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-P", "-c", f"{_ENDING}\nprogram.main()"]
        done = subprocess.run(command, env=buffered, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 120  # as Python has it
    assert "No space left" in done.stderr


def test_kernels_of_another_version_are_no_internal_error(monkeypatch):
    def load(file):
        raise ImportError("cannot import name 'x'", name="svmbench.kernels.normal")

    monkeypatch.setattr("svmbench.config.load_sweep", load)
    done = CliRunner().invoke(main, ["config", "check", "smoke"])
    assert done.exit_code == 1
    assert "the compiled kernels do not fit this version; compile them again" in done.stderr
