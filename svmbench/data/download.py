"""Download from one address: a few tries, each bounded in time, whole or not at all."""

from __future__ import annotations

import http.client
import queue
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener, getproxies, proxy_bypass

from svmbench.errors import DataError

#: Seconds in which a server's name is found and it takes a connection, and in which it sends a
#: piece of so many bytes, or the end.
CONNECT_SECONDS, STALL_SECONDS, PIECE_BYTES = 3.0, 30.0, 1 << 15

TRIES, REDIRECTIONS, BACK_OFF_SECONDS, LONGEST_WAIT_SECONDS = 3, 5, 1.0, 30.0
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class _FinalError(Exception):
    """A failure that a retry would not cure."""


class _PassingError(Exception):
    """A failure that may be temporary, and the wait that the server asks for."""

    wait = 0.0


class UnreachableError(DataError):
    """No connection to a server could be made: most likely there is no network."""


class _Redirections(HTTPRedirectHandler):
    """At most five, to http and https only, and none from https to http."""

    max_repeats = REDIRECTIONS + 1

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        """Refuse what the base class would follow."""
        there = urljoin(req.full_url, headers.get("location", ""))
        new = urlsplit(there).scheme
        if new not in ("http", "https") or (req.type == "https" and new == "http"):
            raise _FinalError(f"a redirection to {there}, which is not followed")
        if sum(getattr(req, "redirect_dict", {}).values()) >= REDIRECTIONS:
            raise _FinalError(f"more than {REDIRECTIONS} redirections")
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def download_to(url: str, target: Path, *, longest: int | None = None, pages: bool = True) -> None:
    """Write the content of an address into a file; UnreachableError if there is no server."""
    for tried in range(1, TRIES + 1):
        try:
            with _progress(url) as shown, target.open("wb") as file:
                for piece in _pieces(url, longest, pages):
                    file.write(piece)
                    shown(len(piece))
            return
        except (_FinalError, UnreachableError) as error:
            kind = UnreachableError if isinstance(error, UnreachableError) else DataError
            raise kind(_failure(url, error, tried)) from None
        except _PassingError as error:
            # Jitter, so that clients that failed together do not retry together.
            wait = error.wait or BACK_OFF_SECONDS * 2.0 ** (tried - 1) * random.uniform(0.5, 1.5)
            said = f"{error}, retry in {wait:.0f} s" if wait > LONGEST_WAIT_SECONDS else str(error)
        if tried == TRIES or wait > LONGEST_WAIT_SECONDS:
            raise DataError(_failure(url, said, tried))
        _pause(wait)


def _failure(url: str, reason: object, tried: int) -> str:
    # The server wrote parts of it, and they are shown on a terminal.
    said = "".join(c if c.isprintable() else "?" for c in " ".join(str(reason).split()))
    return f"{url}: {said}" + (f" ({tried} tries)" if tried > 1 else "")


def _pause(seconds: float) -> None:
    time.sleep(seconds)


def _within(seconds: float, act: Callable[[], Any], late: Exception) -> Any:
    """What a call returns or raises; an error if it, and the thread that makes it, take longer."""
    done = queue.SimpleQueue[tuple[Any, Exception | None]]()

    def run() -> None:
        try:
            done.put((act(), None))
        except Exception as error:  # any error is the waiting thread's
            done.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        found, error = done.get(timeout=seconds)
    except queue.Empty:
        raise late from None
    if error is not None:
        raise error
    return found


def _require_server(url: str) -> None:
    """Notice soon that there is no network: urllib waits as long for a connection as for bytes."""
    nobody = UnreachableError("no server answers for its name")
    try:
        to = urlsplit(url)
        proxy = getproxies().get(to.scheme)
        if proxy and not proxy_bypass(to.hostname or ""):  # the name is the proxy's to look up
            to = urlsplit(proxy if "//" in proxy else f"//{proxy}")
        place = to.hostname or "", to.port or {"https": 443, "ftp": 21}.get(to.scheme, 80)
        _within(CONNECT_SECONDS, partial(_connect, place), nobody)
    except (OSError, ValueError) as error:
        raise UnreachableError(str(error)) from None


def _connect(place: tuple[str, int]) -> None:
    socket.create_connection(place, CONNECT_SECONDS).close()


def _pieces(url: str, longest: int | None, pages: bool) -> Iterator[bytes]:
    _require_server(url)
    late = _PassingError(f"less than {PIECE_BYTES >> 10} KiB in {STALL_SECONDS:g} s")
    opener = partial(build_opener(_Redirections).open, url, timeout=STALL_SECONDS)
    try:
        with _within(STALL_SECONDS, opener, late) as answer:
            if getattr(answer, "status", None) not in (None, 200):
                raise _FinalError(f"{answer.status} {answer.reason}")
            if not pages and answer.headers.get_content_type() == "text/html":
                raise _FinalError("a web page and not the file")
            length = answer.headers.get("content-length", "")
            if longest is not None and length.isdecimal() and int(length) > longest:
                raise _FinalError(f"{length} bytes, more than the {longest} that the file may have")
            size, marked, since = 0, 0, time.monotonic()
            read = getattr(answer, "read1", answer.read)
            while piece := read(PIECE_BYTES):
                size += len(piece)
                if longest is not None and size > longest:
                    raise _FinalError(f"more than the {longest} bytes that the file may have")
                if size - marked >= PIECE_BYTES:
                    marked, since = size, time.monotonic()
                elif time.monotonic() - since > STALL_SECONDS:
                    raise late
                yield piece
            if getattr(answer, "length", None):
                raise _PassingError(f"cut off, {answer.length} more bytes expected")
    except HTTPError as error:
        said = f"{error.code} {error.reason}"
        if error.code not in _PASSING:
            raise _FinalError(said) from None
        passing, asked = _PassingError(said), error.headers.get("retry-after", "")
        passing.wait = float(asked) if asked.isdecimal() else 0.0
        raise passing from None
    except TimeoutError:
        raise late from None
    except URLError as error:
        raise _PassingError(str(error.reason)) from None
    except http.client.IncompleteRead:
        raise _PassingError("cut off") from None
    except (OSError, EOFError, ValueError, http.client.HTTPException) as error:
        raise _PassingError(str(error) or type(error).__name__) from None


@contextmanager
def _progress(url: str) -> Iterator[Callable[[int], object]]:
    """Show the bytes on a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():  # None as after 2>&-
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, TextColumn

    columns = TextColumn("{task.description}", markup=False), DownloadColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(Path(urlsplit(url).path).name, total=None)
        yield lambda size: shown.advance(task, size)
