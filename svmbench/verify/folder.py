"""Check the figures in a results folder against its stored weights, references and rows."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from svmbench.config import Sweep, load_sweep
from svmbench.data.cache import by_identity, open_cached
from svmbench.data.cache import verify as verify_entry
from svmbench.data.dataset import Dataset
from svmbench.errors import ConfigError, DataError
from svmbench.harness.environment import SCHEMA_VERSION, fingerprint_of
from svmbench.harness.rows import regret_rows, run_row, trace_rows
from svmbench.harness.store import BOUNDS_MARGIN
from svmbench.harness.trace import SKIPPED, Trace, read_whole
from svmbench.harness.weights import SUFFIX, kept_weights
from svmbench.records.machine import MACHINE
from svmbench.records.spelling import short
from svmbench.records.states import RERUN
from svmbench.reference.optimum import reference_path, stored_pair
from svmbench.solvers.plug_in import build_of
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver
from svmbench.verify.extended import Bounded, Facts, count_errors, dual, evaluate
from svmbench.verify.header import check_header, is_header
from svmbench.verify.lines import check_lines
from svmbench.verify.outcome import ContradictionError, MissingError, Verification
from svmbench.verify.own import MANIFEST, foreign_entries
from svmbench.verify.published import faults, read_manifest, strangers
from svmbench.verify.recorded import (
    Recorded,
    check_identity,
    check_points,
    lacks_weights,
    misfit,
    recorded_run,
)
from svmbench.verify.tables import Tables, check_row, check_rows

#: Why a run holds that has kept weights, although none are there.
LEFT_OUT = "its weights were left out when this was published"

#: Files of which every results folder has one.
MARKS = ("runs.csv", "traces.csv", "report.html")

#: The name of a run (`svmbench.harness.plan.Run.id`), which is also that of a file.
_NAME = re.compile(r"[A-Za-z0-9.=-]{1,240}")


def folders(root: Path) -> list[Path]:
    """The results folders at and below ``root``, even those that have lost a part.

    A link to a results folder counts as one; other links to folders are not followed.

    Raises DataError when there is none, or a folder cannot be read.
    """

    def unreadable(error: OSError) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataError(
                f"{error.filename}: no such folder; name one that 'svmbench run' has written"
            )
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}); allow it")

    found = []
    for place, below, files in os.walk(root, onerror=unreadable):
        folder = Path(place)
        links = [folder / name for name in below if (folder / name).is_symlink()]
        found += [link for link in links if any((link / name).exists() for name in MARKS)]
        if any(name in files for name in MARKS) or any((folder / "runs").glob("*.jsonl")):
            found.append(folder)
    found.sort()
    if not found and not root.is_dir():
        raise DataError(f"{root}: no such folder; name one that 'svmbench run' has written")
    if not found:
        raise DataError(
            f"{root}: no results in it (runs.csv next to runs/); name a folder that "
            "'svmbench run' has written"
        )
    return found


@dataclass
class Verifier:
    """Verifies folders, and caches the rows and the references it has read."""

    _data: dict[str, Dataset] = field(default_factory=dict)
    _bounds: dict[Path, tuple[Bounded, Bounded]] = field(default_factory=dict)
    _reported: set[tuple[Path, float, float]] = field(default_factory=set)

    def folder(self, folder: Path) -> Iterator[Verification]:
        """Verify the tables, each run and each reference that a run was measured against.

        Every row of runs.csv, traces.csv and regret.csv is written again from the traces and
        compared; no run of the sweep may be left out or listed twice. The outcome of a file is
        reported only if it does not hold.

        Raises DataError when runs.csv cannot be read.
        """
        foreign = list(foreign_entries(folder))
        for name in foreign:
            reason = "is not a file of its own, and nothing in this folder is read; replace it"
            yield Verification("file", name, "does not hold", reason)
        if foreign:
            return
        if not (folder / "runs.csv").exists():
            reason = "is missing; 'svmbench run' writes it again"
            yield Verification("file", "runs.csv", "not verified", reason)
            return
        left_out = yield from self._published(folder)
        tables, seen, of_times = Tables.of(folder), set[str](), dict[str, str]()
        for row in tables.runs:
            name = row[tables.at("id")]
            if name in seen or not _NAME.fullmatch(name):
                reason = "it is listed twice" if name in seen else "this is not the name of a run"
                yield Verification("run", name[:100], "does not hold", f"runs.csv: {reason}")
                continue
            seen.add(name)
            path = folder / "runs" / f"{name}.jsonl"
            trace = read_whole(path)
            if row[tables.at("state")] == "skipped":
                yield self._skipped(tables, row, trace)
            elif trace is None:
                fault = "damaged" if path.exists() else "missing"
                yield Verification("run", name, "not verified", f"{path}: {fault}")
            else:
                run = self._run(path, tables, row, trace, left_out)
                twin = of_times.setdefault(_times(trace) or name, name)
                if run.verdict == "holds" and twin != name:
                    reason = f"it has the times of {twin}"
                    run = replace(run, verdict="does not hold", reason=reason)
                if trace.points and is_header(trace.header):
                    yield from self._reference(trace)
                yield run
        yield from self._files(folder, tables)

    def _published(self, folder: Path) -> Generator[Verification, None, bool]:
        """Verify the files that only a published folder has; return whether it lacks weights."""
        if not (folder / MANIFEST).exists():
            for name in strangers(folder):
                reason = "is no page or script of these results; remove it"
                yield Verification("file", name, "does not hold", reason)
            return False
        try:
            manifest = read_manifest(folder)
            for name, reason in faults(folder, manifest):
                yield Verification("file", name, "does not hold", reason)
        except DataError as error:
            yield Verification("file", MANIFEST, "not verified", str(error))
            return False
        return manifest.get("weights") is False

    def _skipped(self, tables: Tables, row: list[str], trace: Trace | None) -> Verification:
        """Verify the row of a run that was not made, by a run of its cell that was."""
        name = row[tables.at("id")]
        try:
            if trace is not None and trace.end and trace.state not in RERUN:
                raise ContradictionError("runs.csv: it is skipped, but its trace has an end")
            run = self._sibling(tables, row)
            if run.id != name:
                raise ContradictionError(f"its id is not that of its facts, which is {run.id}")
            check_row("runs.csv", tables.header, row, run_row(run, SKIPPED))
        except MissingError as error:
            return Verification("run", name, "not verified", str(error))
        except ContradictionError as error:
            return Verification("run", name, "does not hold", str(error))
        return Verification("run", name, "holds")

    def _sibling(self, tables: Tables, row: list[str]) -> Recorded:
        """The run of a row, with the facts of a run of the same cell that met the time limit."""
        same = ("dataset", "label", "lambda", "horizon")
        place = [row[tables.at(column)] for column in same]
        for other in tables.runs:
            if other[tables.at("state")] != "time_limit":
                continue
            if [other[tables.at(column)] for column in same] != place:
                continue
            trace = read_whole(tables.folder / "runs" / f"{other[tables.at('id')]}.jsonl")
            if trace is not None:
                run = self.recorded(trace.header)
                try:
                    return replace(run, repeat=int(row[tables.at("repeat")]))
                except ValueError:
                    raise ContradictionError("runs.csv: repeat is not a number") from None
        raise ContradictionError(
            "runs.csv: it is skipped, but no run of its cell has met the time limit"
        )

    def recorded(self, header: dict[str, Any]) -> Recorded:
        """The run that the first line of a trace describes, with its rows.

        Raises MissingError if its rows or its solver are not here. Raises ContradictionError if it
        is not a line that a run writes.
        """
        check_header(header)
        data, test = header["problem"]["data"], header["test"]
        return recorded_run(header, self._rows(data), None if test is None else self._rows(test))

    def _files(self, folder: Path, tables: Tables) -> Iterator[Verification]:
        """What is wrong with the folder's files as a whole."""
        for name in ("traces.csv", "regret.csv"):
            foreign = set(tables.of_runs(name)[1]) - set(tables.names)
            if foreign:
                reason = f"rows of runs that runs.csv does not list: {', '.join(sorted(foreign))}"
                yield Verification("file", name, "does not hold", reason)
        try:
            sweep = load_sweep(folder / "config.yaml", load_plugins=False)
        except ConfigError as error:
            yield Verification("file", "config.yaml", "not verified", str(error))
            return
        names = filter(_NAME.fullmatch, tables.names)
        made = [run for name in names if (run := self._read(folder, name)) is not None]
        for run in made:
            if odd := misfit(run, sweep):
                reason = f"it does not ask for the {odd} of {run.id}"
                yield Verification("file", "config.yaml", "does not hold", reason)
                break
        yield from self._unlisted(folder, tables, sweep, made)
        yield from _left_out(tables, sweep.at_least)
        yield from _mixed(made)
        yield from _machine(folder, made)

    def _read(self, folder: Path, name: str) -> Recorded | None:
        """The run of a trace; None if it is not whole or cannot be understood."""
        trace = read_whole(folder / "runs" / f"{name}.jsonl")
        try:
            return None if trace is None else self.recorded(trace.header)
        except (MissingError, ContradictionError):
            return None

    def _unlisted(
        self, folder: Path, tables: Tables, sweep: Sweep, made: list[Recorded]
    ) -> Iterator[Verification]:
        """Find the sweep's runs that runs.csv leaves out, and weights without their run.

        Runs of an earlier configuration, build or machine are left out for good.
        """
        builds = {_built(run): run.header["build"] for run in made}
        others = {(run.header["machine"], run.contended) for run in made}
        for path in sorted((folder / "runs").glob("*.jsonl")):
            if path.stem in tables.names:
                continue
            if read_whole(path) is None:
                yield Verification("run", path.stem, "not verified", f"{path}: damaged")
                continue
            run = self._read(folder, path.stem)
            if run is None or misfit(run, sweep):
                continue
            solver = find_solver(run.solver.name)
            try:
                built = builds.get(_built(run)) or build_of(solver, run.solver.parameters)
            except ConfigError as error:  # a program that is not on this machine
                reason = f"runs.csv does not list it; {error}"
                yield Verification("run", path.stem, "not verified", reason)
                continue
            if run.header["build"] == built and (run.header["machine"], run.contended) in others:
                reason = "runs.csv does not list it; 'svmbench run' writes that table again"
                yield Verification("run", path.stem, "does not hold", reason)
        for path in sorted((folder / "runs").glob(f"*{SUFFIX}")):
            trace = read_whole(path.with_name(path.name.removesuffix(SUFFIX) + ".jsonl"))
            if trace is not None and not trace.weights:
                reason = "there are weights of a run that names none"
                yield Verification("file", f"runs/{path.name}", "does not hold", reason)

    def _run(
        self, path: Path, tables: Tables, row: list[str], trace: Trace, left_out: bool
    ) -> Verification:
        name, with_weights = path.stem, bool(trace.weights)
        try:
            self._check_tables(tables, row, trace)
            check_lines(path)
            if lacks_weights(trace):
                raise ContradictionError("it was asked to keep its weights, and there are none")
            if not with_weights:
                return Verification("run", name, "holds")
            if not trace.points:
                raise ContradictionError("it has weights, but no point")
            if left_out:
                return Verification("run", name, "holds", LEFT_OUT)
            primal = self._recompute(path, trace)
        except MissingError as error:
            return Verification("run", name, "not verified", str(error), with_weights=with_weights)
        except ContradictionError as error:
            return Verification("run", name, "does not hold", str(error), with_weights=with_weights)
        allowed = primal.rounding / abs(primal.value) if primal.value else math.inf
        deviation = primal.deviation(trace.points[-1]["primal"])
        return Verification("run", name, "holds", "", deviation, allowed, True)

    def _check_tables(self, tables: Tables, row: list[str], trace: Trace) -> None:
        """Check a trace in itself, and all rows of the tables that follow from it."""
        name = row[tables.at("id")]
        run = self.recorded(trace.header)
        check_identity(run, name)
        check_points(run, trace)
        check_row("runs.csv", tables.header, row, run_row(run, trace))
        for file, rows in (
            ("traces.csv", trace_rows(run, trace)),
            ("regret.csv", regret_rows(run, trace)),
        ):
            header, of_runs = tables.of_runs(file)
            check_rows(file, header, of_runs.get(name, []), rows)

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
        if bias != 0.0 and header["problem"]["bias"] == "none":
            raise ContradictionError(f"its bias is {bias!r}, and its problem has none")
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
        told = trace.end.get("weights"), trace.end.get("bias")
        if "weights" in trace.end and told != (w.tolist(), bias):
            raise ContradictionError("the weights in its last line are not those that it kept")
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
        name = f"{header['dataset']} λ={short(facts['lambda'])}"
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
        return by_identity()


