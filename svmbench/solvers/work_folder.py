"""The temporary folder in which a program finds its rows and leaves its model."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from svmbench.durable import writing
from svmbench.errors import InterruptedRunError

_FOLDER = "svmbench-program-"


class WorkFolder:
    """A temporary folder, locked while this process lives and removed with this object."""

    def __init__(self, suffix: str = "") -> None:
        self._suffix = suffix
        # Under its own name it is locked from the first: others remove those that are not.
        begun = Path(tempfile.mkdtemp(prefix="svmbench-begun-"))
        self._lock = (begun / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = begun.rename(begun.with_name(f"{_FOLDER}{begun.name.rpartition('-')[2]}"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def model(self) -> Path:
        return self.path / f"model{self._suffix}"

    def clear(self) -> None:
        """Remove all but the rows: no execution of a program profits from the work of another."""
        for path in self.path.iterdir():
            if path.name in ("data", "lock"):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def remove_abandoned() -> None:
    """Remove the folders of processes that have ended, as workers do by being killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with suppress(OSError), (folder / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def writing_rows() -> Iterator[None]:
    """Let an error of the disk, or a lack of files or memory, be no fault of the program.

    Raises UnwritableError, or InterruptedRunError where the disk is neither full nor read-only.
    """
    try:
        with writing(Path(tempfile.gettempdir())):
            yield
    except OSError as error:
        said = f"the rows cannot be written to a file ({error.strerror}); run again"
        raise InterruptedRunError(said) from error
