"""Test every solver on random problems with known optima.

    python scripts/trust/large.py --problems 200 --seed 1

The script prints a table of the families of solvers, and each violation with the seed of its
problem. Violations are:

- an exception, a hang (the process ends and reports where), weights with nan but a finite P;
- P(w), as evaluated by svmbench, below the known P*, or different from extended precision;
- a lower bound above P* (with the slack that the harness allows for the precision);
- an own stopping rule that promises an accuracy, and holds before it is reached;
- a reference whose interval does not contain P*.

The table also counts solvers that are not within a hundredth of P* after their steps. This is no
violation, because some of these problems need more steps. It also counts refusals with a reason (an
error of svmbench).
"""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import click
import numpy as np
from known_optima import Known, known_problem

from svmbench.errors import SvmbenchError
from svmbench.harness.measurement import BOUND_SLACK
from svmbench.names import BIASES, CONSTRAINTS, HINGES
from svmbench.problem import relative_gap
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Precision, Solver
from svmbench.solvers.checked import checked, precisions_of
from svmbench.solvers.registry import solvers
from svmbench.verify.extended import Facts, dual, evaluate

#: Relative accuracy that a solver should reach.
ACCURACY = 0.01

#: Most epochs, iterations and seconds for it.
EPOCHS, ITERATIONS, SECONDS = 1000, 200, 0.5

#: Seconds of processor time without an answer that count as a hang.
HANG = 120.0

#: Parameters for which own stopping rules promise a relative accuracy, and this accuracy.
PROMISES = {
    "auto": ({"tolerance": 1e-6}, 1e-6),
    "newton": ({"tolerance": 1e-6}, 1e-6),
    "ocas": ({"tolerance": 0.01}, 0.01 / 0.99),
    "sgd-s": ({"epsilon": 0.01}, 0.01),
    "sgd-m": ({"epsilon": 0.01}, 0.01),
    "svmperf": ({"epsilon": 0.01}, 0.01),
}

REFERENCE_GAP, REFERENCE_SECONDS = 1e-6, 2.0


class Outcome(NamedTuple):
    """Outcome of one training, or of one reference."""

    family: str
    name: str
    state: str  # converged, short, diverged, refused
    violations: tuple[str, ...]


def trainings(known: Known) -> Iterator[tuple[type[Solver], Precision]]:
    """Every solver of the registry that supports the problem, in each of its precisions."""
    problem = known.problem
    for solver in solvers().values():
        if (
            not solver.foreign
            and problem.loss.name in solver.losses
            and problem.bias in solver.biases
            and problem.constraint in solver.constraints
        ):
            for precision in precisions_of(solver.schema):
                yield solver, precision


def family(solver: type[Solver]) -> str:
    """The folder of a solver's file."""
    return solver.__module__.split(".")[2].replace("_", " ")


def train(known: Known, solver: type[Solver], precision: Precision, seconds: float) -> Outcome:
    """Run one training, and check it."""
    name = f"{solver.name} {precision}"
    given, promised = PROMISES.get(solver.name, ({}, math.inf))
    try:
        run = solver(checked(solver.schema, {"precision": precision, **given}))
        run.halts = promised < math.inf
        run.start(known.problem, seed=1)
        state, violations = _watched(known, run, promised, seconds)
    except SvmbenchError:
        return Outcome(family(solver), name, "refused", ())
    except (ArithmeticError, ValueError, RuntimeError, IndexError, AssertionError) as error:
        return Outcome(family(solver), name, "short", (f"{type(error).__name__}: {error}",))
    return Outcome(family(solver), name, state, tuple(violations))


