"""What is drawn while a sweep runs."""

import pytest

from svmbench.cli.progress import ProgressReporter


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
