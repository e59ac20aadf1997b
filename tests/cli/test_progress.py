"""What is drawn while a sweep runs."""

import io

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


def test_lines_count_the_announced_runs(capsys):
    """Without a terminal, a line follows after every tenth of the runs."""
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