def _watched(known: Known, run: Solver, promised: float, seconds: float) -> tuple[str, list[str]]:
    problem, violations = known.problem, list[str]()
    m, begun, made = problem.data.n_samples, time.process_time(), 0
    most = EPOCHS * max(m, 50) if run.step == "presentation" else ITERATIONS
    while True:
        w, bias = run.w, run.bias
        evaluation = problem.evaluate(w, bias)
        shown = run.dual()
        if not np.isfinite(w).all():
            if math.isfinite(evaluation.primal):
                violations.append(f"P = {evaluation.primal!r} of weights that are no numbers")
            return "diverged", violations
        if shown is not None:
            slack = BOUND_SLACK[run.parameters.precision] * abs(known.upper) + known.rounding
            if not shown <= known.upper + slack:
                violations.append(f"lower bound {shown!r} above P* <= {known.upper!r}")
        accuracy = (evaluation.primal - known.lower) / known.lower
        stopped = run.stopped is True
        if stopped and accuracy > promised * (1.0 + 1e-9) + known.gap:
            violations.append(f"stops at {accuracy:.3g}, promises {promised:g}")
        if violations or stopped or accuracy <= ACCURACY or made >= most or run.exhausted:
            break
        if time.process_time() - begun > seconds:
            break
        steps = min(most - made, max(1, made // 4, m if run.step == "presentation" else 1))
        run.advance(steps)
        made += steps
    found = evaluate(problem.data, Facts.of(problem.facts()), w, bias).primal
    recorded = evaluation.primal if math.isfinite(evaluation.primal) else None
    if not found.agrees(recorded):
        violations.append(f"P = {evaluation.primal!r}, in extended precision {found.value!r}")
    if evaluation.primal < known.lower - known.rounding - found.rounding:
        violations.append(f"P = {evaluation.primal!r} below P* >= {known.lower!r}")
    return "converged" if accuracy <= ACCURACY else "short", violations


def reference(known: Known) -> Outcome:
    """Compute the problem's reference, and check that its interval contains the known optimum."""
    problem = known.problem
    try:
        found = certified_optimum(problem, REFERENCE_GAP, REFERENCE_SECONDS)
    except (ArithmeticError, ValueError, RuntimeError, IndexError, SvmbenchError) as error:
        return Outcome("references", "reference", "short", (f"{type(error).__name__}: {error}",))
    facts, violations = Facts.of(problem.facts()), []
    least = dual(problem.data, facts, found.alpha)
    most = evaluate(problem.data, facts, found.w, found.bias).primal
    if found.dual > known.upper + known.rounding + least.rounding:
        violations.append(f"D_ref = {found.dual!r} above P* <= {known.upper!r}")
    if found.primal < known.lower - known.rounding - most.rounding:
        violations.append(f"P_ref = {found.primal!r} below P* >= {known.lower!r}")
    computed = problem.dual(found.alpha)
    if not least.agrees(computed):
        violations.append(f"D = {computed!r}, in extended precision {least.value!r}")
    if found.dual > least.value + least.rounding:
        violations.append(f"D_ref = {found.dual!r} above D = {least.value!r} of its alpha")
    if not most.agrees(found.primal):
        violations.append(f"P_ref = {found.primal!r}, in extended precision {most.value!r}")
    reached = relative_gap(found.primal, found.dual) <= max(REFERENCE_GAP, known.gap)
    state = "converged" if reached else "short"
    return Outcome("references", "reference", state, tuple(violations))


def drawn(seed: int, largest: int) -> Known:
    """Random problem number ``seed``."""
    rng = np.random.default_rng([seed, 77])
    loss = str(rng.choice(HINGES, p=[0.5, 0.25, 0.25]))
    bias = str(rng.choice(BIASES, p=[0.65, 0.35]))
    constraint = str(rng.choice(CONSTRAINTS, p=[0.7, 0.3]))
    return known_problem(seed, loss, bias, constraint, largest=largest)


def campaign(
    seeds: range, largest: int = 2000, seconds: float = SECONDS, only: tuple[str, ...] = ()
) -> Iterator[tuple[int, Known, Outcome]]:
    """Run every training on every problem, with the reference last; yield each outcome."""
    for seed in seeds:
        known = drawn(seed, largest)
        for solver, precision in trainings(known):
            if not only or solver.name in only:
                yield seed, known, train(known, solver, precision, seconds)
        if not only or "reference" in only:
            yield seed, known, reference(known)


def table(outcomes: list[Outcome]) -> str:
    """Table of the families' counts in Markdown."""
    families = sorted({outcome.family for outcome in outcomes})
    lines = [
        "| family | trainings | violations | not within 1 % | diverged | refused |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in [*families, "all"]:
        of_family = [o for o in outcomes if name in ("all", o.family)]
        states = Counter(outcome.state for outcome in of_family)
        broken = sum(bool(outcome.violations) for outcome in of_family)
        lines.append(
            f"| {name} | {len(of_family)} | {broken} | {states['short']} | "
            f"{states['diverged']} | {states['refused']} |"
        )
    return "\n".join(lines)


@click.command()
@click.option("--problems", default=200, show_default=True, help="Random problems.")
@click.option("--seed", default=0, show_default=True, help="Number of the first problem.")
@click.option("--largest", default=2000, show_default=True, help="Most rows and features.")
@click.option("--seconds", default=SECONDS, show_default=True, help="Time of one training.")
@click.option("--only", multiple=True, help="A solver, or 'reference'. May be repeated.")
@click.option("--details", is_flag=True, help="Also print the trainings that are not within 1 %.")
@click.option("--smoke", is_flag=True, help="Three small problems.")
def main(
    problems: int,
    seed: int,
    largest: int,
    seconds: float,
    only: tuple[str, ...],
    details: bool,
    smoke: bool,
) -> None:
    """Test every solver on random problems with known optima."""
    if smoke:
        problems, largest, seconds = 3, 40, 0.05
    faulthandler.register(signal.SIGPROF, file=2, chain=True)
    outcomes, broken = [], 0
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SVMBENCH_CACHE"] = cache
        for number, known, outcome in campaign(
            range(seed, seed + problems), largest, seconds, only
        ):
            signal.setitimer(signal.ITIMER_PROF, HANG)
            outcomes.append(outcome)
            for violation in outcome.violations:
                broken += 1
                click.echo(f"seed {number}, {outcome.name}: {violation} ({known.words})")
            if details and outcome.state != "converged" and not outcome.violations:
                click.echo(f"seed {number}, {outcome.name}: {outcome.state} ({known.words})")
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    click.echo(table(outcomes))
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    main()
