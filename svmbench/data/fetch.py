"""Finding the raw file of a data set: here, in the mirror, downloaded before, or now."""

from __future__ import annotations

import contextlib
import ftplib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pooch
import rich.progress

from svmbench.bundled import bundled
from svmbench.data.cache import cache_dir
from svmbench.data.catalogue import DataFile, known_names, url_name
from svmbench.data.first_seen import expected_sha256, record_path
from svmbench.data.libsvm import feed_text, text_sha256
from svmbench.errors import DataError

CONNECT_SECONDS = 10
READ_SECONDS = 30

_CHUNK = 1 << 18


def offline_asked() -> bool:
    """Whether SVMBENCH_OFFLINE forbids the network."""
    return os.environ.get("SVMBENCH_OFFLINE", "0").lower() not in ("", "0", "false", "no")


def mirror() -> Path | None:
    """Folder of raw files named by SVMBENCH_MIRROR."""
    folder = os.environ.get("SVMBENCH_MIRROR")
    return Path(folder) if folder else None


def downloads() -> Path:
    """Folder of raw files that were downloaded."""
    return cache_dir() / "files"


def locate(name: str, wanted: DataFile, *, offline: bool = False) -> Path:
    """Find a raw file, downloading it when it is nowhere else.

    In turn: the file that comes with svmbench, the mirror, former downloads, the network.
    A file from the network has been checked against its hash; of the others the hash is
    taken while they are read (`check_sha256`).

    Parameters
    ----------
    name : str
        The data set's, for messages.
    wanted : DataFile
    offline : bool
        Leave the network alone, as SVMBENCH_OFFLINE=1 does.

    Raises
    ------
    DataError
        When the file is not to be had: what is missing, where to put it, what to run
        instead.
    """
    here = find(wanted)
    if here is not None:
        return here
    if not wanted.urls:
        reason = "no address serves it" if wanted.obtain else "it has no address"
    elif offline or offline_asked():
        reason = "the network is not to be used"
    else:
        reason = ""
        for url in wanted.urls:
            try:
                return download(url, wanted)
            except DataError as error:
                reason = f"{reason}, {error}" if reason else str(error)
    raise DataError(_missing(name, wanted, reason))


def find(wanted: DataFile) -> Path | None:
    """Find a raw file on this machine, None where it is not."""
    if wanted.path is not None:
        return bundled("datasets") / wanted.path
    for folder in (mirror(), downloads()):
        for candidate in known_names(wanted.file) if folder else ():
            if folder and (folder / candidate).is_file():
                return folder / candidate
    return None


def download(url: str, wanted: DataFile) -> Path:
    """Download a file into `downloads`, whole and checked or not at all.

    Raises
    ------
    DataError
        When the address does not serve it, or serves something else.
    """
    target = downloads() / url_name(url)
    partial = target.with_name(f".{secrets.token_hex(8)}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{target.parent}: {error.strerror}; set SVMBENCH_CACHE") from None
    try:
        _fetch(url, partial)
        if expected_sha256(wanted) is not None:
            check_sha256(url, wanted, text_sha256(partial), remedy="its content has changed")
        else:
            feed_text(partial)
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        partial.replace(target)
    except DataError as error:
        raise DataError(str(error).replace(str(partial), url)) from None
    except (OSError, ValueError, EOFError, ftplib.Error) as error:
        raise DataError(f"{url}: {_short(error)}") from None
    finally:
        partial.unlink(missing_ok=True)
    return target


def check_sha256(
    where: Path | str, wanted: DataFile, found: str, remedy: str = "replace or delete it"
) -> None:
    """Raise DataError when a content's hash is not the stated one, or not the first seen."""
    expected = expected_sha256(wanted)
    if expected is None or found == expected:
        return
    if wanted.sha256 is not None:
        raise DataError(
            f"{where}: not the expected {wanted.file}: its text has sha256 {found},"
            f" not {expected}; {remedy}"
        )
    raise DataError(
        f"{where}: {wanted.file} has changed: its text has sha256 {found}, not {expected} as"
        f" when it was first read here; put that one back, or delete {record_path(wanted)} to"
        " accept this one"
    )


def _fetch(url: str, target: Path) -> None:
    # Without Accept-Encoding a server may compress once more what is compressed already.
    if urlsplit(url).scheme == "ftp":
        pooch.FTPDownloader(timeout=CONNECT_SECONDS)(url, str(target), None)
        return
    with _progress(url_name(url)) as bar:
        fetch = pooch.HTTPDownloader(
            progressbar=bar,
            chunk_size=_CHUNK,
            timeout=(CONNECT_SECONDS, READ_SECONDS),
            headers={"Accept-Encoding": "identity"},
        )
        fetch(url, str(target), None)


class _Bar:
    """What pooch asks of a progress bar, shown by rich."""

    def __init__(self, progress: rich.progress.Progress, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=None)

    @property
    def total(self) -> float | None:
        return self._progress.tasks[0].total

    @total.setter
    def total(self, size: int) -> None:
        self._progress.update(self._task, total=size or None)

    def update(self, size: int) -> None:
        self._progress.advance(self._task, size)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.refresh()


@contextlib.contextmanager
def _progress(title: str) -> Iterator[Any]:
    if not sys.stderr.isatty():
        yield False
        return
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.DownloadColumn(),
        rich.progress.TimeRemainingColumn(),
    )
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress, title)


def _short(error: Exception) -> str:
    # requests wraps the socket's own words in several layers; the innermost says enough.
    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    return " ".join(str(cause).split()) or type(cause).__name__


def _missing(name: str, wanted: DataFile, reason: str) -> str:
    folder = mirror()
    shown = f"{folder} (SVMBENCH_MIRROR)" if folder else "a folder that SVMBENCH_MIRROR names"
    source = f" from {wanted.urls[0]}" if wanted.urls else ""
    if wanted.obtain:
        source = f" ({wanted.obtain})"
    return (
        f"{name}: {wanted.file} is missing ({reason}); put {wanted.file}{source}, plain or .xz,"
        f" .bz2, .gz, into {shown} or into {downloads()}, or run 'svmbench run"
        " configs/smoke.yaml', which needs only data that comes with svmbench"
    )
