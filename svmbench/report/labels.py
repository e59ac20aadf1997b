"""Places the labels of curves beside their ends, so that a plot needs no legend.

Each label takes the cheapest of some two hundred places around its end; a few rounds let
the labels make way for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FONT_SIZE = 7.5
#: Points between a curve's end and a label beside it; a label farther off is tied to its end.
PAD = 4.0
_TIED_FROM = 5.5
#: Points that a label may stand out of its panel on the right.
_BESIDE = 38.0
_ROUNDS = 4

# What a place costs. Covering a label is out of the question, covering the end of a curve
# is bad, covering curves and standing apart are a matter of degree.
_ON_LABEL = 1000.0
_ON_END = 60.0
_ON_TIE = 25.0
_ON_CURVE = 1.2  # for each point (1/72 inch) of curve
_NEARER_ANOTHER = 12.0  # than its own end: it would be read as the other's
_TIE_ON_CURVE = 5.0  # for each point of a tie that runs on one
_APART = 0.8  # for each point of distance


@dataclass(frozen=True)
class End:
    """The end of a curve, where its label goes.

    Parameters
    ----------
    x, y : float
        In the units of the axes.
    label : str
    ink : str
        Colour of the text.
    """

    x: float
    y: float
    label: str
    ink: str


@dataclass(frozen=True)
class _Places:
    """Where one label can go, in pixels.

    Parameters
    ----------
    tip : ndarray, shape (2,)
        The end of its curve.
    boxes : ndarray, shape (n, 4)
        x0, y0, x1, y1 of each place.
    costs : ndarray, shape (n,)
        Of each place, the other labels apart.
    """

    tip: FloatArray
    boxes: FloatArray
    costs: FloatArray


def label_ends(
    axes: Axes,
    ends: Sequence[End],
    curves: Sequence[FloatArray],
    obstacles: Sequence[Text] = (),
) -> list[Text]:
    """Write each label beside its curve's end, clear of the others and, if possible, of curves.

    Parameters
    ----------
    axes : Axes
        With its final place and limits.
    ends : sequence of End
    curves : sequence of ndarray, shape (n, 2)
        What labels should not cover, in the units of the axes.
    obstacles : sequence of Text
        What they must not cover.

    Returns
    -------
    list of Text
        One label an end.
    """
    if not ends:
        return []
    scale = axes.get_figure(root=True).dpi / 72.0  # type: ignore[union-attr]
    frame = axes.get_window_extent()
    tips = axes.transData.transform([(end.x, end.y) for end in ends])
    inked = _along(axes, curves, frame, scale)
    fixed = np.array([text.get_window_extent().extents for text in obstacles]).reshape(-1, 4)
    places = []
    for end, tip in zip(ends, tips, strict=True):
        boxes = _boxes(tip, _size(axes, end.label), frame, scale)
        places.append(_Places(tip, boxes, _costs(boxes, tip, frame, tips, inked, scale)))
    chosen = _settle(places, fixed)
    return [
        _write(axes, end, place.tip, box, scale)
        for end, place, box in zip(ends, places, chosen, strict=True)
    ]


def _size(axes: Axes, label: str) -> tuple[float, float]:
    probe = axes.text(0, 0, label, fontsize=FONT_SIZE)
    extent = probe.get_window_extent()
    probe.remove()
    return extent.width, extent.height


def _along(axes: Axes, curves: Sequence[FloatArray], frame: Bbox, scale: float) -> FloatArray:
    """Points on the curves within the frame, about a 72nd of an inch apart, in pixels."""
    found = [np.empty((0, 2))]
    for curve in curves:
        pixels = axes.transData.transform(curve[np.isfinite(curve).all(axis=1)])
        pixels = np.clip(pixels, (frame.x0, frame.y0), (frame.x1, frame.y1))
        for start, stop in pairwise(pixels):
            steps = int(np.hypot(*(stop - start)) / scale) + 1
            found.append(start + np.linspace(0, 1, steps, endpoint=False)[:, None] * (stop - start))
    return _one_a_point(np.concatenate(found), scale)


def _one_a_point(pixels: FloatArray, scale: float) -> FloatArray:
    """One position for each square point that is touched: dense steps count once."""
    touched: FloatArray = (np.unique(np.floor(pixels / scale), axis=0) + 0.5) * scale
    return touched


def _boxes(tip: FloatArray, size: tuple[float, float], frame: Bbox, scale: float) -> FloatArray:
    width, height = size
    pad = PAD * scale
    aside = [width * k / 4 - width / 2 for k in range(-2, 3)]
    lefts = np.array([pad, -pad - width, *aside, 4 * pad, 8 * pad, -4 * pad - width])
    rises = np.arange(-18, 19) * 0.5 * height
    x0, y0 = (grid.ravel() for grid in np.meshgrid(tip[0] + lefts, tip[1] + rises - height / 2))
    x0 = np.clip(x0, frame.x0 + scale, max(frame.x1 + _BESIDE * scale - width, frame.x0 + scale))
    y0 = np.clip(y0, frame.y0 + scale, frame.y1 - height)
    return np.column_stack([x0, y0, x0 + width, y0 + height])


def _costs(
    boxes: FloatArray,
    tip: FloatArray,
    frame: Bbox,
    tips: FloatArray,
    inked: FloatArray,
    scale: float,
) -> FloatArray:
    near = _nearest(boxes, tip)
    away = np.hypot(*(near - tip).T) / scale
    beside = (boxes[:, 0] >= tip[0]) & (np.abs(boxes[:, [1, 3]].mean(axis=1) - tip[1]) < scale)
    costs: FloatArray = (
        _ON_END * _inside(boxes, tips, 2.5 * scale)
        + _ON_CURVE * _inside(boxes, inked, 0.5 * scale)
        + _NEARER_ANOTHER * _misleading(boxes, tip, tips, scale)
        + _ON_TIE * _touched(tip, near, tips, scale)
        + _TIE_ON_CURVE * _crossed(tip, near, inked, scale) * away
        + _APART * np.maximum(away - PAD, 0.0)
        + 1.0 * ~beside  # where readers look first
    )
    return costs


def _misleading(
    boxes: FloatArray, tip: FloatArray, tips: FloatArray, scale: float
) -> NDArray[np.bool_]:
    """Whether another curve's end lies nearer to each place than its own, shape (n,)."""
    others = tips[np.hypot(*(tips - tip).T) > scale]
    if not others.size:
        return np.zeros(len(boxes), dtype=bool)
    apart = _distance(boxes[:, None, :], others[None, :, :]).min(axis=1)
    nearer: NDArray[np.bool_] = apart < _distance(boxes, tip) + 0.5 * scale
    return nearer


