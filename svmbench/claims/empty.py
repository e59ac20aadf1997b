"""Refuses claims that say nothing about the sweeps that should decide them.

A fault that the claim alone shows (no source, a bound that any result meets) is refused with its
keys, in `svmbench.claims.model`. A target that w = 0 already meets shows only in the runs; it is
reported when the claim is judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from svmbench.claims.model import Claim
from svmbench.claims.places import same
from svmbench.config.stop import LIMITS
from svmbench.config.sweep import SolverSpec, Sweep
from svmbench.errors import ConfigError


def check_claims(
    path: Path,
    claims: Sequence[Claim],
    sweeps: Mapping[str, Sweep],
    full: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Refuse claims that only repeat the stopping rule of the runs, or name what is not run."""
    for number, claim in enumerate(claims):
        if claim.kind != "untestable" and (fault := _unknown(claim, sweeps, full or {})):
            raise ConfigError(f"{path}: claims[{number}] ({claim.text.rstrip('.')!r}): {fault}")
        for name, sweep in sweeps.items():
            about = name in claim.where.given.get("sweep", (name,))
            if about and (fault := _stop_against_itself(claim, sweep)):
                raise ConfigError(
                    f"{path}: claims[{number}] ({claim.text.rstrip('.')!r}) says nothing: "
                    f"sweep {name!r} {fault}"
                )


def _unknown(
    claim: Claim, sweeps: Mapping[str, Sweep], full: Mapping[str, Mapping[str, Any]]
) -> str:
    """A name in the claim that none of its sweeps has, and what to do; else empty."""
    place = claim.where.given
    for name in place.get("sweep", ()):
        if name not in sweeps:
            return f"there is no sweep {name!r}; correct 'where'"
    chosen = [name for name in sweeps if name in place.get("sweep", (name,))]
    datasets = {data.label for name in chosen for data in sweeps[name].datasets}
    for written in (each for name in chosen for each in _listed(full, name)):
        keys = written if isinstance(written, dict) else {"name": written}
        datasets.add(str(keys.get("label", keys.get("name"))))
    labels = {solver.label for name in chosen for solver in sweeps[name].solvers}
    named = (*place.get("dataset", ()), *filter(None, (claim.over_dataset,)), *claim.least_rows)
    for name in named:
        if name not in datasets:
            return f"no sweep has the data set {name!r}; write the label of one"
    for name in claim.labels:
        if name not in labels:
            return f"no sweep runs {name!r}; write the label of a solver"
    return _unknown_end(claim, [sweeps[name] for name in chosen])


def _listed(full: Mapping[str, Mapping[str, Any]], name: str) -> list[Any]:
    """The data sets that a sweep has at full published size, as written, if they differ."""
    found = full.get(name, {}).get("datasets")
    return found if isinstance(found, list) else [found] if isinstance(found, str) else []


def _unknown_end(claim: Claim, sweeps: Sequence[Sweep]) -> str:
    """A value at which a change begins or ends that is not that of one sweep for each data set."""
    if claim.kind != "ratio":
        return ""
    wanted = claim.where.given.get("dataset")
    for end in claim.between or ():
        found = [
            data.label
            for sweep in sweeps
            for data in sweep.datasets
            for value in (sweep.C if claim.along == "C" else sweep.lambdas) or ()
            if same(value, end)
            and (wanted is None or data.label in wanted)
            and set(claim.labels) <= {solver.label for solver in sweep.solvers}
        ]
        place = f"{claim.sign_along} = {end:g}"
        if not found:
            return f"no sweep runs all of its solvers at {place}; correct 'between'"
        if len(set(found)) < len(found):
            return f"two sweeps run its solvers at {place}; name one in 'where'"
    return ""


def _stop_against_itself(claim: Claim, sweep: Sweep) -> str:
    """How the sweep's stopping rule makes the claim true for every run that ends; else empty."""
    if claim.kind != "reaches" or claim.measure is None:
        return ""
    stop, asked = sweep.stop, claim.asked
    unbounded = not {*LIMITS, "time_limit"} & stop.model_fields_set
    tightest = min(stop.accuracy, default=math.nan)
    most = math.inf if claim.at_most is None else claim.at_most
    reached = asked.at is not None and asked.at >= tightest
    if unbounded and (reached or (asked.name == "accuracy" and most >= tightest)):
        return (
            f"runs until the accuracy {tightest:g} is reached; give its 'stop' a limit, such as "
            "max_epochs"
        )
    if asked.name == "gap":
        solvers = [solver for solver in sweep.solvers if solver.label in claim.solvers]
        for rule in (_gap_rule(solver, sweep) for solver in solvers):
            if rule is not None and most >= rule:
                return (
                    f"stops by the gap {rule:g} that is claimed; claim the certified accuracy "
                    "instead"
                )
    return ""


def _gap_rule(solver: SolverSpec, sweep: Sweep) -> float | None:
    """The gap at which a solver's runs stop, if they stop by one."""
    if sweep.stop.gap is not None:
        return float(sweep.stop.gap)
    epsilon = getattr(solver.parameters, "epsilon", None)
    return float(epsilon) if sweep.stop.own and epsilon is not None else None
