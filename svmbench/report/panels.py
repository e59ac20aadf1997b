"""Panels of curves: their limits and ticks, and a curve with its band and its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from svmbench.report.curves import Curve
from svmbench.report.sheet import log_ticks
from svmbench.report.style import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svmbench.report.style import Look

_MARKERS = {"reached": "o", "limit": "o", "diverged": "x", "cut": ""}


def limit_abscissa(axes: Axes, curves: Sequence[Curve]) -> None:
    """From where the first curve becomes visible to where the last one ends."""
    _, top = axes.get_ylim()
    views = [curve.x[curve.middle <= top] for curve in curves]
    first = min((float(x[0]) for x in views if x.size), default=float(curves[0].x[0]))
    last = max(float(curve.x[-1]) for curve in curves)
    if last <= first:
        first, last = last / 2, last * 2
    axes.set_xlim(first, last * (last / first) ** 0.03)


def draw_curve(
    axes: Axes, curve: Curve, look: Look, name: str, size: float = 3.5, width: float | None = None
) -> None:
    """Draw a curve with its band and its end on axes with final limits; sizes are in points."""
    if (curve.high > curve.low).any():
        axes.fill_between(
            curve.x, curve.low, curve.high, color=look.colour, alpha=0.16, linewidth=0, zorder=2
        )
    axes.plot(
        curve.x,
        curve.middle,
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markersize=size,
        linewidth=width,
        markevery=max(1, len(curve.x) // 6),
        zorder=3,
        label=named(name),
    )
    axes.plot(
        *_tip(axes, curve),
        marker=_MARKERS[curve.fate],
        markersize=size + 0.5,
        markeredgewidth=1.0,
        color=look.colour,
        markerfacecolor="white" if curve.fate == "limit" else look.colour,
        clip_on=False,
        zorder=4,
    )


def _tip(axes: Axes, curve: Curve) -> tuple[float, float]:
    """Where a curve ends, or leaves the panel; if it is never visible, above its end."""
    (bottom, top), right = axes.get_ylim(), axes.get_xlim()[1]
    last = max(0, int(np.searchsorted(curve.x, right, side="right")) - 1)
    if curve.middle[last] > top:
        inside = np.flatnonzero(curve.middle[: last + 1] <= top)
        at = int(inside[-1]) + 1 if inside.size else last
        return float(curve.x[at]), top
    return float(curve.x[last]), max(float(curve.middle[last]), bottom)


def set_ticks(axes: Axes) -> None:
    """Plain numbers on an axis of less than two decades, powers of ten on longer ones."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        log_ticks(axis, most=7)
        if high < 4 * low:
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
            axis.set_minor_locator(NullLocator())
