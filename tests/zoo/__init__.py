"""The zoo: solvers that cheat, lie or break things, each with what comes of it.

`SPECIMENS` lists them all. `tests/harness/test_zoo.py` runs each of them; the table in
docs/trust-results.md is made from this list.
"""

from __future__ import annotations

from dataclasses import dataclass

from svmbench.solvers.base import Solver
from zoo.breakdowns import (
    Allocates,
    BecomesAnother,
    ClosesFiles,
    Complains,
    HangsAtExit,
    HangsInRemark,
    HobblesItsLauncher,
    KillsParent,
    Leaves,
    LimitsItself,
    OpensEverything,
    Prints,
    RaisesBase,
    RaisesByAlarm,
    RaisesExit,
    RaisesInRemark,
    RaisesInT0,
    RaisesInterrupt,
    ShowsItsStanding,
    Stays,
    StopsItsLauncher,
)
from zoo.clocks import (
    BecomesAProgram,
    PatchesClock,
    PatchesTime,
    ResetsClock,
    StatesItsTime,
    StretchesThePass,
)
from zoo.forgeries import (
    EditsRows,
    ForgesEnd,
    ForgesTrace,
    ForgesWeights,
    KeepsWeights,
    LinksTheTables,
    PutsAPipe,
    ReplacesLabels,
    ReplacesLambda,
    ReplacesRows,
    ReturnsTwice,
    RewritesPoints,
    WritesLabels,
)
from zoo.hidden_work import (
    LazyArray,
    LazyBound,
    ReadsLong,
    SleepsInW,
    TracesEvaluation,
    TrainsInChild,
    TrainsInCollection,
    TrainsInConvert,
    TrainsInCounters,
    TrainsInDaemon,
    TrainsInDual,
    TrainsInEvaluation,
    TrainsInLookup,
    TrainsInRecording,
    TrainsInStopped,
    TrainsInThread,
    TrainsInW,
    WorksAtExit,
    WorksInRemark,
    WorksInStep,
)
from zoo.lies import (
    BoundTooHigh,
    ChangesWeights,
    CostTooLow,
    CostUnderstated,
    CountsAstronomically,
    CountsBackwards,
    CountsBelowZero,
    CountsNothing,
    CountsTooMuch,
    Infinite,
    NeverAdvances,
    NotANumber,
    Remarks,
    RemarksInPieces,
    ShowsNoScale,
    ShowsOddArrays,
    ShowsOddT0,
    UsesABias,
    WrongShape,
    WrongType,
)
from zoo.specimen import WORK

__all__ = ["SPECIMENS", "WORK", "Entry", "ShowsItsStanding", "table"]


@dataclass(frozen=True)
class Entry:
    """A specimen, and what comes of it.

    Parameters
    ----------
    solver : type of Solver
    does : str
        What it does, for the table in docs/trust-results.md.
    state : str
        How its run ends.
    reason : str
        A part of the run's reason.
    flag : str
        The entry of the column ``off_clock``.
    refused : bool
        Whether it has failed because what it showed cannot be true.
    reaches : bool
        Whether a run that has failed counts with what it reached before.
    """

    solver: type[Solver]
    does: str
    state: str = "failed"
    reason: str = ""
    flag: str = ""
    refused: bool = False
    reaches: bool = False


BACKGROUND = "in other threads or processes"


