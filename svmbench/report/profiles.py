"""Profiles: all problems of a sweep at a glance.

A problem is a data set, a λ and an accuracy to reach. The performance profile (Dolan and
Moré, 2002) compares each label with the best one on every problem, the data profile
(Moré and Wild, 2009) counts the problems solved within a number of passes, and the
time-to-target distribution counts single runs that reached the target within a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
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

#: Profiles of fewer labels, or fewer pairs of data set and λ, show nothing that a table does not
#: show better: all accuracies of one pair are read off the same runs.
_LEAST_LABELS, _LEAST_PAIRS = 2, 2


@dataclass(frozen=True)
class ProfileKind:
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
    # by label: ascending values, and the share of problems solved up to each
    curves: dict[str, tuple[list[float], list[float]]]


def write_profiles(results: Results) -> list[Path]:
    """Write tables/profiles.csv and, if the sweep asks for plots, plots/profile-*.

    Where there are none, those of an earlier report are removed.
    """
    for path in (results.folder / "plots").glob("profile-*"):
        if path.stem.removeprefix("profile-") in PROFILE_KINDS:
            path.unlink()
    written = write_profile_table(results)
    if not written or not results.plots:
        return written
    from svmbench.report.style import looks

    cases = _cases(results)
    with uniform_style():
        for kind, panels in groupby(build_profiles(results), lambda panel: panel.kind):
            title = f"{results.name}: {PROFILE_KINDS[kind].title}"
            figure = draw(title, list(panels), _caption(results, kind, cases), looks(results))
            written.append(save_figure(figure, results.folder / "plots" / f"profile-{kind}"))
    return written


def write_profile_table(results: Results) -> list[Path]:
    """Write tables/profiles.csv alone, if there are profiles."""
    path, profiles = results.folder / "tables" / "profiles.csv", build_profiles(results)
    if not profiles:
        path.unlink(missing_ok=True)
        return []
    rows = [
        (SCHEMA_VERSION, profile.kind, profile.unit, label, value, share)
        for profile in profiles
        for label, curve in profile.curves.items()
        for value, share in zip(*curve, strict=True)
    ]
    columns = ["schema_version", "profile", "unit", "label", "value", "share"]
    write_text(path, pd.DataFrame(rows, columns=columns).to_csv(index=False))
    return [path]


#: The groups of each label, by data set (and whether it is a stand-in), λ and accuracy.
_Cases = dict[tuple[str, bool, float, float], dict[str, Group]]


def _cases(results: Results) -> _Cases:
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


def build_profiles(results: Results) -> list[ProfilePanel]:
    """The profiles of a sweep; none if there is too little to show.

    Only problems for which every label has runs count.
    """
    times: dict[str, dict[str, list[list[float]]]] = {"seconds": {}, "epochs": {}}
    for case, groups in _cases(results).items():
        for label, group in groups.items():
            for unit, of_label in times.items():
                found = samples(group, Asked(unit, case[-1]))
                of_label.setdefault(label, []).append([*found.values()])
    if not times["seconds"]:
        return []
    costs = {
        unit: {label: [*map(median, cases)] for label, cases in of_label.items()}
        for unit, of_label in times.items()
    }
    runs = {label: [*chain.from_iterable(cases)] for label, cases in times["seconds"].items()}
    target = _profile("target", "seconds", "seconds of training", runs)
    return [*profiles_of_costs(costs), target]


def profiles_of_costs(costs: Mapping[str, Mapping[str, Sequence[float]]]) -> list[ProfilePanel]:
    """Performance and data profiles.

    - ``costs``: by unit, seconds and epochs, and by label: a cost per problem, all labels on the
      same ones; +inf where the label did not reach the accuracy.
    """
    return [
        *(
            _profile("performance", unit, f"{unit} / least {unit}", performance_ratios(each))
            for unit, each in costs.items()
        ),
        _profile("data", "epochs", "epochs (passes over the data)", costs["epochs"]),
    ]


def _profile(
    kind: str, unit: str, axis: str, samples: Mapping[str, Sequence[float]]
) -> ProfilePanel:
    curves = {label: solved_shares(values) for label, values in samples.items()}
    return ProfilePanel(kind, unit, axis, curves)


def draw(
    title: str, panels: Sequence[ProfilePanel], caption: str, looks: Mapping[str, Look]
) -> Figure:
    """Draw the panels of one kind of profile side by side."""
    kind = PROFILE_KINDS[panels[0].kind]
    sheet = Sheet(
        len(panels),
        f"{title}: {kind.share}",
        remarks=caption,
        legend={label: looks[label] for label in panels[0].curves},
        panel=(1.35 * PANEL[0], PANEL[1]),
    )
    for number, (axes, profile) in enumerate(zip(sheet.axes, panels, strict=True)):
        axes.set_xlabel(profile.axis, labelpad=2, parse_math=False)
        axes.set_ylabel(kind.ordinate if number == 0 else "")
        _fill(axes, profile, looks)
    return sheet.figure


def _caption(results: Results, kind: str, cases: _Cases) -> str:
    datasets = list(dict.fromkeys(case[:2] for case in cases))
    stand_ins = [name for name, stand_in in datasets if stand_in]
    accuracies = ", ".join(short(accuracy) for accuracy in results.accuracies)
    sets = counted(len(datasets), "data set")
    lines = [
        f"{len(cases)} cases: λ and ε ({accuracies}) of {sets}; targets not reached "
        f"count as unsolved. {PROFILE_KINDS[kind].samples}"
    ]
    if stand_ins:
        lines.append(f"With STAND-INS for {', '.join(stand_ins)}.")
    return "\n".join(lines)


def _fill(axes: Axes, profile: ProfilePanel, looks: Mapping[str, Look]) -> None:
    values = [value for curve, _ in profile.curves.values() for value in curve if value > 0]
    left, right = min(values, default=1.0), 1.15 * max(values, default=1.0)
    axes.set(xscale="log", xlim=(left, max(right, 2 * left)), ylim=(0.0, 1.03))
    log_ticks(axes.xaxis)
    for label, (steps, shares) in profile.curves.items():
        look = looks[label]
        axes.step(
            [*steps, max(right, 2 * left)],
            [*shares, shares[-1] if shares else 0.0],
            where="post",
            color=look.colour,
            linestyle=look.dash,
            marker=look.marker,
            markersize=3.5,
            markevery=0.2,
            clip_on=False,
        )
