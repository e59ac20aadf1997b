"""The answer of a sweep on the terminal: who is fastest, and whether the runs prove it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from svmbench.cli.columns import align

#: Lines of the table; the page has all of them.
MOST_LINES = 24


def as_table(folder: Path) -> str:
    """Who is fastest to each accuracy on each problem of a results folder, a line each."""
    from svmbench.records.read import read_results
    from svmbench.report.questions import order
    from svmbench.report.verdict import answer

    found = answer(_standings(folder))
    table = align(found.header, found.lines[:MOST_LINES])
    left = len(found.lines) - MOST_LINES
    more = f"({left} more on the page)" if left > 0 else ""
    return "\n".join(filter(None, [table, more, order(read_results(folder)).caution]))


def in_a_sentence(folder: Path) -> str:
    """Who is fastest to the tightest accuracy, and by how much; empty if no time was asked for."""
    from svmbench.report.verdict import conclusion

    return conclusion(_standings(folder))


def is_open(folder: Path) -> bool:
    """Whether there is a leader that was not shown to be the fastest."""
    leads = (
        lead
        for standing in _standings(folder)
        for leads in standing.problems
        for lead in leads.leads
    )
    return any(lead.leader and lead.following and not lead.settled for lead in leads)


def as_json(folder: Path) -> str:
    """The same as JSON: an object per data set, λ and accuracy, and where the page is."""
    from svmbench.report.verdict import proof_of

    leads = [
        {
            "dataset": standing.heading,
            "lambda": leads.lam,
            "at": lead.place,
            "leader": lead.leader or None,
            "value": lead.value,
            "clear": lead.clear,
            "next": lead.following or None,
            "proven": proof_of(lead),
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
