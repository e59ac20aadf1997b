"""The floor of an epoch: what this machine's memory allows at best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from svmbench.bench.found import middle
from svmbench.records.groups import Group

#: Bytes of a stored entry, column and value, by storage.
STORED_ENTRY_BYTES = {
    "uint16+ones": 2,
    "uint16+float32": 6,
    "uint16+float64": 10,
    "int32+ones": 4,
    "int32+float32": 8,
    "int32+float64": 12,
    "dense float32": 4,
    "dense float64": 8,
}


@dataclass(frozen=True)
class MachineFloor:
    """The least time of an epoch, in nanoseconds per stored nonzero.

    Parameters
    ----------
    stream : float
        Reading the entries from memory once, sequentially.
    core : float
        One gather and one gathered addition per nonzero, at the level of the memory that w would
        fit in if its columns were drawn evenly; 0 for dense rows, whose columns are in order.
    level : str
        That level.
    """

    stream: float
    core: float
    level: str

    @property
    def least(self) -> float:
        """The larger of the two: they overlap."""
        return max(self.stream, self.core)


def machine_floor(gathers: Sequence[Group], epochs: Group) -> MachineFloor | None:
    """The floor of a set's epoch by this machine's own speeds; None if they are unknown."""
    if not gathers:
        return None
    facts = epochs.runs.iloc[0]
    if facts["storage"] not in STORED_ENTRY_BYTES:
        return None
    dense = facts["storage"].startswith("dense")
    entry = STORED_ENTRY_BYTES[facts["storage"]] + (0 if dense else facts["m"] * 8 / facts["nnz"])
    stream = entry / middle(gathers[0], "stream_gb_per_second")
    level = next(
        (g for g in gathers if 8 * facts["d"] <= g.runs["table_bytes"].iloc[0]), gathers[-1]
    )
    core = 0.0 if dense else middle(level, "gather_ns") + middle(level, "gather_add_ns")
    known = math.isfinite(stream) and math.isfinite(core)
    return MachineFloor(stream, core, level.label) if known else None
