"""Outputs of a run, from the list of all its iterates."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator

CHOICE = 0x6F75747075740000  # b"output" and two zero bytes: a stream apart from the rows'


def chosen(seed, first, last):
    """Number of the random iterate, from first to last - 1."""
    return first + Generator(seed ^ CHOICE).next() % (last - first)


def output(iterates, last, kind, steps, seed=0, first=0):
    """What a run shows whose steps began at ``iterates`` and led to ``last``.

    ``kind`` is last, mean or random; the output begins at iterate ``first`` of a mean, and is
    chosen among first .. steps - 1 of a random one. Until then the last iterate is shown.
    """
    if kind == "last":
        return last
    if kind == "mean":
        return np.mean(iterates[first:], axis=0) if len(iterates) > first else last
    r = chosen(seed, first, steps)
    return (*iterates, last)[r] if len(iterates) >= r else last
