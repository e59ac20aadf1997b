"""When a run's times are in doubt because much happened off the clock: the one rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Time of a run that is neither training, conversion, reading, evaluating nor recording: it may be
#: this share of training, or so many seconds if that is more.
UNACCOUNTED_SHARE, UNACCOUNTED_FROM = 0.1, 0.25

#: Conversion may take as long as so many evaluations of P, or so many seconds if that is more.
CONVERSION_EVALUATIONS, CONVERSION_FROM = 50.0, 0.1

#: Processor seconds that importing a solver and its programs may take.
LOADING_FROM = 5.0

#: Each cause in words.
OFF_CLOCK_CAUSES = {
    "read": "took long to read, which was added to the training time",
    "unaccounted": "spent time on neither training, conversion nor evaluation",
    "conversion": "spent more time on conversion than on training",
    "loading": "spent more time on loading than on training",
}


def off_clock(run: Mapping[Any, Any]) -> tuple[str, ...]:
    """The `OFF_CLOCK_CAUSES` that put a run's times in doubt; empty if nothing is known."""
    train, conversion = run["train_seconds"], run["conversion_seconds"]
    unaccounted, loading = run["unaccounted_seconds"], run["load_cpu_seconds"]
    # Comparisons with nan are false, so unknown numbers raise no doubt.
    held = {
        "read": run["charged_seconds"] > 0,
        "unaccounted": unaccounted > UNACCOUNTED_FROM and unaccounted > UNACCOUNTED_SHARE * train,
        "conversion": conversion > CONVERSION_FROM
        and conversion > CONVERSION_EVALUATIONS * run["evaluation_seconds"]
        and conversion > train,
        "loading": loading > LOADING_FROM and loading > train,
    }
    return tuple(cause for cause in OFF_CLOCK_CAUSES if held[cause])
