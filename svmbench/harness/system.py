"""The system's processors and their use, as it reports them; None where it does not."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

PROC, SYS = Path("/proc"), Path("/sys")

#: The first fields of a line of /proc/stat, in ticks; user time includes guests' time.
_BUSY = ("user", "nice", "system", "irq", "softirq")
_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True)
class Moment:
    """Readings at one moment, in seconds since an arbitrary start."""

    wall: float  # monotonic clock
    own: float  # processor time of this process, and of the children that it has waited for
    busy: float  # processor time of all processes
    # time in which processors were ready to run and the host of the virtual machine did not let
    # them
    stolen: float


def now() -> Moment | None:
    """The current readings; None if the system has no /proc/stat."""
    text = read(PROC / "stat")
    if not text or not text.startswith("cpu "):
        return None
    ticks = dict(zip(_FIELDS, map(int, text.split("\n", 1)[0].split()[1:]), strict=False))
    rate = os.sysconf("SC_CLK_TCK")
    busy = sum(ticks.get(name, 0) for name in _BUSY)
    children = getrusage(RUSAGE_CHILDREN)
    own = time.process_time() + children.ru_utime + children.ru_stime
    return Moment(time.perf_counter(), own, busy / rate, ticks.get("steal", 0) / rate)


def since(begun: Moment | None) -> dict[str, float]:
    """The machine's activity since then, as `records.disturbance` reads it; empty if unknown."""
    ended = now()
    if begun is None or ended is None:
        return {}
    own = ended.own - begun.own
    return {
        "elapsed_seconds": ended.wall - begun.wall,
        "stolen_seconds": ended.stolen - begun.stolen,
        # Ticks are coarser than this process's own time, so the difference may be negative.
        "others_cpu_seconds": max(0.0, ended.busy - begun.busy - own),
    }


def suspended_seconds() -> float:
    """Seconds that the machine has been suspended since it was started; 0 if it does not tell."""
    if sys.platform != "linux":
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def governors() -> list[str]:
    places = sorted((SYS / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return list(dict.fromkeys(filter(None, map(read, places))))


def boost() -> tuple[bool, Path] | None:
    """Whether processors may exceed their nominal frequency, and the file that sets this."""
    # The value of Intel's own driver has the opposite meaning.
    for place, on in (("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")):
        path = SYS / "devices/system/cpu" / place
        if text := read(path):
            return text == on, path
    return None


def is_virtual() -> bool:
    return " hypervisor" in (read(PROC / "cpuinfo") or "")


def hyper_threads() -> bool | None:
    """Whether two threads may run on one core."""
    text = read(SYS / "devices/system/cpu/smt/active")
    return None if text is None else text == "1"


def allowed_processors() -> int | None:
    """Processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def quota() -> float | None:
    """Number of processors that the control group may use on average; None without a limit."""
    for line in (read(PROC / "self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # the unified hierarchy
            return min(_quotas(SYS / "fs/cgroup", path), default=None)
    return None


def _quotas(root: Path, path: str) -> Iterator[float]:
    """The limits of a group and of its ancestors."""
    place = root / path.lstrip("/")
    for folder in (place, *place.parents):
        granted, *period = (read(folder / "cpu.max") or "max").split()
        if granted != "max" and period:
            yield int(granted) / int(period[0])
        if folder == root:
            return


def read(path: Path) -> str | None:
    """The text of a small file; None if it does not exist or is not readable."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
