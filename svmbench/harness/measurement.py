"""One run: a solver is trained from checkpoint to checkpoint, evaluated, and held to its limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.derived import take_rows
from svmbench.harness import system
from svmbench.harness.accounts import Accounts, hidden_work
from svmbench.harness.checkpoints import CHECKPOINTS, iteration_checkpoints
from svmbench.harness.clock import Clock, Stopwatch
from svmbench.harness.trace import TraceWriter
from svmbench.problem import Evaluation, Problem, accuracy_of, count_errors, relative_gap
from svmbench.proof import proven_primal
from svmbench.records.bounds import lies_below
from svmbench.solvers.base import Solver
from svmbench.solvers.program import ForeignProgram

#: Relative error allowed in a solver's own lower bound: its rounding, and in single precision
#: the drift of its weights from its dual variables.
BOUND_SLACK = {"float64": 1e-9, "float32": 1e-3}

#: Share of P - D_ref from which its rounding counts, as an upper bound of P in its place.
ROUNDED_SHARE = 0.01

#: Features up to which the trace records the final weights: plots of the plane draw them as a line.
DRAWN_FEATURES = 16


class Tally(NamedTuple):
    """A solver's own counts, and whether it has come to an end."""

    presentations: int
    updates: int
    nonzeros: int
    visits: int
    stopped: bool | None
    exhausted: bool


#: Those before the first checkpoint.
NOTHING = Tally(0, 0, 0, 0, None, False)


def counts_of(solver: Solver) -> Tally:
    """A solver's counts as plain numbers, which do not change as it goes on."""
    counters, stopped = solver.counters, solver.stopped
    return Tally(
        int(counters.presentations),
        int(counters.updates),
        int(counters.nonzeros),
        int(solver.visits()),
        None if stopped is None else bool(stopped),
        bool(solver.exhausted),
    )


def weights_of(solver: Solver, n_features: int) -> tuple[Array, float]:
    """A solver's weights and bias, if they are one floating-point number for each feature."""
    # Not a subclass of ndarray, which could compute its entries when they are used.
    given = np.asarray(solver.w)
    if given.dtype.kind != "f":
        raise TypeError(f"w holds {given.dtype}, not floating-point numbers")
    if given.shape != (n_features,):
        raise ValueError(f"w has the shape {given.shape}, not ({n_features},)")
    return given, float(solver.bias)


class Certificate(NamedTuple):
    """A solver's weights and bias at one moment, their value, its lower bound and its counts."""

    w: FloatArray
    bias: float
    training: Evaluation
    dual: float | None
    counts: Tally


@dataclass(frozen=True)
class Terms:
    """What a run is to do, and what its results are held against."""

    problem: Problem
    test: Dataset | None
    stop: dict[str, Any]  # the sweep's targets and limits, as in `svmbench.config.Stop`
    # reference_dual, reference_primal: D_ref <= P* <= P_ref, certified by the harness
    reference_dual: float
    reference_primal: float
    threads: int = 1  # threads that the solver may use


def _warm_up(solver: Solver, problem: Problem) -> None:
    """Let another instance of a solver warm up on a row of each class."""
    if type(solver).warm_up is Solver.warm_up:
        return
    labels = problem.data.labels
    rows = take_rows(problem.data, np.sort([int(labels.argmax()), int(labels.argmin())]))
    other = type(solver)(solver.parameters)
    other.load()
    other.warm_up(replace(problem, data=rows, row_weights=None))


