"""The final weights of a run, kept next to its trace on request.

The trace names the file and its hash, in a line that the trace's own hash covers, so a file that
was exchanged or damaged is detected.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.data.archive import DAMAGED, unpacked
from svmbench.data.dataset import FloatArray
from svmbench.durable import is_own_file, replacing
from svmbench.errors import unopened

#: Suffix of the weights' file; it replaces .jsonl in the name of the trace.
SUFFIX = ".weights.npz"


def keep_weights(trace: Path, w: FloatArray, bias: float) -> dict[str, Any]:
    """Write the weights durably next to the trace of a run in progress."""
    buffer = io.BytesIO()
    np.savez(buffer, w=np.asarray(w, dtype=np.float64), bias=np.float64(bias))
    content = buffer.getbuffer()
    with replacing(growing_weights(trace), "wb") as file:
        file.write(content)
    digest = hashlib.sha256(content).hexdigest()
    return {"kind": "weights", "file": trace.with_suffix(SUFFIX).name, "sha256": digest}


def growing_weights(trace: Path) -> Path:
    """The weights' file of a run in progress; that of an earlier run stays in place."""
    return trace.with_suffix(f"{SUFFIX}.tmp")


def kept_weights(trace: Path, record: dict[str, Any]) -> tuple[FloatArray, float]:
    """The weights and bias kept with a trace; ValueError if they are not those of the run."""
    path = trace.with_suffix(SUFFIX)
    if record.get("file") != path.name:
        raise ValueError(f"{path.name}: its trace names another file")
    if path.exists() and not is_own_file(path):
        raise ValueError(f"{path.name}: not a file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path.name}: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        raise ValueError(f"{path.name}: not the file that the run wrote")
    try:
        stored = unpacked(io.BytesIO(content), len(content))  # they are not compressed
        if set(stored) != {"w", "bias"}:
            raise ValueError("other arrays")
        w, bias = stored["w"], stored["bias"]
    except DAMAGED as error:
        if refusal := unopened(error, path):
            raise refusal from error
        raise ValueError(f"{path.name}: no weights in it ({error})") from error
    if (w.ndim, bias.ndim) != (1, 0) or {w.dtype, bias.dtype} != {np.dtype(np.float64)}:
        raise ValueError(f"{path.name}: no weights in it (other shapes or types)")
    return w, float(bias)


def weights_are_kept(trace: Path, record: dict[str, Any]) -> bool:
    try:
        kept_weights(trace, record)
    except ValueError:
        return False
    return True
