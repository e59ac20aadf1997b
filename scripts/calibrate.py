"""Calibrate stand-ins: fit parameters of their shapes to published figures, and record the result.

``python scripts/calibrate.py CCAT`` generates the stand-in of CCAT, certifies the optimum of each
of its targets (``targets:`` in ``datasets/CCAT.yaml``), and prints published and reached figures.
``--fit topics.share noise`` first changes these parameters of the shape until the figures meet, by
Gauss-Newton steps in their logarithms; the derivatives come from the stand-in at ``--slope-scale``,
the figures from the one at ``--scale``. ``--record`` writes the parameters and the figures into the
file. Every figure is that of a certified optimum (`svmbench.reference.optimum`).
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from svmbench.bundled import bundled
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.config.sweep import LossSpec
from svmbench.data.catalogue import Entry, entry
from svmbench.data.dataset import Dataset
from svmbench.data.shape import (
    ERROR_TOLERANCE,
    PRIMAL_TOLERANCE,
    CalibrationTarget,
    Reached,
    Shape,
)
from svmbench.data.synthetic import GENERATOR_VERSION, stand_in
from svmbench.data.transforms import apply_transforms
from svmbench.data.transforms.step import Transform
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum

#: Relative gap of the optima, and seconds to certify one.
GAP, TIME_LIMIT = 1e-3, 120.0

#: Relative change of a parameter for its derivative, and the largest change in one step.
STEP, LONGEST = 0.1, 0.7

#: Tolerances within which the figures are near enough.
ENOUGH = 0.4


def main() -> None:
    """Read the command line, fit, print and record."""
    options = _parser().parse_args()
    found = entry(options.name)
    if found.stand_in is None or not found.targets:
        raise SystemExit(f"{options.name}: its description has no stand-in or no targets")
    shape = found.stand_in
    for text in options.set:
        name, _, value = text.partition("=")
        shape = changed(shape, {name: float(value)})
    if options.fit:
        shape = fit(found, shape, options)
    reached = reach(found, shape, options.scale)
    show(found.targets, reached)
    if options.record:
        record(found, shape, [*options.fit, *(text.partition("=")[0] for text in options.set)])
        record_reached(found, reached)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", help="a data set of the catalogue")
    parser.add_argument("--fit", nargs="+", default=[], metavar="PARAMETER")
    parser.add_argument("--set", nargs="+", default=[], metavar="PARAMETER=VALUE")
    parser.add_argument("--scale", type=float, default=1.0, help="of the stand-in that is judged")
    parser.add_argument("--slope-scale", type=float, help="of the one that gives derivatives")
    parser.add_argument("--steps", type=int, default=4, help="Gauss-Newton steps at most")
    parser.add_argument("--record", action="store_true", help="write the result into the file")
    return parser


def changed(shape: Shape, values: dict[str, float]) -> Shape:
    """A shape with other values of parameters, such as ``topics.share``."""
    facts = shape.model_dump(exclude_none=True)
    for name, value in values.items():
        *parents, last = name.split(".")
        place = facts
        for parent in parents:
            place = place[parent]
        place[last] = round(value) if isinstance(place.get(last), int) else value
    return Shape.model_validate(facts)


def value_of(shape: Shape, name: str) -> float:
    """The value of a parameter."""
    value: Any = shape
    for part in name.split("."):
        value = getattr(value, part)
    return float(value)


def reach(found: Entry, shape: Shape, scale: float) -> list[Reached]:
    """The figures that a stand-in reaches, one per target."""
    train, test = stand_in(shape, found.name, scale=scale)
    results = []
    for target in found.targets:
        rows, tests = apply_transforms(train, test, _chain(found, target), name=found.name)
        loss = LossSpec.model_validate({"name": target.loss}).loss
        optimum = certified_optimum(Problem(rows, target.lam, loss), GAP, TIME_LIMIT)
        if optimum.gap > GAP:
            raise SystemExit(
                f"{found.name}: the optimum at λ = {target.lam:g} is certified to "
                f"{optimum.gap:.1e} only, not to {GAP:g}; nothing is recorded"
            )
        results.append(
            Reached(
                generator=GENERATOR_VERSION,
                scale=scale,
                rows=rows.n_samples,
                primal=float(f"{optimum.primal:.5g}"),
                test_error=None if tests is None else float(f"{_error(tests, optimum.w):.4g}"),
            )
        )
    return results


def _chain(found: Entry, target: CalibrationTarget) -> Sequence[Transform]:
    spec = {"name": found.name, "transforms": list(target.transforms)}
    return DatasetSpec.model_validate(spec).chain


def _error(data: Dataset, w: Any) -> float:
    return float(np.mean(np.where(data.rows.dot(w) > 0.0, 1, -1) != data.labels))


def deviations(targets: Sequence[CalibrationTarget], reached: Sequence[Reached]) -> np.ndarray:
    """Logarithms of reached over published figures, in units of their tolerances."""
    parts = []
    for target, found in zip(targets, reached, strict=True):
        if target.primal is not None:
            parts.append(math.log(found.primal / target.primal) / PRIMAL_TOLERANCE)
        if target.test_error is not None and found.test_error:
            parts.append(math.log(found.test_error / target.test_error) / ERROR_TOLERANCE)
    return np.array(parts)


def fit(found: Entry, shape: Shape, options: argparse.Namespace) -> Shape:
    """Change the parameters until the figures meet, or the steps are used up."""
    names = options.fit
    slope_scale = options.slope_scale or options.scale
    logs = np.log([value_of(shape, name) for name in names])

    def at(logs: np.ndarray) -> Shape:
        return changed(shape, dict(zip(names, np.exp(logs).tolist(), strict=True)))

    def measured(logs: np.ndarray, scale: float) -> np.ndarray:
        return deviations(found.targets, reach(found, at(logs), scale))

    start = measured(logs, slope_scale)
    jacobian = np.stack(
        [(measured(logs + STEP * unit, slope_scale) - start) / STEP for unit in np.eye(len(logs))],
        axis=1,
    )
    here = start if slope_scale == options.scale else measured(logs, options.scale)
    best, least = logs, math.inf
    for left in reversed(range(options.steps)):
        values = ", ".join(f"{n} {v:.4g}" for n, v in zip(names, np.exp(logs), strict=True))
        print(f"{values}: {np.round(here, 2)} tolerances", flush=True)
        if np.abs(here).max() < least:
            best, least = logs, float(np.abs(here).max())
        if least < ENOUGH or not left:
            break
        step = -np.linalg.lstsq(jacobian, here, rcond=None)[0]
        step *= min(1.0, LONGEST / max(np.abs(step).max(), 1e-12))
        before, logs = here, logs + step
        here = measured(logs, options.scale)
        # Broyden's update, for what the derivatives miss.
        jacobian += np.outer(here - before - jacobian @ step, step) / (step @ step)
    rounded = {name: float(f"{value:.4g}") for name, value in zip(names, np.exp(best), strict=True)}
    return changed(shape, rounded)


def show(targets: Sequence[CalibrationTarget], reached: Sequence[Reached]) -> None:
    """Print published and reached figures."""
    for target, found in zip(targets, reached, strict=True):
        line = f"λ = {target.lam:g}, {target.loss}, {found.rows:,} rows, scale {found.scale:g}:"
        for what in ("primal", "test_error"):
            wanted, have = getattr(target, what), getattr(found, what)
            if wanted is not None:
                line += f" {what} {have:.5g} (published {wanted:.5g}, {have / wanted - 1:+.1%})"
        print(line)


def record(found: Entry, shape: Shape, names: Sequence[str]) -> None:
    """Write parameters into the data set's file."""
    path = bundled("datasets") / f"{found.name}.yaml"
    text = path.read_text(encoding="utf-8")
    for name in names:
        key = name.rpartition(".")[2]
        begin = text.index("stand_in:")
        pattern = rf"\b{key}: [-+.e\d]+"
        head, tail = text[:begin], text[begin:]
        tail, count = re.subn(pattern, f"{key}: {value_of(shape, name):.4g}", tail, count=1)
        if count != 1:
            raise SystemExit(f"{path}: state {name} in the shape first")
        text = head + tail
    path.write_text(text, encoding="utf-8")


def record_reached(found: Entry, reached: Sequence[Reached]) -> None:
    """Write the figures into the data set's file, each target of which has a line ``reached:``."""
    path = bundled("datasets") / f"{found.name}.yaml"
    lines = iter(reached)

    def written(match: re.Match[str]) -> str:
        facts = next(lines).model_dump(exclude_none=True)
        inside = ", ".join(f"{key}: {value:.10g}" for key, value in facts.items())
        return f"{match[1]}reached: {{{inside}}}"

    text, count = re.subn(r"(?m)^( +)reached:.*$", written, path.read_text(encoding="utf-8"))
    if count != len(reached):
        raise SystemExit(f"{path}: give each target a line 'reached:'")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
