"""Give svmbench hostile input, up to millions of times, and count the outcomes.

Every input depends only on a seed, its kind and its number. A child process reads it, and the
result is compared with an independent reading in plain Python: svmbench must accept the input with
the right meaning, or refuse it with an error of its own (one line, exit code 2 or 3). Anything else
is a find: another exception, a misreading, a crash, more than 10 s of processor time, more than
1 GiB of memory. The exit code is 1 if there are finds.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import click
import hostile_kinds
from hostile_kinds import KINDS, FindError

from svmbench.cli.columns import align
from svmbench.errors import ConfigError, DataError

SECONDS = 10.0
MEMORY = 1 << 30
MOST_FINDS = 20
CALL = 200
"""Inputs between two reports of a child."""


@dataclass
class Count:
    """Outcomes of the inputs of a kind."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    finds: list[tuple[int, str]] = field(default_factory=list)


def made(kind: hostile_kinds.Kind, name: str, seed: int, number: int) -> hostile_kinds.Case:
    """The case with this number."""
    return kind.make(Random(f"{seed}/{name}/{number}"))


def child(
    name: str, seed: int, first: int, end: int, place: str, reports: Connection, at: Any
) -> None:
    """Try a range of inputs, and report the counts regularly."""
    sanitized = "asan" in os.environ.get("LD_PRELOAD", "")
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("error", RuntimeWarning)  # as the tests do
    folder = Path(place)
    (folder / "own").mkdir(exist_ok=True)
    kind = KINDS[name]()
    kind.prepare(folder / "own")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, even inside a kernel
    taken = _bytes_of("VmData")
    if not sanitized:  # the sanitizer's shadow memory takes terabytes
        resource.setrlimit(resource.RLIMIT_DATA, (taken + MEMORY, resource.RLIM_INFINITY))
    accepted = refused = 0
    for number in range(first, end):
        if (number - first) % CALL == 0:
            reports.send(("at", number, accepted, refused))
            accepted = refused = 0
        at.value = number
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            case = made(kind, name, seed, number)
            if kind.on_disk:
                hostile_kinds.place(case, folder / "case")
            if kind.attempt(case, folder / "case"):
                accepted += 1
            else:
                refused += 1
        except (ConfigError, DataError) as error:
            refused += 1
            if len(str(error)) > 2000:
                reports.send(("find", number, f"a message of {len(str(error))} characters"))
        except FindError as error:
            reports.send(("find", number, str(error)))
        except Exception as error:
            trail = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error} ({Path(trail.filename).name}:{trail.lineno})"
            reports.send(("find", number, " ".join(what.split())[:300]))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    reports.send(("at", end, accepted, refused))


def _bytes_of(entry: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{entry}:"):
            return 1024 * int(line.split()[1])
    return 0


def attempt(name: str, seed: int, first: int, end: int, folder: Path) -> Iterator[Count]:
    """Try a range of inputs of one kind in as many children as needed; yield the counts so far."""
    count = Count()
    context = multiprocessing.get_context("spawn")
    while first < end and len(count.finds) < MOST_FINDS:
        place = folder / f"{name}-{first}"
        place.mkdir(parents=True)
        ours, theirs = context.Pipe(duplex=False)
        reached = context.Value("q", -1, lock=False)
        process = context.Process(
            target=child, args=(name, seed, first, end, str(place), theirs, reached)
        )
        process.start()
        theirs.close()
        try:
            while True:
                said = ours.recv()
                if said[0] == "find":
                    count.finds.append((said[1], said[2]))
                    if len(count.finds) >= MOST_FINDS:
                        break
                else:
                    count.accepted += said[2]
                    count.refused += said[3]
                    count.inputs += max(0, said[1] - first)
                    first = max(first, said[1])
                    yield count
        except EOFError:
            process.join()
        if process.is_alive():
            process.kill()
        process.join()
        if first < end and len(count.finds) < MOST_FINDS:
            if reached.value < 0:
                raise click.ClickException(f"{name}: the child died before its first input")
            at = reached.value
            code = process.exitcode or 0
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            count.finds.append((at, f"the process died ({how})"))
            count.inputs += at + 1 - first
            first = at + 1
    yield count


def shares(kinds: tuple[str, ...], inputs: int) -> dict[str, int]:
    """Number of inputs of each kind, for a given total."""
    total = sum(KINDS[name].share for name in kinds)
    split = {name: max(1, round(inputs * KINDS[name].share / total)) for name in kinds}
    largest = max(kinds, key=lambda name: split[name])
    split[largest] += max(0, inputs - sum(split.values()))
    return split


@click.command(help=(__doc__ or "").split("\n\n")[0])
@click.option("--inputs", default=1000, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--first", default=0, show_default=True, help="Number of the first input.")
@click.option(
    "--kinds",
    multiple=True,
    type=click.Choice(tuple(KINDS)),
    help="A kind; may be repeated. All by default.",
)
@click.option(
    "--reader", is_flag=True, help="Only the kinds that need no kernels except the reader's."
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the files of every find.",
)
def main(
    inputs: int, seed: int, first: int, kinds: tuple[str, ...], reader: bool, keep: Path | None
) -> None:
    """Try the inputs and print the table."""
    kinds = kinds or tuple(n for n, kind in KINDS.items() if kind.kernels or not reader)
    begun = time.monotonic()
    counts: dict[str, Count] = {}
    with tempfile.TemporaryDirectory(dir=_memory()) as temporary:
        folder = Path(temporary)
        for name, most in shares(kinds, inputs).items():
            for count in attempt(name, seed, first, first + most, folder):
                counts[name] = count
            print(f"{name}: {counts[name].inputs}", file=sys.stderr, flush=True)
            if keep is not None and counts[name].finds:
                _keep(name, seed, counts[name], folder, keep)
    rows: list[tuple[str, ...]] = [
        (name, str(c.inputs), str(c.accepted), str(c.refused), str(len(c.finds)))
        for name, c in counts.items()
    ]
    totals = [sum(int(row[i]) for row in rows) for i in range(1, 5)]
    rows.append(("all", *map(str, totals)))
    print(align(("kind", "inputs", "accepted", "refused", "failures"), rows))
    print(f"seed {seed}, {time.monotonic() - begun:.0f} s")
    for name, count in counts.items():
        for number, what in count.finds:
            print(f"{name} {number}: {what}")
    sys.exit(1 if totals[3] else 0)


def _memory() -> str | None:
    """A folder in memory, if there is one: it takes microseconds to write a case's files."""
    shared = Path("/dev/shm")
    return str(shared) if os.access(shared, os.W_OK) else None


def _keep(name: str, seed: int, count: Count, folder: Path, keep: Path) -> None:
    kind = KINDS[name]()
    own = folder / f"{name}-again"
    own.mkdir()
    kind.prepare(own)
    for number, _ in count.finds:
        keep.mkdir(parents=True, exist_ok=True)
        hostile_kinds.place(made(kind, name, seed, number), keep / f"{name}-{number}")


if __name__ == "__main__":
    main()
