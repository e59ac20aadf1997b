"""Trains a random sample of the recorded runs again, and compares P at each recorded count.

A run's seed, problem, solver and parameters decide all of its weights. Exchanged solvers, invented
checkpoints and chosen repeats do not come out again, whatever hashes say.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.harness.environment import fingerprint
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.trace import Trace, read_whole
from svmbench.records.spelling import counted
from svmbench.solvers.checked import checked
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver
from svmbench.verify.recorded import ContradictionError, MissingError, Recorded, Verification

#: Relative deviation of P that another build or processor may cause: its sums round differently,
#: which decides about rows next to the margin.
ELSEWHERE = 1e-3

#: A replay may take this multiple of the recorded limit, and so many seconds.
SLOWER, AT_LEAST = 4.0, 10.0

#: Ends of runs that have trained as far as they say.
_TRAINED = ("converged", "max_steps", "time_limit", "diverged")


def replay(
    folder: Path,
    number: int,
    read: Callable[[dict[str, Any]], Recorded],
    rng: random.Random,
) -> Iterator[Verification]:
    """Replay a random sample of the runs of a folder."""
    traces = {path.stem: read_whole(path) for path in sorted((folder / "runs").glob("*.jsonl"))}
    names = [
        name
        for name, trace in traces.items()
        if trace is not None and trace.points and trace.state in _TRAINED
    ]
    for name in sorted(rng.sample(names, min(number, len(names)))):
        trace = traces[name]
        assert trace is not None
        try:
            _require_the_same(trace, read(trace.header))
        except MissingError as error:
            yield Verification("replay", name, "not verified", str(error))
        except ContradictionError as error:
            yield Verification("replay", name, "does not hold", str(error))
        else:
            yield Verification("replay", name, "holds")


def found_with(results: Sequence[Verification], runs: int) -> str:
    """What the replayed ones of so many runs say about the others, in a line; empty without any."""
    done = sum(result.verdict == "holds" for result in results if result.kind == "replay")
    if not done:
        return ""
    said = f"{done} of {counted(runs, 'run')} came out again"
    if done >= runs:
        return said
    changed = math.ceil(runs / 10)
    found = 100.0 * (1.0 - math.comb(runs - changed, done) / math.comb(runs, done))
    chance = f"{found:.0f} %" if found < 99.5 else "more than 99 %"
    return f"{said}: if one run in ten were changed, it would be found with a chance of {chance}"


def _require_the_same(trace: Trace, run: Recorded) -> None:
    """Train a run again, and compare P at each recorded count."""
    solver_class = find_solver(run.solver.name)
    if issubclass(solver_class, ForeignProgram) or solver_class.missing():
        raise MissingError("its program is not svmbench's; run it yourself")
    solver = solver_class(checked(solver_class.schema, run.header["parameters"]))
    last = trace.points[-1]
    limit = SLOWER * run.header["time_limit"] + AT_LEAST
    stop = run.stop.model_dump(mode="json", exclude={"max_steps"}) | {"time_limit": limit}
    m = run.instance.problem.data.n_samples
    if trace.state == "time_limit":
        stop["max_epochs"] = last["presentations"] / m
    else:
        stop["max_epochs"] = run.max_epochs
    solver.load()
    reference = run.instance.reference
    terms = Terms(
        run.instance.problem,
        run.instance.test,
        stop,
        reference.dual,
        math.inf if reference.primal is None else reference.primal,
        run.threads,
    )
    points: list[dict[str, Any]] = []
    with threadpool_limits(limits=run.threads, user_api="blas"):  # as in the run's own process
        Measurement(solver, terms).run(run.header["seed"], points)
    same_build = solver_class.build_with(run.solver.parameters) == run.header["build"]
    exact = same_build and run.header["machine"] == fingerprint()
    again = {_counts(point): point["primal"] for point in points}
    for point in trace.points:
        if _counts(point) not in again:
            raise ContradictionError(
                f"it has a checkpoint at {point['presentations']:,} rows that does not come out "
                "again"
            )
        found, recorded = again[_counts(point)], point["primal"]
        if not _agree(found, recorded, 0.0 if exact else ELSEWHERE):
            raise ContradictionError(
                f"P after {point['presentations']:,} rows is {found!r}, and it says {recorded!r}"
            )


def _counts(point: dict[str, Any]) -> tuple[int, int]:
    return point["presentations"], point["visits"]


def _agree(found: float | None, recorded: float | None, allowed: float) -> bool:
    if found is None or recorded is None:
        return found is recorded
    return abs(found - recorded) <= allowed * abs(found)
