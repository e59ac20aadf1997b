"""Draw docs/lesson.svg: SGD moves the line between two classes, to the right place or not.

``python scripts/lesson.py docs/lesson.svg`` trains sgd-bias twice on 200 points of the plane, by
the step that a laboratory sheet prints and by the consistent one (docs/findings/minibatch-step.md),
and draws the lines w.x + b = -1, 0 and 1 along the way. The picture moves in a browser, without a
script; elsewhere it shows the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.solvers.checked import checked
from svmbench.solvers.dual.smo import Smo, SmoParameters
from svmbench.solvers.registry import find_solver

#: The sheet's λ = 1, which weighs a sum of 200 losses.
LAMBDA = 1.0 / 200.0
EPOCHS = (0.03, 0.1, 0.3, 0.6, 1, 1.5, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 180, 256)
FORMS = {"printed": "the printed step", "consistent": "the consistent step"}

#: Seconds of the whole, and how many frames' time the last one stays.
SECONDS, REST = 16, 5
SIDE, GAP, TOP, BOTTOM = 330, 24, 34, 52
COLOURS = {1: "#0072B2", -1: "#D55E00"}


@dataclass(frozen=True)
class Frame:
    """A line and how good it is."""

    epoch: float
    w: FloatArray
    b: float
    excess: float  # P(w, b)/P* - 1


def trained(problem: Problem, form: str, least: float) -> list[Frame]:
    """The lines of sgd-bias after each of `EPOCHS`."""
    solver = find_solver("sgd-bias")
    given = {"mu0": 100.0, "increment": 1.0, "mu_grows": "per-epoch", "form": form}
    run = solver(checked(solver.schema, given))
    run.start(problem, seed=1)
    frames, m = [], problem.data.n_samples
    for epoch in EPOCHS:
        run.advance(round(epoch * m) - run.counters.presentations)
        primal = problem.primal(run.w, run.bias)
        frames.append(Frame(epoch, run.w, run.bias, primal / least - 1.0))
    return frames


def optimum(problem: Problem) -> Frame:
    """The certified best line."""
    solver = Smo(SmoParameters(tolerance=1e-10))
    solver.halts = True
    solver.start(problem, seed=0)
    solver.advance(1000)
    primal = problem.primal(solver.w, solver.bias)
    if primal - solver.dual() > 1e-8 * solver.dual():
        raise SystemExit("no optimum certified to 1e-8")
    return Frame(0.0, solver.w, solver.bias, primal)


def points(data: Dataset) -> FloatArray:
    """The rows, shape (m, 2)."""
    values = np.asarray(data.values, dtype=np.float64)
    if data.indptr is None or data.indices is None:
        return values
    xy = np.zeros((data.n_samples, 2))
    xy[np.repeat(np.arange(data.n_samples), np.diff(data.indptr)), data.indices] = values
    return xy


def ends(frame: Frame, level: float, reach: float) -> FloatArray:
    """Two far points of the line w.x + b = level, shape (2, 2)."""
    norm = float(np.hypot(*frame.w))
    foot = frame.w * (level - frame.b) / norm**2
    along = np.array([-frame.w[1], frame.w[0]]) / norm
    return np.array([foot - reach * along, foot + reach * along])


def percent(share: float) -> str:
    """A share in percent, in two digits."""
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 9.5 else f"{value:.1g} %" if value >= 0.01 else "< 0.01 %"


class Panel:
    """One panel of the picture, with its scale.

    - ``left``: its left edge in pixels.
    """

    def __init__(self, data: Dataset, left: float) -> None:
        self.xy, self.labels = points(data), np.asarray(data.labels)
        low, high = self.xy.min(axis=0), self.xy.max(axis=0)
        self.middle, self.span = (low + high) / 2, 1.1 * float((high - low).max())
        self.left = left

    def place(self, xy: FloatArray) -> FloatArray:
        """Points of the plane in pixels."""
        unit = (np.asarray(xy) - self.middle) / self.span + 0.5
        return np.stack(
            [self.left + SIDE * unit[..., 0], TOP + SIDE * (1.0 - unit[..., 1])], axis=-1
        )

    def svg(self, title: str, frames: Sequence[Frame], best: Frame, key: str) -> Iterable[str]:
        """Its elements."""
        square = f'x="{self.left}" y="{TOP}" width="{SIDE}" height="{SIDE}"'
        yield f'<clipPath id="{key}"><rect {square}/></clipPath>'
        yield f'<text x="{self.left}" y="{TOP - 12}" class="title">{title}</text>'
        yield f'<g clip-path="url(#{key})">'
        for (x, y), label in zip(self.place(self.xy), self.labels, strict=True):
            stroke = COLOURS[int(label)]
            fill = stroke if label > 0 else "none"
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{fill}" stroke="{stroke}"/>'
        yield self._line([best], 0.0, "best")
        for level, kind in ((0.0, "line"), (-1.0, "margin"), (1.0, "margin")):
            yield self._line(frames, level, kind)
        yield f'</g><rect {square} class="frame"/>'
        for number, frame in enumerate(frames):
            yield self._caption(number, frame, len(frames))

    def _line(self, frames: Sequence[Frame], level: float, kind: str) -> str:
        """A line that passes through its frames; without them it stays at the last."""
        places = np.array([self.place(ends(f, level, 3.0 * self.span)) for f in frames])
        columns = dict(zip(("x1", "y1", "x2", "y2"), places.reshape(-1, 4).T, strict=True))
        start = " ".join(f'{name}="{values[-1]:.0f}"' for name, values in columns.items())
        if len(frames) == 1:
            return f'<line class="{kind}" {start}/>'
        moves = "".join(
            f'<animate attributeName="{name}" dur="{SECONDS}s" repeatCount="indefinite" values="'
            + ";".join(f"{value:.0f}" for value in [*values, *[values[-1]] * REST])
            + '"/>'
            for name, values in columns.items()
        )
        return f'<line class="{kind}" {start}>{moves}</line>'

    def _caption(self, number: int, frame: Frame, count: int) -> str:
        steps = count + REST
        shown = ["1" if at == number else "0" for at in range(count)]
        shown += ["1" if number == count - 1 else "0"] * REST
        text = f"epoch {frame.epoch:g}: objective {percent(frame.excess)} above the optimum"
        times = ";".join(f"{at / steps:.3f}" for at in range(steps))
        return (
            f'<text x="{self.left}" y="{TOP + SIDE + 20}" '
            f'opacity="{int(number == count - 1)}">{text}'
            f'<animate attributeName="opacity" dur="{SECONDS}s" repeatCount="indefinite" '
            f'calcMode="discrete" keyTimes="{times}" values="{";".join(shown)}"/></text>'
        )


def picture() -> str:
    """The whole picture as SVG."""
    problem = Problem(load("gaussians-overlapping").train, LAMBDA, bias="free")
    best = optimum(problem)
    width, height = 2 * SIDE + 3 * GAP, TOP + SIDE + BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">',
        "<title>Two runs of SGD: one reaches the best line, one does not</title>",
        "<style>text{font:13px system-ui,sans-serif;fill:#222}.title{font-weight:600}"
        ".line{stroke:#111;stroke-width:2}.margin{stroke:#111;stroke-dasharray:5 4}"
        ".best{stroke:#00a070;stroke-width:5;opacity:.45}.frame{fill:none;stroke:#888}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, (form, title) in enumerate(FORMS.items()):
        panel = Panel(problem.data, GAP + number * (SIDE + GAP))
        lines += panel.svg(title, trained(problem, form, best.excess), best, form)
    legend = "green: the best line; black: w·x + b = 0; dashed: w·x + b = −1 and 1"
    lines.append(f'<text x="{GAP}" y="{height - 10}">{legend}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
