"""What a results folder can hold: the columns of its tables, for writer and reader, and kinds.

A fact that a worker records needs one entry here, with the line of the trace that has it: the
tables, their reading and the checks of a trace follow from the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

#: Version of runs.csv.
SCHEMA_VERSION = 1

#: The tables and plots that a sweep can ask its report for.
TableKind = Literal["time", "epochs", "objective"]
PlotKind = Literal["log-primal", "log-suboptimality"]
TABLES: tuple[TableKind, ...] = get_args(TableKind)
PLOTS: tuple[PlotKind, ...] = get_args(PlotKind)

#: The facts of an environment.json by which machines are told apart; the others are about what is
#: installed there, or was the case at that moment.
MACHINE = ("cpu", "logical_cpus", "architecture", "caches", "memory_gib", "system")

Presence = Literal["filled", "required", "unread"]
OverHorizons = Literal["most accurate", "least", "greatest", "none"]
TraceLine = Literal["", "header", "first point", "last point", "end", "own"]


@dataclass(frozen=True)
class Column:
    name: str  # with the unit of a number that is not a pure one
    meaning: str  # in a line
    kind: Literal["text", "flag", "number"]
    # whether it has a value in every row; exists, but may be empty; or is for human readers only
    presence: Presence = "required"
    # what a repeat has that consists of a run for each horizon: the value of its most accurate run,
    # the least or the greatest of all, or no value
    over_horizons: OverHorizons = "most accurate"
    # the line of the run's trace that records it; empty if it is computed. A row of traces.csv or
    # regret.csv has a line of its own
    line: TraceLine = ""
    called: str = ""  # its name in that line; the column's own unless given

    @property
    def field(self) -> str:
        """Its name in the line of the trace."""
        return self.called or self.name


_text = partial(Column, kind="text")
_flag = partial(Column, kind="flag")
_number = partial(Column, kind="number")

#: Numbers by the line of the trace that records them.
_heading = partial(_number, line="header")
_first = partial(_number, line="first point")
_last = partial(_number, line="last point")
_closing = partial(_number, line="end")
_own = partial(_number, line="own")


#: runs.csv has a row for each run.
RUNS = (
    _text("schema_version", "version of this table", presence="filled"),
    _text("id", "name of the run and of its trace", presence="filled"),
    _text("dataset", "data set, or its label"),
    _text("data_source", "where its rows come from"),
    _text("data_sha256", "hash of its file"),
    _text("data_transforms", "transforms of the rows"),
    _flag("stand_in", "whether the rows stand in for the real data set"),
    _text("solver", "name of the solver"),
    _text("label", "solver with its parameters, as in tables"),
    _text("loss", "loss function"),
    _text("bias", "kind of bias"),
    _number("l1_radius", "radius of the l1 ball that contains w"),
    _number("lambda", "λ", presence="filled"),
    _number("C", "1/(λ m)", presence="filled"),
    _number("repeat", "number of the repeat, from 0", presence="filled"),
    _number("horizon", "where the run was set to end"),
    _number("seed", "seed of the run", presence="unread"),
    _text("precision", "of the solver's weights"),
    _text("state", "how the run ended"),
    _text("reason", "why it ended so", line="end"),
    _text("remark", "what the solver decided", line="end"),
    _number("m", "rows", presence="filled"),
    _number("d", "columns", presence="filled"),
    _number("nnz", "stored nonzeros", presence="filled"),
    _number("data_bytes", "stored size of the data", presence="unread"),
    _number("step_rows", "rows of one step; empty where that varies"),
    _number("threads", "threads of the solver"),
    _flag("contended", "whether several runs were executed at a time"),
    _heading("reference_dual", "D_ref, the certified lower bound on P*", presence="filled"),
    _heading("reference_primal", "P_ref, the certified upper bound on P*"),
    _heading("reference_gap", "relative gap of the two"),
    _first("setup_seconds", "set-up, which is part of the training time", called="setup_wall"),
    _last("train_seconds", "training time", over_horizons="greatest", called="wall"),
    _last(
        "train_cpu_seconds", "processor time of training", over_horizons="greatest", called="cpu"
    ),
    _first("conversion_seconds", "bringing rows into a program's form", called="conversion_wall"),
    _last("involuntary_switches", "times the processor was taken away", called="switches"),
    _closing("elapsed_seconds", "from the run's start to its end"),
    _closing("stolen_seconds", "taken by a virtual machine's host meanwhile"),
    _closing("others_cpu_seconds", "used by all other processes meanwhile"),
    _closing("read_seconds", "reading weights, counts and bound off the clock"),
    _closing("charged_seconds", "part of it that was added to the clock"),
    _closing("unaccounted_seconds", "none of training, conversion, evaluation"),
    _closing("background_cpu_seconds", "in other threads and processes"),
    _closing("load_cpu_seconds", "processor time of importing the solver"),
    _closing("process_cpu_seconds", "used by the run's processes"),
    _heading("load_average", "of the machine at the start"),
    _heading("limit_seconds", "time limit", called="time_limit"),
    _number("max_epochs", "limit of epochs"),
    _last("presentations", "rows presented to the solver", presence="unread"),
    _number("epochs", "presentations over rows", over_horizons="greatest"),
    _number("data_passes", "visits of rows over rows", over_horizons="greatest"),
    _last("updates", "presentations that changed w or a dual variable", presence="unread"),
    _last("nonzeros", "stored entries read or written", presence="unread"),
    _closing("t0", "offset of the schedule of step lengths in steps, given or searched"),
    _last("primal", "P(w) at the last checkpoint"),
    _last("accuracy", "(P(w) − D_ref)/D_ref there"),
    _last("dual", "the solver's own lower bound there", presence="unread"),
    _last("gap", "its own relative gap there"),
    _last("train_error", "share of the rows that w gets wrong"),
    _last("test_error", "share of the test rows that w gets wrong"),
    _closing("evaluation_seconds", "one evaluation of the cost"),
    _closing("peak_memory_bytes", "most memory the worker held", presence="unread"),
    _text("started", "when the run started, in UTC", line="header"),
    _text("node", "node of the cluster that carried it out", line="header"),
    _text("disturbed", "what disturbed the run; recomputed on reading", presence="unread"),
    _text("off_clock", "what happened off the clock; recomputed on reading", presence="unread"),
)

#: runs.csv has these once for each accuracy E of the sweep, as ``seconds_to_E``.
OF_ACCURACY = (
    _number("seconds_to", "training time until E was first reached", over_horizons="least"),
    _number("cpu_seconds_to", "processor time until then", over_horizons="least"),
    _number("epochs_to", "epochs until then", over_horizons="least"),
    _number("data_passes_to", "passes over the data until then", over_horizons="least"),
    _number("primal_at", "P(w) then", presence="unread"),
    # The points of other runs say nothing about this one's.
    _number("last_above_seconds", "when the run was last above E", over_horizons="none"),
)

#: Columns that identify the run of a row in every table.
_WHOSE = (
    _text("id", "run"),
    _text("dataset", "data set"),
    _text("solver", "solver"),
    _text("label", "label"),
    _number("lambda", "λ"),
    _number("repeat", "repeat"),
)

#: traces.csv has a row for each checkpoint.
TRACES = (
    *_WHOSE,
    _number("point", "number of the checkpoint, from 0"),
    _own("presentations", "rows presented so far", presence="unread"),
    _number("epochs", "presentations over rows"),
    _own("updates", "updates so far", presence="unread"),
    _own("nonzeros", "stored entries read or written so far", presence="unread"),
    _own("wall_seconds", "training time so far", called="wall"),
    _own("cpu_seconds", "processor time so far", presence="unread", called="cpu"),
    _own("primal", "P(w)"),
    _own("accuracy", "(P(w) − D_ref)/D_ref"),
    _own("dual", "the solver's own lower bound", presence="unread"),
    _own("gap", "its own relative gap", presence="unread"),
    _own("train_error", "share of the rows that w gets wrong", presence="unread"),
    _own("test_error", "share of the test rows that w gets wrong", presence="unread"),
)

#: regret.csv has a row for each number of steps after which the regret was taken.
REGRETS = (
    *_WHOSE,
    _own("presentations", "steps T"),
    _own("online_cost", "sum of f_t(w_t)"),
    _own("regret_low", "lower end of the interval that contains the regret"),
    _own("regret_high", "its upper end"),
    _own("regret_bound", "bound proved for the solver; empty where none is"),
)

_BY_NAME = {column.name: column for column in RUNS}


def fields(columns: Sequence[Column], line: TraceLine) -> dict[str, str]:
    """What the columns that a line of a trace has are called in it, by column."""
    return {column.name: column.field for column in columns if column.line == line}


def recorded(fields: Mapping[str, str], record: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a line of a trace has for those fields, by column."""
    return {name: record[field] for name, field in fields.items() if field in record}


def numbers(columns: Sequence[Column], *lines: TraceLine) -> tuple[str, ...]:
    """Names that numbers of those columns have in lines of a trace."""
    return tuple(
        column.field for column in columns if column.line in lines and column.kind == "number"
    )


def of_accuracy(name: str, accuracy: float) -> str:
    """A column's name for one accuracy: ``seconds_to_0.01``."""
    return f"{name}_{accuracy!r}"


def accuracies_in(names: Iterable[str]) -> list[str]:
    """The accuracies to which columns of runs.csv have seconds, as `of_accuracy` writes them."""
    prefix = "seconds_to_"
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def over_horizons(name: str) -> OverHorizons:
    """What a repeat of several runs, one per horizon, has in a column of the runs."""
    if name in _BY_NAME:
        return _BY_NAME[name].over_horizons
    for column in OF_ACCURACY:
        if name.startswith(f"{column.name}_"):
            return column.over_horizons
    return "most accurate"
