"""The machine and the software that produced a result."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import svmbench
from svmbench.harness.system import PROC, read
from svmbench.kernels.rows import __build__ as build_record
from svmbench.memory import number_in

# Numerical libraries start threads of their own unless these are set before they load.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def pinned(threads: int) -> dict[str, str]:
    """The current environment with every numerical library limited to ``threads`` threads."""
    return dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, str(threads))


def machine() -> dict[str, Any]:
    """Facts about the machine that affect timings: those of `svmbench.records.columns.MACHINE`."""
    return {
        "cpu": _cpu_model(),
        "logical_cpus": os.cpu_count(),
        "architecture": platform.machine(),
        "caches": _caches(),
        "memory_gib": _memory_gib(),
        "system": platform.system(),
    }


#: Of the facts that `environment` states.
SCHEMA_VERSION = 1


@cache
def fingerprint() -> str:
    return fingerprint_of(machine())


def fingerprint_of(facts: dict[str, Any]) -> str:
    """Hash of the facts about a machine, as `machine` states them."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def environment() -> dict[str, Any]:
    """Everything recorded along with the results of a sweep."""
    return {
        "schema_version": SCHEMA_VERSION,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "svmbench": svmbench.__version__,
        "git": _git(),
        **machine(),
        "kernel": platform.release(),
        "governor": read(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in ("numpy", "scipy", "pandas", "matplotlib")},
        "compiler": build_record["compiler"],
        "flags": build_record["flags"],
    }


def memory_kills() -> int | None:
    """Number of processes the system has killed for lack of memory; None if it is unknown."""
    return number_in(PROC / "vmstat", "oom_kill")


def _cpu_model() -> str:
    for line in (read(PROC / "cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _caches() -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        indices = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    except OSError:
        return found
    for index in indices:
        level, kind, size = (read(index / part) for part in ("level", "type", "size"))
        if level and kind and size:
            found[f"L{level} {kind.lower()}"] = size
    return found


def _memory_gib() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (ValueError, OSError, AttributeError):
        return None


def _version(package: str) -> str | None:
    from importlib import metadata  # it takes longer to load than all else here

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git() -> str | None:
    """Commit of the checkout that svmbench runs from, with ``+`` if files have changed."""
    folder = Path(svmbench.__file__).resolve().parent.parent
    try:
        if not (folder / ".git").exists():
            return None
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
