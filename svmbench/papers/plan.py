"""Which sweeps the papers' items need, and on which data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.errors import ConfigError, nearest
from svmbench.harness.series import PlannedSweep
from svmbench.harness.sources import Source, source_of
from svmbench.papers.model import Paper
from svmbench.papers.results import sweep_folder

#: Entries of a stand-in's rows per second of the budget. A claim needs eight or nine repeats of its
#: cells, so that these must be cheap.
PACE = 2500.0

#: Seconds to write a table and a figure, and the largest share of the budget for that.
_TABLE, _FIGURE = 0.3, 1.5
WRITING_SHARE = 0.4


def choose(papers: Mapping[str, Paper], wanted: Sequence[str]) -> list[tuple[str, str]]:
    """The items named by ``KEY`` and ``KEY/ITEM``, in the order of the papers; all by default."""
    items = [(key, name) for key, paper in papers.items() for name in paper.items]
    chosen = set()
    for text in wanted:
        key, _, name = text.partition("/")
        if key not in papers:
            raise ConfigError(f"unknown paper {key!r}; {nearest(key, list(papers))}")
        names = papers[key].names
        if name and name not in names:
            raise ConfigError(f"{key} has no item {name!r}; {nearest(name, list(names))}")
        name = names.get(name, "")
        chosen |= {item for item in items if item == (key, name) or (item[0] == key and not name)}
    return [item for item in items if item in chosen or not wanted]


def left_out(papers: Mapping[str, Paper], shown: Collection[tuple[str, str]]) -> list[str]:
    """What is not among some items, as one would ask for it: papers, or single items of others."""
    names = []
    for key, paper in papers.items():
        missing = [name for name in paper.items if (key, name) not in shown]
        if len(missing) == len(paper.items):
            names.append(key)
        else:
            names += [f"{key}/{name}" for name in missing]
    return names


def planned_sweeps(
    papers: Mapping[str, Paper],
    chosen: Sequence[tuple[str, str]],
    root: Path,
    *,
    full: bool = False,
    budget: float | None = None,
    machine: str = "",
) -> list[PlannedSweep]:
    """The sweeps of items, with the source of each data set; shared sweeps appear once."""

    @cache
    def known(dataset: DatasetSpec) -> Source:
        return source_of(dataset, budget, pace=PACE)

    return [
        PlannedSweep(
            key,
            item,
            name,
            sweep,
            sweep_folder(root, papers[key], item, name),
            tuple(known(dataset) for dataset in sweep.datasets),
            machine=machine,
        )
        for key, item, name in _own_sweeps(papers, chosen)
        for sweep in [papers[key].items[item].sweep_at(name, full)]
    ]


def datasets_of(papers: Mapping[str, Paper], chosen: Sequence[tuple[str, str]]) -> set[DatasetSpec]:
    return {
        dataset
        for key, item, name in _own_sweeps(papers, chosen)
        for dataset in papers[key].items[item].sweep_at(name, full=False).datasets
    }


def _own_sweeps(
    papers: Mapping[str, Paper], chosen: Sequence[tuple[str, str]]
) -> dict[tuple[str, str, str], None]:
    """Paper, item and name of every sweep that the items need, where it is described."""
    return dict.fromkeys(
        (key, *papers[key].origin(item, name))
        for key, item in chosen
        for name in papers[key].items[item].sweeps
    )


def reserve(papers: Mapping[str, Paper], chosen: Sequence[tuple[str, str]], budget: float) -> float:
    """Seconds of the budget that are reserved for tables and figures."""
    items = [papers[key].items[name] for key, name in chosen]
    needed = sum(_TABLE * len(item.tables) + _FIGURE * len(item.figures) for item in items)
    return min(WRITING_SHARE * budget, needed + _FIGURE)
