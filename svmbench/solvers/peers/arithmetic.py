"""Floating-point arithmetic as the processor does it, whatever a library makes of it.

A library that was compiled with -ffast-math may, just by being loaded, have the processor take
subnormal numbers for zero from then on, in all code of that thread and not its own alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

#: Bytes that hold the C library's fenv_t on any system; the widest known takes 32.
_ENOUGH = 512


@contextmanager
def arithmetic_kept() -> Iterator[None]:
    """Put rounding and the treatment of subnormal numbers back to what they were before."""
    library, state = ctypes.CDLL(None), ctypes.create_string_buffer(_ENOUGH)
    if not hasattr(library, "fegetenv") or library.fegetenv(state) != 0:
        yield
        return
    try:
        yield
    finally:
        library.fesetenv(state)
