"""Download from one address: a few tries, each bounded in time, whole or not at all.

A server may answer slowly, not at all, with half of the file, or redirect elsewhere. A failure
that may be temporary is retried; any other failure is final for the address.
"""

from __future__ import annotations

import contextlib
import ftplib
import queue
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies

import pooch
import rich.progress
import urllib3.exceptions

from svmbench.errors import DataError

CONNECT_SECONDS = 3
# A server must deliver each piece, or the end, within this time, which includes connecting for the
# first piece.
STALL_SECONDS = 30
PIECE_BYTES = 1 << 15

TRIES = 3
BACK_OFF_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 30.0
REDIRECTIONS = 5

_PASSING = {408, 425, 429, 500, 502, 503, 504}
_PIECES_AHEAD = 8
_NO_CONNECTION = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
    ConnectionRefusedError,
    socket.gaierror,
)


class _FinalError(Exception):
    """A failure that a retry would not cure."""


class _PassingError(Exception):
    """A failure that may be temporary, and the wait that the server asks for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class UnreachableError(DataError):
    """No connection to a server could be made: most likely there is no network."""


class _AbandonedError(Exception):
    """The reader no longer waits for the content."""


def download_to(url: str, target: Path, *, longest: int | None = None, pages: bool = True) -> None:
    """Write the content of an address into a file.

    Raises UnreachableError when its server cannot be reached, which is tried once. Raises DataError
    when the address does not serve the whole content; it names the address and the reason. Raises
    OSError when the file cannot be written.
    """
    for tried in range(1, TRIES + 1):
        try:
            with _progress(Path(urlsplit(url).path).name) as bar, target.open("wb") as stream:
                for piece in _within(longest, _pieces(url, bar, longest, pages)):
                    stream.write(piece)
            return
        except _FinalError as error:
            raise _failure(url, str(error), tried) from None
        except UnreachableError as error:
            raise UnreachableError(str(_failure(url, str(error), tried))) from None
        except _PassingError as error:
            wait = _back_off(tried) if error.wait is None else error.wait
            reason = str(error)
        if wait > LONGEST_WAIT_SECONDS:
            raise _failure(url, f"{reason}, retry in {wait:.0f} s", tried)
        if tried < TRIES:
            _pause(wait)
    raise _failure(url, reason, TRIES)


def _failure(url: str, reason: str, tried: int) -> DataError:
    # The server wrote parts of it, and they are shown on a terminal.
    said = "".join(char if char.isprintable() else "?" for char in " ".join(reason.split()))
    return DataError(f"{url}: {said}" + (f" ({tried} tries)" if tried > 1 else ""))


def _back_off(tried: int) -> float:
    # Jitter, so that clients that failed together do not retry together.
    return BACK_OFF_SECONDS * 2.0 ** (tried - 1) * random.uniform(0.5, 1.5)


def _pause(seconds: float) -> None:
    time.sleep(seconds)


def _within(longest: int | None, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pass pieces on until they exceed the size limit."""
    size = 0
    with contextlib.closing(pieces):  # type: ignore[type-var]
        for piece in pieces:
            size += len(piece)
            if longest is not None and size > longest:
                raise _FinalError(f"more than the {longest} bytes that the file may have")
            yield piece


def _pieces(url: str, bar: Any, longest: int | None, pages: bool) -> Iterator[bytes]:
    """Yield the content as it is received.

    A thread reads, and is abandoned when nothing is received: socket time-outs restart with
    each byte, so a server that sends a byte now and then could block its reader for ever.
    """
    arrived: queue.Queue[bytes | Exception | None] = queue.Queue(_PIECES_AHEAD)
    sink = _Sink(arrived)
    answers = _Answers(longest, pages)

    def read() -> None:
        end: Exception | None = None
        try:
            if getproxies().keys() <= {"no"}:  # else the name is a proxy's to resolve
                socket.getaddrinfo(urlsplit(url).hostname, None)
            sink.put(b"")
            _downloader(url, bar, answers)(url, sink, None)
        except Exception as error:  # any error is passed to the waiting thread
            end = error
        with contextlib.suppress(_AbandonedError):
            sink.put(end)

    threading.Thread(target=read, name=f"download {url}", daemon=True).start()
    resolved = False
    try:
        while True:
            try:
                item = arrived.get(timeout=STALL_SECONDS if resolved else CONNECT_SECONDS)
            except queue.Empty:
                if not resolved:
                    raise UnreachableError("no server answers for its name") from None
                raise _PassingError(
                    f"less than {PIECE_BYTES >> 10} KiB in {STALL_SECONDS:g} s"
                ) from None
            resolved = True
            if isinstance(item, Exception):
                raise (_judged(item) if answers.any else _unanswered(item)) from item
            if item is None:
                return
            yield item
    finally:
        sink.abandoned.set()
        answers.hang_up()


