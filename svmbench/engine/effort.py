"""How a training is carried out: what all layers hand down to each fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How a training is carried out, whatever it minimises."""

    seed: int = 0  # of random orders of rows, and of folds
    # seconds after which a fit returns its best weights so far; their gap is then larger
    time_limit: float = math.inf
    # fits at the same time. Where there are more threads than fits, each fit may use several; their
    # number changes the rounding of the result.
    threads: int = 1
    # whether the result is no longer wanted; asked after each pass or iteration
    given_up: Callable[[], bool] = lambda: False


USUAL = Effort()
