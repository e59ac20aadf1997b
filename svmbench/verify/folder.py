"""Check the figures in a results folder against its stored weights, references and rows."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from svmbench.data.cache import cache_dir, open_cached
from svmbench.data.cache import verify as verify_entry
from svmbench.data.dataset import Dataset
from svmbench.errors import DataError
from svmbench.harness.trace import Trace, read_trace
from svmbench.harness.weights import kept_weights
from svmbench.problem import accuracy_of
from svmbench.reference.optimum import reference_path, stored_pair
from svmbench.verify.extended import Bounded, Facts, count_errors, dual, evaluate

Status = Literal["holds", "does not hold", "not verified"]

#: Columns of runs.csv that repeat the last point of a run's trace.
REPEATED = ("primal", "accuracy", "train_error", "test_error")


@dataclass(frozen=True)
class Verification:
    """The outcome for one run or one reference.

    Parameters
    ----------
    kind : {'run', 'reference'}
    name : str
        The run's id, or the data set and lambda of the reference.
    verdict : {'holds', 'does not hold', 'not verified'}
    reason : str
        What is wrong or missing; empty if it holds.
    deviation : float or None
        Relative deviation of the recorded P (of a run) or D (of a reference).
    allowed : float or None
        The relative deviation that rounding may cause.
    with_weights : bool
        Whether there were weights to recompute anything from.
    """

    kind: Literal["run", "reference"]
    name: str
    verdict: Status
    reason: str = ""
    deviation: float | None = None
    allowed: float | None = None
    with_weights: bool = False


class MissingError(Exception):
    """Something that a verification needs is missing or damaged."""


class ContradictionError(Exception):
    """A recorded figure differs from the recomputed one."""


def folders(root: Path) -> list[Path]:
    """The results folders at and below ``root``: folders with runs.csv and runs/.

    Raises
    ------
    DataError
        When there is none.
    """
    found = sorted(
        path.parent for path in root.rglob("runs.csv") if (path.parent / "runs").is_dir()
    )
    if not found:
        raise DataError(
            f"{root}: no results in it (runs.csv next to runs/); name a folder that "
            "'svmbench run' has written"
        )
    return found


def listed(folder: Path) -> list[dict[str, str]]:
    """The rows of runs.csv, every field as text.

    Raises
    ------
    DataError
        When the file cannot be read, or is not a table of runs.
    """
    path = folder / "runs.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    if any(not row.get("id") or "state" not in row for row in rows):
        raise DataError(f"{path}: not a table of runs; run the sweep again")
    return rows


@dataclass
class Verifier:
    """Verifies folders, and caches the rows and the references it has read."""

    _data: dict[str, Dataset] = field(default_factory=dict)
    _bounds: dict[Path, tuple[Bounded, Bounded]] = field(default_factory=dict)
    _reported: set[tuple[Path, float, float]] = field(default_factory=set)

    def folder(self, folder: Path) -> Iterator[Verification]:
        """Verify each run that runs.csv lists and each reference it was measured against.

        Runs that were skipped, or that recorded no checkpoint, have no result.

        Raises
        ------
        DataError
            When runs.csv cannot be read.
        """
        for row in listed(folder):
            path = folder / "runs" / f"{row['id']}.jsonl"
            trace = read_trace(path)
            if trace is None:
                if row["state"] != "skipped":
                    fault = "damaged" if path.exists() else "missing"
                    yield Verification("run", row["id"], "not verified", f"{path}: {fault}")
                continue
            if not trace.points:
                continue
            yield from self._reference(trace)
            yield self._run(path, row, trace)

    def _run(self, path: Path, row: dict[str, str], trace: Trace) -> Verification:
        name, with_weights = row["id"], bool(trace.weights)
        last = trace.points[-1]
        try:
            _check_table(row, trace)
            if not with_weights:
                return Verification("run", name, "holds")
            primal = self._recompute(path, trace)
        except MissingError as error:
            return Verification("run", name, "not verified", str(error), with_weights=with_weights)
        except ContradictionError as error:
            return Verification("run", name, "does not hold", str(error), with_weights=with_weights)
        allowed = primal.rounding / abs(primal.value) if primal.value else math.inf
        return Verification(
            "run", name, "holds", "", primal.deviation(last["primal"]), allowed, True
        )

    def _recompute(self, path: Path, trace: Trace) -> Bounded:
        """P of the stored weights, after checking all figures recorded for them."""
        header, last = trace.header, trace.points[-1]
        try:
            w, bias = kept_weights(path, trace.weights)
        except ValueError as error:
            raise MissingError(str(error)) from error
        data = self._rows(header["problem"]["data"])
        if len(w) != data.n_features:
            raise MissingError(f"{len(w)} weights for rows of {data.n_features} features")
        found = evaluate(data, Facts.of(header["problem"]), w, bias)
        if not found.primal.agrees(last["primal"]):
            raise ContradictionError(
                f"P is {found.primal.value!r}, recorded as {last['primal']!r}, and rounding "
                f"explains only {found.primal.rounding:.1e}"
            )
        _check_errors("train", last["train_error"], data, found.least_errors, found.most_errors)
        if header["test"] is not None:
            test = self._rows(header["test"])
            _check_errors("test", last["test_error"], test, *count_errors(test, w, bias))
        return found.primal

    def _reference(self, trace: Trace) -> Iterator[Verification]:
        """Verify the bounds that a run was measured against, once for each pair of bounds."""
        header = trace.header
        facts, lower, upper = (
            header["problem"],
            header["reference_dual"],
            header["reference_primal"],
        )
        path = reference_path(facts)
        if (path, lower, upper) in self._reported:
            return
        self._reported.add((path, lower, upper))
        name = f"{header['dataset']} λ={facts['lambda']:g}"
        try:
            least, most = self._bounds_of(path, facts)
            _check_bounds(least, most, lower, upper)
        except MissingError as error:
            yield Verification("reference", name, "not verified", str(error))
        except ContradictionError as error:
            yield Verification("reference", name, "does not hold", str(error))
        else:
            allowed = least.rounding / abs(least.value) if least.value else math.inf
            yield Verification(
                "reference", name, "holds", "", least.deviation(lower), allowed, True
            )

    def _bounds_of(self, path: Path, facts: dict[str, Any]) -> tuple[Bounded, Bounded]:
        """D of the stored reference's alpha and P of its w."""
        if path not in self._bounds:
            if not path.exists():
                raise MissingError("its reference is no longer in the cache; run it again")
            data = self._rows(facts["data"])
            pair = stored_pair(path, data.n_features, data.n_samples)
            if pair is None:
                raise MissingError("its reference in the cache is damaged; run it again")
            w, bias, alpha = pair
            problem = Facts.of(facts)
            least, most = dual(data, problem, alpha), evaluate(data, problem, w, bias).primal
            self._bounds[path] = least, most
        return self._bounds[path]

    def _rows(self, identity: str) -> Dataset:
        if identity not in self._data:
            path = self._entries.get(identity)
            if path is None:
                raise MissingError("its rows are not in the cache; run it again")
            try:
                verify_entry(path)
            except DataError as error:
                raise MissingError(str(error)) from error
            data = open_cached(path)
            if data is None:
                raise MissingError(f"{path}: its rows were removed; run it again")
            self._data[identity] = data
        return self._data[identity]

    @cached_property
    def _entries(self) -> dict[str, Path]:
        """The cache's entries by the identity of their rows; the newer of two equal ones."""
        paths = [path for path in (cache_dir() / "datasets").glob("[!.]*") if path.is_dir()]
        paths.sort(key=lambda path: path.stat().st_mtime)
        opened = ((path, open_cached(path)) for path in paths)
        return {data.identity: path for path, data in opened if data is not None}


