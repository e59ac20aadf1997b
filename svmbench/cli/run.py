"""``svmbench run``: run a configuration and write its tables, plots and page."""

from __future__ import annotations

import csv
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from svmbench.cli import one_line, options
from svmbench.cli.columns import align
from svmbench.cli.series import (
    mishaps,
    nodes_lines,
    open_questions,
    optima,
    time_spent,
)
from svmbench.records.spelling import counted, duration, short
from svmbench.records.states import FAULTS, counted_states, in_words

if TYPE_CHECKING:
    from svmbench.config import Sweep
    from svmbench.config.dataset_spec import DatasetSpec
    from svmbench.harness.series import PlannedSweep, Result
    from svmbench.harness.sources import Source
    from svmbench.harness.sweeps import Options


#: Runs at the same time, each of which needs a thread and some processes.
MOST_JOBS = 1024

#: Seconds that determine the scale of stand-ins, as a budget does that of the papers'.
STAND_IN_BUDGET = 600.0

#: What is said where fixed repeats leave the order open.
MORE_REPEATS = (
    "more repeats decide more: 'repeats: {at_least: 5, until: decided, at_most: 60}' in the "
    "configuration"
)

#: Lines of the table on the terminal; the page has all of them.
MOST_LINES = 24

#: What is said while the tables of an interrupted sweep are written.
WRITING_TABLES = "interrupted; writing tables (Ctrl-C again to skip)"


@click.command(
    name="run",
    epilog=options.examples(
        "svmbench run demo",
        "svmbench run adult --dry-run",
        "svmbench run mine.yaml --only 'adult/*/dcd' --out results/mine",
    ),
)
@click.argument("config", type=click.Path(path_type=Path))
@options.out_folder("results/NAME")
@click.option("--dry-run", is_flag=True, help="List the cells, and the time they take at most.")
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Run only what matches: a data set, solver, label, lambda or C, or "
    "DATASET/LAMBDA/LABEL, with * and ? as in file names. May be repeated.",
)
@click.option(
    "--jobs",
    type=options.WholeRange(1, MOST_JOBS),
    default=1,
    show_default=True,
    help="Number of runs at the same time. They disturb each other and are marked as contended "
    "if there is more than one.",
)
@click.option("--real", is_flag=True, help="Fail rather than use a stand-in.")
@click.option(
    "--stand-in", is_flag=True, help="Use the data sets' synthetic stand-ins, whatever is here."
)
@click.option(
    "--scale",
    type=options.Number(0.0, 1.0, min_open=True),
    envvar="SCALE",
    help="Rows of a stand-in as a fraction of the published number.  [env: SCALE; default: as "
    f"'papers --budget {STAND_IN_BUDGET / 60:.0f}m' has it]",
)
@options.plugins
@options.running
def command(
    config: Path,
    out: Path | None,
    dry_run: bool,
    only: tuple[str, ...],
    jobs: int,
    real: bool,
    stand_in: bool,
    scale: float | None,
    plugins: tuple[Path, ...],
    running: options.Running,
) -> int:
    """Run the sweep CONFIG, then write its tables, plots and page.

    CONFIG is a YAML file, or the name of one that comes with svmbench, such as demo or adult.
    Missing data are downloaded, up to 300 MB; others are replaced by stand-ins, which are marked.
    Finished runs are reused as long as nothing that could change them has changed.
    Ctrl-C keeps what was measured and writes the tables of it; a second Ctrl-C skips them.
    Run the same command again to continue.
    """
    from svmbench.config import load_sweep, with_plugins
    from svmbench.errors import DataError
    from svmbench.harness.only import require_match
    from svmbench.harness.series import PlannedSweep

    running.refuse_json_if(dry_run)
    if real and stand_in:
        raise click.UsageError("--real and --stand-in; keep one of them")
    if stand_in and running.fetch_all:
        raise click.UsageError("--fetch-all and --stand-in; keep one of them")
    sweep = with_plugins(load_sweep(config), plugins)
    require_match(sweep, only)
    begun = time.monotonic()
    here = running._replace(offline=running.offline or stand_in)
    here.fetch(sweep.datasets, dry_run=dry_run, real=real)
    with running.place(jobs) as place:
        source = partial(_source, real=real, stand_in=stand_in, scale=scale)
        sources = tuple(map(source, sweep.datasets))
        if dry_run:
            words = [source.words for source in sources if source.words]
            click.echo("\n".join([describe(sweep, only), *words, *nodes_lines(place)]))
            return 0
        planned = PlannedSweep(
            "", "", sweep.name, sweep, out or _folder(sweep, sources), sources,
            running.offline,
            place.machine,
        )  # fmt: skip
        if not running.quiet:
            for each in filter(None, (source.words for source in sources)):
                click.echo(f"{each}; --real refuses it", err=True)
        asked = running.asked(place, only=only, jobs=jobs)
        result = _made(planned, asked, hidden=running.quiet or running.as_json)
    if result.faults:
        raise DataError(result.faults[0])
    if result.interrupted and not result.made + result.reused:
        raise KeyboardInterrupt  # there is nothing to show
    if running.as_json:
        click.echo(_as_json(planned.folder))
    elif not running.quiet:
        click.echo(_told(planned, result, time.monotonic() - begun))
    if result.interrupted:
        raise KeyboardInterrupt
    return 1 if result.faulty else 0


