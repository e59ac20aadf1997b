"""All cells of all papers at a glance: profiles, and the virtual best solver."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.summaries import summary
from svmbench.report.profiles import (
    PROFILE_KINDS,
    ProfilePanel,
    draw,
    profiles_of_costs,
)
from svmbench.report.sheet import save_figure, uniform_style
from svmbench.solvers.program import ForeignProgram

if TYPE_CHECKING:
    pass

#: How much slower than the fastest a solver may be and still count as fastest.
WITHIN = 1.05

#: Profiles of fewer problems show nothing that a table does not show better.
_LEAST_PROBLEMS = 2


@dataclass(frozen=True)
class ProblemCosts:
    """A data set, λ and accuracy of one sweep, with each solver's median costs."""

    stand_in: bool
    # seconds, epochs: by solver, the best of its labels, and by label of a program; +inf if it did
    # not reach the accuracy
    seconds: dict[str, float]
    epochs: dict[str, float]


@dataclass(frozen=True)
class Share:
    """What a solver contributes to the virtual best one."""

    solver: str
    problems: int  # problems, solved: how many it was run on, and how many it solved
    solved: int
    # fastest, alone: how many it solved within 5 % of the fastest, and how many as the only one
    fastest: int
    alone: int


def problems_of(everything: Iterable[Results]) -> list[ProblemCosts]:
    """All problems that at least two solvers were run on; runs that are shared count once."""
    found = []
    folders = set()
    for results in everything:
        folder = results.folder.resolve()
        if folder not in folders:
            folders.add(folder)
            found += list(_problems(results))
    return found


def _problems(results: Results) -> Iterator[ProblemCosts]:
    for (_, stand_in), groups in results.groups.items():
        for lam in dict.fromkeys(group.lam for group in groups):
            members = [group for group in groups if group.lam == lam]
            for accuracy in results.accuracies:
                seconds, epochs = (
                    _costs(members, Asked(unit, accuracy)) for unit in ("seconds", "epochs")
                )
                if len(seconds) >= 2:
                    yield ProblemCosts(stand_in, seconds, epochs)


def _costs(groups: Sequence[Group], asked: Asked) -> dict[str, float]:
    """By solver the least median of its labels, without solvers that have no measurement."""
    costs: dict[str, float] = {}
    for group in groups:
        found = summary(group, asked)
        if found.samples:
            name = _contender(group)
            costs[name] = min(found.median, costs.get(name, math.inf))
    return costs


def _contender(group: Group) -> str:
    """The solver; of programs, which are different solvers of one name, the label."""
    return group.label if group.solver == ForeignProgram.name else group.solver


def shares(problems: Sequence[ProblemCosts]) -> list[Share]:
    """Each solver's share in the virtual best one, the largest first."""
    found = []
    for solver in dict.fromkeys(name for problem in problems for name in problem.seconds):
        mine = [problem.seconds for problem in problems if solver in problem.seconds]
        near = [_near(costs) for costs in mine]
        found.append(
            Share(
                solver=solver,
                problems=len(mine),
                solved=sum(math.isfinite(costs[solver]) for costs in mine),
                fastest=sum(solver in names for names in near),
                alone=sum(names == {solver} for names in near),
            )
        )
    return sorted(found, key=lambda share: (-share.fastest, -share.solved, share.solver))


def _near(costs: Mapping[str, float]) -> set[str]:
    """The solvers within 5 % of the fastest; none if none reached the accuracy."""
    best = min(costs.values())
    return {name for name, cost in costs.items() if math.isfinite(cost) and cost <= WITHIN * best}


def write_overall(
    problems: Sequence[ProblemCosts],
    folder: Path,
    whose: str = "All papers",
    sweeps: str = "every sweep of the papers",
) -> list[tuple[Path, str]]:
    """Draw ``profile-performance.png`` and ``profile-data.png`` over all problems."""
    common = in_common(problems)
    if len(common) < _LEAST_PROBLEMS:
        return []
    stood_in = sum(problem.stand_in for problem in common)
    caption = (
        f"{len(common)} cases (each a data set, λ and ε of {sweeps}) in which all solvers shown "
        "were run. A case of several sweeps counts once for each. Medians of the repeats; of "
        "several settings of a solver, the best in each case counts, as if it had been known. "
        "Targets not reached count as unsolved."
    )
    if left_out := _left_out(problems, common):
        caption += f"\nLeft out, as they share too few cases with the others: {left_out}."
    if stood_in:
        caption += f"\nWith STAND-INS: {stood_in} of the cases."
    from svmbench.report.style import looks_of

    written = []
    with uniform_style():
        for kind, profiles in profiles_of(common).items():
            title = f"{whose}: {PROFILE_KINDS[kind].title}"
            figure = draw(title, profiles, caption, looks_of(profiles[0].curves))
            for path in save_figure(figure, folder / f"profile-{kind}"):
                written.append((path, title))
    return written


def in_common(problems: Sequence[ProblemCosts]) -> list[ProblemCosts]:
    """The problems that several solvers all ran, with the costs of these solvers alone.

    Shares of different problems cannot be compared. Solvers are added one by one, each time the
    one that leaves most problems in common; of all these selections the one with the most pairs
    of solver and problem is kept.
    """
    names = sorted({name for problem in problems for name in problem.seconds})
    ran = {
        name: frozenset(at for at, each in enumerate(problems) if name in each.seconds)
        for name in names
    }
    chosen: list[str] = []
    shared = frozenset(range(len(problems)))
    best: tuple[int, list[str], frozenset[int]] = (0, [], frozenset())
    while len(chosen) < len(names):
        following = max(
            (name for name in names if name not in chosen), key=lambda name: len(shared & ran[name])
        )
        chosen, shared = [*chosen, following], shared & ran[following]
        if len(chosen) >= 2 and len(chosen) * len(shared) > best[0]:
            best = (len(chosen) * len(shared), chosen, shared)
    _, kept, found = best
    return [_only(problems[at], kept) for at in sorted(found)]


def _only(problem: ProblemCosts, names: Sequence[str]) -> ProblemCosts:
    seconds, epochs = (
        {name: costs[name] for name in costs if name in names}
        for costs in (problem.seconds, problem.epochs)
    )
    return ProblemCosts(problem.stand_in, seconds, epochs)


def _left_out(problems: Sequence[ProblemCosts], common: Sequence[ProblemCosts]) -> str:
    """The solvers that profiles leave out, each with the number of problems that it ran on."""
    counts = Counter(name for problem in problems for name in problem.seconds)
    return ", ".join(
        f"{name} ({count})" for name, count in counts.most_common() if name not in common[0].seconds
    )


def profiles_of(problems: Sequence[ProblemCosts]) -> dict[str, list[ProfilePanel]]:
    """Performance and data profiles by kind, of problems that all solvers ran (`in_common`)."""
    costs = {
        unit: {
            solver: [getattr(problem, unit)[solver] for problem in problems]
            for solver in getattr(problems[0], unit)
        }
        for unit in ("seconds", "epochs")
    }
    by_kind: dict[str, list[ProfilePanel]] = {}
    for profile in profiles_of_costs(costs):
        by_kind.setdefault(profile.kind, []).append(profile)
    return by_kind
