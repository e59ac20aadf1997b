"""How curves look: six colours first, then the same with dashes and markers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from svmbench.records.read import Results

#: Colours that people with any colour vision tell apart (Okabe and Ito).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")

#: Dashes in units of the line's width, and the markers that go with them.
_TURNS: tuple[tuple[Any, str], ...] = (
    ("solid", ""),
    ((0, (4.5, 1.5)), "s"),
    ((0, (1.3, 1.1)), "^"),
    ((0, (6, 1.3, 1.3, 1.3)), "D"),
    ((0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)), "v"),
)

#: Dots per inch of a picture on a page.
DPI = 160


@dataclass(frozen=True)
class Look:
    """How a curve is drawn: colour, matplotlib's linestyle and marker."""

    colour: str
    dash: Any = "solid"
    marker: str = ""

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
    """A look for each label, the same in every picture of a results folder."""
    return looks_of(group.label for groups in results.groups.values() for group in groups)


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    found = {}
    for number, name in enumerate(dict.fromkeys(names)):
        turn, colour = divmod(number, len(PALETTE))
        found[name] = Look(PALETTE[colour], *_TURNS[turn % len(_TURNS)])
    return found


def named(name: str) -> str:
    """A name in a legend, from which Matplotlib leaves out those that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name
