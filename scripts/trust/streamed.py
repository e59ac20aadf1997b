"""Train on rows that do not fit into memory, in a control group with a memory limit.

    python scripts/trust/streamed.py --megabytes 600 --share 0.7

The script generates a text, has a process with a memory limit read it and train on it, and prints
what was read from the disk and how much memory that took. It exits with code 1 if a promise is
broken: the certificate is within the tolerance; a pass reads at most twice the rows; reading the
text takes at most `MOST_PRIVATE` bytes of memory of its own. It needs Linux, and the right to make
control groups (root).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from svmbench.memory import GROUPS

#: Entries of a row, and the columns among which each of them lies.
ENTRIES, WIDTH = 60, 500

#: Bytes of an entry as it is stored: a column of 16 bits and a value in single precision.
STORED = 6

#: First column; all have five digits, so that all lines have the same length.
FIRST = 10_000

#: Rows that are generated at a time.
BLOCK = 20_000

#: Bytes of private memory that reading a text may take, and times that a pass may read the rows.
MOST_PRIVATE, MOST_READ = 300 << 20, 2.0


def write_text(path: Path, megabytes: int, seed: int, by_class: bool) -> int:
    """Write rows of a plane with noise; return the bytes of their entries as they are stored.

    - ``megabytes``: of the rows as they are stored.
    - ``by_class``: whether all rows of one class come first, as in many files.
    """
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=ENTRIES * WIDTH)
    m = megabytes * 1_000_000 // (ENTRIES * STORED)
    halves = (m // 2, m - m // 2) if by_class else (m,)
    with path.open("wb") as file:
        for half, count in enumerate(halves):
            written = 0
            while written < count:
                columns = np.arange(ENTRIES) * WIDTH + rng.integers(0, WIDTH, (BLOCK, ENTRIES))
                values = rng.integers(1, 10, (BLOCK, ENTRIES))
                scores = (plane[columns] * values).sum(axis=1)
                positive = scores + 20.0 * rng.normal(size=BLOCK) > 0.0
                chosen = positive == bool(half) if by_class else np.ones(BLOCK, dtype=bool)
                chosen[np.cumsum(chosen) > count - written] = False
                text = _text(columns[chosen] + FIRST, values[chosen], positive[chosen])
                file.write(text)
                written += int(chosen.sum())
    return m * ENTRIES * STORED


def _text(columns: Any, values: Any, positive: Any) -> bytes:
    line = np.frombuffer(b"+1" + b" 00000:0" * ENTRIES + b"\n", np.uint8)
    lines = np.tile(line, (len(columns), 1))
    lines[:, 0] = np.where(positive, ord("+"), ord("-"))
    for digit in range(5):
        lines[:, 3 + digit : -1 : 8] += (columns // 10 ** (4 - digit) % 10).astype(np.uint8)
    lines[:, 9:-1:8] += values.astype(np.uint8)
    return lines.tobytes()


@contextmanager
def group(limit: int) -> Iterator[Path]:
    """A control group with a memory limit, of version 1 or 2."""
    second = (GROUPS / "cgroup.controllers").exists()
    folder = (GROUPS if second else GROUPS / "memory") / f"svmbench-{os.getpid()}"
    try:
        folder.mkdir()
        name = "memory.max" if second else "memory.limit_in_bytes"
        (folder / name).write_text(str(limit))
    except OSError as error:
        raise click.ClickException(f"no control group can be made here: {error}") from None
    try:
        yield folder
    finally:
        folder.rmdir()


def limited(folder: Path, words: list[str]) -> tuple[str, int, int, float]:
    """Run Python with these words in a group.

    Returns what it printed; most bytes of private memory that were seen; bytes that it read from
    the disk.
    """
    processes, begun = str(folder / "cgroup.procs"), time.monotonic()
    child = subprocess.Popen(
        ["sh", "-c", f'echo $$ > {processes} && exec "$@"', "sh", sys.executable, *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    private = read = 0
    try:
        while child.poll() is None:
            try:
                status = Path(f"/proc/{child.pid}/status").read_text()
                said = Path(f"/proc/{child.pid}/io").read_text()
            except OSError:
                break
            private = max(private, _number(status, "RssAnon:", 1024))
            read = max(read, _number(said, "read_bytes:", 1))
            time.sleep(0.02)
        out = child.communicate()[0]
    finally:
        child.kill()  # Ctrl-C has ended this process alone
        child.wait()
    if child.returncode:
        raise click.ClickException(f"the process with the limit ended with {child.returncode}")
    return out, private, read, time.monotonic() - begun


def _number(text: str, name: str, unit: int) -> int:
    found = [line.split()[1] for line in text.splitlines() if line.startswith(name)]
    return int(found[0]) * unit if found else 0


def passes(path: Path, lam: float, count: int) -> dict[str, Any]:
    """Read a text, make passes over its rows if any, and state what they read from the disk."""
    from svmbench.engine.chunks import chunks_of, descent_by_chunks
    from svmbench.memory import available_memory
    from svmbench.problem import Problem
    from svmbench.train.examples import read_examples

    examples = read_examples(path)
    if not count:
        return {}
    problem = Problem(examples.against_rest(1)[0], lam)
    chunks = chunks_of(examples.rows, available_memory() or 0)
    ended: list[int] = []

    def due() -> bool:
        ended.append(_number(Path("/proc/self/io").read_text(), "read_bytes:", 1))
        return len(ended) > count * chunks  # which the last pass has one chunk more for

    begun = _number(Path("/proc/self/io").read_text(), "read_bytes:", 1)
    next(descent_by_chunks(problem, chunks, 1e-12, 0, due), None)
    del ended[chunks:]  # the certificate after the first pass reads the rows as well
    return {
        "chunks": chunks,
        "mapped": examples.rows.mapped_bytes,
        "read": ended[-1] - begun,
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--megabytes", default=600, show_default=True, help="Size of the rows as stored.")
@click.option("--share", default=0.7, show_default=True, help="Memory limit, as a share of it.")
@click.option("--lambda", "lam", default=1e-2, show_default=True, help="Rows have norms of 44.")
@click.option("--tol", default=1e-2, show_default=True, help="Relative gap to certify.")
@click.option("--seed", default=1, show_default=True)
@click.option("--by-class", is_flag=True, help="All rows of one class come first.")
@click.option("--smoke", is_flag=True, help="Few rows and no limit that binds: does it work?")
@click.option("--child", type=click.Path(path_type=Path), hidden=True)
@click.option("--passes", "count", default=1, hidden=True)
def main(
    megabytes: int,
    share: float,
    lam: float,
    tol: float,
    seed: int,
    by_class: bool,
    smoke: bool,
    child: Path | None,
    count: int,
) -> None:
    """Train on rows that do not fit into memory, in a control group with a memory limit."""
    if child is not None:
        click.echo(json.dumps(passes(child, lam, count)))
        return
    if smoke:
        megabytes, share = 5, 100.0
    with tempfile.TemporaryDirectory(dir=".") as folder:
        text = Path(folder) / "rows.libsvm"
        size = write_text(text, megabytes, seed, by_class)
        limit = int(share * size)
        click.echo(f"rows: {size / 1e6:.0f} MB, text {text.stat().st_size / 1e6:.0f} MB")
        click.echo(f"limit: {limit / 1e6:.0f} MB")
        os.environ["SVMBENCH_CACHE"] = str(Path(folder) / "cache")
        words = [str(Path(__file__).resolve()), "--child", str(text), "--lambda", str(lam)]
        with group(limit) as place:
            _, private, _, seconds = limited(place, [*words, "--passes", "0"])
        click.echo(f"reading the text: {private >> 20} MB of private memory, {seconds:.1f} s")
        with group(limit) as place:
            out, most, _, seconds = limited(place, words)
        found = json.loads(out)
        per_pass = found["read"] / size
        click.echo(
            f"rows in a file: {found['mapped'] / size:.2f} of them, {found['chunks']} chunks"
        )
        click.echo(f"a pass, with the look at the columns: reads {per_pass:.2f} times the rows")
        click.echo(f"reading and a pass: {most >> 20} MB of private memory, {seconds:.1f} s")
        model = Path(folder) / "model"
        words = ["-P", "-m", "svmbench", "train", str(text), "--lambda", str(lam)]
        words += ["--tol", str(tol), "-o", str(model), "--quiet"]
        with group(limit) as place:
            _, most, read, seconds = limited(place, words)
        (fit,) = json.loads(model.with_name("model.json").read_text())["fits"]
        click.echo(f"method: {fit['method']}, relative gap {fit['relative_gap']:.2g}")
        click.echo(f"training: {fit['seconds']:.1f} s of {seconds:.1f} s, {most >> 20} MB private")
        click.echo(f"read in all: {read / size:.1f} times the rows")
        broken = [
            *(["the certificate"] if not fit["relative_gap"] <= tol else []),
            *(["what a pass reads"] if per_pass > MOST_READ else []),
            *(["the memory"] if private > MOST_PRIVATE else []),
        ]
        click.echo(f"broken: {', '.join(broken) or 'nothing'}")
        raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
