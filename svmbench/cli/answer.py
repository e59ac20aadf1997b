"""The answer of a sweep on the terminal: who takes least, and how clearly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.cli.columns import align

if TYPE_CHECKING:
    from svmbench.report.verdict import Lead

#: Lines of the table; the page has all of them.
MOST_LINES = 24

_HEADER = ("data set", "λ", "at", "least", "median [interval]", "")


def as_table(folder: Path) -> str:
    """Who takes least to each accuracy on each problem of a results folder, a line each.

    Parameters
    ----------
    folder : Path
        With a written report.
    """
    rows = [
        (standing.heading, leads.lam, lead.place, lead.leader or "nobody", lead.value, _how(lead))
        for standing in _standings(folder)
        for leads in standing.problems
        for lead in leads.leads
    ]
    table = align(_HEADER, rows[:MOST_LINES])
    left = len(rows) - MOST_LINES
    return f"{table}\n({left} more on the page)" if left > 0 else table


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


def _how(lead: Lead) -> str:
    """How clear the lead is: the first sentence of its remark."""
    return lead.remark.partition(". ")[0].rstrip(".")
