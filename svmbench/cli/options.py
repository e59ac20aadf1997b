"""Options that several commands take, each with its help said once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

offline = click.option("--offline", is_flag=True, help="Do not look for data on the network.")

#: Of commands that look for data on the network only where they are asked to.
offline_beside_fetch = click.option(
    "--offline", is_flag=True, help="Do not look for data on the network, as without --fetch."
)

fetch = click.option("--fetch", is_flag=True, help="Download data that are not here.")

fresh = click.option("--fresh", is_flag=True, help="Make all runs again, finished or not.")

retry_failed = click.option("--retry-failed", is_flag=True, help="Make runs again that failed.")

keep_weights = click.option(
    "--keep-weights",
    is_flag=True,
    help="Keep the weights each run ends with, for 'svmbench verify'; runs made without are made "
    "again.",
)

report_only = click.option("--report-only", is_flag=True, help="Make no runs; write all anew.")

pictures = click.option(
    "--pictures",
    type=click.Choice(["inline", "linked"]),
    default="inline",
    show_default=True,
    help="inline: the page needs nothing but itself. linked: a small page, good with the PNGs "
    "beside it.",
)

quiet = click.option("--quiet", is_flag=True, help="Say nothing but errors.")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def out_folder(default: str) -> Callable[[Any], Any]:
    """The folder of results; ``default`` is what the help says of it unless given."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"Results folder.  [default: {default}]",
    )


def refuse_fetch_and_offline(fetch: bool, offline: bool) -> None:
    """Refuse the two options together."""
    if fetch and offline:
        raise click.UsageError("--fetch and --offline; keep one of them")


def budget_seconds(text: str) -> float:
    """Read a budget as it is written on the command line.

    Parameters
    ----------
    text : str
        Seconds, or such as 90s, 30m or 2h.

    Returns
    -------
    float
        Seconds.
    """
    from pydantic import TypeAdapter, ValidationError

    from svmbench.config.sweep import Duration

    given: str | float = text
    with suppress(ValueError):
        given = float(text)
    try:
        found: float = TypeAdapter(Duration).validate_python(given)
    except ValidationError:
        raise click.UsageError(
            f"--budget {text!r}: write seconds, or such as 90s, 30m or 2h"
        ) from None
    return found
