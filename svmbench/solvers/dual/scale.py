"""The scale of w that minimises P: while alpha converges, P(c w) is often below P(w)."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import FloatArray

#: Scales that are considered.
LEAST, MOST = 0.5, 2.0

#: The scale is found from every so many active rows, but from no fewer and no more than these.
STRIDE, FEWEST_ROWS, MOST_ROWS = 32, 64, 1024


def stride_of(active: int) -> int:
    """From every how many of the active rows the scale is found."""
    return max(1, min(STRIDE, active // FEWEST_ROWS), active // MOST_ROWS)


def best_scale(margins: FloatArray, alpha: FloatArray, energy: float) -> float:
    """The c that minimises P(c w), from some of the rows.

    It is the root of ``energy (c - 1) + sum (alpha_i - [c s_i < 1]) s_i``, which increases with c.
    """
    if not (0.0 < energy < math.inf) or not np.isfinite(margins).all():
        return 1.0
    # Only between these scales do rows change sides; at LEAST, those beyond are short of 1.
    turning = np.sort(margins[(margins * LEAST < 1.0) & (margins * MOST > 1.0)])[::-1]
    kinks = np.append(1.0 / turning, MOST)
    short = float(margins[margins * LEAST < 1.0].sum())
    slopes = float(alpha @ margins) - short + np.append(0.0, np.cumsum(turning)) - energy
    # The derivative is slopes[k] + energy c from the kink k - 1 to the kink k.
    k = int(np.argmax(slopes + energy * kinks >= 0.0))
    if slopes[k] + energy * kinks[k] < 0.0:
        return MOST
    lowest = LEAST if k == 0 else float(kinks[k - 1])
    return max(lowest, float(-slopes[k] / energy))


def share_saved(margins: FloatArray, alpha: FloatArray, energy: float, scale: float) -> float:
    """The share of the gap that a scale of w saves, from the same rows as `best_scale`."""
    apart = slack(margins, alpha)
    left = slack(scale * margins, alpha) + 0.5 * energy * (scale - 1.0) ** 2
    return 1.0 - left / apart if 0.0 < apart < math.inf and left < math.inf else 0.0


def slack(margins: FloatArray, alpha: FloatArray) -> float:
    """What the rows add to m (P - D)."""
    beyond = margins - 1.0
    return float(np.where(beyond > 0.0, alpha * beyond, (alpha - 1.0) * beyond).sum())