def _built(run: Recorded) -> tuple[str, str]:
    """What the runs of one build have in common: the solver, and of programs the label."""
    return run.solver.name, run.solver.label if run.solver.name == ForeignProgram.name else ""


def _times(trace: Trace) -> str:
    """All times of a run, which no other has to the nanosecond; empty if there are too few."""
    elapsed, points = trace.end.get("elapsed_seconds"), trace.points
    known = elapsed is not None and len(points) > 1
    return json.dumps([elapsed, *(point["wall"] for point in points)]) if known else ""


def _mixed(made: list[Recorded]) -> Iterator[Verification]:
    """Find runs that one sweep does not list together, because they are not comparable.

    Each call lists the runs of the present build of each solver, made under the same conditions.
    """
    known: dict[tuple[str, ...], Any] = {}
    for run in made:
        machine = run.header["machine"]
        conditions = run.contended, run.header.get("clock_rules")
        for what, of, value in (
            ("its solver's build differs", _built(run), run.header["build"]),
            ("the conditions of its clock differ", (), conditions),
        ):
            if known.setdefault((what, machine, *of), value) != value:
                reason = f"{what} from those of runs before it in runs.csv"
                yield Verification("run", run.header["id"], "does not hold", reason)
    yield from _wider(made)


def _wider(made: list[Recorded]) -> Iterator[Verification]:
    """Find runs that were held against wider bounds than other runs of the same problem."""
    gaps: dict[str, list[float]] = {}
    of_problem = [json.dumps(run.header["problem"], sort_keys=True) for run in made]
    own = [math.inf if (gap := run.header["reference_gap"]) is None else gap for run in made]
    for problem, gap in zip(of_problem, own, strict=True):
        gaps.setdefault(problem, []).append(gap)
    for run, problem, gap in zip(made, of_problem, own, strict=True):
        if gap > run.reference_gap and min(gaps[problem]) < gap * (1.0 - BOUNDS_MARGIN):
            reason = "its bounds are wider than was asked, and than those of other runs; run it"
            yield Verification("run", run.header["id"], "not verified", f"{reason} again")


