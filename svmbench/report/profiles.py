"""Profiles: all problems of a sweep at a glance.

A problem is a data set, a λ and an accuracy to reach. The performance profile (Dolan and
Moré, 2002) compares each label with the best one on every problem, the data profile
(Moré and Wild, 2009) counts the problems solved within a number of passes, and the
time-to-target distribution counts single runs that reached the target within a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from svmbench.durable import write_text
from svmbench.records.columns import SCHEMA_VERSION
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import samples
from svmbench.records.spelling import counted, short
from svmbench.records.statistics import median, performance_ratios, solved_shares
from svmbench.report.sheet import (
    FORMATS,
    PANEL,
    Sheet,
    log_ticks,
    save_figure,
    uniform_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.data.dataset import FloatArray
    from svmbench.report.style import Look

#: Profiles of fewer labels, or fewer pairs of data set and λ, show nothing that a table does not
#: show better: all accuracies of one pair are read off the same runs.
_LEAST_LABELS, _LEAST_PAIRS = 2, 2

#: How far a curve continues beyond its last step, so that its end can be seen, as a factor.
_BEYOND = 1.15


@dataclass(frozen=True)
class ProfileKind:
    """A kind of profile, in words."""

    title: str
    ordinate: str  # what its vertical axis shows
    share: str  # of what a curve shows the share
    samples: str  # how repeats count, for its caption
    look: str  # what to look at, in a sentence


#: Every kind of profile by name.
PROFILE_KINDS = {
    "performance": ProfileKind(
        "performance profile",
        "share of cases",
        "cases solved within a factor of the best label",
        "Median of the repeats. At 1: cases in which a label is the best.",
        "Look at the left edge, where a high curve is often the fastest, and at the right edge, "
        "where a high curve solves most cases.",
    ),
    "data": ProfileKind(
        "data profile",
        "share of cases",
        "cases solved within a number of passes over the data",
        "Median of the repeats.",
        "Look at how far left a curve rises: such a solver needs few passes over the data.",
    ),
    "target": ProfileKind(
        "time to target",
        "share of runs and targets",
        "runs that reached the target within a time in seconds",
        "Every repeat counts by itself; data sets of different size are pooled.",
        "Look for the curve that rises first and highest: it reaches most targets soonest.",
    ),
}


@dataclass(frozen=True)
class ProfilePanel:
    """One panel: for each label the share of problems against their cost."""

    kind: str  # name of its file
    unit: str
    axis: str  # label of the horizontal axis
    least: float  # where the axis starts; 0 leaves it to the curves
    # by label: ascending values, and the share of problems solved up to each
    curves: dict[str, tuple[list[float], list[float]]]


def write_profiles(results: Results, formats: tuple[str, ...] = ("png",)) -> list[Path]:
    """Write tables/profiles.csv and, if the sweep asks for plots, plots/profile-*.

    Where there are none, those of an earlier report are removed.
    """
    problems = _problems(results)
    profiles = _profiles(problems)
    if not profiles:
        _remove(results.folder)
        return []
    return [_write_table(results, profiles), *_write_plots(results, profiles, problems, formats)]


def write_profile_table(results: Results) -> list[Path]:
    """Write tables/profiles.csv alone, if there are profiles."""
    profiles = build_profiles(results)
    return [_write_table(results, profiles)] if profiles else []


def _remove(folder: Path) -> None:
    _table_path(folder).unlink(missing_ok=True)
    for kind in PROFILE_KINDS:
        for suffix in FORMATS:
            (folder / "plots" / f"profile-{kind}.{suffix}").unlink(missing_ok=True)


def _table_path(folder: Path) -> Path:
    return folder / "tables" / "profiles.csv"


def _write_table(results: Results, profiles: Sequence[ProfilePanel]) -> Path:
    path = _table_path(results.folder)
    write_text(path, _records(profiles).to_csv(index=False))
    return path


def build_profiles(results: Results) -> list[ProfilePanel]:
    """The profiles of a sweep; none if there is too little to show.

    Only problems for which every label has runs count.
    """
    return _profiles(_problems(results))


# ---------------------------------------------------------------- problems


@dataclass(frozen=True)
class _ProfileProblem:
    """A data set, λ and accuracy, with the group of each label."""

    dataset: str
    stand_in: bool
    lam: float
    accuracy: float
    groups: dict[str, Group]

    def samples(self, label: str, unit: str) -> list[float]:
        """One per repeat, +inf if it was not reached."""
        return list(samples(self.groups[label], Asked(unit, self.accuracy)).values())


def _problems(results: Results) -> list[_ProfileProblem]:
    found = []
    for (dataset, stand_in), groups in results.groups.items():
        for lam in dict.fromkeys(group.lam for group in groups):
            for accuracy in results.accuracies:
                asked = Asked("seconds", accuracy)
                members = {g.label: g for g in groups if g.lam == lam and samples(g, asked)}
                found.append(_ProfileProblem(dataset, stand_in, lam, accuracy, members))
    # A label without a single run, such as a missing program, removes no problem.
    labels = {label for problem in found for label in problem.groups}
    if len(labels) < _LEAST_LABELS:
        return []
    problems = [problem for problem in found if set(problem.groups) == labels]
    pairs = {(problem.dataset, problem.stand_in, problem.lam) for problem in problems}
    return problems if len(pairs) >= _LEAST_PAIRS else []


def _profiles(problems: Sequence[_ProfileProblem]) -> list[ProfilePanel]:
    if not problems:
        return []
    labels = list(problems[0].groups)
    costs = {
        unit: {label: [median(p.samples(label, unit)) for p in problems] for label in labels}
        for unit in ("seconds", "epochs")
    }
    runs = {label: [x for p in problems for x in p.samples(label, "seconds")] for label in labels}
    target = _profile("target", "seconds", "seconds of training", 0.0, runs)
    return [*profiles_of_costs(costs), target]


def profiles_of_costs(costs: Mapping[str, Mapping[str, Sequence[float]]]) -> list[ProfilePanel]:
    """Performance and data profiles.

    - ``costs``: by unit, seconds and epochs, and by label: a cost per problem, all labels on the
      same ones; +inf where the label did not reach the accuracy.
    """
    return [
        *(
            _profile("performance", unit, f"{unit} / least {unit}", 1.0, performance_ratios(each))
            for unit, each in costs.items()
        ),
        _profile("data", "epochs", "epochs (passes over the data)", 0.0, costs["epochs"]),
    ]


def _profile(
    kind: str, unit: str, axis: str, least: float, samples: Mapping[str, Sequence[float]]
) -> ProfilePanel:
    curves = {label: solved_shares(values) for label, values in samples.items()}
    return ProfilePanel(kind, unit, axis, least, curves)


def _records(profiles: Sequence[ProfilePanel]) -> pd.DataFrame:
    rows = [
        {
            "schema_version": SCHEMA_VERSION,
            "profile": profile.kind,
            "unit": profile.unit,
            "label": label,
            "value": value,
            "share": share,
        }
        for profile in profiles
        for label, curve in profile.curves.items()
        for value, share in zip(*curve, strict=True)
    ]
    columns = ["schema_version", "profile", "unit", "label", "value", "share"]
    return pd.DataFrame(rows, columns=columns)


# ---------------------------------------------------------------- plots


def _write_plots(
    results: Results,
    profiles: Sequence[ProfilePanel],
    problems: Sequence[_ProfileProblem],
    formats: tuple[str, ...],
) -> Iterator[Path]:
    if not results.plots:
        return
    from svmbench.report.style import looks

    with uniform_style():
        for kind in dict.fromkeys(profile.kind for profile in profiles):
            panels = [profile for profile in profiles if profile.kind == kind]
            title = f"{results.name}: {PROFILE_KINDS[kind].title}"
            figure = draw(title, panels, _caption(results, kind, problems), looks(results))
            yield from save_figure(figure, results.folder / "plots" / f"profile-{kind}", formats)


def draw(
    title: str, panels: Sequence[ProfilePanel], caption: str, looks: Mapping[str, Look]
) -> Figure:
    """Draw the panels of one kind of profile side by side."""
    kind = PROFILE_KINDS[panels[0].kind]
    best = sorted(panels[0].curves, key=lambda label: -_area(panels[0], label))
    sheet = Sheet(
        len(panels),
        f"{title}: {kind.share}",
        remarks=caption,
        legend={label: looks[label] for label in best},
        panel=(1.35 * PANEL[0], PANEL[1]),
    )
    for number, (axes, profile) in enumerate(zip(sheet.axes, panels, strict=True)):
        axes.set_xlabel(profile.axis, labelpad=2, parse_math=False)
        axes.set_ylabel(kind.ordinate if number == 0 else "")
        _fill(axes, profile, looks)
    return sheet.figure


def _caption(results: Results, kind: str, problems: Sequence[_ProfileProblem]) -> str:
    datasets = list(dict.fromkeys((p.dataset, p.stand_in) for p in problems))
    stand_ins = [name for name, stand_in in datasets if stand_in]
    accuracies = ", ".join(short(accuracy) for accuracy in results.accuracies)
    sets = counted(len(datasets), "data set")
    lines = [
        f"{len(problems)} cases: λ and ε ({accuracies}) of {sets}; targets not reached "
        f"count as unsolved. {PROFILE_KINDS[kind].samples}"
    ]
    if stand_ins:
        lines.append(f"With STAND-INS for {', '.join(stand_ins)}.")
    return "\n".join(lines)


def _fill(axes: Axes, profile: ProfilePanel, looks: Mapping[str, Look]) -> None:
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.03)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "", "½", "", "1"])
    axes.axhline(1.0, color="#999999", linewidth=0.6, zorder=1)
    axes.set_xlim(*_range(profile))
    log_ticks(axes.xaxis)
    for label in profile.curves:
        look = looks[label]
        # Not clipped, so that what lies on an axis is visible in its full width.
        axes.plot(
            *_stairs(profile, label).T,
            color=look.colour,
            linestyle=look.dash,
            marker=look.marker,
            markersize=3.5,
            markevery=0.2,
            zorder=3,
            clip_on=False,
        )


def _area(profile: ProfilePanel, label: str) -> float:
    """What lies under a curve: the names of the legend start with the largest."""
    stairs = _stairs(profile, label)
    return float(np.diff(np.log(stairs[:, 0])) @ stairs[:-1, 1])


def _range(profile: ProfilePanel) -> tuple[float, float]:
    """From the first step, or where the axis starts, to beyond the last one."""
    values = [v for curve, _ in profile.curves.values() for v in curve if v > 0]
    first, last = min(values, default=1.0), max(values, default=1.0)
    if profile.least > 0:
        return profile.least, max(last, profile.least * 2) * _BEYOND
    return first / _BEYOND, max(last, first * 2) * _BEYOND


def _stairs(profile: ProfilePanel, label: str) -> FloatArray:
    """Corners of the step function from the left to the right edge, shape (n, 2)."""
    first, last = _range(profile)
    values, shares = profile.curves[label]
    height = max((s for v, s in zip(values, shares, strict=True) if v <= first), default=0.0)
    corners = [(first, height)]
    for value, share in zip(values, shares, strict=True):
        if value > first:
            corners += [(value, height), (value, share)]
            height = share
    return np.array([*corners, (last, height)])
