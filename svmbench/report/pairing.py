"""Which repeats of two groups are pairs: runs executed at about the same time.

Two runs of one repeat are a pair if no run of another repeat of either group started between them,
and they started within `LONGEST_APART`. In an interleaved sweep that holds for every repeat; for
two folders filled one after the other, with several repeats each, it holds for none.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from datetime import timedelta

from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.moments import starts
from svmbench.records.samples import Pairs, pairs, waiting

#: Standard deviation, in logarithms, of a machine's speed on different days, and of the shift
#: between two of them: assumed if nothing better is known.
DAY_SCATTER = 0.04
ASSUMED_SHIFT = math.sqrt(2.0) * DAY_SCATTER

#: Runs that started further apart met different states of the machine, whatever lies between them.
#: One repeat of a slow sweep may take hours.
LONGEST_APART = timedelta(hours=12)


#: Wall time over processor time of a run that nothing kept waiting, at most.
CALM = 1.1


def steadier(groups: Sequence[Group], asked: Asked) -> Asked:
    """Processor time in the place of wall time, where other programs kept some runs waiting.

    All groups have one thread and a value in every repeat, and in some repeat no run waited: those
    of a method that sleeps, or waits for a disk or another processor, always do.
    """
    if not asked.measure.processor:
        return asked
    waits = [waiting(group, asked) for group in groups]
    calm = [{at for at, ratio in each.items() if ratio <= CALM} for each in waits]
    # Of two groups, the rule must not depend on which run of a pair is whose.
    some = set.intersection(*calm) if len(calm) == 2 else all(calm)
    if not some or calm == [set(each) for each in waits]:
        return asked
    return Asked(asked.measure.processor, asked.at)


def samples_together(
    one: Group, other: Group, asked: Asked, *, same_sweep: bool = True, same_machine: bool = True
) -> tuple[Pairs, bool]:
    """The samples of the repeats that two groups have in common, and whether they are pairs.

    They are if the two runs of each were executed one after the other, or their values do not
    depend on the time of execution.

    If most repeats were executed side by side, the others are left out; start times decide that,
    not measurements. Otherwise all are kept, as unpaired ones.

    - ``same_sweep``: whether both belong to one sweep. Older results do not record when runs
      started, and those of one sweep were interleaved.
    """
    found = pairs(one, other, asked)
    if not asked.measure.per_machine:  # the seed alone decides the value
        return found, True
    recorded = starts(one) and starts(other)
    together: Collection[int] = ()
    if same_sweep and not recorded:
        together = found.repeats
    elif same_machine:
        together = made_together(one, other, found.repeats)
    if not found.repeats or 2 * len(together) < len(found.repeats):
        return found, False
    return found.only(together), True


def pairs_in_time(one: Group, other: Group, asked: Asked) -> Pairs:
    """The pairs of two groups of one sweep whose runs were executed side by side."""
    found = pairs(one, other, asked)
    if not asked.measure.per_machine or not (starts(one) and starts(other)):
        return found
    return found.only(made_together(one, other, found.repeats))


def made_together(one: Group, other: Group, repeats: Collection[int]) -> list[int]:
    """The repeats whose runs of both groups were executed side by side.

    Returns ascending. A repeat that was skipped has no start; it says nothing about the machine's
    state, and is included. Results that record no start at all have no pairs.
    """
    known = (starts(one), starts(other))
    if not all(known):
        return []
    merged = sorted([*known[0], *known[1]])
    moments = [moment for moment, _ in merged]
    earliest = [{repeat: moment for moment, repeat in reversed(side)} for side in known]
    found = []
    for repeat in sorted(repeats):
        first = [side[repeat] for side in earliest if repeat in side]
        if len(first) == len(known):
            if max(first) - min(first) > LONGEST_APART:
                continue
            between = merged[bisect_right(moments, min(first)) : bisect_left(moments, max(first))]
            if any(other_repeat != repeat for _, other_repeat in between):
                continue
        found.append(repeat)
    return found
