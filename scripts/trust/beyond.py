"""Test solvers on rows with entries beyond the 2^31st, in a few megabytes of memory.

    python scripts/trust/beyond.py

The script maps a file of some rows many times into consecutive address ranges, so that arrays of
more than 2^31 entries take the memory of one piece. These filler rows hold explicit zeros in every
feature, and the test rows follow them. With empty rows as fillers the same problem is small. Every
solver must give identical results on both, because an offset in 32 bits would read other rows. The
script needs Linux.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import time
import weakref
from typing import Any

import click
import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.problem import Problem
from svmbench.solvers.registry import solvers

#: Features, so many that 2^31 entries make few rows; filler rows per piece; and pieces, which
#: together hold slightly more than 2^31 entries.
FEATURES, PIECE_ROWS, PIECES = 1 << 16, 64, 513

#: Solvers that need 2^32 numbers for the normal equations of all features, whatever the rows.
TOO_WIDE = ("ipm", "newton")

#: Parameters that otherwise depend on the number of entries or bytes, which differ here.
PARAMETERS: dict[str, dict[str, Any]] = {
    "auto": {"method": "dual"},
    "sgd-qn": {"skip": 16},
    "sgd-qn-corrected": {"skip": 16},
    "svmsgd2": {"skip": 16},
}

_MAP_SHARED, _MAP_PRIVATE, _MAP_FIXED = 0x01, 0x02, 0x10
_MAP_ANONYMOUS, _MAP_NORESERVE = 0x20, 0x4000


def repeated(piece: Array, times: int, tail: Array) -> Array:
    """``piece`` repeated, then ``tail``, as one array that takes the memory of both once.

    - ``piece``: its size in bytes is a multiple of the page size.
    - ``tail``: an array of the same type.

    Raises OSError if the system cannot map it.
    """
    assert piece.nbytes % mmap.PAGESIZE == 0
    assert piece.dtype == tail.dtype
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    ]  # fmt: skip
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def mapped(at: int | None, size: int, protection: int, flags: int, file: int) -> int:
        address = libc.mmap(at, size, protection, flags, file, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), "these rows cannot be mapped into memory")
        return int(address)

    size = piece.nbytes
    nbytes = size * times + tail.nbytes
    # Reserve the whole range first, so that the pieces are adjacent.
    start = mapped(None, nbytes + size, 0, _MAP_PRIVATE | _MAP_ANONYMOUS | _MAP_NORESERVE, -1)
    file = os.memfd_create("rows")
    try:
        os.write(file, piece.tobytes())
        for at in range(times):
            mapped(start + at * size, size, mmap.PROT_READ, _MAP_SHARED | _MAP_FIXED, file)
    finally:
        os.close(file)
    private = _MAP_PRIVATE | _MAP_ANONYMOUS | _MAP_FIXED
    end = start + size * times
    mapped(end, tail.nbytes + size, mmap.PROT_READ | mmap.PROT_WRITE, private, -1)
    ctypes.memmove(end, tail.tobytes(), tail.nbytes)
    buffer = (ctypes.c_ubyte * nbytes).from_address(start)
    weakref.finalize(buffer, libc.munmap, start, nbytes + size)
    array: Array = np.frombuffer(memoryview(buffer), dtype=piece.dtype)
    return array


def tail_rows(m: int = 2000, seed: int = 1) -> tuple[Array, Array, Array, Array]:
    """The test rows: indptr, columns, values (multiples of 1/16), labels."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 20, size=m)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # Few columns, so that rows share some; they include the first and the last column.
    known = np.concatenate([[0], np.sort(rng.choice(FEATURES, 98, replace=False)), [FEATURES - 1]])
    chosen = [np.sort(rng.choice(np.unique(known), n, replace=False)) for n in lengths]
    columns = np.concatenate(chosen)
    values = rng.integers(1, 33, size=len(columns)) / 16.0
    return indptr, columns, values, rng.choice([-1, 1], size=m).astype(np.int8)