def _source(data: DatasetSpec, *, real: bool, stand_in: bool, scale: float | None) -> Source:
    """Where the rows of a data set come from: a user's own files have no stand-in."""
    from svmbench.harness.sources import Source, source_of, stand_in_of

    itself = Source(data)
    if stand_in:
        return Source(data, scale or stand_in_of(data, STAND_IN_BUDGET).scale or 1.0)
    if real or itself.shape is None:
        return itself
    found = source_of(data, STAND_IN_BUDGET, scale=scale)
    return itself if found.unavailable else found


def _folder(sweep: Sweep, sources: tuple[Source, ...]) -> Path:
    """Where the results go, by default: those on stand-ins apart, by their scale if it is one."""
    scales = {each.scale for each in sources} - {None}
    suffix = "-stand-in" if scales else ""
    if len(scales) == 1:
        suffix += f"-{scales.pop():g}"
    return Path("results") / f"{sweep.name}{suffix}"


def _made(planned: PlannedSweep, asked: Options, *, hidden: bool) -> Result:
    """Run what the sweep lacks, and write its tables, plots and page."""
    from svmbench.cli.progress import ProgressReporter
    from svmbench.harness.series import run_series
    from svmbench.report.made import MARK, written_before
    from svmbench.report.questions import about_leaders
    from svmbench.report.write import write_report

    folder = planned.folder
    with ProgressReporter(hidden) as reporter:
        doubts = (lambda: about_leaders(folder)[0]) if planned.sweep.until_decided else None
        result = run_series([planned], reporter, asked, doubts=doubts)
        if result.made + result.reused:
            if result.interrupted:
                reporter.say(WRITING_TABLES)
            if not written_before(folder / MARK, [folder]):
                reporter.writes("tables and plots")
                write_report(folder)
    return result


def _told(planned: PlannedSweep, result: Result, seconds: float) -> str:
    from svmbench.records.read import read_results
    from svmbench.report.notices import stand_in_warning
    from svmbench.report.questions import order
    from svmbench.report.verdict import answer, conclusion, verdicts

    folder, until_decided = planned.folder, planned.sweep.until_decided
    results = read_results(folder)
    standings = verdicts(results)
    header, rows = answer(standings)
    left = len(rows) - MOST_LINES
    lines = [
        align(header, rows[:MOST_LINES]),
        *([f"({left} more on the page)"] if left > 0 else ()),
        *filter(None, [order(results).caution]),
        "",
        *([stand_in_warning(list(planned.stand_ins))] if planned.stand_ins else ()),
        *_summary(result, folder, seconds),
        *_failures(folder),
        *_not_installed(planned.sweep),
    ]
    if until_decided:
        lines += [*time_spent(result, [planned]), _questions(folder, result)]
    lines += [f"page: {folder / 'report.html'}", *filter(None, [conclusion(standings)])]
    leads = [lead for each in standings for lead in each.leads]
    is_open = any(lead.leader and lead.following and not lead.settled for lead in leads)
    if is_open and not until_decided:
        lines.append(MORE_REPEATS)
    return "\n".join(lines)