def _check_table(row: dict[str, str], trace: Trace) -> None:
    """Check that runs.csv agrees with the trace, and the accuracy with P and D_ref."""
    last, lower = trace.points[-1], trace.header["reference_dual"]
    stated = {column: row.get(column, "") for column in REPEATED}
    traced = {column: last[column] for column in REPEATED}
    stated["reference_dual"], traced["reference_dual"] = row.get("reference_dual", ""), lower
    for column, text in stated.items():
        try:
            value = float(text) if text else None
        except ValueError:
            value = math.nan
        if value != traced[column]:
            raise ContradictionError(
                f"runs.csv: {column} is {text or 'empty'}, its trace says {traced[column]!r}"
            )
    if last["primal"] is None:
        return
    distance = trace.header.get("stop", {}).get("distance", "relative")
    accuracy = accuracy_of(last["primal"], lower, distance)
    if last["accuracy"] != (accuracy if math.isfinite(accuracy) else None):
        raise ContradictionError(f"its accuracy is {accuracy!r}, recorded as {last['accuracy']!r}")


def _check_errors(which: str, recorded: float | None, data: Dataset, least: int, most: int) -> None:
    if recorded is None or not least <= round(recorded * data.n_samples) <= most:
        counts = f"{least}" if least == most else f"{least} to {most}"
        raise ContradictionError(
            f"{which} errors are {counts} of {data.n_samples}, recorded as {recorded!r}"
        )


def _check_bounds(least: Bounded, most: Bounded, lower: float, upper: float | None) -> None:
    """Check that the stored pair proves the bounds on P* that a run was measured against."""
    for recorded, proved, other, side in (
        (lower, least, most, 1.0),
        (upper, most, least, -1.0),
    ):
        name = "D_ref" if side > 0.0 else "P_ref"
        if recorded is None or side * (recorded - proved.value) <= proved.rounding:
            continue
        if side * (recorded - other.value) > other.rounding:
            raise ContradictionError(
                f"{name} is recorded as {recorded!r}, but P* lies in "
                f"[{least.value!r}, {most.value!r}]"
            )
        raise MissingError(
            f"{name} {recorded!r} is tighter than the reference in the cache proves; run it again"
        )