def _machine(folder: Path, made: list[Recorded]) -> Iterator[Verification]:
    """Check that environment.json describes the machine of the runs."""
    try:
        text = (folder / "environment.json").read_text(encoding="utf-8")
        facts = json.loads(text, object_pairs_hook=_once)
        machine = fingerprint_of({key: facts[key] for key in MACHINE})
        if facts["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema_version is {facts['schema_version']!r:.80}")
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        reason = f"cannot be read ({type(error).__name__}: {error})"
        yield Verification("file", "environment.json", "not verified", reason)
        return
    if any(run.header["machine"] != machine for run in made):
        reason = "describes another machine than that of the runs"
        yield Verification("file", "environment.json", "does not hold", reason)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys all differ: another reader could take another of two equal ones."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


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


def is_bare(folder: Path) -> bool:
    """Whether a folder has tables that were published without their runs and configuration."""
    return not ((folder / "runs").exists() or (folder / "config.yaml").exists())


def _left_out(tables: Tables, at_least: int) -> Iterator[Verification]:
    """Repeats that neither runs.csv nor a trace has, although the cell has later ones.

    With horizons, a repeat may have fewer runs than another. A question about several cells is
    given a repeat that none of them has: beyond those of every cell, some have what others lack.
    """
    places = [tables.at(column) for column in ("dataset", "label", "lambda")]
    repeats: dict[tuple[str, ...], set[int]] = {}
    for row in tables.runs:
        repeat = row[tables.at("repeat")]
        if not row[tables.at("horizon")] and repeat.isdecimal() and len(repeat) < 10:
            repeats.setdefault(tuple(row[place] for place in places), set()).add(int(repeat))
    of_any = set().union(*repeats.values())
    for cell, own in repeats.items():
        found = own | {number for number in of_any if number >= at_least}
        first = next(number for number in range(len(found) + 1) if number not in found)
        if first < max(own):
            name = f"{' '.join(cell)} repeat {first}"
            reason = "it is missing, and later ones are there; 'svmbench run' makes it again"
            yield Verification("run", name, "not verified", reason)
