"""What is drawn while a sweep runs."""

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from svmbench.cli.progress import ProgressReporter


def test_names_are_drawn_as_they_are():
    """A label may look like rich's markup."""
    reporter = ProgressReporter(quiet=True)
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=200)
    with Progress(*reporter._progress.columns, console=console) as progress:
        progress.add_task("[/b] [red]tiny[/red]", total=None)
        progress.refresh()
    assert "[/b] [red]tiny[/red]" in out.getvalue()


@pytest.mark.parametrize("width", [50, 60, 80])
def test_a_narrow_terminal_cuts_only_the_description(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    reporter = ProgressReporter(quiet=True)
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width)
    with Progress(*reporter._progress.columns, console=console) as progress:
        progress.add_task("tiny-separable λ=0.001 a-solver-with-parameters #1", total=108)
        progress.refresh()
    (line,) = [part for part in out.getvalue().split("\r\x1b[2K")[-1].splitlines() if "ETA" in part]
    for whole in ("tiny-sep", "0/108", "0:00:0", "-:--:--"):
        assert whole in line


@pytest.mark.parametrize("columns", [None, "0", "-1", "1000000000"])
def test_lines_count_the_announced_runs(columns, capsys, monkeypatch):
    """Without a terminal, a line follows after every tenth of the runs."""
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    with ProgressReporter() as reporter:
        reporter.begin(7, 3)
        reporter.run_ends(None, "converged")
        reporter.grow(-2)
        reporter.run_ends(None, "converged")
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line] == [
        "3 runs reused, 4 to run",
        "1 of 4 runs",
        "2 of 2 runs",
    ]


def test_lines_say_how_many_runs_were_added(capsys):
    with ProgressReporter() as reporter:
        reporter.begin(2, 0)
        reporter.run_ends(None, "converged")
        reporter.grow(3)
        reporter.run_ends(None, "converged")
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "of" in line] == ["1 of 2 runs", "2 of 5 runs (3 added)"]


def test_what_is_written_after_the_runs_has_no_eta():
    """Neither the runs that are left nor the time of the others say how long tables take."""
    reporter = ProgressReporter(quiet=True)
    shown = []
    for step in (lambda: reporter.begin(7, 3), lambda: reporter.writes("tables and plots")):
        step()
        out = io.StringIO()
        console = Console(file=out, force_terminal=True, no_color=True, width=80)
        console.print(reporter._progress)
        shown.append(out.getvalue())
    assert all(word in shown[0] for word in ("0/4", "ETA"))
    assert shown[1].split() == ["tables", "and", "plots", "0:00:00"]
