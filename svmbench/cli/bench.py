"""``svmbench bench``: our solvers compared with the programs that people use."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from svmbench.cli import options
from svmbench.cli.series import (
    amount,
    budget_line,
    exit_code,
    nodes_lines,
    open_questions,
    time_spent,
    unfinished,
    unused_line,
)
from svmbench.records.spelling import counted, duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svmbench.bench.plan import Plan
    from svmbench.harness.series import PlannedSweep, Result
    from svmbench.harness.sweeps import Options


@click.command(
    name="bench",
    epilog=options.examples(
        "svmbench bench smoke",
        "svmbench bench --budget 5m",
    ),
)
@click.argument("profile", default="default")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the plan: data sets, parts and times.",
)
@click.option(
    "--budget",
    metavar="TIME",
    help="Time for everything, such as 90s or 2h; a later call continues.  "
    "[default: the profile's]",
)
@options.plugins
@options.out_folder("results/bench/PROFILE")
@options.report_only
@options.running
def command(
    profile: str,
    dry_run: bool,
    budget: str | None,
    plugins: tuple[Path, ...],
    out: Path | None,
    report_only: bool,
    running: options.Running,
) -> int:
    """Compare our fastest solver with the programs that people use.

    PROFILE is smoke (under a minute), default (25 minutes), full (hours), or a YAML file; without
    it, default. Finished measurements are reused. Ctrl-C keeps what was measured; run the same
    command again to continue. At the end it writes tables, a plot and a page that says
    who is faster, and by how much.
    """
    running.refuse_cluster_if(report_only)
    running.refuse_json_if(dry_run)
    from svmbench.bench.plan import plan
    from svmbench.bench.profile import load_profile
    from svmbench.durable import require_free

    chosen = load_profile(profile).with_plugins(plugins)
    allowed = chosen.budget if budget is None else options.seconds_of("--budget", budget)
    root = out or Path("results") / "bench" / chosen.name
    require_free(root, ("index.html",), (options.OWN, "tables"))
    quiet = running.quiet or running.as_json
    running = running._replace(offline=running.offline or report_only, quiet=quiet)
    running.fetch([each.data for each in chosen.sets], dry_run=dry_run)
    with running.place() as place:
        planned = plan(chosen, root, allowed, place.machine)
        if dry_run or not (quiet or report_only):
            click.echo("\n".join([describe(planned), *nodes_lines(place)]))
        if dry_run:
            return 0
        asked = None if report_only else running.asked(place)
        return _make(planned, asked, quiet=quiet, as_json=running.as_json)


def _make(planned: Plan, asked: Options | None, *, quiet: bool, as_json: bool) -> int:
    """Carry out the plan, unless nothing is asked for, and write its page."""
    from svmbench.bench.plan import carry_out
    from svmbench.bench.versus import open_doubts
    from svmbench.bench.write import write_bench
    from svmbench.cli.json_rows import json_of, plain_rows
    from svmbench.cli.progress import ProgressReporter

    begun = time.monotonic()
    with ProgressReporter(quiet) as reporter:
        progress = None
        if asked is not None:
            progress = carry_out(planned, reporter, asked, lambda: open_doubts(planned))
        reporter.writes("tables, the plot and the page")
        standing, cases = write_bench(planned)
        options.mark_as_own(planned.root)
    if as_json:
        click.echo(json_of(cases=plain_rows(cases), page=str(planned.root / "index.html")))
    elif not quiet:
        if progress is not None:
            click.echo(_summary(progress, planned.sweeps, time.monotonic() - begun))
        click.echo(standing or "nothing was compared")
        click.echo(f"page: {planned.root / 'index.html'}")
    return 0 if progress is None else exit_code(progress)


def describe(planned: Plan) -> str:
    """The plan: each set and its source, and each part."""
    from svmbench.bench.champion import champion

    profile = planned.profile
    lines = [f"{profile.name}: {profile.title}", f"champion: {champion()}"]
    lines.append("sets:")
    for each in profile.sets:
        words = planned.sources[each.label].words or f"{each.label}: the set itself"
        lines.append("  " + "; ".join(filter(None, [words, each.use])))
    lines.append("parts:")
    for name in profile.sweeps:
        of_part = [each for each in planned.sweeps if each.name == name]
        lines.append(f"  sweep {name}: {amount(of_part)}")
    lines += [f"  {line}" for line in unused_line(planned.sweeps)]
    lines.append(f"in all at most {duration(planned.longest)} if every limit is hit")
    lines.append(budget_line(planned.budget))
    return "\n".join(lines)


def _summary(made: Result, sweeps: Sequence[PlannedSweep], seconds: float) -> str:
    lines = [f"{counted(made.made, 'new run')}, {made.reused} reused in {duration(seconds)}"]
    lines += unfinished(made)
    lines += [*time_spent(made, sweeps), *open_questions(made.open)]
    return "\n".join(lines)
