"""Free memory, and a one-line refusal of work that does not fit into it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

from svmbench.errors import DataError

#: Where the kernel tells of processes and of control groups.
PROCESS = Path("/proc/self")
GROUPS = Path("/sys/fs/cgroup")

_UNIT = 1024

#: Groups of version 1 state about 2**63 where there is no limit.
_UNLIMITED = 1 << 62

_CHECKED_EVERY = 16 << 20
#: For the pieces up to the next check, and for buffers.
_MARGIN = 4 * _CHECKED_EVERY


def available_memory() -> int | None:
    """Bytes that this process can still take; None where the system does not report them.

    The machine, the process's control groups (of version 1 or 2) and its own limits leave them.
    """
    free = number_in(PROCESS.parent / "meminfo", "MemAvailable:", _UNIT)
    known = [*_left_by_groups(), *_left_by_limits(), *([] if free is None else [free])]
    return max(min(known), 0) if known else None


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than is known to be free."""
    available = available_memory()
    if available is not None and needed > available:
        # With as many digits as tell the two apart.
        for digits in range(1, 10):
            wanted, free = f"{needed / 1e9:,.{digits}f}", f"{available / 1e9:,.{digits}f}"
            if wanted != free:
                break
        raise DataError(f"{what} needs {wanted} GB of memory, and {free} GB are free; {remedy}")


class Growing:
    """Something that grows by pieces: refused before it exceeds the free memory.

    Without this, a process whose control group has a limit is killed without a word.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self.remedy = "take fewer rows"
        self._taken = self._checked = self._later = 0

    def add(self, taken: int, later: int = 0) -> None:
        """Count another piece, and what it will need later."""
        self._taken += taken
        self._later += later
        if self._taken >= self._checked + _CHECKED_EVERY:
            self._checked = self._taken
            require_memory(_MARGIN + self._later, self._what, self.remedy)


def _left_by_groups() -> Iterator[int]:
    """What each control group of this process leaves of its limit.

    A limit counts for all groups below. Files that the group has read can be dropped from memory
    and count as free.
    """
    for line in _lines(PROCESS / "cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            root, limit, taken, total = GROUPS, "memory.max", "memory.current", ""
        elif "memory" in controllers.split(","):
            root, limit, taken = GROUPS / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            total = "total_"
        else:
            continue
        folder = root / path.lstrip("/")
        # In a container, the path may be that of the host, of which only the root is mounted.
        for group in (folder, *folder.parents):
            allowed = number_in(group / limit)
            limited = allowed is not None and allowed < _UNLIMITED
            used = number_in(group / taken) if limited else None
            if allowed is not None and used is not None:
                # Rows that were just read from a file are active, and can be dropped as well.
                files = (
                    number_in(group / "memory.stat", f"{total}{kind}_file") or 0
                    for kind in ("inactive", "active")
                )
                yield allowed - used + sum(files)
            if group == root:
                break


def _left_by_limits() -> Iterator[int]:
    """What the limits of this process leave of its address space and of its data."""
    for kind, taken in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        allowed = resource.getrlimit(kind)[0]
        if allowed == resource.RLIM_INFINITY:
            continue
        used = number_in(PROCESS / "status", taken, _UNIT)
        if used is not None:
            yield allowed - used


def number_in(path: Path, key: str = "", unit: int = 1) -> int | None:
    """The number behind a key in a file of the system, or alone in it; None if there is none."""
    for line in _lines(path):
        words = line.split()
        if key and words[:1] == [key]:
            words = words[1:]
        elif key:
            continue
        if words and words[0].isdigit():
            return int(words[0]) * unit
    return None


def _lines(path: Path) -> list[str]:
    try:
        # Names of groups and processes may have any bytes.
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