def _as_json(folder: Path) -> str:
    """The answer as JSON: an object per data set, λ and accuracy, how the runs ended, the page."""
    from svmbench.cli.json_rows import json_of
    from svmbench.records.read import read_results
    from svmbench.report.numbers import or_null
    from svmbench.report.verdict import verdicts

    results = read_results(folder)
    leads = [
        {
            "dataset": leads.heading,
            "lambda": leads.value,
            "at": lead.place,
            "leader": lead.leader or None,
            "median": lead.found and lead.found.median,
            "low": lead.found and or_null(lead.found.low),
            "high": lead.found and or_null(lead.found.high),
            "unit": lead.unit.strip() or None,
            "clear": lead.clear,
            "next": lead.following or None,
            "proven": lead.proven,
        }
        for leads in verdicts(results)
        for lead in leads.leads
    ]
    ends = results.runs["state"].value_counts().to_dict()
    return json_of(leads=leads, ends=ends, page=str(folder / "report.html"))


def describe(sweep: Sweep, only: tuple[str, ...] = ()) -> str:
    """The cells of a sweep, one line each, and the longest time they take.

    With C, all cells are listed: patterns may be of λ, which is known only once the rows are.
    """
    from svmbench.harness.only import is_named
    from svmbench.harness.plan import for_each_horizon

    cells = [
        (data.label, f"{'λ' if sweep.lambdas else 'C'} = {short(value)}", solver)
        for data, value, solver in product(
            sweep.datasets, sweep.lambdas or sweep.C or (), sweep.solvers
        )
        if not (only and sweep.lambdas)
        or is_named(only, data.label, solver.name, solver.label, value)
    ]
    problems = {(data, constant) for data, constant, _ in cells}
    widest = max(len(data) for data, _ in problems)
    runs_of = [len(for_each_horizon(solver, sweep.stop)) for _, _, solver in cells]
    lines = [
        f"{data:<{widest}} {constant:<12} {solver.label}"
        + (f": {runs} runs a repeat, one for each tolerance or length" if runs > 1 else "")
        for (data, constant, solver), runs in zip(cells, runs_of, strict=True)
    ]
    runs_a_repeat = sum(runs_of)
    references = len(problems) * sweep.reference.time_limit

    def longest(repeats: int) -> str:
        return duration(runs_a_repeat * repeats * sweep.stop.time_limit + references)

    least, most = sweep.at_least, sweep.at_most
    lines.append(
        f"{counted(len(lines), 'cell')}, {counted(least, 'repeat')}: "
        f"{counted(runs_a_repeat * least, 'run')}, "
        f"and {optima(len(problems))}"
    )
    lines.append(
        f"runs and optima take at most {longest(least)} (every limit hit; usually far less)"
    )
    if sweep.until_decided:
        lines.append(
            f"cells with an open question have up to {most} repeats: "
            f"{runs_a_repeat * most} runs and {longest(most)} at most"
        )
    return "\n".join(lines)


def _failures(folder: Path) -> list[str]:
    """A line for each label that has failed, with the reason of its first failure."""
    with (folder / "runs.csv").open(encoding="utf-8", newline="") as file:
        failed = [row for row in csv.DictReader(file) if row["state"] in FAULTS]
    reasons: dict[str, str] = {}
    for row in failed:
        reasons.setdefault(row["label"], f"{in_words(row['state'])}: {row['reason']}")
    return [one_line(f"{label} {reason}") for label, reason in reasons.items()]


def _not_installed(sweep: Sweep) -> list[str]:
    """The programs that could not be measured, and how to install them."""
    from svmbench.solvers.registry import find_solver

    reasons = {solver.label: find_solver(solver.name).missing() for solver in sweep.solvers}
    return [f"{label} was not measured: {why}" for label, why in reasons.items() if why]


def _summary(result: Result, folder: Path, seconds: float) -> list[str]:
    made = f"{counted(result.made, 'new run')}, {result.reused} reused, in {duration(seconds)}"
    ended = counted_states(result.states.elements())
    return [f"{made}: {ended}", *mishaps(result, str(folder / "runs.csv"))]


def _questions(folder: Path, result: Result) -> str:
    from svmbench.report.questions import about_leaders

    left, total = about_leaders(folder)
    if not total:
        return "no questions: no two solvers have been measured on the same problem"
    decided = total - len(left)
    text = f"fastest against each other solver: {decided} of {total} questions decided"
    return "\n".join([text, *open_questions(result.open)])
