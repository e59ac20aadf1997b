"""The virtual best solver, and each solver's share in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.summaries import summary
from svmbench.solvers.program import ForeignProgram

#: How much slower than the fastest a solver may be and still count as fastest.
WITHIN = 1.05


#: Of a data set, λ and accuracy: each solver's median seconds, those of the best of its labels;
#: +inf if it did not reach the accuracy. Of programs, each label counts as a solver.
Costs = Mapping[str, float]


@dataclass(frozen=True)
class Share:
    """What a solver contributes to the virtual best one."""

    solver: str
    problems: int  # problems, solved: how many it was run on, and how many it solved
    solved: int
    # fastest, alone: how many it solved within 5 % of the fastest, and how many as the only one
    fastest: int
    alone: int


def problems_of(everything: Iterable[Results]) -> list[Costs]:
    """All problems that at least two solvers were run on; runs that are shared count once."""
    found = []
    folders = set()
    for results in everything:
        folder = results.folder.resolve()
        if folder not in folders:
            folders.add(folder)
            found += list(_problems(results))
    return found


def _problems(results: Results) -> Iterator[Costs]:
    for groups in results.groups.values():
        for lam in dict.fromkeys(group.lam for group in groups):
            members = [group for group in groups if group.lam == lam]
            for accuracy in results.accuracies:
                costs = _costs(members, Asked("seconds", accuracy))
                if len(costs) >= 2:
                    yield costs


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


def shares(problems: Sequence[Costs]) -> list[Share]:
    """Each solver's share in the virtual best one, the largest first."""
    found = []
    for solver in dict.fromkeys(name for costs in problems for name in costs):
        mine = [costs for costs in problems if solver in costs]
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


def _near(costs: Costs) -> set[str]:
    """The solvers within 5 % of the fastest; none if none reached the accuracy."""
    best = min(costs.values())
    return {name for name, cost in costs.items() if math.isfinite(cost) and cost <= WITHIN * best}
