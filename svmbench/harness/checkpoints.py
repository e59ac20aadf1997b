"""When a run is evaluated."""

from __future__ import annotations

from collections.abc import Iterator

#: Checkpoints are at most one part in this many apart, relative to the work so far.
_TENTH = 10
CHECKPOINT_RATIO = 1.0 + 1.0 / _TENTH

#: Passes up to which `whole_passes` has each, and how close it has later ones.
EACH_PASS = 2000
_HALF_HUNDREDTH = 200

#: Iterations up to which a solver whose step is an iteration is evaluated after each.
EACH_ITERATION = 100


def whole_passes(m: int, cycle: int = 1) -> Iterator[int]:
    """Ends of passes: of each of the first 2,000, later at most half a hundredth apart.

    P of methods that go up and down from pass to pass is first small enough by chance; a sparse
    grid would find it late. The pattern of the passes therefore does not matter.
    """
    passes = 1
    while True:
        yield passes * m
        passes += 1 if passes < EACH_PASS else passes // _HALF_HUNDREDTH


def checkpoints(m: int, cycle: int = 1) -> Iterator[int]:
    """Visits of rows at which a run is evaluated, ascending without end.

    Visits are rows presented to the update rule, counted with repetition; presentations of a row
    in direct succession are one visit. The first checkpoint is at m/100, and steps are at most a
    tenth. Every whole pass is a checkpoint, because methods that work in passes have fresh
    certificates there; once passes are less than a tenth apart, all checkpoints are whole passes.

    Where the pattern of passes repeats after a cycle of several, all passes of the first ten cycles
    are checkpoints, and then the ends of cycles, at most a tenth apart.
    """
    at = max(1, m // 100)
    while True:
        yield at
        following = max(at + 1, at + at // _TENTH)
        if at < _TENTH * m:
            at = min(following, (at // m + 1) * m)
            continue
        whole = m if at < _TENTH * cycle * m else cycle * m
        at = (at // whole + 1) * whole
        if cycle == 1 or whole > m:
            at = max(at, following // whole * whole)


def early_checkpoints(m: int, cycle: int = 1) -> Iterator[int]:
    """The `checkpoints`, and others before them from the first row on, at most a tenth apart."""
    usual = checkpoints(m, cycle)
    first = next(usual)
    at = 1
    while at < first:
        yield at
        at = max(at + 1, at + at // _TENTH)
    yield first
    yield from usual


#: When a run is evaluated, by the names that configurations use.
CHECKPOINTS = {"tenths": checkpoints, "passes": whole_passes, "early": early_checkpoints}


def iteration_checkpoints() -> Iterator[int]:
    """Iterations after which a solver whose step is an iteration is evaluated, without end."""
    yield from range(1, EACH_ITERATION)
    at = EACH_ITERATION
    while True:
        yield at
        at += at // _TENTH
