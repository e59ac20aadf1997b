"""How a training is carried out: what all layers hand down to each fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How a training is carried out, whatever it minimises.

    Parameters
    ----------
    seed : int
        Of random orders of rows, and of folds.
    time_limit : float
        Seconds after which a fit returns its best weights so far; their gap is then larger.
    threads : int
        Fits at the same time. Where there are more threads than fits, each fit may use several;
        their number changes the rounding of the result.
    given_up : callable
        Whether the result is no longer wanted; asked after each pass or iteration.
    """

    seed: int = 0
    time_limit: float = math.inf
    threads: int = 1
    given_up: Callable[[], bool] = lambda: False


USUAL = Effort()
