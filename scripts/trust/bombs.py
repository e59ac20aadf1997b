"""Give the reader inputs that are large, or become so, each under a memory limit.

A separate child process with limited memory reads each input, and must end as documented: with
rows, or with one message that names file, line and column. Large inputs are sparse or compressed
files, so that they take little disk space.
"""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from svmbench.cli.columns import align
from svmbench.data.libsvm import parse_libsvm
from svmbench.errors import DataError

PIECE = 1 << 20


def endless_line(path: Path, scale: float) -> None:
    """Two rows, then one line of 10 GB of zero bytes, in a sparse file."""
    with path.open("wb") as file:
        file.write(b"1 1:1\n-1 2:1\n")
        file.truncate(int(scale * 10 * 10**9))


def bomb_of_a_line(path: Path, scale: float) -> None:
    """A line of 10 GB of the digit 7, in 10 MB of gzip."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"1 1:1\n-1 2:1\n")
        for _ in range(int(scale * 10**10) // PIECE + 1):
            file.write(b"7" * PIECE)


def bomb_of_rows(path: Path, scale: float) -> None:
    """2 GB of rows in 5 MB of gzip; their compact form is much smaller than the text."""
    rows = b"1 3:1" + b" " * 95 + b"\n-1 2:1" + b" " * 93 + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(int(scale * 2 * 10**9) // len(rows) // 5000):
            file.write(rows * 5000)


def ten_million_features(path: Path, scale: float) -> None:
    """Two rows of ten million features each."""
    last = int(scale * 10**7)
    with path.open("wb") as file:
        for label in (b"1", b"-1"):
            file.write(label)
            for first in range(1, last + 1, 10_000):
                pairs = range(first, min(first + 10_000, last + 1))
                file.write(b"".join(b" %d:0.25" % j for j in pairs))
            file.write(b"\n")


def largest_index(path: Path, scale: float) -> None:
    """Rows with the largest legal index, 2^31 - 1."""
    path.write_bytes(b"1 1:1 2147483647:1\n-1 2147483647:0.5\n" * int(10_000 * scale))


def beyond_the_largest(path: Path, scale: float) -> None:
    """The index 2^31."""
    path.write_bytes(b"1 1:1 2147483647:1\n-1 2147483648:0.5\n")


BOMBS: dict[str, tuple[Callable[[Path, float], None], str, str, int]] = {
    "10 GB in a line": (endless_line, "rows", "longer than", 1024),
    "10 GB in a line, gz": (bomb_of_a_line, "rows.gz", "longer than", 1024),
    "2 GB of rows, gz": (bomb_of_rows, "rows.gz", "rows", 1536),
    "10^7 features in a row": (ten_million_features, "rows", "rows", 2048),
    "index 2^31 - 1": (largest_index, "rows", "rows", 256),
    "index 2^31": (beyond_the_largest, "rows", "too large", 256),
}
"""Generator, file name, expected part of the outcome, and MiB of additional memory."""


def read(path: Path, mebibytes: int) -> str:
    """Read a file with at most ``mebibytes`` of additional memory, and return the outcome."""
    status = Path("/proc/self/status").read_text()
    taken = next(int(s.split()[1]) for s in status.splitlines() if s.startswith("VmData:"))
    limit = 1024 * taken + (mebibytes << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        text = parse_libsvm(path, threads=1)
    except DataError as error:
        return str(error).removeprefix(str(path))
    return f"{text.n_samples} rows, {text.nnz} entries"


@click.command(help=(__doc__ or "").split("\n\n")[0])
@click.option("--scale", default=1.0, show_default=True, help="Factor of the sizes.")
@click.option("--only", multiple=True, type=click.Choice(tuple(BOMBS)), help="All by default.")
@click.option("--child", nargs=2, type=(str, int), hidden=True)
def main(scale: float, only: tuple[str, ...], child: tuple[str, int] | None) -> None:
    """Try all and print the table."""
    if child is not None:
        print(read(Path(child[0]), child[1]))
        usage = resource.getrusage(resource.RUSAGE_SELF)
        print(usage.ru_maxrss >> 10)
        return
    rows, wrong = [], 0
    for name in only or BOMBS:
        make, file, wanted, mebibytes = BOMBS[name]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            make(path, scale)
            begun = time.monotonic()
            words = [sys.executable, __file__, "--child", str(path), str(mebibytes)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            seconds = time.monotonic() - begun
        said = (done.stdout.splitlines() or done.stderr.splitlines()[-1:] or ["nothing"])[0]
        peak = done.stdout.splitlines()[-1] if done.returncode == 0 else "?"
        right = done.returncode == 0 and (wanted in said or scale < 1)
        wrong += not right
        rows.append((name, said[:70], f"{peak} MB", f"{seconds:.0f} s", "" if right else "WRONG"))
    print(align(("input", "result", "peak", "time", ""), rows))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
