"""A model for any number of classes: each against the rest, on shared rows."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.derived import with_constant, without_empty_columns
from svmbench.data.liblinear_model import LiblinearModel
from svmbench.engine.effort import USUAL, Effort
from svmbench.engine.fit import Fit, fit
from svmbench.engine.methods import Known
from svmbench.errors import ConfigError, DataError
from svmbench.kernels.equal_rows import count_alike, group_equal
from svmbench.memory import available_memory, require_memory
from svmbench.problem import Problem
from svmbench.proof import TINY
from svmbench.train.examples import Examples, SquaredLengths, scaled
from svmbench.train.objective import SOLVER_TYPES, Objective

T = TypeVar("T")

#: Vectors of weights that a fit holds at most, those that are kept of each, and those that a model
#: takes until it is written.
_VECTORS, _KEPT, _MODELS = 8, 3, 2

#: Bytes that a fit takes without asking for how many are free.
LITTLE = 1 << 24

#: What the user can do about too many columns.
_FEWER_COLUMNS = "drop unused columns"


class OneThread:
    """Limits the BLAS that is loaded so far to one thread wherever it is entered.

    The limit holds for the whole process: the first user sets it, and the last one lifts it.
    """

    _lock, _users = threading.Lock(), 0
    _limit: Any = None
    # To find the libraries takes longer than many a fit: what was found with so many modules.
    _found: tuple[int, Any] = (0, None)

    def __init__(self) -> None:
        self._blas = None if _begun_with_one() else self._found_now()

    @classmethod
    def _found_now(cls) -> Any:
        modules = len(sys.modules)  # a library is loaded by an import
        if cls._found[0] != modules:
            from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

            cls._found = modules, ThreadpoolController().select(user_api="blas")
        return cls._found[1]

    @contextmanager
    def held(self) -> Iterator[None]:
        if self._blas is None:
            yield
            return
        cls = OneThread
        with cls._lock:
            if cls._users == 0:
                cls._limit = self._blas.limit(limits=1)
            cls._users += 1
        try:
            yield
        finally:
            with cls._lock:
                cls._users -= 1
                if cls._users == 0:
                    cls._limit.restore_original_limits()


def _begun_with_one() -> bool:
    """Whether BLAS was told to have one thread before it was loaded, as `svmbench train` does."""
    told = os.environ.get("OPENBLAS_NUM_THREADS") == "1"
    return told and "openblas" in str(np.show_config(mode="dicts"))


@dataclass(frozen=True, eq=False)
class Trained:
    """A model and the fits it consists of."""

    model: LiblinearModel
    # one for two classes, else one per class, in the model's order. With a regularised bias, their
    # last weight is that of the constant feature. Columns without entries may be left out. The rows
    # of their dual variables are those that `arranged` gives.
    fits: tuple[Fit, ...]

    @property
    def gap(self) -> float:
        """The largest relative gap of the fits."""
        return max(each.gap for each in self.fits)

    def out_of_time(self, tolerance: float, time_limit: float) -> bool:
        """Whether a fit short of the tolerance has used up so many seconds, or ended before."""
        return any(each.gap > tolerance and each.seconds >= time_limit for each in self.fits)


def train(
    examples: Examples,
    objective: Objective,
    tolerance: float = 1e-4,
    effort: Effort = USUAL,
    *,
    progress: Callable[[int, float], None] = lambda label, gap: None,
    start: Trained | None = None,
) -> Trained:
    """Train a model until each of its fits is certified to the tolerance.

    - ``start``: a model of the same rows, with any C, loss and weights, to begin from.

    Raises ConfigError, DataError, or InterruptedError when it was given up.
    """
    training = Training(examples, objective, effort)
    return training.at(objective, tolerance, progress=progress, start=start)


def weight_of_errors(model: LiblinearModel, examples: Examples, costs: FloatArray) -> float:
    """The sum of the costs, shape (m,), of the rows that a model predicts wrongly."""
    predicted = model.classes_of(model.decision_values(examples.rows))
    return float(costs[predicted != examples.labels].sum())


class Training:
    """Rows to train on at any C, checked and prepared once.

    Raises DataError when all rows have the same label, or there is no memory to train on them.
    """

    def __init__(self, examples: Examples, objective: Objective, effort: Effort) -> None:
        self._classes = examples.classes
        if len(self._classes) < 2:
            only = examples.named(self._classes[0])
            raise DataError(
                f"{examples.rows.name}: all rows have the label {only}; two classes are needed"
            )
        self._examples, self._columns = drop_empty_columns(examples.counting())
        self._wanted = examples.fitted
        self._threads = max(1, min(effort.threads, len(self._wanted)))
        self._effort = replace(effort, threads=max(1, effort.threads // len(self._wanted)))
        self._n_features = examples.rows.n_features
        chunks = _require_room(self._examples, objective, self._threads, len(self._wanted))
        self._squares = SquaredLengths.of(self._examples.rows)
        self._blas = OneThread()
        self._examples = arranged(self._examples, objective)
        self._known = Known(math.sqrt(self._squares.largest), chunks)
        if objective.bias == "regularised":
            rows = self._examples.rows
            self._known = Known(math.sqrt(self._squares.largest + 1.0), chunks, rows)
            self._examples = replace(self._examples, rows=with_constant(rows, 1.0))

    def at(
        self,
        objective: Objective,
        tolerance: float,
        *,
        progress: Callable[[int, float], None] = lambda label, gap: None,
        start: Trained | None,
    ) -> Trained:
        """Train at this C; the loss and the bias are those that the rows were prepared for."""
        rows, squares = self._examples.rows, self._squares
        squares.require(objective.regularisation(squares.rows), rows.name)
        starts = _starts(start, rows, self._classes, self._wanted)
        failed = threading.Event()
        given_up = self._effort.given_up
        effort = replace(self._effort, given_up=lambda: failed.is_set() or given_up())

        def of_class(label: int) -> Fit:
            return fit(
                _problem(self._examples, label, objective, squares),
                tolerance,
                effort,
                progress=lambda gap: progress(label, gap),
                start=starts.get(label),
                known=self._known,
            )

        with self._blas.held():
            fits = run_in_threads(of_class, self._wanted, self._threads, failed)
        model = model_of(self._classes, objective, fits)
        if self._columns is not None:
            weights = np.zeros((len(model.weights), self._n_features))
            weights[:, self._columns] = model.weights
            model = replace(model, weights=weights)
        return Trained(model, fits)


#: Share of the rows that may differ for equal ones to be merged: to find and to copy them takes as
#: long as several passes, and weights take time, too.
MOST_DIFFERENT = 0.5

#: Entries that are read in the time that a processor loses where a row has another length than the
#: one before: it has foretold the end of a loop wrongly. Measured by products with the rows of w8a.
MISPREDICTION = 40

#: Bytes of rows that are copied without asking how much memory is free, and the share of the free
#: memory that a copy may take.
SMALL_BYTES, ROOM = 1 << 26, 0.5

#: Longest length that is told from longer ones.
_LONGEST = np.iinfo(np.uint16).max


def arranged(examples: Examples, objective: Objective) -> Examples:
    """The examples merged or in another order where that saves much time and memory has room.

    P and D remain the same numbers. The losses of equal rows are equal, and so may be their dual
    variables, because D is concave.
    """
    if not has_room_to_copy(examples.rows):
        return examples
    examples = merged(examples, objective)
    order = order_by_length(examples.rows)
    return examples if order is None else examples.chosen(order)


def has_room_to_copy(rows: Dataset) -> bool:
    """Whether there is room in memory for a copy of the rows; not of rows in a file."""
    if rows.mapped_bytes:
        return False
    size = rows.nbytes
    return size <= SMALL_BYTES or size <= ROOM * (available_memory() or math.inf)


def merged(examples: Examples, objective: Objective) -> Examples:
    """The examples without repeated rows, if these are most of them; else as they are."""
    most = int(MOST_DIFFERENT * examples.rows.n_samples)
    if not may_merge(examples, objective):
        return examples
    weights, rows = examples.row_weights, examples.rows
    first, sums = group_equal(rows.rows, examples.labels, weights, most)
    if first is None or not np.isfinite(sums).all():
        return examples
    return replace(examples.chosen(first), row_weights=sums)


def may_merge(examples: Examples, objective: Objective) -> bool:
    """Whether `merged` looks for equal rows: counting cannot exclude that they are enough."""
    weighted = examples.row_weights is not None or examples.class_weights
    if objective.loss == "hinge" and objective.bias != "free" and not weighted:
        return False
    most = int(MOST_DIFFERENT * examples.rows.n_samples)
    return int(count_alike(examples.rows.rows, examples.labels)) <= most


def order_by_length(rows: Dataset) -> Array | None:
    """Rows in ascending order of their lengths, if a pass then takes half as long; else None."""
    if rows.indptr is None:
        return None
    lengths = rows.rows.lengths()
    changes = np.count_nonzero(lengths[1:] != lengths[:-1])
    if MISPREDICTION * changes < rows.nnz:
        return None
    # NumPy sorts short integers by their digits, several times as fast as others.
    order: Array = np.argsort(np.minimum(lengths, _LONGEST).astype(np.uint16), kind="stable")
    return order


def drop_empty_columns(examples: Examples) -> tuple[Examples, Array | None]:
    """The examples, without empty columns if these are most, and those left; None if all."""
    rows = examples.rows
    if not has_room_to_copy(rows):
        return examples, None
    found = without_empty_columns(rows, rows.n_features // 2)
    if found is None:
        return examples, None
    require_memory(
        _MODELS * len(examples.fitted) * 8 * rows.n_features,
        f"{rows.name}: a model of {rows.n_features:,} columns",
        _FEWER_COLUMNS,
    )
    return replace(examples, rows=found[0]), found[1]


def _starts(
    start: Trained | None, rows: Dataset, classes: tuple[int, ...], wanted: tuple[int, ...]
) -> dict[int, Fit]:
    if start is None or start.model.labels != classes:
        return {}
    sizes = rows.n_samples, rows.n_features
    fits = zip(wanted, start.fits, strict=True)
    return {label: fit for label, fit in fits if (len(fit.alpha), len(fit.w)) == sizes}


def _problem(
    examples: Examples, label: int, objective: Objective, squares: SquaredLengths
) -> Problem:
    """A class against the rest."""
    rows, weights = examples.against_rest(label)
    if weights is not None:
        objective, weights = _normalised(objective, weights, rows.name, squares)
    lam = objective.regularisation(rows.n_samples)
    bias = "free" if objective.bias == "free" else "none"
    return Problem(rows, lam, objective.as_loss(), bias, row_weights=weights)


def _normalised(
    objective: Objective, weights: FloatArray, name: str, squares: SquaredLengths
) -> tuple[Objective, FloatArray | None]:
    """C times the mean of the weights, and weights with a mean of 1; None if all are equal.

    Raises ConfigError when C, lambda or a weight leaves double precision, or has not all its
    digits.
    """
    shares, exponent = scaled(weights)
    try:
        with np.errstate(all="ignore"):
            mean = math.fsum(shares.tolist()) / len(shares)
            C = float(np.ldexp(objective.C * mean, exponent))
            shares = shares / mean
        times_mean = replace(objective, C=C)
        in_range = squares.in_range(times_mean.regularisation(len(shares)))
    except (ConfigError, OverflowError):  # of fsum, where an infinite weight left others unscaled
        in_range = False
    if not (in_range and (shares >= TINY).all()):
        raise ConfigError(
            f"{name}: weights from {weights.min():.3g} to {weights.max():.3g} are out of "
            f"range with C = {objective.C:.3g}; bring them and C nearer 1"
        )
    return times_mean, None if (weights == weights[0]).all() else shares


def run_in_threads(
    work: Callable[[int], T], wanted: Sequence[int], threads: int, failed: threading.Event
) -> tuple[T, ...]:
    """What some work gives for each number, in their order, so many at the same time."""
    if threads == 1:
        return tuple(work(each) for each in wanted)
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait  # slow to load

    with ThreadPoolExecutor(threads) as pool:
        try:
            begun = [pool.submit(work, each) for each in wanted]
            for ended in wait(begun, return_when=FIRST_EXCEPTION).done:
                ended.result()
            return tuple(each.result() for each in begun)
        except BaseException:
            # Ctrl-C reaches only this thread; the others end after their next pass.
            failed.set()
            pool.shutdown(cancel_futures=True)
            raise


def _require_room(examples: Examples, objective: Objective, threads: int, fits: int) -> int:
    """Refuse more columns or rows than there is memory for; in how many chunks to visit the rows.

    Rows in random order that did not fit would be read again and again; 0 chunks are for rows that
    fit.
    """
    rows, m, d = examples.rows, examples.rows.n_samples, examples.rows.n_features
    columns = (
        (_VECTORS * threads + _KEPT * fits) * 8 * d,
        f"{rows.name}: training on {d:,} columns",
        _FEWER_COLUMNS,
    )
    what = f"{rows.name}: training on {m:,} rows"
    working = _VECTORS * threads * 8 * m
    remedy = "train on fewer rows, or where more memory is free"
    free = available_memory() if rows.mapped_bytes else None
    if free is None or rows.mapped_bytes <= max(0, free - working):
        # One question to the system for both: it takes as long as many a fit.
        most = max(columns, (rows.mapped_bytes + working, what, remedy))
        if most[0] >= LITTLE:
            require_memory(*most)
        return 0
    from svmbench.engine.chunks import ROW_BYTES, chunks_of

    require_memory(*columns)
    weighted = examples.row_weights is not None or examples.class_weights
    if (objective.loss, objective.bias) != ("hinge", "none") or weighted:
        require_memory(
            rows.mapped_bytes + working,
            what,
            f"{remedy}; the hinge without bias and weights needs less",
        )
    working = threads * ROW_BYTES * m
    chunks = chunks_of(rows, (available_memory() or 0) // threads)
    require_memory(
        working + (chunks * threads * 8) * d, what, "train on fewer rows, or with fewer threads"
    )
    return chunks


def require_rows_in_memory(rows: Dataset, work: str, remedy: str) -> None:
    """Raise DataError if rows in a file do not fit into memory, for work that reads them often."""
    if rows.mapped_bytes:
        what = f"{rows.name}: {work} on {rows.n_samples:,} rows"
        require_memory(rows.mapped_bytes + _VECTORS * 8 * rows.n_samples, what, remedy)


def model_of(
    classes: tuple[int, ...], objective: Objective, fits: tuple[Fit, ...]
) -> LiblinearModel:
    """The model of the fits, one for two classes, else one per class in their order."""
    weights: FloatArray = np.vstack([each.w for each in fits])
    biases = np.array([each.bias for each in fits])
    if objective.bias == "regularised":
        weights, biases = np.ascontiguousarray(weights[:, :-1]), weights[:, -1].copy()
    constant = -1.0 if objective.bias == "none" else 1.0
    return LiblinearModel(SOLVER_TYPES[objective.loss], classes, weights, biases, constant)
