"""How long generating a stand-in takes on this machine, measured once with a few of its rows."""

from __future__ import annotations

import hashlib
import json
import math
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from svmbench.data.cache import cache_dir
from svmbench.data.shape import Shape
from svmbench.data.synthetic import GENERATOR_VERSION, Maker
from svmbench.durable import replacing
from svmbench.harness.environment import fingerprint

#: Measurements of one part of the rows, of which the fastest counts.
_TRIALS = 5

#: A measured time is rounded up to a power of this, so that noise seldom changes it.
_ROUNDING = 2.0


@dataclass(frozen=True)
class Pilot:
    """Time to generate a stand-in."""

    setup: float  # seconds of the processor before the first row
    row: float  # seconds of the processor per row

    def seconds(self, rows: float) -> float:
        """Seconds for that many rows."""
        return self.setup + rows * self.row


def pilot(shape: Shape) -> Pilot:
    """The time to generate stand-ins of that shape, measured if it was not before.

    It is kept in the cache folder (``pilots``), so that the same budget gives the same scale again;
    if that folder is deleted, it is measured again.
    """
    facts = ["processor time", GENERATOR_VERSION, fingerprint(), shape.model_dump(mode="json")]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    path = cache_dir() / "pilots" / f"{digest[:32]}.json"
    known = _read(path)
    if known is None:
        known = _measured(shape)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, "w") as file:
            json.dump(asdict(known), file)
    return known


def _read(path: Path) -> Pilot | None:
    with suppress(OSError, ValueError, RecursionError, TypeError, KeyError, OverflowError):
        facts = json.loads(path.read_text(encoding="utf-8"))
        known = Pilot(float(facts["setup"]), float(facts["row"]))
        if 0.0 < known.setup < math.inf and 0.0 < known.row < math.inf:
            return known
    return None


def _measured(shape: Shape) -> Pilot:
    # Processor time, because other processes must not determine the scale of a stand-in.
    begun = time.process_time()
    maker = Maker(shape, shape.seed)
    setup = time.process_time() - begun
    times = []
    for number in range(_TRIALS):
        begun = time.process_time()
        maker.chunk(number=number)
        times.append((time.process_time() - begun) / maker.chunk_rows)
    row = min(times)
    return Pilot(_rounded(setup + maker.pilot_rows * row), _rounded(row))


def _rounded(seconds: float) -> float:
    return _ROUNDING ** math.ceil(math.log(max(seconds, 1e-9), _ROUNDING))
