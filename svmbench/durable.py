"""Atomic and durable writes: a file is either the old one or the whole new one."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from svmbench.errors import ConfigError, UnwritableError

#: Error codes of a disk that is full or failing, and of one that is not writable.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)

#: Error codes where a folder is in a file's place, or a file, pipe or broken link in a folder's.
_OF_ANOTHER_KIND = (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP)

#: Age at which the leftovers of killed processes are removed: longer than any write takes.
ABANDONED_SECONDS = 24 * 3600


@contextmanager
def replacing(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file that becomes ``path`` once the block ends without an error.

    Text is UTF-8 with plain line feeds. It may quote the name of a file: bytes of such a name that
    are no UTF-8 are escaped.
    """
    _require_file(path)
    binary = "b" in mode
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(path)
        try:
            with temporary.open(
                "xb" if binary else "x",
                encoding=None if binary else "utf-8",
                newline=None if binary else "\n",
                errors=None if binary else "backslashreplace",
            ) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):  # the first error says more than this one
                temporary.unlink(missing_ok=True)
            raise


def _beside(path: Path) -> Path:
    """A new name beside a path. The module tempfile is slow to load."""
    return path.parent / f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"


def _require_file(path: Path) -> None:
    """Refuse to put a file in place of a device, of a pipe, or of a link to an open file.

    /dev/full and /dev/null are such devices, and /dev/stdout is such a link. The administrator
    could otherwise replace them for the whole machine.
    """
    try:
        kind = path.stat().st_mode
    except OSError:
        return  # nothing is there, or nothing that can be reached
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) or (
        path.is_symlink() and path.readlink().is_relative_to("/proc")
    ):
        raise UnwritableError(f"{path}: not a file, and not replaced; name a file")


def is_own_file(path: Path) -> bool:
    """Whether there is a file: no link, whose target may belong to anybody, no pipe, no device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def resolved(path: Path) -> Path:
    """Where a path leads once its links are followed, as `Path.resolve` has it.

    Links that lead in a ring are no error here, as they are for `Path.resolve` before Python 3.13:
    whoever opens such a path can say what it was for.
    """
    return Path(os.path.realpath(path))


def require_own(folder: Path) -> None:
    """Refuse a symbolic link as a results folder: its target may belong to anybody."""
    if folder.is_symlink():
        raise ConfigError(
            f"{folder}: a symbolic link, which is not followed; remove it, or have"
            f" {folder.parent} as a whole lie elsewhere"
        )


def require_free(folder: Path, replaced: Sequence[str], own: Sequence[str]) -> None:
    """Refuse a folder with files that would be replaced and that svmbench has not written."""
    if any((folder / name).exists() for name in own):
        return
    for name in replaced:
        if (folder / name).exists():
            raise ConfigError(
                f"{folder / name}: svmbench has not written it, and does not replace it; choose "
                "another folder"
            )


def write_text(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report a full or read-only disk in one line that names the file."""
    try:
        yield
    except OSError as error:
        refusal = refused(error, path)
        if refusal is None:
            raise
        raise refusal from error


def refused(error: OSError, path: Path | None = None) -> UnwritableError | None:
    """The error to show the user when a disk cannot be written; None for any other error."""
    if error.errno in _FULL:
        remedy = "make room"
    elif error.errno in _CLOSED:
        remedy = "allow it or choose another folder"
    elif error.errno in _OF_ANOTHER_KIND:
        remedy = "remove what is in its place"
    elif error.errno == errno.ENAMETOOLONG:
        remedy = "choose a shorter name"
    else:
        return None
    where = path or error.filename or "standard output or a file"
    # Without a path nobody knows what was to be done with the file.
    read = "read or " if path is None and error.errno in (errno.EACCES, errno.EPERM) else ""
    return UnwritableError(
        f"{where}: cannot be {read}written ({error.strerror}); {remedy}, then give the same"
        " command again"
    )


def require_writable(path: Path) -> None:
    """Refuse a file that could not be written, before the work whose result it holds."""
    if not path.parent.exists():
        raise UnwritableError(f"{path}: there is no folder {path.parent}; make it or name another")
    try:
        temporary = _beside(path)
        temporary.open("x").close()
        temporary.unlink()
    except OSError as error:
        too_long = error.errno == errno.ENAMETOOLONG
        remedy = "choose a shorter name" if too_long else "allow it or choose another folder"
        raise UnwritableError(f"{path}: cannot be written ({error.strerror}); {remedy}") from error


def require_replaceable(path: Path, *inputs: Path) -> None:
    """Refuse to replace what is no file, or what is being read."""
    if path.is_symlink() or path.exists():
        if not path.is_file():
            raise ConfigError(f"{path}: not a file, and not replaced; name a file")
        for read in inputs:
            if read.exists() and path.samefile(read):
                raise ConfigError(f"{path}: this file is read, and not replaced; name another one")


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk: without this a rename may not survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove temporary files and folders of processes that were killed long ago.

    Their names end in the process id, a hyphen and a unique suffix. The id is checked too: the age
    alone proves nothing if somebody sets the clock.
    """
    for path in folder.glob(pattern):
        process = re.match(r".*[.-](\d+)-[^-]*$", path.name)
        with contextlib.suppress(OSError):  # another process may be first
            old = time.time() - path.stat().st_mtime > ABANDONED_SECONDS
            if not old or (process and _is_alive(int(process[1]))):
                continue
            if path.is_dir():
                import shutil  # slow to load, and there is seldom such a folder

                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