class _Sink:
    """The file that pooch writes to: passes pieces on as long as somebody reads them."""

    def __init__(self, arrived: queue.Queue[bytes | Exception | None]) -> None:
        self.abandoned = threading.Event()
        self._arrived = arrived

    def put(self, item: bytes | Exception | None) -> None:
        while not self.abandoned.is_set():
            with contextlib.suppress(queue.Full):
                self._arrived.put(item, timeout=1.0)
                return
        raise _AbandonedError

    def write(self, piece: bytes) -> None:
        self.put(bytes(piece))

    def flush(self) -> None:
        pass


def _downloader(url: str, bar: Any, answers: _Answers) -> Callable[[str, Any, None], Any]:
    downloader: Callable[[str, Any, None], Any]
    if urlsplit(url).scheme == "ftp":
        downloader = pooch.FTPDownloader(timeout=CONNECT_SECONDS, chunk_size=PIECE_BYTES)
    else:
        downloader = pooch.HTTPDownloader(
            progressbar=bar,
            chunk_size=PIECE_BYTES,
            # The second value ends an abandoned thread.
            timeout=(CONNECT_SECONDS, CONNECT_SECONDS + STALL_SECONDS),
            # Without it a server may compress a file that is compressed already.
            headers={"Accept-Encoding": "identity"},
            hooks={"response": answers},
        )
    return downloader


class _Answers:
    """Checks each response of a server before it is followed or read.

    - ``longest, pages``: as for `download_to`.
    """

    def __init__(self, longest: int | None, pages: bool) -> None:
        self._longest = longest
        self._pages = pages
        self._redirections = 0
        self._raw: Any = None

    @property
    def any(self) -> bool:
        """Whether a server has answered."""
        return self._raw is not None

    def hang_up(self) -> None:
        """End the response for whoever still reads it."""
        with contextlib.suppress(ValueError, RuntimeError, OSError):  # it has ended already
            if self._raw is not None:
                self._raw.shutdown()

    def __call__(self, response: Any, **_: Any) -> None:
        self._raw = response.raw
        if response.is_redirect:
            self._redirections += 1
            if self._redirections > REDIRECTIONS:
                raise _FinalError(f"more than {REDIRECTIONS} redirections")
            require_safe(response.url, urljoin(response.url, response.headers["location"]))
            return
        if response.status_code < 400 and response.status_code != HTTPStatus.OK:
            raise _FinalError(_status(response.status_code))
        kind = response.headers.get("content-type", "").lower()
        if not self._pages and response.ok and kind.startswith("text/html"):
            raise _FinalError("a web page and not the file")
        length = response.headers.get("content-length", "")
        if self._longest is not None and length.isdecimal() and int(length) > self._longest:
            raise _FinalError(
                f"{length} bytes, more than the {self._longest} that the file may have"
            )


def require_safe(here: str, there: str) -> None:
    """Refuse a redirection to a scheme other than http and https, or from https to http."""
    old, new = urlsplit(here).scheme, urlsplit(there).scheme
    if new not in ("http", "https"):
        raise _FinalError(f"a redirection to {there}, which is not followed: {new} is not http")
    if old == "https" and new == "http":
        raise _FinalError(f"a redirection from https to {there}, which is not followed")


def _unanswered(error: Exception) -> Exception:
    """Classify an error before any answer."""
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__context__) is not None:
        causes.append(cause)
    if any(isinstance(each, _NO_CONNECTION) for each in causes):
        return UnreachableError(_innermost(error))
    return _judged(error)


def _judged(error: Exception) -> Exception:
    """Classify a network error as final or temporary; return any other error unchanged."""
    response = getattr(error, "response", None)
    if isinstance(error, _FinalError):
        return error
    if response is not None and response.status_code >= 400:
        status = _status(response.status_code)
        if response.status_code in _PASSING:
            return _PassingError(status, _retry_after(response.headers.get("retry-after")))
        return _FinalError(status)
    if isinstance(error, ftplib.error_perm | ValueError):
        return _FinalError(_innermost(error))
    if isinstance(error, OSError | EOFError | ftplib.Error):  # requests' errors are OSErrors
        return _PassingError(_innermost(error))
    return error


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _retry_after(header: str | None) -> float | None:
    """Seconds that a server asks to wait; None if it does not ask."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # a year of many digits, for example
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _innermost(error: Exception) -> str:
    # requests wraps the socket's error in several layers; the innermost message is enough.
    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    return str(cause) or type(cause).__name__


class _Bar:
    """The progress bar that pooch expects, shown by rich."""

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
    if sys.stderr is None or not sys.stderr.isatty():  # None as after 2>&-
        yield False
        return
    columns = (
        rich.progress.TextColumn("{task.description}", markup=False),
        rich.progress.BarColumn(),
        rich.progress.DownloadColumn(),
        rich.progress.TimeRemainingColumn(),
    )
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress, title)
