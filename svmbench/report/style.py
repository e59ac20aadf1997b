"""How plots look: one colour per solver, one dash pattern per label, and sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import is_color_like, to_hex, to_rgb
from numpy.typing import NDArray

from svmbench.records.read import Results

#: Colours that people with any colour vision can distinguish (Okabe and Ito), for solvers that
#: have none of their own.
PALETTE = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#882255", "#44AA99",
    "#332288", "#999933", "#661100", "#6699CC", "#117733", "#AA4499", "#000000",
)  # fmt: skip

#: Dashes for the labels of one solver, in units of the line's width.
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (4.5, 1.5)),
    (0, (1.3, 1.1)),
    (0, (6, 1.3, 1.3, 1.3)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)),
)

#: Dots per inch of a PNG.
DPI = 180

RC: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 8.25,
    "ytick.labelsize": 8.25,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "pdf.fonttype": 42,  # TrueType: printers and journals refuse the default
    "svg.fonttype": "none",  # text stays text: it can be searched, and set in the page's font
    "svg.hashsalt": "svmbench",  # the same figure gives the same file
    "path.simplify_threshold": 0.2,
}

#: If the `difference` of two colours is below this, dashes distinguish their curves.
ALIKE = 20.0

#: From linear red, green and blue to CIE XYZ.
_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)  # fmt: skip

#: What is seen of linear red, green and blue: by normal eyes, without red and without green cones.
_VISIONS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
        [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    ]
)

#: Contrast with white below which coloured text is hard to read (WCAG 2, AA).
_CONTRAST = 4.5


@dataclass(frozen=True)
class Look:
    """How a label's curves are drawn.

    Parameters
    ----------
    colour : str
        #rrggbb, the solver's.
    dash : str or tuple
        As matplotlib's linestyle.
    ink : str
        The colour, dark enough for text.
    """

    colour: str
    dash: Any
    ink: str

    @property
    def background(self) -> str:
        """The line as a CSS background: a plain colour, or its dashes along the horizontal."""
        if self.dash == "solid":
            return self.colour
        stops, at = [], 0.0
        for number, length in enumerate(self.dash[1]):
            ink = "transparent" if number % 2 else self.colour
            stops.append(f"{ink} {at:g}px {at + 1.5 * length:g}px")
            at += 1.5 * length
        return f"repeating-linear-gradient(90deg, {', '.join(stops)})"


def looks(results: Results) -> dict[str, Look]:
    """One look per label, the same in every plot of a results folder."""
    return looks_of(results.runs, results.solvers)


def looks_of(runs: pd.DataFrame, solvers: Sequence[str]) -> dict[str, Look]:
    """One look for each label of some runs.

    A colour that no earlier solver has claimed is kept; the others are taken from the palette.

    Parameters
    ----------
    runs : DataFrame
        With columns solver, label and colour.
    solvers : sequence of str
        All of them, in the order in which they choose.
    """
    firsts = runs.drop_duplicates("solver").set_index("solver")["colour"]
    colours: dict[str, str] = {}
    for solver in solvers:
        own = str(firsts[solver])
        if is_color_like(own) and to_hex(own) not in colours.values():
            colours[solver] = to_hex(own)
    free = [to_hex(colour) for colour in PALETTE if to_hex(colour) not in colours.values()]
    for number, solver in enumerate(s for s in solvers if s not in colours):
        colours[solver] = free[number % len(free)] if free else "#555555"
    found = {}
    for solver in solvers:
        labels = set(runs.loc[runs["solver"] == solver, "label"])
        for number, label in enumerate(sorted(labels, key=lambda label: (len(label), label))):
            colour = _shade(colours[solver], number // len(DASHES))
            found[label] = Look(colour, DASHES[number % len(DASHES)], _ink(colour))
    return found


def _shade(colour: str, turn: int) -> str:
    """The colour for labels after so many turns through the dashes: darker each time."""
    return to_hex(tuple(np.array(to_rgb(colour)) * 0.6**turn))


def free_colour(taken: Sequence[str]) -> str | None:
    """The colour of the palette that differs most from those taken; None if all are alike."""
    nearest = {
        colour: min((difference(colour, other) for other in taken), default=math.inf)
        for colour in PALETTE
    }
    best = max(PALETTE, key=lambda colour: nearest[colour])
    return to_hex(best) if nearest[best] >= ALIKE else None


def recoloured(look: Look, colour: str) -> Look:
    """The look with another colour, and with its ink."""
    return replace(look, colour=colour, ink=_ink(colour))


def difference(one: str, other: str) -> float:
    """How far apart two colours are to the eye that distinguishes them least well.

    The distance in CIE L*a*b* (about 2 can just be seen) to normal vision, and to eyes without red
    or without green cones, as Machado, Oliveira and Fernandes (2009) simulate them.
    """
    seen = (np.clip(_VISIONS @ _linear(colour), 0.0, 1.0) for colour in (one, other))
    first, second = (np.array([_lab(rgb) for rgb in colours]) for colours in seen)
    return float(np.sqrt(((first - second) ** 2).sum(axis=1)).min())


def _linear(colour: str) -> NDArray[np.float64]:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """A colour's place in CIE L*a*b*, white that of daylight (D65)."""
    xyz = _XYZ @ linear / (_XYZ @ np.ones(3))
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _ink(colour: str) -> str:
    """The colour, darkened until text in it stands out from white."""
    rgb = np.array(to_rgb(colour))
    while 1.05 / (_luminance(rgb) + 0.05) < _CONTRAST:
        rgb = rgb * 0.93
    return to_hex(tuple(rgb))


def _luminance(rgb: NDArray[np.float64]) -> float:
    return float(_linear(to_hex(tuple(rgb))) @ (0.2126, 0.7152, 0.0722))
