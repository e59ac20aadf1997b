"""``svmbench verify``: recompute the numbers in results, in extended precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli import options
from svmbench.cli.columns import printable
from svmbench.records.spelling import counted

if TYPE_CHECKING:
    from svmbench.verify.folder import Verifier
    from svmbench.verify.recorded import Verification


@click.command(
    name="verify",
    epilog=options.examples(
        "svmbench verify results/demo",
        "svmbench verify results --replay 5",
    ),
)
@click.argument(
    "folders", metavar="RESULTS...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--replay",
    "number",
    metavar="N",
    type=click.IntRange(min=1),
    help="Train N random runs of each folder again, and compare P at each checkpoint.",
)
@click.option("--all", "everything", is_flag=True, help="Also list the numbers that hold.")
@click.option("--quiet", is_flag=True, help="Print only what does not hold, and the summary.")
@options.as_json
@options.plugins
def command(
    folders: tuple[Path, ...],
    number: int | None,
    everything: bool,
    quiet: bool,
    as_json: bool,
    plugins: tuple[Path, ...],
) -> int:
    """Recompute the numbers in results, in extended precision.

    All results in and below the folders RESULTS are checked. For runs with --keep-weights, the
    objective P and the errors are recomputed from the final weights. For the reference optima, P
    and the lower bound D_ref are recomputed from the weights and dual variables in the cache. The
    rows are first checked against their hashes.

    The tables, the page of the report and every row of runs.csv, traces.csv and regret.csv are
    written again from the traces and compared. A published folder must have the files of its
    manifest, and no others.

    With --replay, a random sample of the runs is trained again from their seeds. P must be the
    recorded one at every checkpoint: exactly with the same build and machine, within 1e-3
    otherwise.

    A number holds if it deviates by no more than rounding can explain, which is computed along
    with it. Exits with code 1 if a number does not hold, and 3 if something needed is missing or
    damaged.
    Plug-ins that the results name are not executed; give those that you trust with --plugin.
    """
    # Deferred: SciPy takes longer to load than most commands to run.
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    from svmbench.cli.json_rows import json_of, plain_rows
    from svmbench.verify.folder import Verifier, is_bare
    from svmbench.verify.folder import folders as below

    found = {folder.resolve(): folder for root in folders for folder in below(root)}
    everything_found = list(found.values())
    chosen = [folder for folder in everything_found if folder in folders or not is_bare(folder)]
    verifier, results = Verifier(), []
    shown: list[dict[str, Any]] = []
    spinner = Spinner("dots", "opening")
    # What is printed meanwhile may go to a file.
    with Live(spinner, console=Console(stderr=True), transient=True, redirect_stdout=False):
        for folder in chosen:
            if not (quiet or as_json):
                click.echo(printable(f"{folder}:"))
            for result in chain(
                verifier.folder(folder), _report(folder), _replayed(verifier, folder, number)
            ):
                results.append(result)
                spinner.update(text=f"{len(results)} verified")
                if result.verdict != "holds" or everything:
                    shown.append({"folder": str(folder), **vars(result)})
                    if not as_json:
                        click.echo(_line(result))
    verdicts = Counter(result.verdict for result in results)
    traces = sum(len(list((folder / "runs").glob("*.jsonl"))) for folder in chosen)
    if as_json:
        click.echo(json_of(verified=plain_rows(shown), counts=verdicts))
    else:
        _print_end(len(chosen), len(everything_found) - len(chosen), results, traces)
    return 1 if "does not hold" in verdicts else 3 if "not verified" in verdicts else 0


def _print_end(folders: int, left: int, results: list[Verification], traces: int) -> None:
    if left:
        click.echo(f"{counted(left, 'folder')} without runs and configuration: not verified")
    if folders > 1:
        click.echo(f"all {folders} folders:")
    click.echo(_summary(results, traces))


def _report(folder: Path) -> Iterator[Verification]:
    from svmbench.report.check import stale_files
    from svmbench.verify.recorded import Verification

    for name, reason in stale_files(folder):
        yield Verification("file", name, "does not hold", reason)


def _replayed(verifier: Verifier, folder: Path, number: int | None) -> Iterator[Verification]:
    from random import SystemRandom

    from svmbench.verify.replay import replay

    return replay(folder, number, verifier.recorded, SystemRandom()) if number else iter(())


def _line(result: Verification) -> str:
    what = "D_ref" if result.kind == "reference" else "P"
    if result.verdict != "holds":
        outcome = result.reason
    elif result.kind == "replay":
        outcome = "came out again"
    elif result.deviation is None:
        outcome = f"agrees with its trace; {result.reason or 'no weights kept'}"
    else:
        outcome = f"{what} deviates by {result.deviation:.1e}, rounding allows {result.allowed:.1e}"
    kind = "" if result.kind == "run" else f"{result.kind} "
    return printable(f"  {result.verdict}: {kind}{result.name}: {outcome}")


def _summary(results: list[Verification], traces: int) -> str:
    from svmbench.verify.folder import LEFT_OUT
    from svmbench.verify.replay import found_with

    lines = [said] if (said := found_with(results, traces)) else []
    for kind in ("run", "reference"):
        of_kind = [result for result in results if result.kind == kind]
        counts = Counter(result.verdict for result in of_kind)
        outcome = ", ".join(_said(count, verdict) for verdict, count in counts.most_common())
        largest = max((f.deviation for f in of_kind if f.deviation is not None), default=None)
        lines.append(f"{counted(len(of_kind), kind)}: {outcome or 'none'}")
        if largest is not None:
            figure = "P" if kind == "run" else "D_ref"
            lines[-1] += f"; largest relative deviation of {figure} {largest:.1e}"
    wrong = sum(result.kind == "file" for result in results)
    if wrong:
        what = "does not hold, or cannot" if wrong == 1 else "do not hold, or cannot"
        lines.append(f"{counted(wrong, 'file')}: {what} be read")
    left_out = sum(result.reason == LEFT_OUT for result in results)
    if left_out:
        lines.append(f"weights were left out when this was published: {counted(left_out, 'run')}")
    bare = sum(result.kind == "run" and not result.with_weights for result in results) - left_out
    if bare:
        lines.append(
            f"{counted(bare, 'run')} without weights; 'svmbench run CONFIG --keep-weights' makes"
            f" {'it' if bare == 1 else 'them'} again with weights"
        )
    return "\n".join(lines)


def _said(count: int, verdict: str) -> str:
    """``1 holds``, ``2 hold``, ``3 do not hold``."""
    several = {"holds": "hold", "does not hold": "do not hold"}
    return f"{count} {verdict if count == 1 else several.get(verdict, verdict)}"
