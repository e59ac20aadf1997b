"""Rounds of the methods on shards, as `scripts/distributed/rounds.py` has measured them."""

from __future__ import annotations

from typing import NamedTuple


class MeasuredRounds(NamedTuple):
    """What a run took until its relative gap was within the target, or until it was given up.

    Parameters
    ----------
    method, data : str
        A solver and a data set of the catalogue, its rows scaled to length 1.
    lam : float
        lambda.
    shards : int
    target : float
        Relative gap.
    reached : bool
        Whether it was within the target.
    rounds, steps : int
        Times that all shards were asked; iterations.
    reads : float
        Entries read by all shards, over the number of stored entries.
    changed : float
        Rows whose products were added to or taken from the curvature, over the number of rows.
    """

    method: str
    data: str
    lam: float
    shards: int
    target: float
    reached: bool
    rounds: int
    steps: int
    reads: float
    changed: float


# fmt: off
RUNS: tuple[MeasuredRounds, ...] = (
    MeasuredRounds('newton-shards', 'adult', 0.001, 8, 0.1, True, 11, 4, 12.06, 1.926),
    MeasuredRounds('newton-shards', 'adult', 0.001, 8, 0.01, True, 15, 5, 15.11, 2.075),
    MeasuredRounds('newton-shards', 'adult', 0.001, 8, 0.001, True, 19, 6, 18.02, 2.129),
    MeasuredRounds('newton-shards', 'adult', 0.001, 8, 1e-06, True, 40, 12, 30.8, 2.161),
    MeasuredRounds('newton-shards', 'adult', 0.0001, 8, 0.1, True, 13, 5, 13.37, 1.969),
    MeasuredRounds('newton-shards', 'adult', 0.0001, 8, 0.01, True, 19, 7, 17.75, 2.102),
    MeasuredRounds('newton-shards', 'adult', 0.0001, 8, 0.001, True, 23, 8, 20.54, 2.143),
    MeasuredRounds('newton-shards', 'adult', 0.0001, 8, 1e-06, True, 64, 20, 41.09, 2.177),
    MeasuredRounds('newton-shards', 'adult', 1e-05, 8, 0.1, True, 16, 6, 14.85, 1.985),
    MeasuredRounds('newton-shards', 'adult', 1e-05, 8, 0.01, True, 22, 8, 19.18, 2.111),
    MeasuredRounds('newton-shards', 'adult', 1e-05, 8, 0.001, True, 31, 11, 24.7, 2.153),
    MeasuredRounds('newton-shards', 'adult', 1e-05, 8, 1e-06, True, 102, 31, 57.36, 2.202),
    MeasuredRounds('newton-shards', 'adult', 1e-06, 8, 0.1, True, 18, 7, 16.27, 1.993),
    MeasuredRounds('newton-shards', 'adult', 1e-06, 8, 0.01, True, 34, 12, 24.72, 2.114),
    MeasuredRounds('newton-shards', 'adult', 1e-06, 8, 0.001, True, 53, 17, 32.95, 2.154),
    MeasuredRounds('newton-shards', 'adult', 1e-06, 8, 1e-06, True, 190, 52, 85.9, 2.203),
    MeasuredRounds('newton-shards', 'kddcup10', 0.001, 8, 0.1, True, 18, 5, 12.18, 2.116),
    MeasuredRounds('newton-shards', 'kddcup10', 0.001, 8, 0.01, True, 24, 7, 15.63, 2.198),
    MeasuredRounds('newton-shards', 'kddcup10', 0.001, 8, 0.001, True, 33, 10, 21.09, 2.261),
    MeasuredRounds('newton-shards', 'kddcup10', 0.001, 8, 1e-06, True, 53, 16, 30.66, 2.287),
    MeasuredRounds('newton-shards', 'kddcup10', 0.0001, 8, 0.1, True, 23, 8, 14.47, 2.086),
    MeasuredRounds('newton-shards', 'kddcup10', 0.0001, 8, 0.01, True, 34, 12, 20.87, 2.146),
    MeasuredRounds('newton-shards', 'kddcup10', 0.0001, 8, 0.001, True, 39, 14, 24.01, 2.155),
    MeasuredRounds('newton-shards', 'kddcup10', 0.0001, 8, 1e-06, True, 61, 21, 34.36, 2.169),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-05, 8, 0.1, True, 32, 11, 17.29, 2.052),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-05, 8, 0.01, True, 45, 16, 24.56, 2.088),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-05, 8, 0.001, True, 56, 19, 28.65, 2.093),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-05, 8, 1e-06, True, 117, 37, 51.11, 2.097),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-06, 8, 0.1, True, 32, 12, 18.02, 2.029),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-06, 8, 0.01, True, 52, 19, 27.18, 2.043),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-06, 8, 0.001, True, 69, 24, 33.26, 2.046),
    MeasuredRounds('newton-shards', 'kddcup10', 1e-06, 8, 1e-06, True, 132, 42, 54.5, 2.05),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 1, 0.1, True, 2, 1, 12.24, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 1, 0.01, True, 2, 1, 12.24, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 1, 0.001, True, 2, 1, 12.24, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 1, 1e-06, True, 2, 1, 12.24, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 8, 0.1, True, 2, 1, 13.72, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 8, 0.01, True, 4, 2, 25.8, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 8, 0.001, True, 8, 4, 49.05, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 8, 1e-06, False, 92, 46, 520.46, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 64, 0.1, True, 8, 4, 75.15, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 64, 0.01, True, 16, 8, 129.81, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 64, 0.001, True, 52, 26, 345.78, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.001, 64, 1e-06, False, 96, 48, 598.57, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 1, 0.1, True, 2, 1, 13.19, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 1, 0.01, True, 2, 1, 13.19, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 1, 0.001, True, 2, 1, 13.19, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 1, 1e-06, True, 14, 7, 88.11, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 8, 0.1, True, 10, 5, 84.1, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 8, 0.01, True, 32, 16, 233.69, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 8, 0.001, False, 96, 48, 639.33, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 64, 0.1, True, 70, 35, 652.27, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 0.0001, 64, 0.01, False, 120, 60, 1031.45, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 1, 0.1, True, 2, 1, 15.42, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 1, 0.01, True, 4, 2, 29.96, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 1, 0.001, True, 6, 3, 44.46, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 1, 1e-06, True, 54, 27, 392.35, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 8, 0.1, True, 124, 62, 972.13, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 8, 0.01, False, 200, 100, 1531.21, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-05, 64, 0.1, False, 200, 100, 1783.62, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-06, 1, 0.1, True, 6, 3, 45.2, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-06, 1, 0.01, True, 8, 4, 59.93, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-06, 1, 0.001, True, 12, 6, 89.4, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-06, 1, 1e-06, True, 70, 35, 516.65, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-06, 8, 0.1, False, 200, 100, 1548.25, 0.0),
    MeasuredRounds('cocoa', 'imdb.tfidf', 1e-06, 64, 0.1, False, 200, 100, 1783.62, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 1, 0.1, True, 2, 1, 11.57, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 1, 0.01, True, 2, 1, 11.57, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 1, 0.001, True, 2, 1, 11.57, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 1, 1e-06, True, 4, 2, 22.61, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 8, 0.1, True, 2, 1, 11.98, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 8, 0.01, True, 2, 1, 11.98, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 8, 0.001, True, 20, 10, 112.41, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 8, 1e-06, False, 200, 100, 1106.35, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 64, 0.1, True, 2, 1, 13.83, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 64, 0.01, True, 20, 10, 119.47, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.001, 64, 0.001, False, 200, 100, 1125.09, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 1, 0.1, True, 2, 1, 11.84, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 1, 0.01, True, 2, 1, 11.84, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 1, 0.001, True, 2, 1, 11.84, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 1, 1e-06, True, 20, 10, 111.39, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 8, 0.1, True, 2, 1, 13.61, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 8, 0.01, True, 14, 7, 82.51, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 8, 0.001, True, 158, 79, 886.39, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 8, 1e-06, False, 200, 100, 1119.48, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 64, 0.1, True, 16, 8, 112.07, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 64, 0.01, True, 176, 88, 1049.33, 0.0),
    MeasuredRounds('cocoa', 'adult', 0.0001, 64, 0.001, False, 200, 100, 1186.46, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 1, 0.1, True, 2, 1, 13.85, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 1, 0.01, True, 4, 2, 25.69, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 1, 0.001, True, 8, 4, 48.53, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 1, 1e-06, False, 200, 100, 1113.5, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 8, 0.1, True, 6, 3, 49.76, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 8, 0.01, True, 138, 69, 813.4, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 8, 0.001, False, 200, 100, 1164.06, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 64, 0.1, True, 146, 73, 1030.94, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-05, 64, 0.01, False, 200, 100, 1365.57, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 1, 0.1, True, 8, 4, 66.35, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 1, 0.01, True, 18, 9, 129.86, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 1, 0.001, True, 50, 25, 315.83, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 1, 1e-06, False, 200, 100, 1157.77, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 8, 0.1, True, 54, 27, 465.77, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 8, 0.01, False, 200, 100, 1380.93, 0.0),
    MeasuredRounds('cocoa', 'adult', 1e-06, 64, 0.1, False, 200, 100, 1787.34, 0.0),
)
# fmt: on
