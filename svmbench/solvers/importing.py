"""Imports the code of a plug-in so that it changes nothing of the command by accident."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def kept_apart() -> Iterator[None]:
    """Import a plug-in: what it prints goes to standard error, and its changes do not stay.

    Those are changes of the current folder, to which the names of files are relative, and of the
    environment variables, which the processes of other solvers would inherit.
    """
    variables = dict(os.environ)
    folder = None
    with suppress(FileNotFoundError):  # it may be gone
        folder = os.getcwd()  # noqa: PTH109
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if os.environ != variables:
            os.environ.clear()
            os.environ.update(variables)
        if folder is not None:
            with suppress(OSError):
                os.chdir(folder)