def _distance(boxes: FloatArray, points: FloatArray) -> FloatArray:
    gaps = _nearest(boxes, points) - points
    distance: FloatArray = np.hypot(gaps[..., 0], gaps[..., 1])
    return distance


def _touched(tip: FloatArray, near: FloatArray, tips: FloatArray, scale: float) -> FloatArray:
    """How many other curves' ends the line from the tip to each place touches, shape (n,)."""
    others = tips[np.hypot(*(tips - tip).T) > scale]
    line = (near - tip)[:, None, :]
    length = np.maximum((line**2).sum(axis=2, keepdims=True), 1e-9)
    along = np.clip(((others - tip) * line).sum(axis=2, keepdims=True) / length, 0.0, 1.0)
    apart = tip + along * line - others
    counts: FloatArray = (np.hypot(apart[..., 0], apart[..., 1]) < 2.5 * scale).sum(axis=1) * 1.0
    return counts


def _crossed(tip: FloatArray, near: FloatArray, inked: FloatArray, scale: float) -> FloatArray:
    """Share of the line from the tip to each place that lies on curves, shape (n,)."""
    steps = np.linspace(0.1, 1.0, 40)[:, None, None]
    cells = np.floor((tip + steps * (near - tip)) / scale).astype(np.int64)
    taken = np.floor(inked / scale).astype(np.int64)
    hit = np.isin(cells @ (1, 1 << 20), taken @ (1, 1 << 20))  # a cell as one number
    share: FloatArray = hit.mean(axis=0)
    return share


