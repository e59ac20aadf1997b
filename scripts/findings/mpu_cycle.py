"""Unlearning in the margin perceptron: a cycle in exact arithmetic, and one from rounding.

It runs random problems of a few rows of integers in Python's integers (without rounding), and in
floating point on the same rows divided by ten.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from measure import markdown, wants_real

PROBLEMS = 2000
Rows = list[list[int]]


def problem(rng: random.Random) -> tuple[Rows, int, int]:
    """Rows, multiplied by their labels, the largest count N, and the threshold b."""
    m, d = rng.randint(2, 6), rng.randint(1, 3)
    rows = [[rng.randint(-4, 4) for _ in range(d)] for _ in range(m)]
    most = rng.randint(1, 8)
    return [row for row in rows if any(row)], most, most * rng.randint(1, 8)


def dot(x: Sequence[float], v: Sequence[float]) -> float:
    """The dot product, rounded at each step; since 3.12, Python's `sum` of doubles compensates."""
    total: float = 0
    for one, other in zip(x, v, strict=True):
        total += one * other
    return total


def ends(rows: Sequence[Sequence[float]], most: int, b: float, strict: bool, slack: float) -> str:
    """Whether passes in the stored order end, or return to an earlier state.

    As the order is fixed, the same state after two passes proves a cycle.
    """
    counts = [0] * len(rows)
    a = [0 * x for x in rows[0]] if rows else []
    norms2 = [dot(row, row) for row in rows]
    seen = set()
    while True:
        changed = False
        for i, row in enumerate(rows):
            p = dot(row, a)
            limit = b + norms2[i] if slack == 0.0 else (b + norms2[i]) * (1.0 + slack)
            move = 0
            if p <= b:
                move = min(most - counts[i], int((b - p) // norms2[i]) + 1)
            elif p > limit or (p == limit and not strict):
                move = -min(counts[i], int((p - b) // norms2[i]))
            if move:
                changed = True
                counts[i] += move
                a = [v + move * x for v, x in zip(a, row, strict=True)]
        if not changed:
            return "ends"
        state = (tuple(counts), tuple(a))
        if state in seen:
            return "cycles"
        seen.add(state)


def smallest_cycle(problems: Sequence[tuple[Rows, int, int]]) -> tuple[Rows, int, int]:
    """The cycling problem with the fewest entries."""
    cycling = [one for one in problems if ends(*one, strict=False, slack=0.0) == "cycles"]
    return min(cycling, key=lambda one: (sum(map(len, one[0])), one[1], one[2]))


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        return
    rng = random.Random(1)
    problems = [problem(rng) for _ in range(PROBLEMS)]
    tenths = [
        ([[x / 10 for x in row] for row in rows], most, b / 100) for rows, most, b in problems
    ]
    cases = [
        ("integers", "p ≥ b + n", [ends(*one, False, 0.0) for one in problems]),
        ("integers", "p > b + n", [ends(*one, True, 0.0) for one in problems]),
        ("doubles, rows / 10", "p ≥ b + n", [ends(*one, False, 0.0) for one in tenths]),
        ("doubles, rows / 10", "p > b + n", [ends(*one, True, 0.0) for one in tenths]),
        (
            "doubles, rows / 10",
            "p > (b + n)(1 + 1e-12)",
            [ends(*one, True, 1e-12) for one in tenths],
        ),
    ]
    rows = [
        (numbers, rule, str(Counter(found)["ends"]), str(Counter(found)["cycles"]))
        for numbers, rule, found in cases
    ]
    print(markdown(("arithmetic", "unlearn if", "end", "cycle"), rows))
    signed, most, b = smallest_cycle(problems)
    print(f"Smallest cycling problem: rows y·x = {signed}, N = {most}, b = {b}.")


if __name__ == "__main__":
    main()
