"""``svmbench papers``: the tables and figures of the papers, regenerated, and their claims."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli import options
from svmbench.cli.columns import align
from svmbench.cli.series import (
    amount,
    budget_line,
    exit_code,
    mishaps,
    nodes_lines,
    open_questions,
    optima,
    time_spent,
    unfinished,
    unused_line,
)
from svmbench.errors import ConfigError, nearest
from svmbench.records.spelling import counted, duration
from svmbench.records.states import counted_states

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from svmbench.claims.parts import ClaimResult
    from svmbench.config.dataset_spec import DatasetSpec
    from svmbench.harness.series import PlannedSweep, Result
    from svmbench.harness.sweeps import Options
    from svmbench.papers.model import Paper

DEFAULT_BUDGET = "30m"

#: Seconds for the runs on a single data set. A later call continues.
ONLY_SECONDS = 30.0

#: Folder of the quick form's results.
QUICK = "papers"


@click.command(
    name="papers",
    epilog=options.examples(
        "svmbench papers --list",
        "svmbench papers sgd-qn/table-5 --budget 10m",
    ),
)
@click.argument("names", metavar="[NAME...]", nargs=-1, shell_complete=options.paper_names)
@click.option("--list", "listed", is_flag=True, help="List the papers and their items.")
@click.option("--dry-run", is_flag=True, help="Print the plan: cells, longest time, stand-ins.")
@click.option(
    "--budget",
    metavar="TIME",
    help="Time for everything, such as 90s or 2h. It determines the scale of stand-ins, unless "
    "--full does; a later call continues with the remaining runs.  "
    f"[default: {DEFAULT_BUDGET}; with --only {ONLY_SECONDS:g} s; none with --full]",
)
@click.option("--full", is_flag=True, help="Use the full published sizes, however long it takes.")
@click.option(
    "--only",
    multiple=True,
    metavar="DATASET",
    help="Run only what is about this data set, and print its rows of the tables. May be repeated.",
)
@options.out_folder("results/papers, with --full results/papers-full")
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of papers, instead of those that come with svmbench.",
)
@options.report_only
@options.running
def command(
    names: tuple[str, ...],
    listed: bool,
    dry_run: bool,
    budget: str | None,
    full: bool,
    only: tuple[str, ...],
    out: Path | None,
    folder: Path | None,
    report_only: bool,
    running: options.Running,
) -> int:
    """Regenerate the papers' tables and figures, and test the claims.

    NAME is a paper, or PAPER/ITEM for one of its tables or figures, as --list shows them; by
    default, all of them. Missing data are downloaded, up to 300 MB; others are replaced by
    stand-ins, which are marked. Missing runs are executed, finished ones reused. Ctrl-C keeps what
    was measured; run the same command again to continue.
    """
    running.refuse_cluster_if(report_only)
    running.refuse_json_if(dry_run)
    written = budget if budget is not None or full else DEFAULT_BUDGET
    seconds = None if written is None else options.seconds_of("--budget", written)
    limit = ONLY_SECONDS if only and budget is None else seconds
    from svmbench.durable import require_free
    from svmbench.papers.model import papers
    from svmbench.papers.plan import choose, datasets_of, planned_sweeps

    known = papers(folder)
    chosen = choose(known, names)
    if listed:
        from svmbench.cli.json_rows import json_of

        items = _items(known, chosen)
        click.echo(json_of(items=items) if running.as_json else listing(known, chosen))
        return 0
    require_dataset(datasets_of(known, chosen), only)
    root = out or Path("results") / (f"{QUICK}-full" if full else QUICK)
    require_free(root, ("index.html",), (options.OWN,))
    quiet = running.quiet or running.as_json
    running = running._replace(offline=running.offline or report_only, quiet=quiet)
    running.fetch(
        [each for each in datasets_of(known, chosen) if not only or each.label in only],
        dry_run=dry_run,
    )
    with running.place() as place:
        planned = planned_sweeps(
            known,
            chosen,
            root,
            full=full,
            budget=None if full else seconds,
            machine=place.machine,
        )
        if only:
            planned = [
                each.about(only)
                for each in planned
                if set(only) & {data.label for data in each.sweep.datasets}
            ]
        if dry_run or not (quiet or report_only or only):
            said = plan(known, planned, limit)
            click.echo("\n".join([said, *nodes_lines(place)]))
        if dry_run:
            return 0
        return _make(
            known,
            chosen,
            folder,
            root,
            [] if report_only else planned,
            limit,
            running.asked(place, only=only),
            quiet=quiet,
            as_json=running.as_json,
        )


def _make(
    known: Mapping[str, Paper],
    chosen: Sequence[tuple[str, str]],
    folder: Path | None,
    root: Path,
    planned: Sequence[PlannedSweep],
    budget: float | None,
    asked: Options,
    *,
    quiet: bool,
    as_json: bool,
) -> int:
    from svmbench.cli.paper_rows import rows_of, to_json
    from svmbench.cli.progress import ProgressReporter
    from svmbench.harness.series import run_series
    from svmbench.papers.doubts import Doubts
    from svmbench.papers.plan import reserve
    from svmbench.papers.report.write import outdated, write_papers

    begun = time.monotonic()
    with ProgressReporter(quiet) as reporter:
        runs = None if budget is None else budget - reserve(known, chosen, budget)
        doubts = Doubts(root, known, planned, chosen)
        result = run_series(planned, reporter, asked, budget=runs, doubts=doubts)
        if not result.interrupted:
            reporter.writes("tables, figures and claims")
            stale = outdated(root, known, chosen) if planned else chosen
            written = write_papers(root, known, stale, asked=chosen)
            options.mark_as_own(root)
    if as_json and not result.interrupted:
        by_item = [(item, written.tables.get(item, []), written.claims[item]) for item in chosen]
        click.echo(to_json(by_item, set(asked.only), root / "index.html"))
        return exit_code(result)
    if not quiet:
        click.echo(_summary(result, planned, root, time.monotonic() - begun))
    if asked.only and not (quiet or result.interrupted):
        tables = [table for item in chosen for table in written.tables.get(item, ())]
        claims = [result for item in chosen for result in written.claims[item]]
        click.echo(rows_of(tables, claims, set(asked.only)))
    elif not (quiet or result.interrupted):
        click.echo(_claims(known, chosen, written.claims))
    return exit_code(result)


def require_dataset(datasets: Collection[DatasetSpec], names: Sequence[str]) -> None:
    """Refuse names that no data set of the items has."""
    labels = {data.label for data in datasets}
    for name in names:
        if name not in labels:
            near = nearest(name, sorted(labels))
            raise ConfigError(f"--only {name}: no such data set here; {near}")


def _items(known: Mapping[str, Paper], chosen: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    items = [(f"{key}/{name}", known[key].items[name]) for key, name in chosen]
    return [
        {"name": name, "number": item.number, "title": item.title, "claims": len(item.claims)}
        for name, item in items
    ]


def listing(known: Mapping[str, Paper], chosen: Sequence[tuple[str, str]]) -> str:
    lines = []
    for key in dict.fromkeys(key for key, _ in chosen):
        paper = known[key]
        lines += [f"{key}: {paper.title}", f"  {paper.authors}; {paper.published_in}"]
        rows = []
        for name in (name for of, name in chosen if of == key):
            item = paper.items[name]
            count = counted(len(item.claims), "claim")
            rows.append((f"{key}/{name}", item.number, count, item.title))
        if rows:
            header = ("name", "in the paper", "claims", "title")
            lines += [f"    {line}" for line in align(header, rows).splitlines()]
        lines.append("")
    return "\n".join(lines).rstrip()


def plan(
    known: Mapping[str, Paper],
    planned: Sequence[PlannedSweep],
    budget: float | None,
) -> str:
    """What is to be run, by item, on which data other than the real ones, and how long at most."""
    if not planned:
        return "nothing to run"
    lines = []
    for key in dict.fromkeys(each.paper for each in planned):
        lines.append(f"{key}: {known[key].title}")
        of_paper = [each for each in planned if each.paper == key]
        for item in dict.fromkeys(each.item for each in of_paper):
            of_item = [each for each in of_paper if each.item == item]
            sources = dict.fromkeys(
                source.words for each in of_item for source in each.sources if source.words
            )
            lines.append(f"  {known[key].items[item].number} ({item}): {amount(of_item)}")
            lines += [f"    {words}" for words in sources]
    references = sum(each.problems for each in planned)
    lines.append(f"in all: {amount(planned)}, and {optima(references)}")
    lines += unused_line(planned)
    lines.append(budget_line(budget))
    return "\n".join(lines)


def _summary(result: Result, planned: Sequence[PlannedSweep], root: Path, seconds: float) -> str:
    lines = []
    if planned:
        said = counted_states(result.states.elements())
        new = f"{counted(result.made, 'new run')}, {result.reused} reused in {duration(seconds)}"
        lines.append(f"{new}: {said}" if said else new)
    lines += unfinished(result)
    lines += [*time_spent(result, planned), *open_questions(result.open)]
    where = f"the runs.csv of their sweep below {root}"
    lines += mishaps(result, where)
    if not result.interrupted:
        lines.append(f"tables, figures and claims in {root / 'index.html'}")
    return "\n".join(lines)


def _claims(
    known: Mapping[str, Paper],
    chosen: Sequence[tuple[str, str]],
    claims: Mapping[tuple[str, str], Sequence[ClaimResult]],
) -> str:
    """How many claims have each verdict, by paper and in all.

    Those that were not asked for are left out, and named.
    """
    from svmbench.papers.plan import left_out
    from svmbench.report.html import SIGNS

    judged = [
        (item[0], result.outcome)
        for item, results in claims.items()
        if item in chosen
        for result in results
    ]
    missing = left_out(known, chosen)
    last = f"\nnot asked for, and left out: {', '.join(missing)}" if missing else ""
    if not judged:
        return f"no claims{last}"
    columns = [each for each in SIGNS if each != "not run" or any(v == each for _, v in judged)]
    lines = [
        (key, *(str(sum(entry == (key, verdict) for entry in judged)) for verdict in columns))
        for key in dict.fromkeys(key for key, _ in judged)
    ]
    total = ("in all", *(str(sum(v == verdict for _, v in judged)) for verdict in columns))
    return align(("claims", *columns), [*lines, total]) + last
