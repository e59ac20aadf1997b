"""``svmbench compare``: whether one set of results is slower than another."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import click

from svmbench.cli import options
from svmbench.cli.columns import align, printable
from svmbench.records.measures import TO_ACCURACY

if TYPE_CHECKING:
    from svmbench.harness.alternate import AlternateSide, OpenCell
    from svmbench.report.comparison import Comparison

REGRESSION = 4

#: Fewest blocks before a case that more repeats are not expected to decide is given up.
_LEAST_BLOCKS = 5


@click.command(
    "compare",
    epilog=options.examples(
        "svmbench compare results/demo --labels sgd-s dcd",
        "svmbench compare results/old results/new --threshold 1.1",
        "svmbench compare --run .venv-old .venv-new --config adult",
    ),
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option(
    "--labels",
    nargs=2,
    metavar="X Y",
    help="Compare label Y with label X, both of the folder A; with two folders, Y of B with X "
    "of A.",
)
@click.option(
    "--metric",
    type=click.Choice(TO_ACCURACY),
    default="seconds",
    show_default=True,
    help="Cost of reaching each accuracy.",
)
@click.option(
    "--threshold",
    "margin",
    type=options.NumberRange(min=1.0, max=math.inf, max_open=True),
    default=1.05,
    show_default=True,
    help="Largest factor that counts as no difference.",
)
@options.as_json
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the comparison to this Markdown file.",
)
@click.option(
    "--run",
    "make",
    is_flag=True,
    help="Run A and B alternately until every case is decided: two environments with "
    "svmbench, or two labels of --config.",
)
@click.option(
    "--config",
    metavar="CONFIG",
    type=click.Path(path_type=Path),
    help="With --run: the sweep to run, as for svmbench run.",
)
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --run: folder for the results.  [default: results/compare-NAME, or "
    "results/compare-NAME-X-Y for two labels]",
)
@click.option("--budget", metavar="TIME", help="With --run: stop after this time, such as 10m.")
@click.option(
    "--most",
    type=options.WholeRange(min=1),
    default=60,
    show_default=True,
    help="With --run: most repeats.",
)
def compare_command(
    first: str,
    second: str | None,
    labels: tuple[str, str] | None,
    metric: str,
    margin: float,
    as_json: bool,
    out: Path | None,
    make: bool,
    config: Path | None,
    results: Path | None,
    budget: str | None,
    most: int,
) -> int:
    """Compare two results folders, or two labels of one.

    B is compared with A. Two folders contain one configuration that was run twice: by two versions,
    builds or machines. A case is a data set, a lambda, an accuracy and a label. Repeats of the same
    number are paired. Folders from different times share the seeds but not the state of the
    machine, so their intervals are wider. One folder alone needs --labels: two solvers of one
    sweep, whose runs were interleaved, are compared.

    With --run, A and B are not folders of results. They are two environments (a python, a virtual
    environment, or a checkout with a .venv), each with its version of svmbench, or two labels of
    the configuration. Both run it alternately, a repeat at a time, until every case is decided.
    Ctrl-C keeps what was measured; the same command resumes.

    Processor seconds scatter less than seconds on a machine that also does other work. Passes are
    seconds in units of one streaming read of the data on the same machine: compare these if
    the folders come from two machines.

    Exits with code 4 if B is slower than A in some case by more than the margin, or reaches the
    accuracy less often. All cases are judged together.
    """
    from svmbench.durable import write_text
    from svmbench.report.comparison import to_json, to_markdown

    _check_usage(second, labels, make, config, results, budget)
    stopped = False
    if make:
        assert second is not None
        assert config is not None
        pair = _Alternation(first, second, config, results, _Wanted(labels, metric, margin))
        stopped = pair.run(most, budget)
        comparison = pair.compared()
    else:
        comparison = _of_folders(Path(first), second, _Wanted(labels, metric, margin))
    click.echo(to_json(comparison) if as_json else text(comparison))
    if out is not None:
        write_text(out, to_markdown(comparison))
    if stopped:
        raise KeyboardInterrupt
    return REGRESSION if comparison.regressions else 0


def _check_usage(
    second: str | None,
    labels: tuple[str, str] | None,
    make: bool,
    config: Path | None,
    results: Path | None,
    budget: str | None,
) -> None:
    if make:
        if second is None:
            raise click.UsageError("--run takes two environments, or two labels of --config")
        if config is None:
            raise click.UsageError("--run needs a configuration; give --config FILE")
        return
    for name, given in (("--config", config), ("--results", results), ("--budget", budget)):
        if given is not None:
            raise click.UsageError(f"{name} belongs to --run; add that or leave {name} out")
    if second is None and labels is None:
        raise click.UsageError("one folder and no labels; name a second folder or give --labels")


class _Wanted(NamedTuple):
    """What is to be compared, and the largest factor that counts as no difference."""

    labels: tuple[str, str] | None
    metric: str
    margin: float


def _of_folders(first: Path, second: str | None, wanted: _Wanted) -> Comparison:
    # Deferred: pandas takes longer to load than most commands to run.
    from svmbench.records.read import read_results
    from svmbench.report.comparison import Side, compare

    a = read_results(first)
    b = a if second is None else read_results(Path(second))
    left, right = wanted.labels or (None, None)
    return compare(Side(a, left), Side(b, right), wanted.metric, wanted.margin)


class _Alternation:
    """Two sides that run a configuration alternately, and their comparison so far."""

    def __init__(
        self,
        first: str,
        second: str,
        config: Path,
        results: Path | None,
        wanted: _Wanted,
    ) -> None:
        from svmbench.config import load_sweep
        from svmbench.errors import ConfigError, nearest

        sweep, labels = load_sweep(config), wanted.labels
        known = [solver.label for solver in sweep.solvers]
        for label in labels or ():
            if label not in known:
                raise ConfigError(f"{config}: no label {label!r}; {nearest(label, known)}")
        self._config, self._wanted = config, wanted
        of_labels = first in known and second in known
        # Each pair of labels has a folder of its own: repeats of a label that is added to another
        # pair's folder would not be next to those that are there.
        names = ("compare", sweep.name, *((first, second) if of_labels else labels or ()))
        root = results or Path("results") / "-".join(quote(name, safe="") for name in names)
        if of_labels:
            if labels is not None:
                raise click.UsageError(f"{first} and {second} are already labels; drop --labels")
            self._wanted = wanted._replace(labels=(first, second))
            self._makers = self._of_one_environment(root, (first, second))
        else:
            self._makers = self._of_two_environments(root, (first, second), known)

    def _of_one_environment(self, root: Path, labels: tuple[str, str]) -> list[AlternateSide]:
        from svmbench.harness.alternate import AlternateSide

        return [AlternateSide(sys.executable, root / "both", labels)]

    def _of_two_environments(
        self, root: Path, places: tuple[str, str], known: Sequence[str]
    ) -> list[AlternateSide]:
        from svmbench.errors import ConfigError, nearest
        from svmbench.harness.alternate import AlternateSide, find_python

        for place in places:
            if not Path(place).exists():
                raise ConfigError(
                    f"{place}: neither an environment nor a label of {self._config}; "
                    f"{nearest(place, known)}"
                )
        labels = self._wanted.labels
        own = [(label,) for label in labels] if labels else [(), ()]
        return [
            AlternateSide(find_python(Path(place)), root / name, only)
            for place, name, only in zip(places, "ab", own, strict=True)
        ]

    def run(self, most: int, budget: str | None) -> bool:
        """Run blocks until nothing is open; whether the user stopped it before."""
        from svmbench.cli.options import budget_seconds
        from svmbench.harness.alternate import alternate

        seconds = math.inf if budget is None else budget_seconds(budget)
        try:
            alternate(self._makers, self._config, self._undecided, most=most, budget=seconds)
        except KeyboardInterrupt:
            if not all((maker.folder / "runs.csv").exists() for maker in self._makers):
                raise
            return True
        return False

    def compared(self) -> Comparison:
        """The comparison so far."""
        folders = [str(maker.folder) for maker in self._makers]
        first, second = folders[0], folders[1] if len(folders) == 2 else None
        return _of_folders(Path(first), second, self._wanted)

    def _undecided(self, blocks: int) -> list[OpenCell]:
        from svmbench.harness.alternate import OpenCell

        comparison = self.compared()
        undecided = [case for case in comparison.cases if case.conclusion == "open"]
        click.echo(
            f"{blocks} repeats: {len(comparison.cases) - len(undecided)} of "
            f"{len(comparison.cases)} cases decided",
            err=True,
        )
        hopeful = [
            case for case in undecided if case.answer.more is not None or blocks < _LEAST_BLOCKS
        ]
        found = [
            OpenCell(case.dataset, case.lam, self._wanted.labels or (case.label,))
            for case in hopeful
        ]
        return list(dict.fromkeys(found))


def text(comparison: Comparison) -> str:
    """The comparison for a terminal."""
    from svmbench.report.comparison import HEADER, rows, summary, title

    lines = [printable(title(comparison)), ""]
    lines += [printable(f"warning: {warning}") for warning in comparison.warnings]
    lines += [""] * bool(comparison.warnings)
    lines += [align(HEADER, rows(comparison)), "", summary(comparison), ""]
    return "\n".join([*lines, *map(printable, comparison.notes)])


command = compare_command
