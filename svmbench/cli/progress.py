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
from rich.table import Column

from svmbench.harness.plan import Run
from svmbench.harness.sweeps import Reporter
from svmbench.records.spelling import counted, short

#: Share of the runs between two lines if there is no terminal to draw on.
LINE_EVERY = 0.1


class ProgressReporter(Reporter):
    """Draws on standard error; standard output is reserved for results.

    - ``quiet``: draw nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        if not self._console.width:  # as with COLUMNS=0, where nothing would be drawn
            self._console.width = 80
        self._live = self._console.is_terminal
        # On a narrow terminal only the description is cut.
        what, whole = Column(no_wrap=True, overflow="ellipsis"), Column(no_wrap=True)
        self._what = TextColumn("{task.description}", markup=False, table_column=what)
        self._elapsed = TimeElapsedColumn(whole)
        self._progress = Progress(
            self._what,
            BarColumn(max(5, min(40, self._console.width // 8)), table_column=whole),
            MofNCompleteColumn(table_column=whole),
            self._elapsed,
            TextColumn("ETA", table_column=whole),
            TimeRemainingColumn(table_column=whole),
            console=self._console,
            transient=True,
            disable=quiet or not self._live,
        )
        self._task = self._progress.add_task("preparing", total=None)
        self._total = self._announced = self._ended = self._said = 0

    def __enter__(self) -> ProgressReporter:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def stage(self, text: str) -> None:
        self._progress.update(self._task, description=text)
        if not self._live:
            self._console.print(text, markup=False)

    def writes(self, text: str) -> None:
        """Show what is being written after the runs, whose number and ETA say nothing about it."""
        self._progress.remove_task(self._task)
        self._progress.columns = (self._what, self._elapsed)
        self._task = self._progress.add_task("", total=None)
        self.stage(text)

    def say(self, text: str) -> None:
        """Print a line that stays, above what is being prepared."""
        self._console.print(text, markup=False)

    def detail(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def begin(self, total: int, reused: int) -> None:
        self._total = self._announced = total - reused
        self._ended = self._said = 0
        self._console.print(f"{counted(reused, 'run')} reused, {self._total} to run", markup=False)
        self._progress.reset(self._task, total=self._total, description="runs")

    def grow(self, runs: int) -> None:
        self._total += runs
        self._progress.update(self._task, total=self._total)

    def run_begins(self, run: Run) -> None:
        dataset, lam, label = run.cell
        text = f"{dataset} λ={short(lam)} {label} #{run.repeat + 1}"
        self._progress.update(self._task, description=text)

    def run_ends(self, run: Run, state: str) -> None:
        self._progress.advance(self._task)
        self._ended += 1
        if not self._live and self._ended >= self._said + max(1, LINE_EVERY * self._total):
            self._said = self._ended
            added = self._total - self._announced
            text = f" ({added} added)" if added > 0 else ""
            self._console.print(
                f"{self._ended} of {max(self._total, self._ended)} runs{text}", markup=False
            )
