"""The answer of a sweep on the terminal: who is fastest, and whether the runs prove it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.cli.columns import align

if TYPE_CHECKING:
    from svmbench.report.verdict import Lead

#: Lines of the table; the page has all of them.
MOST_LINES = 24

_HEADER = ("data set", "λ", "to", "fastest", "median [interval]", "next", "proven")
_AT_THE_STOP = ("data set", "λ", "", "closest", "median distance [interval]", "next", "proven")


def as_table(folder: Path) -> str:
    """Who is fastest to each accuracy on each problem of a results folder, a line each.

    "next" is the solver with the second least median, as a multiple of the least. "proven" says
    whether the runs show the fastest to take less than every other.

    Parameters
    ----------
    folder : Path
        With a written report.
    """
    from svmbench.records.read import read_results
    from svmbench.report.questions import order

    rows = [
        _line(standing.heading, leads.lam, lead)
        for standing in _standings(folder)
        for leads in standing.problems
        for lead in leads.leads
    ]
    header = _HEADER if any(row[2].startswith("ε") for row in rows) else _AT_THE_STOP
    table = align(header, rows[:MOST_LINES])
    left = len(rows) - MOST_LINES
    more = f"({left} more on the page)" if left > 0 else ""
    return "\n".join(filter(None, [table, more, order(read_results(folder)).caution]))


def as_json(folder: Path) -> str:
    """The same as JSON: an object per data set, λ and accuracy, and where the page is."""
    leads = [
        {
            "dataset": standing.heading,
            "lambda": leads.lam,
            "at": lead.place,
            "leader": lead.leader or None,
            "value": lead.value,
            "clear": lead.clear,
            "next": lead.following or None,
            "remark": lead.remark,
        }
        for standing in _standings(folder)
        for leads in standing.problems
        for lead in leads.leads
    ]
    return json.dumps({"leads": leads, "page": str(folder / "report.html")}, indent=2)


def _standings(folder: Path) -> list[Any]:
    from svmbench.records.read import read_results
    from svmbench.report.verdict import verdicts

    return list(verdicts(read_results(folder)))


def _line(heading: str, lam: str, lead: Lead) -> tuple[str, ...]:
    leader = lead.leader or "nobody"
    return heading, lam, lead.place, leader, lead.value, lead.following or "–", _proven(lead)


def _proven(lead: Lead) -> str:
    """Against whom the leader was shown to take less, or was not; and who did not arrive."""
    names = lead.absent
    gone = " and ".join(names) if len(names) <= 2 else f"{len(names)} others"
    absent = [f"{gone} did not arrive"] if names else []
    return "; ".join([*_compared(lead), *absent]) or "–"


def _compared(lead: Lead) -> Iterator[str]:
    open_ones = len(lead.rivals)
    if lead.clear:
        yield "yes"
    elif open_ones == lead.others > 1:
        yield "against none yet"
    elif open_ones:
        few = open_ones <= 2
        yield f"not against {' and '.join(lead.rivals) if few else f'{open_ones} of {lead.others}'}"
