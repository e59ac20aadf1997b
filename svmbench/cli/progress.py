"""Progress on the terminal: a bar with an ETA, or a line now and then if there is no terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from svmbench.cli.series import counted
from svmbench.harness.plan import Run
from svmbench.harness.sweeps import Reporter
from svmbench.records.spelling import short

#: Share of the runs between two lines if there is no terminal to draw on.
LINE_EVERY = 0.1


class ProgressReporter(Reporter):
    """Draws on standard error; standard output is reserved for results.

    Parameters
    ----------
    quiet : bool
        Draw nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        self._live = self._console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=self._console,
            transient=True,
            disable=quiet or not self._live,
        )
        self._task = self._progress.add_task("preparing", total=None)
        self._total = self._ended = self._said = 0

    def __enter__(self) -> ProgressReporter:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def stage(self, text: str) -> None:
        """Show what is being prepared."""
        self._progress.update(self._task, description=text)
        if not self._live:
            self._console.print(text, markup=False)

    def detail(self, text: str) -> None:
        """Show how far the stage is."""
        self._progress.update(self._task, description=text)

    def begin(self, total: int, reused: int) -> None:
        """Show how much there is to do."""
        self._total, self._ended, self._said = total - reused, 0, 0
        self._console.print(f"{counted(reused, 'run')} reused, {self._total} to run", markup=False)
        self._progress.reset(self._task, total=self._total, description="runs")

    def grow(self, runs: int) -> None:
        """Show that there is more or less to do than announced."""
        self._total += runs
        self._progress.update(self._task, total=self._total)

    def run_begins(self, run: Run) -> None:
        """Show the run in progress."""
        dataset, lam, label = run.cell
        text = f"{dataset} λ={short(lam)} {label} #{run.repeat + 1}"
        self._progress.update(self._task, description=text)

    def run_ends(self, run: Run, state: str) -> None:
        """Count the run."""
        self._progress.advance(self._task)
        self._ended += 1
        if not self._live and self._ended >= self._said + max(1, LINE_EVERY * self._total):
            self._said = self._ended
            self._console.print(f"{self._ended} of {self._total} runs", markup=False)
