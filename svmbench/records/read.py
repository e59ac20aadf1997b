"""Reads a results folder and checks that this version understands it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from svmbench.document import parse_document
from svmbench.durable import is_own_file
from svmbench.errors import ConfigError, DataError
from svmbench.records.bounds import least_accuracy
from svmbench.records.columns import (
    OF_ACCURACY,
    PLOTS,
    REGRETS,
    RUNS,
    SCHEMA_VERSION,
    TABLES,
    TRACES,
    Column,
    accuracies_in,
)
from svmbench.records.disturbance import disturbances, off_clock
from svmbench.records.groups import ROW, Group, group_runs
from svmbench.records.states import STATES
from svmbench.records.values import is_too_deep

T = TypeVar("T")

#: Columns of runs.csv that other numbers are divided by.
_ABOVE_ZERO = ("lambda", "C", "m")

#: No sweep has so many repeats.
_REPEATS = 10**9


@dataclass(frozen=True, eq=False)
class Results:
    """The contents of a results folder, checked and typed."""

    folder: Path
    name: str  # name of the sweep
    # runs.csv: one row per run, missing numbers nan, missing text empty. ``disturbed`` and
    # ``off_clock`` are recomputed, for older results too.
    runs: pd.DataFrame
    # traces.csv: one row per checkpoint. ``seconds_after_setup`` is the training time less that of
    # the run's set-up.
    traces: pd.DataFrame
    accuracies: tuple[float, ...]  # the sweep's accuracies, the loosest first; may be empty
    tables: tuple[str, ...]  # tables, plots: the kinds that the sweep asks for
    plots: tuple[str, ...]
    # datasets, solvers: names in the order of the configuration, then alphabetical
    datasets: tuple[str, ...]
    solvers: tuple[str, ...]
    repeats: int  # requested number; an unfinished sweep has fewer
    environment: dict[str, Any]  # environment.json; empty if there is none
    config: dict[str, Any]  # config.yaml
    config_text: str  # the same as text

    @cached_property
    def groups(self) -> dict[tuple[str, bool], list[Group]]:
        """The runs by row of the tables, by data set and whether it is a stand-in."""
        return group_runs(self)

    @property
    def by_c(self) -> bool:
        return "C" in self.config

    @property
    def distance(self) -> str:
        return _distance(self.config)

    def entries(self, key: str) -> dict[str, dict[str, Any]]:
        """The entries of a list of the configuration by label or name, those with parameters."""
        listed = self.config.get(key)
        return {
            str(entry.get("label", entry.get("name"))): entry
            for entry in (listed if isinstance(listed, list) else ())
            if isinstance(entry, dict)
        }


def read_results(folder: Path) -> Results:
    """Read config.yaml, runs.csv, traces.csv and, if present, environment.json."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; name one that 'svmbench run' has written")
    return _read_results(folder, tuple(map(_state, sorted(folder.glob("[!.]*.[cjy]*")))))


def _state(path: Path) -> tuple[str, int, int]:
    """What changes when a file is written anew."""
    found = path.stat()
    return path.name, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=1)
def _read_results(folder: Path, _state: tuple[tuple[str, int, int], ...]) -> Results:
    """The files as they are: what shows, judges and prints results reads and judges them once."""
    config_text = _read_text(folder / "config.yaml")
    try:
        config: dict[str, Any] = parse_document(folder / "config.yaml").value
    except ConfigError as error:
        raise DataError(f"{error}; run the sweep again to rewrite it") from None
    distance = _distance(config)
    runs = _read_runs(folder / "runs.csv", distance)
    traces = _read_table(folder / "traces.csv", TRACES)
    _convert(traces, folder / "traces.csv", TRACES)
    of_run = runs.set_index("id")
    _refuse_below(
        traces, traces["id"].map(of_run["reference_dual"]), distance, folder / "traces.csv"
    )
    repeats = traces["id"].map(of_run["repeat"])  # nothing is known of other runs
    other = repeats.notna() & (traces["repeat"] != repeats)
    _refuse(traces["repeat"], other, folder / "traces.csv", "is not the repeat of its run")
    setup = traces["id"].map(of_run["setup_seconds"])
    traces["seconds_after_setup"] = traces["wall_seconds"] - setup
    return Results(
        folder=folder,
        name=str(config.get("name") or folder.resolve().name),
        runs=runs,
        traces=traces,
        accuracies=tuple(sorted(map(float, accuracies_in(runs.columns)), reverse=True)),
        tables=_asked_for(config, "tables", TABLES, folder / "config.yaml"),
        plots=_asked_for(config, "plots", PLOTS, folder / "config.yaml"),
        datasets=_in_order(config.get("datasets"), runs["dataset"]),
        solvers=_in_order(config.get("solvers"), runs["solver"]),
        repeats=_repeats(config, runs),
        environment=_read_environment(folder / "environment.json"),
        config=config,
        config_text=config_text,
    )


