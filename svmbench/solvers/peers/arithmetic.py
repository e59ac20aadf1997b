"""Protects the processor's floating-point mode from libraries that change it.

A library compiled with -ffast-math may, when it is loaded, make the processor treat subnormal
numbers as zero from then on, in all code of that thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

#: Bytes that hold the C library's fenv_t on any system; the largest known takes 32.
_ENOUGH = 512


@contextmanager
def arithmetic_kept() -> Iterator[None]:
    """Restore the rounding mode and the treatment of subnormal numbers on exit."""
    library, state = ctypes.CDLL(None), ctypes.create_string_buffer(_ENOUGH)
    if not hasattr(library, "fegetenv") or library.fegetenv(state) != 0:
        yield
        return
    try:
        yield
    finally:
        library.fesetenv(state)
