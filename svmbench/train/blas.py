"""One thread for BLAS, which all fits of a process share."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class OneThread:
    """Limits the BLAS that is loaded so far to one thread wherever it is entered.

    The limit holds for the whole process: the first user sets it, and the last one lifts it.
    """

    _lock, _users = threading.Lock(), 0
    _limit: Any = None
    # To find the libraries takes longer than many a fit: what was found with so many modules.
    _found: tuple[int, Any] = (0, None)

    def __init__(self) -> None:
        self._blas = None if _begun_with_one() else self._found_now()

    @classmethod
    def _found_now(cls) -> Any:
        modules = len(sys.modules)  # a library is loaded by an import
        if cls._found[0] != modules:
            from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

            cls._found = modules, ThreadpoolController().select(user_api="blas")
        return cls._found[1]

    @contextmanager
    def held(self) -> Iterator[None]:
        if self._blas is None:
            yield
            return
        cls = OneThread
        with cls._lock:
            if cls._users == 0:
                cls._limit = self._blas.limit(limits=1)
            cls._users += 1
        try:
            yield
        finally:
            with cls._lock:
                cls._users -= 1
                if cls._users == 0:
                    cls._limit.restore_original_limits()


def _begun_with_one() -> bool:
    """Whether BLAS was told to have one thread before it was loaded, as `svmbench train` does."""
    told = os.environ.get("OPENBLAS_NUM_THREADS") == "1"
    return told and "openblas" in str(np.show_config(mode="dicts"))