class Measurement:
    """Trains a solver from checkpoint to checkpoint, evaluates it and enforces the limits.

    - ``conversion``: seconds that converting the rows took; None until they are converted, which a
      run of the process before may have done.
    - ``loading``: seconds of processor time that importing the solver took.
    - ``taking_over``: seconds that it took to take over the rows of the run before, which are
      neither training nor conversion.
    - ``reason``: why the run ended as it did, if its state does not say everything.
    - ``note``: why the run ended as it did, where nothing is wrong with what it has shown.
    - ``refused``: whether the run has `failed` because what it shows cannot be true: it reached
      nothing.
    - ``shown``: what the solver showed at the last checkpoint.
    """

    def __init__(self, solver: Solver, terms: Terms) -> None:
        self.solver, self.terms = solver, terms
        self.problem, self.stop = terms.problem, terms.stop
        self.conversion: float | None = None
        self.loading = self.taking_over = 0.0
        self.reason = self.note = ""
        self.refused = False
        self.clock = Clock()
        self.shown: Certificate | None = None
        if isinstance(solver, ForeignProgram):
            solver.seconds = self.stop["time_limit"]
        self._converting = Clock()
        self._accounts = Accounts()
        # Reads, copies and evaluations for a stop by the own gap are on the clock.
        self._on_clock = Stopwatch(), Stopwatch()
        self._evaluations = 0
        self._activity: dict[str, float] = {}
        stop, m = self.stop, self.problem.data.n_samples
        self._most = self._presentations(stop["max_epochs"])
        self._most_updates = math.inf if stop["max_updates"] is None else stop["max_updates"] * m
        self._targets = CHECKPOINTS[stop.get("checkpoints", "tenths")](m, solver.cycle)
        self._iteration_targets = iteration_checkpoints()
        self._target, self._iteration_target = next(self._targets), next(self._iteration_targets)
        self._iterations, self._tally = 0, NOTHING  # the counts as they were read last
        self._judged_at_end = solver.horizon != "none" and not solver.anytime
        solver.halts = bool(stop["own"]) or (self._judged_at_end and solver.horizon == "accuracy")
        self._horizon = math.inf
        if solver.horizon == "steps":
            self._horizon = self._presentations(
                getattr(solver.parameters, solver.horizon_parameter)
            )

    def run(
        self,
        seed: int,
        trace: TraceWriter | list[dict[str, Any]],
        settle: Callable[[], object] = lambda: None,
        begin: Callable[[], object] = lambda: None,
    ) -> str:
        """Execute the run, append its points to the trace, and return its end state."""
        _ = self.problem.data.rows  # which checks them: not on the clock
        _warm_up(self.solver, self.problem)
        begin()
        begun = system.now()
        self._accounts = Accounts()
        try:
            state = self._train(seed, trace)
        finally:
            settle()
            times = self._accounts.close(self.clock, self._converting, self.terms.threads)
            times["unaccounted_seconds"] += self.taking_over
            self._activity = system.since(begun) | times
        trained = self.clock.wall / 1e9
        if state != "failed":
            self.reason = hidden_work(times, trained)
        self.refused = bool(self.reason)
        return "failed" if self.refused else state

    def _train(self, seed: int, trace: TraceWriter | list[dict[str, Any]]) -> str:
        if self.conversion is None:
            with self._converting.running():
                self.solver.convert(self.problem)
            self.conversion = self._converting.wall / 1e9
        with self.clock.running():
            self.solver.start(self.problem, seed)
        setup = {"setup_wall": self.clock.wall / 1e9, "conversion_wall": self.conversion}
        state = self._judge(self._certify(), trace, setup)
        while state is None:
            certificate = self._advance()
            if self._judged_at_end and not self._is_over():
                continue  # intermediate weights are not the result that it aims for
            state = self._judge(certificate or self._certify(), trace)
        return state

    def _judge(
        self,
        shown: Certificate,
        trace: TraceWriter | list[dict[str, Any]],
        facts: dict[str, float] | None = None,
    ) -> str | None:
        """Record a checkpoint; return the end state if the run ends there, else None."""
        before = self.shown.counts if self.shown else NOTHING
        self._accounts.charge(self.clock)
        with self._accounts.recording.running():
            point = self._evaluate(shown)
            if any(now < then for now, then in zip(shown.counts[:4], before[:4], strict=True)):
                self.reason = "its counts decrease, or are negative"
            idle = self.shown is not None and shown.counts[:4] == before[:4]
            self.shown = shown
            trace.append(point | (facts or {}))
        state = self._verdict(point, shown)
        if state is None and idle and self.solver.step == "presentation":
            # Each further checkpoint would be this one again, and the clock would hardly run.
            self.note = "advance has counted nothing since the checkpoint before"
            return "max_steps"
        return state

    def _is_over(self) -> bool:
        counts = self._counts()
        return self._at_horizon(counts) or self._limit(counts) is not None

    def _counts(self) -> Tally:
        with self._accounts.reading.running():
            self._tally = counts_of(self.solver)
        return self._tally

    def _presentations(self, epochs: float | None) -> float:
        # Rounded, so that a limit of whole steps, written in epochs, is not one row more.
        wanted = math.inf if epochs is None else epochs * self.problem.data.n_samples
        return wanted if math.isinf(wanted) else math.ceil(round(wanted, 6))

    def _advance(self) -> Certificate | None:
        """Train up to the next checkpoint, and certify if the run stops by the solver's gap."""
        while self._target <= self._tally.visits:
            self._target = next(self._targets)  # the last step went past it
        while self._iteration_target <= self._iterations:
            self._iteration_target = next(self._iteration_targets)
        if self.solver.step == "presentation":
            with self.clock.running():
                self._reach(self._target)
        else:
            self._iterate(int(min(self._target, self._most, self._horizon)))
        if self.stop["gap"] is None:
            return None
        with self.clock.running():
            return self._certify(self._on_clock)

    def _reach(self, target: int) -> None:
        """Advance until so many rows are visited, or to a limit of presentations."""
        solver = self.solver
        stopped = solver.stopped
        while True:
            before = solver.counters.presentations
            left = min(self._most, self._horizon) - before
            steps = int(min(solver.steps_to(target), left))
            if steps <= 0:
                return
            solver.advance(steps)
            if solver.halts and solver.stopped and not stopped:
                return
            if solver.counters.presentations <= before:  # an external program trains only once
                return

    def _iterate(self, target: int) -> None:
        """Iterate up to a checkpoint; each iteration may meet any condition that ends the run."""
        counts = self._tally
        while True:
            stopped = counts.stopped
            before = self.clock.wall, self.clock.cpu, self.clock.thread
            with self.clock.running():
                self.solver.advance(1)
            if isinstance(self.solver, ForeignProgram):
                self._count_program(*before, self.solver)
            self._iterations += 1
            counts = self._counts()
            if (
                counts.presentations >= target
                or self._iterations >= self._iteration_target
                or (self.solver.halts and counts.stopped and not stopped)
                or self._limit(counts)
            ):
                return

    def _count_program(self, wall: int, cpu: int, thread: int, program: ForeignProgram) -> None:
        """Count a program's own time in place of that of the call that ran it."""
        spent, program.spent = program.spent, None
        if spent is None:
            return
        aside = spent.aside + self.clock.thread - thread
        self._accounts.except_for(self.clock.wall - wall - spent.wall, aside)
        self.clock.wall, self.clock.cpu = wall + spent.wall, cpu + spent.cpu

    def _certify(self, watches: tuple[Stopwatch, Stopwatch] | None = None) -> Certificate:
        reading, evaluating = watches or (self._accounts.reading, self._accounts.evaluating)
        with reading.running():
            shown, bias = weights_of(self.solver, self.problem.data.n_features)
            dual, self._tally = self.solver.dual(), counts_of(self.solver)
            dual = None if dual is None else float(dual)
        with evaluating.running():
            w = np.array(shown, dtype=np.float64, order="C")  # the solver may change its own
            training = self.problem.evaluate(w, bias)
        self._evaluations += 1
        return Certificate(w, bias, training, dual, self._tally)

    def closing(self) -> dict[str, Any]:
        """Facts for the run's last line, in addition to its state."""
        evaluating = self._accounts.evaluating.wall + self._on_clock[1].wall
        facts: dict[str, Any] = {
            "reason": self.reason or self.note,
            "evaluation_seconds": evaluating / 1e9 / max(1, self._evaluations),
            "remark": str(self.solver.remark),
            **({} if (t0 := self.solver.t0) is None else {"t0": float(t0)}),
            **self._activity,
            "load_cpu_seconds": self.loading,
            **({"refused": True} if self.refused else {}),
        }
        if self.shown and self.shown.w.size <= DRAWN_FEATURES and np.isfinite(self.shown.w).all():
            facts |= {"weights": self.shown.w.tolist(), "bias": self.shown.bias}
        return facts

    def _evaluate(self, shown: Certificate) -> dict[str, Any]:
        w, bias, training, dual, counts = shown
        if not self.problem.admits(w) and np.isfinite(w).all():
            self.reason = f"leaves the ball: ||w||_1 = {np.abs(w).sum():g}"
        if bias != 0.0 and self.problem.bias == "none":
            self.reason = f"shows the bias {bias:g}, and the problem has none"
        primal = training.primal if np.isfinite(w).all() else math.nan
        bound, distance = self.terms.reference_dual, self.stop.get("distance", "relative")
        accuracy = math.nan
        if self.problem.is_below(bound, primal, w, bias):
            self.reason = f"P = {primal!r} is below the certified bound {bound!r}"
        else:
            # P decides whether a target is met: it is not to be the smaller for its rounding.
            away = max(0.0, primal - bound)
            small = ROUNDED_SHARE * away
            if all(self.problem.rounding(primal, at, bias) > small for at in (None, w)):
                primal = proven_primal(self.problem, w, bias, longer=False).primal
            below = lies_below(primal, bound)
            accuracy = 0.0 if below else accuracy_of(primal, bound, distance)
        m, test = self.problem.data.n_samples, self.terms.test
        return {
            "kind": "point",
            "presentations": counts.presentations,
            "visits": counts.visits,
            "updates": counts.updates,
            "nonzeros": counts.nonzeros,
            "wall": self.clock.wall / 1e9,
            "cpu": self.clock.cpu / 1e9,
            "switches": self.clock.switches,
            "primal": primal,
            "accuracy": accuracy,
            "dual": dual,
            "gap": None if dual is None else relative_gap(primal, dual),
            "train_error": training.errors / m,
            "test_error": count_errors(test, w, bias) / test.n_samples if test else None,
            "stopped": counts.stopped,
        }

    def _verdict(self, point: dict[str, Any], shown: Certificate) -> str | None:
        """The end state if the run ends at this point, else None."""
        if self.reason:
            return "failed"
        if not math.isfinite(point["primal"]):
            return "diverged"
        if self._overclaims(point["dual"]):
            upper = self.terms.reference_primal
            self.reason = f"reports the lower bound {point['dual']!r}, but P* <= {upper!r}"
            return "failed"
        counts = shown.counts
        if self._at_horizon(counts) if self._judged_at_end else self._satisfied(point):
            if counts.presentations == 0 and shown.w.any():
                self.reason = "reaches its targets without a presentation of any row"
                return "failed"
            return "converged"
        return self._limit(counts)

    def _limit(self, counts: Tally) -> str | None:
        """The end state if a limit has been reached, else None."""
        if counts.presentations >= self._most or counts.updates >= self._most_updates:
            return "max_steps"
        if counts.exhausted:
            return "max_steps"
        return "time_limit" if self.clock.wall >= self.stop["time_limit"] * 1e9 else None

    def _at_horizon(self, counts: Tally) -> bool:
        """Whether a solver that was given a horizon has reached it."""
        if self.solver.horizon == "steps":
            return counts.presentations >= self._horizon
        return counts.stopped is True

    def _overclaims(self, dual: float | None) -> bool:
        """Whether the solver's lower bound lies above a certified upper bound."""
        slack = BOUND_SLACK[self.solver.parameters.precision]
        return dual is not None and dual > self.terms.reference_primal * (1.0 + slack)

    def _satisfied(self, point: dict[str, Any]) -> bool:
        """Whether all targets are met that were set and that apply to the solver."""
        targets = []
        if self.stop["accuracy"]:
            targets.append(point["accuracy"] <= min(self.stop["accuracy"]))
        if self.stop["gap"] is not None and point["gap"] is not None:
            targets.append(point["gap"] <= self.stop["gap"])
        if self.stop["own"] and point["stopped"] is not None:
            targets.append(point["stopped"])
        return bool(targets) and all(targets)