def _settle(places: Sequence[_Places], fixed: FloatArray) -> list[FloatArray]:
    """One box a label; the long ones, which have the least room, choose first."""
    order = sorted(range(len(places)), key=lambda at: -_width(places[at].boxes[0]))
    chosen: dict[int, FloatArray] = {}
    for _ in range(_ROUNDS):
        for at in order:
            place = places[at]
            others = [other for other in chosen if other != at]
            labels = np.concatenate([fixed, *(chosen[other][None] for other in others)])
            costs = place.costs + _ON_LABEL * _overlaps(place.boxes, labels)
            for other in others:
                costs += _ON_TIE * _inside(place.boxes, _tie(places[other].tip, chosen[other]), 0.0)
            near = _nearest(place.boxes, place.tip)
            for step in (0.25, 0.5, 0.75):
                along = place.tip + step * (near - place.tip)
                costs += _ON_TIE * _holds(labels, along)
            chosen[at] = place.boxes[int(costs.argmin())]
    return [chosen[at] for at in range(len(places))]


def _width(box: FloatArray) -> float:
    return float(box[2] - box[0])


def _nearest(boxes: FloatArray, point: FloatArray) -> FloatArray:
    """The point of each box nearest to a point, shape (..., 2)."""
    nearest: FloatArray = np.clip(point, boxes[..., :2], boxes[..., 2:])
    return nearest


def _tie(tip: FloatArray, box: FloatArray) -> FloatArray:
    """Some points on the line between a label and its curve's end."""
    steps = np.linspace(0.15, 0.85, 6)[:, None]
    points: FloatArray = tip + steps * (_nearest(box, tip) - tip)
    return points


def _inside(boxes: FloatArray, points: FloatArray, margin: float) -> FloatArray:
    """How many of the points lie in each box, shape (n,)."""
    x, y = points[:, 0], points[:, 1]
    x0, y0, x1, y1 = (boxes[:, [side]] for side in range(4))
    within = (x > x0 - margin) & (x < x1 + margin) & (y > y0 - margin) & (y < y1 + margin)
    counts: FloatArray = within.sum(axis=1).astype(np.float64)
    return counts


def _holds(boxes: FloatArray, points: FloatArray) -> FloatArray:
    """How many of the boxes hold each point, shape (number of points,)."""
    x, y = points[:, [0]], points[:, [1]]
    x0, y0, x1, y1 = boxes.T
    counts: FloatArray = ((x > x0) & (x < x1) & (y > y0) & (y < y1)).sum(axis=1).astype(np.float64)
    return counts


def _overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Sum over the others of 1 + the share of the box covered, where they overlap."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    common = np.clip(high - low, 0.0, None).prod(axis=2)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)[:, None]
    shares: FloatArray = np.where(common > 0, 1.0 + common / area, 0.0).sum(axis=1)
    return shares


def _write(axes: Axes, end: End, tip: FloatArray, box: FloatArray, scale: float) -> Text:
    nearest = _nearest(box, tip)
    arrow = None
    if np.hypot(*(nearest - tip)) > _TIED_FROM * scale:
        anchor = (nearest - box[:2]) / np.maximum(box[2:] - box[:2], 1e-9)
        arrow = {
            "arrowstyle": "-",
            "color": end.ink,
            "linewidth": 0.5,
            "shrinkA": 0.0,
            "shrinkB": 2.0,
            "relpos": tuple(anchor),
        }
    return axes.annotate(
        end.label,
        xy=(end.x, end.y),
        xytext=tuple((box[:2] - tip) / scale),
        textcoords="offset points",
        fontsize=FONT_SIZE,
        color=end.ink,
        ha="left",
        va="bottom",
        annotation_clip=False,
        arrowprops=arrow,
        bbox={
            "boxstyle": "square,pad=0.05",
            "facecolor": "white",
            "edgecolor": "none",
            "alpha": 0.75,
        },
        zorder=6,
    )
