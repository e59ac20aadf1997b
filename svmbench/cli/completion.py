"""What the shell completes beyond commands and options: solvers, data sets and papers."""

from __future__ import annotations

import click


def solver_names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Solvers whose names begin so."""
    from svmbench.solvers.registry import solvers

    return [name for name in solvers() if name.startswith(begun)]


def data_names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Data sets of the catalogue whose names begin so."""
    from svmbench.data.catalogue import names

    return [name for name in names() if name.startswith(begun)]


def paper_names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Papers whose names begin so; after a slash, their items."""
    from svmbench.papers.model import papers

    known = papers(None)
    choices = [f"{key}/{item}" for key, paper in known.items() for item in paper.names]
    return [name for name in [*known, *choices] if name.startswith(begun)]
