"""The performance profile (Dolan and Moré, 2002): all cases of a sweep at a glance.

A case is a data set, a λ and an accuracy to reach. Each label is compared with the best one there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from svmbench.durable import write_text
from svmbench.records.columns import SCHEMA_VERSION
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import samples
from svmbench.records.spelling import counted, short
from svmbench.records.statistics import median, performance_ratios, solved_shares
from svmbench.report.sheet import PANEL, Sheet, log_ticks, save_figure, uniform_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.report.style import Look

#: The name of its file, its caption and what to look at.
PROFILE = "profile-performance"
CAPTION = "Performance profile: share of cases solved within a factor of the best label"
LOOK = (
    "Look at the left edge, where a high curve is often the fastest, and at the right edge, where "
    "a high curve solves most cases."
)

#: Profiles of fewer labels, or fewer pairs of data set and λ, show nothing that a table does not
#: show better: all accuracies of one pair are read off the same runs.
_LEAST_LABELS, _LEAST_PAIRS = 2, 2

UNITS = ("seconds", "epochs")

#: By label: ascending multiples of the least cost, and the share of cases solved within each.
Curves = dict[str, tuple[list[float], list[float]]]


def draw_profile(results: Results) -> list[Path]:
    """Write the picture if the sweep asks for plots; else remove that of an earlier report."""
    path, cases = results.folder / "plots" / PROFILE, cases_of(results)
    if not (results.plots and cases):
        path.with_suffix(".png").unlink(missing_ok=True)
        return []
    with uniform_style():
        return [save_figure(_draw(results, cases), path)]


def write_profile_table(results: Results) -> list[Path]:
    """Write tables/profiles.csv if there are profiles; else remove that of an earlier report."""
    path, cases = results.folder / "tables" / "profiles.csv", cases_of(results)
    if not cases:
        path.unlink(missing_ok=True)
        return []
    rows = [
        (SCHEMA_VERSION, "performance", unit, label, value, share)
        for unit in UNITS
        for label, curve in profile(cases, unit).items()
        for value, share in zip(*curve, strict=True)
    ]
    columns = ["schema_version", "profile", "unit", "label", "value", "share"]
    write_text(path, pd.DataFrame(rows, columns=columns).to_csv(index=False))
    return [path]


#: The groups of each label, by data set (and whether it is a stand-in), λ and accuracy.
_Cases = dict[tuple[str, bool, float, float], dict[str, Group]]


def cases_of(results: Results) -> _Cases:
    """The cases for which every label has runs; none if there is too little to show."""
    found: _Cases = {}
    for key, groups in results.groups.items():
        for group in groups:
            for accuracy in results.accuracies:
                if samples(group, Asked("seconds", accuracy)):
                    found.setdefault((*key, group.lam, accuracy), {})[group.label] = group
    # A label without a single run, such as a missing program, removes no case.
    labels = {label for groups in found.values() for label in groups}
    common = {case: groups for case, groups in found.items() if set(groups) == labels}
    enough = len(labels) >= _LEAST_LABELS and len({case[:3] for case in common}) >= _LEAST_PAIRS
    return common if enough else {}


def profile(cases: _Cases, unit: str) -> Curves:
    """The curves of all labels in a unit."""
    costs: dict[str, list[float]] = {}
    for case, groups in cases.items():
        for label, group in groups.items():
            known = samples(group, Asked(unit, case[-1]))
            costs.setdefault(label, []).append(median([*known.values()]))
    return {label: solved_shares(values) for label, values in performance_ratios(costs).items()}


def _draw(results: Results, cases: _Cases) -> Figure:
    from svmbench.report import style

    looks = style.looks(results)
    sheet = Sheet(
        len(UNITS),
        f"{results.name}: performance profile",
        remarks=_caption(results, cases),
        legend={label: looks[label] for label in next(iter(cases.values()))},
        panel=(1.35 * PANEL[0], PANEL[1]),
    )
    for axes, unit in zip(sheet.axes, UNITS, strict=True):
        axes.set_xlabel(f"{unit} / least {unit}", labelpad=2)
        axes.set_ylabel("share of cases" if unit == "seconds" else "")
        _fill(axes, profile(cases, unit), looks)
    return sheet.figure


def _caption(results: Results, cases: _Cases) -> str:
    datasets = list(dict.fromkeys(case[:2] for case in cases))
    stand_ins = [name for name, stand_in in datasets if stand_in]
    accuracies = ", ".join(short(accuracy) for accuracy in results.accuracies)
    sets = counted(len(datasets), "data set")
    lines = [
        f"{len(cases)} cases: λ and ε ({accuracies}) of {sets}; targets not reached count as "
        "unsolved. Median of the repeats. At 1: cases in which a label is the best."
    ]
    if stand_ins:
        lines.append(f"With STAND-INS for {', '.join(stand_ins)}.")
    return "\n".join(lines)


def _fill(axes: Axes, curves: Curves, looks: Mapping[str, Look]) -> None:
    right = max(2.0, 1.15 * max((x for steps, _ in curves.values() for x in steps), default=1.0))
    axes.set(xscale="log", xlim=(1.0, right), ylim=(0.0, 1.03))
    log_ticks(axes.xaxis)
    for label, (steps, shares) in curves.items():
        axes.step(
            [*steps, right],
            [*shares, shares[-1] if shares else 0.0],
            where="post",
            color=looks[label].colour,
            linestyle=looks[label].dash,
            marker=looks[label].marker,
            markersize=3.5,
            markevery=0.2,
            clip_on=False,
        )