def beyond(storage: str, m: int = 2000, pieces: int = PIECES) -> tuple[Dataset, Dataset]:
    """The test rows after 2^31 explicit zeros, and after the same number of rows without entries.

    - ``storage``: a value of `Dataset.storage`. With implicit ones the fillers hold ones, so that
      the set with empty rows is another problem. For dense rows the second set is sparse.
    - ``m``: rows after the fillers.
    - ``pieces``: pieces of filler rows.
    """
    fillers = PIECE_ROWS * pieces
    indptr, columns, values, tail_labels = tail_rows(m)
    labels = np.concatenate([np.tile(np.array([1, -1], np.int8), fillers // 2), tail_labels])
    index_type, value_type = _types(storage)
    ones = value_type is None
    small = Dataset(
        "small",
        FEATURES,
        np.concatenate([np.zeros(fillers, np.int64), indptr]),
        columns.astype(index_type or np.int32),
        None if ones else values.astype(value_type),
        labels,
    )
    stored: Array | None = None
    if index_type is None:
        rows = np.zeros((m, FEATURES), value_type)
        rows[np.repeat(np.arange(m), np.diff(indptr)), columns] = values
        piece = np.zeros(PIECE_ROWS * FEATURES, value_type)
        stored = repeated(piece, pieces, rows.reshape(-1))
        return Dataset("large", FEATURES, None, None, stored.reshape(-1, FEATURES), labels), small
    piece = np.tile(np.arange(FEATURES).astype(index_type), PIECE_ROWS)
    indices = repeated(piece, pieces, columns.astype(index_type))
    if not ones:
        stored = repeated(np.zeros(len(piece), value_type), pieces, values.astype(value_type))
    starts = np.arange(fillers, dtype=np.int64) * FEATURES
    pointers = np.concatenate([starts, fillers * FEATURES + indptr])
    return Dataset("large", FEATURES, pointers, indices, stored, labels), small


def _types(storage: str) -> tuple[Any, Any]:
    if storage.startswith("dense"):
        return None, storage.split()[1]
    index_type, value_type = storage.split("+")
    return index_type, None if value_type == "ones" else value_type


@click.command()
@click.option(
    "--storage",
    type=click.Choice(["uint16+float32", "uint16+float64", "int32+float32", "int32+float64"]),
    default="uint16+float32",
    show_default=True,
    help="Storage of the rows.",
)
@click.option("--only", multiple=True, help="A solver. May be repeated.")
@click.option("--smoke", is_flag=True, help="Few filler rows: do the commands work?")
def main(storage: str, only: tuple[str, ...], smoke: bool) -> None:
    """Train every solver on rows beyond 2^31 entries, and on the same rows alone."""
    large, small = beyond(storage, 50, 1) if smoke else beyond(storage)
    lam = 1e-3
    problems = Problem(large, lam), Problem(small, lam)
    click.echo(f"{large.nnz} entries, 2^31 = {1 << 31}; {storage}")
    w = np.random.default_rng(0).normal(size=FEATURES)
    alpha = np.random.default_rng(0).random(large.n_samples)
    for what, values in (
        ("P(w) and errors", [problem.evaluate(w) for problem in problems]),
        ("D(alpha)", [problem.dual(alpha) for problem in problems]),
        ("norms", [problem.data.rows.norms2().tolist() for problem in problems]),
    ):
        click.echo(f"{what}: {'the same bits' if values[0] == values[1] else 'DIFFERENT'}")
    click.echo("\n| solver | entries touched | weights | seconds |\n| --- | --- | --- | --- |")
    wrong = 0
    for name, solver in solvers().items():
        if solver.foreign or "hinge" not in solver.losses or "none" not in solver.biases:
            continue
        if name in TOO_WIDE:
            continue
        if "none" not in solver.constraints or (only and name not in only):
            continue
        ends, begun = [], time.perf_counter()
        for problem in problems:
            run = solver(solver.schema(**PARAMETERS.get(name, {})))
            run.start(problem, seed=1)
            run.advance(problem.data.n_samples if solver.step == "presentation" else 1)
            ends.append((run.w.tobytes(), run.dual(), run.counters.nonzeros, bool(run.w.any())))
        same = ends[0][:2] == ends[1][:2]
        wrong += not same
        said = ("the same bits" if same else "DIFFERENT") + ("" if ends[0][3] else ", all zero")
        seconds = time.perf_counter() - begun
        click.echo(f"| {name} | {ends[0][2]} | {said} | {seconds:.1f} |")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