def read_regret(folder: Path) -> pd.DataFrame:
    """regret.csv: one row per number of steps; no rows if the sweep did not ask for it."""
    path = folder / "regret.csv"
    if not path.exists():
        return pd.DataFrame(columns=[column.name for column in REGRETS])
    table = _read_table(path)
    _convert(table, path, REGRETS)
    return table


def _read_environment(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        environment = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({_one_line(error)}); restore or remove it") from error
    if is_too_deep(environment):
        raise DataError(f"{path}: nested too deeply; restore or remove it")
    return environment if isinstance(environment, dict) else {}


def _read_text(path: Path) -> str:
    return _read(path, lambda: path.read_text(encoding="utf-8"))


def _read_table(path: Path, columns: Sequence[Column] = ()) -> pd.DataFrame:
    """A CSV file with every field as text; with these columns if it has not even a header."""

    def read() -> pd.DataFrame:
        try:
            return pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
        except pd.errors.EmptyDataError:
            if not columns:
                raise
            # As older results have it where no run has a point.
            return pd.DataFrame(columns=[column.name for column in columns], dtype=object)

    table = _read(path, read)
    # Pandas would take the first fields of longer lines for the names of the rows.
    if len(table) and not isinstance(table.index, pd.RangeIndex):
        raise DataError(f"{path}: its lines have more fields than its header; run the sweep again")
    return table.astype(object)


def _read(path: Path, read: Callable[[], T]) -> T:
    if not is_own_file(path):
        what = "not a file of its own" if path.exists() else "missing"
        raise DataError(f"{path}: {what}; 'svmbench run' writes it at the end of a sweep")
    try:
        return read()
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(f"{path}: cannot be read ({_one_line(error)})") from error


def _distance(config: dict[str, Any]) -> str:
    """Whether the sweep's accuracies are relative or absolute distances."""
    stop = config.get("stop")
    return str(stop.get("distance", "relative")) if isinstance(stop, dict) else "relative"


def _read_runs(path: Path, distance: str) -> pd.DataFrame:
    runs = _read_table(path)
    if runs.empty:
        raise DataError(f"{path}: holds no runs; run the sweep first")
    _check_version(runs, path)
    _check_accuracies(runs, path)
    of_accuracy = [
        replace(column, name=f"{column.name}_{text}")
        for text in accuracies_in(runs.columns)
        for column in OF_ACCURACY
    ]
    _convert(runs, path, (*RUNS, *of_accuracy))
    known = runs["state"].isin(STATES)
    _refuse(runs["state"], ~known, path, f"is not one of {', '.join(STATES)}")
    for name in _ABOVE_ZERO:
        _refuse(runs[name], ~(runs[name] > 0.0), path, "is not above 0")
    numbered = (runs["repeat"] % 1 == 0) & (runs["repeat"] >= 0) & (runs["repeat"] < _REPEATS)
    _refuse(runs["repeat"], ~numbered, path, f"is not a whole number from 0 to {_REPEATS - 1}")
    twice = runs["id"].duplicated() | runs.duplicated([*ROW, "repeat", "horizon"])
    if twice.any():
        raise DataError(f"{path}:{_line(twice)}: a run is listed twice; run the sweep again")
    _refuse_below(runs, runs["reference_dual"], distance, path)
    records = runs.to_dict("records")
    runs["disturbed"] = ["; ".join(disturbances(run)) for run in records]
    runs["off_clock"] = ["; ".join(off_clock(run)) for run in records]
    return runs


def _refuse_below(table: pd.DataFrame, bounds: pd.Series, distance: str, path: Path) -> None:
    """Refuse accuracies that no run records, because P would lie below the certified bound."""
    least = bounds.map(lambda bound: least_accuracy(bound, distance))
    below = table["accuracy"] < least
    if below.any():
        raise DataError(
            f"{path}:{_line(below)}: accuracy {table['accuracy'][below].iloc[0]:g}: P lies below "
            "the certified bound on P*; 'svmbench verify' says which figure is wrong"
        )


def _refuse(column: pd.Series, wrong: pd.Series, path: Path, why: str) -> None:
    """Refuse a column with values that no run has written."""
    if wrong.any():
        value = column[wrong].iloc[0]
        shown = repr(value) if isinstance(value, str) else f"{value:g}"
        raise DataError(f"{path}:{_line(wrong)}: column {column.name!r}: {shown} {why}")


def _check_version(runs: pd.DataFrame, path: Path) -> None:
    versions = runs["schema_version"] if "schema_version" in runs else pd.Series(["none"])
    foreign = versions != str(SCHEMA_VERSION)
    if foreign.any():
        raise DataError(
            f"{path}:{_line(foreign)}: schema version {versions[foreign].iloc[0]}, but this "
            f"svmbench reads {SCHEMA_VERSION}; report with the version that ran the sweep"
        )


def _convert(table: pd.DataFrame, path: Path, columns: Sequence[Column]) -> None:
    """Turn the columns' text into numbers and flags, in place."""
    for column in columns:
        if column.presence == "unread":
            continue
        if column.name not in table:
            raise DataError(f"{path}: no column {column.name!r}; run the sweep again to rewrite it")
        text = table[column.name]
        if column.presence == "filled" and (empty := text == "").any():
            raise DataError(f"{path}:{_line(empty)}: column {column.name!r} is empty")
        if column.kind == "flag":
            flags = text.str.lower().map({"true": True, "false": False})
            _refuse(text, flags.isna(), path, "is not true or false")
            table[column.name] = flags.astype(bool)
        elif column.kind == "number":
            try:
                values = text.mask(text == "", "nan").astype(float)
            except ValueError:
                values = pd.to_numeric(text, errors="coerce")
            infinite = (text != "") & ~np.isfinite(values)
            _refuse(text, infinite, path, "is not a finite number")
            table[column.name] = values


def _check_accuracies(runs: pd.DataFrame, path: Path) -> None:
    """Refuse seconds to what is no accuracy, or not written as such: others look for its number."""
    for text in accuracies_in(runs.columns):
        try:
            sound = 0.0 < float(text) < math.inf and repr(float(text)) == text
        except ValueError:
            sound = False
        if not sound:
            name = f"seconds_to_{text}"
            raise DataError(
                f"{path}: column {name!r:.80} names no accuracy; run the sweep again to rewrite it"
            )


def _asked_for(
    config: dict[str, Any], key: str, known: tuple[str, ...], path: Path
) -> tuple[str, ...]:
    asked = config.get(key)
    if asked is None:
        return known
    if not isinstance(asked, list) or not set(map(str, asked)) <= set(known):
        raise DataError(f"{path}: {key!r} is not a list of {', '.join(known)}; run the sweep again")
    return tuple(kind for kind in known if kind in asked)


def _in_order(entries: object, present: pd.Series) -> tuple[str, ...]:
    """The names that have runs, as the configuration lists them; others follow, sorted."""
    named = []
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("name") if isinstance(entry, dict) else entry
        named.append(str(name))
    there = set(present)
    return tuple(dict.fromkeys([name for name in named if name in there] + sorted(there)))


def _repeats(config: dict[str, Any], runs: pd.DataFrame) -> int:
    asked = config.get("repeats")
    if isinstance(asked, dict):
        asked = asked.get("at_least")
    if type(asked) is int and 0 < asked <= _REPEATS:
        return asked
    return int(runs["repeat"].max()) + 1


def _line(rows: pd.Series) -> int:
    """Line in the file of the first row that is true; the header is line 1."""
    return int(rows.to_numpy().argmax()) + 2


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
