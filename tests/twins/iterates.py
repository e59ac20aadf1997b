"""Outputs of a run, from the list of all its iterates."""

from __future__ import annotations

import numpy as np


def mean_from(first, iterates, last):
    """The mean of the iterates from number ``first`` on; the last one until then."""
    return np.mean(iterates[first:], axis=0) if len(iterates) > first else last