SPECIMENS = (
    Entry(SleepsInW, "sleeps while `w` is read", "converged", flag="read"),
    Entry(TrainsInW, "trains while `w` is read", "converged", flag="read"),
    Entry(TrainsInCounters, "trains while `counters` are read", "converged"),
    Entry(TrainsInDual, "trains in `dual()`", "converged", flag="read"),
    Entry(TrainsInStopped, "trains while `stopped` is read", "converged", flag="read"),
    Entry(LazyArray, "trains when the entries of `w` are used", "converged", flag="read"),
    Entry(WorksInStep, "works while `step` is read", "converged", flag="unaccounted"),
    Entry(TrainsInConvert, "trains in `convert()`", "converged", flag="conversion"),
    Entry(TrainsInThread, "trains in a thread", reason=BACKGROUND, refused=True),
    Entry(TrainsInChild, "trains in a forked child", reason=BACKGROUND, refused=True),
    Entry(TrainsInDaemon, "trains in a detached grandchild", reason=BACKGROUND, refused=True),
    Entry(PatchesTime, "replaces the functions of `time`", "converged"),
    Entry(PatchesClock, "stops the clock's own functions", reason="its clock showed", refused=True),
    Entry(StretchesThePass, "makes a pass over the rows seem long", "converged"),
    Entry(TrainsInEvaluation, "trains while P is evaluated", "converged", flag="unaccounted"),
    Entry(TrainsInRecording, "trains while the trace is written", "converged", flag="unaccounted"),
    Entry(
        ReadsLong,
        "makes evaluations long, and then its reads",
        "converged",
        flag="read; unaccounted",
    ),
    Entry(StatesItsTime, "states its own time, as if it were a program", "converged"),
    Entry(
        ResetsClock, "finds the clock and sets it back", reason="clock was set back", refused=True
    ),
    Entry(
        ForgesTrace, "adds points to its trace", reason="something else has written", refused=True
    ),
    Entry(ForgesEnd, "writes the end of its trace, and exits", reason="exited with code 0"),
    Entry(ForgesWeights, "writes a file of weights beside its trace", "converged"),
    Entry(KeepsWeights, "starts from weights that an earlier run has kept", "converged"),
    Entry(ReplacesLabels, "replaces the labels", reason="changed the problem", refused=True),
    Entry(ReplacesRows, "replaces the rows", reason="changed the problem", refused=True),
    Entry(ReplacesLambda, "replaces λ", reason="changed the problem", refused=True),
    Entry(CountsTooMuch, "counts 1e9 epochs", reason="passes over the rows in", refused=True),
    Entry(CountsNothing, "counts nothing", reason="without a presentation", refused=True),
    Entry(CountsBackwards, "counts backwards", reason="its counts decrease", refused=True),
    Entry(
        BoundTooHigh, "shows a lower bound above P*", reason="reports the lower bound", refused=True
    ),
    Entry(
        CostTooLow, "has P evaluated too low", reason="is below the certified bound", refused=True
    ),
    Entry(NotANumber, "shows weights that are nan", "diverged"),
    Entry(Infinite, "shows weights that are infinite", "diverged"),
    Entry(WrongShape, "shows a weight too few", reason="w has the shape"),
    Entry(WrongType, "shows complex weights", reason="not floating-point numbers"),
    Entry(ChangesWeights, "overwrites the weights it has shown", "converged"),
    Entry(RaisesExit, "raises `SystemExit`", reason="raised SystemExit"),
    Entry(RaisesInterrupt, "raises `KeyboardInterrupt`", reason="raised KeyboardInterrupt"),
    Entry(RaisesBase, "raises `BaseException`", reason="neither an error nor an exit"),
    Entry(Prints, "prints 300 MB on standard error", reason="out of paper"),
    Entry(Allocates, "allocates memory without end", "out_of_memory", "Unable to allocate"),
    Entry(Stays, "ignores SIGTERM and does not return", "time_limit", reason="killed after"),
    Entry(Leaves, "calls `os._exit(0)`", reason="exited with code 0"),
    Entry(ClosesFiles, "closes all files and lives on", reason="closed its pipe"),
    Entry(
        EditsRows, "edits the cached rows, and restores them", "interrupted", "were changed on disk"
    ),
    Entry(CountsBelowZero, "counts below zero", reason="or are negative", refused=True),
    Entry(Remarks, "makes a remark of 50 MB", "converged"),
    Entry(Complains, "raises an error of 50 MB", "out_of_memory", "no room"),
    Entry(BecomesAnother, "has its process execute another program", reason="exited with code 0"),
    Entry(CostUnderstated, "has P evaluated as the certified bound", "converged"),
    Entry(RewritesPoints, "has times written that are too short", "converged"),
    Entry(KillsParent, "kills its parent", "interrupted", "ended from outside (SIGKILL)"),
    Entry(BecomesAProgram, "takes the class of programs, which state their time", "converged"),
    Entry(CountsAstronomically, "counts 1e309 presentations", reason="more than 64 bits"),
    Entry(NeverAdvances, "does nothing", "max_steps", "advance has counted nothing"),
    Entry(RemarksInPieces, "makes a remark that is not text", "converged"),
    Entry(
        ReturnsTwice,
        "forks, and goes on in both processes",
        reason="something else has written",
        refused=True,
    ),
    Entry(
        PutsAPipe,
        "puts a pipe in place of its trace",
        reason="something else has written",
        refused=True,
    ),
    Entry(HobblesItsLauncher, "takes priority and limits from its launcher", "converged"),
    Entry(StopsItsLauncher, "freezes its launcher", "interrupted", "without a checkpoint"),
    Entry(
        UsesABias, "shows a bias where there is none", reason="the problem has none", refused=True
    ),
    Entry(ShowsOddArrays, "shows arrays of other classes and types", "converged"),
    Entry(RaisesByAlarm, "raises an exception by an alarm", reason="TimeoutError"),
    Entry(LinksTheTables, "puts links in place of the tables", "converged"),
    Entry(TrainsInLookup, "trains while `advance` is looked up", "converged"),
    Entry(LazyBound, "trains when its lower bound becomes a number", "converged", flag="read"),
    Entry(HangsAtExit, "does not let its process end", "converged"),
    Entry(
        LimitsItself,
        "has the system end it after a second",
        "interrupted",
        "ended from outside (SIGKILL)",
    ),
    Entry(
        OpensEverything,
        "opens as many files as it may",
        "interrupted",
        "could open no more files",
    ),
    Entry(ShowsNoScale, "shows that its steps are scaled by nan", "converged"),
    Entry(
        WritesLabels,
        "writes other labels into the mapped rows",
        reason="the rows cannot be written",
    ),
    Entry(
        TracesEvaluation,
        "trains while its tracer sees P evaluated",
        "converged",
        flag="unaccounted",
    ),
    Entry(TrainsInCollection, "trains while garbage is collected", "converged", flag="unaccounted"),
    Entry(WorksAtExit, "works when its process ends", "converged"),
    Entry(RaisesInRemark, "raises an error in `remark`", reason="no words left", reaches=True),
    Entry(RaisesInT0, "raises an error in `t0`", reason="no offset", reaches=True),
    Entry(WorksInRemark, "works in `remark`, after the run", "converged"),
    Entry(
        HangsInRemark,
        "does not come back from `remark`",
        "interrupted",
        reason="without a checkpoint",
    ),
    Entry(ShowsOddT0, "shows that t0 is nan", "converged"),
)


def table():
    """The table of docs/trust-results.md, as lines of Markdown."""
    yield "| solver | what it does | end of its run | words of the reason, or flag in `off_clock` |"
    yield "|---|---|---|---|"
    for entry in SPECIMENS:
        said = f"*{entry.reason}*" if entry.reason else entry.flag and f"`{entry.flag}`"
        yield f"| {entry.solver.name} | {entry.does} | `{entry.state}` | {said} |"
