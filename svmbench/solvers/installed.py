"""What is installed, as one hash: only processes with the same one work together."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import sys
from importlib.metadata import version
from pathlib import Path

import svmbench
from svmbench import kernels
from svmbench.solvers.base import LIBRARIES


def build() -> str:
    """Hash of all that is installed and could change a run: sources, kernels, libraries."""
    digest = hashlib.sha256(sys.version.encode())
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}".encode())
    package = Path(svmbench.__file__).parent
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    for module in sorted(each.name for each in pkgutil.iter_modules(kernels.__path__)):
        record = getattr(importlib.import_module(f"svmbench.kernels.{module}"), "__build__", None)
        digest.update(f"{module} {record}".encode())
    return digest.hexdigest()
