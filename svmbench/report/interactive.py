"""The curves of a sweep's page, which its script draws: every data set, λ and pair of axes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from markupsafe import Markup

from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.groups import heading
from svmbench.records.read import Results
from svmbench.report.curves import Curve, CurveTable
from svmbench.report.single import ordinate

#: The axes that a reader chooses from.
_X = ("seconds", "epochs", "steps")
_Y = ("suboptimality", "primal", "test-error", "train-error")

#: Digits of the places on an axis, of which a screen shows fewer.
_DIGITS = 4


def page_curves(results: Results, known: CurveTable) -> Markup:
    """All curves as JSON, safe to stand in a page.

    An object with ``looks`` by label, ``x`` and ``y`` (words of the axes), and ``problems``: one
    for each data set and λ, with ``curves`` by x, y and label as two lists of numbers. A problem of
    which no run has a trace has none.
    """
    from svmbench.report.style import looks

    measures = {y: ordinate(results, y) for y in _Y}
    problems = []
    for (dataset, stand_in), groups in results.groups.items():
        for lam in dict.fromkeys(group.lam for group in groups):
            members = [group for group in groups if group.lam == lam]
            curves = {
                x: {y: _written(known.of(members, x, measure)) for y, measure in measures.items()}
                for x in _X
            }
            problems.append(
                {
                    "set": heading(dataset, stand_in),
                    "lambda": members[0].written_lambda,
                    "curves": curves,
                }
            )
    found = {
        "looks": {
            label: [look.colour, _dashes(look.dash)] for label, look in looks(results).items()
        },
        "x": {x: ABSCISSAE[x].words for x in _X},
        "y": {y: measure.heading for y, measure in measures.items()},
        "accuracies": list(results.accuracies),
        "problems": problems,
    }
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def _dashes(dash: Any) -> list[float]:
    return [] if dash == "solid" else [2.0 * length for length in dash[1]]


def _written(curves: dict[str, Curve]) -> dict[str, list[list[float]]]:
    return {label: _steps(curve) for label, curve in curves.items()}


def _steps(curve: Curve) -> list[list[float]]:
    """A curve's corners: its first and last point, and those at which it changes."""
    visible = np.rint(np.log(curve.middle) * 10.0**_DIGITS)
    changes = np.append(True, visible[1:] != visible[:-1])
    changes[-1] = True
    return [
        [_rounded(value) for value in each[changes].tolist()] for each in (curve.x, curve.middle)
    ]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else 0.0
