"""Servers on 127.0.0.1 that are slow, break off, redirect or lie, and a download from each."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from svmbench.data import download, fetch
from svmbench.data.catalogue import DataFile
from svmbench.errors import DataError

TEXT = "".join(f"{(-1) ** i} {i + 1}:1 {i + 7}:0.5\n" for i in range(8000)).encode()
SHA256 = hashlib.sha256(TEXT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers a request with the fault in its path: /FAULT/rows."""

    server: FaultServer
    timeout = 120

    def do_GET(self) -> None:
        """Answer."""
        fault = self.path.split("/")[1]
        with self.server.lock:
            self.server.requests[fault] += 1
        with contextlib.suppress(OSError):  # the client may have gone
            FAULTS[fault](self, self.server.requests[fault])

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def head(self, code: int = 200, **headers: object) -> None:
        """Begin an answer."""
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.flush()

    def whole(self) -> None:
        """Serve the file."""
        self.head(Content_Length=len(TEXT))
        self.wfile.write(TEXT)

    def dribble(self, text: bytes) -> None:
        """Send one byte every three beats."""
        for byte in text:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self.server.over.wait(3 * self.server.beat):
                return

    def reset(self) -> None:
        """Make the connection end with a reset after the answer."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class FaultServer(ThreadingHTTPServer):
    """A server of faults that counts its requests.

    - ``beat``: unit of the slow faults' delays, in seconds.
    """

    daemon_threads = True

    def __init__(self, beat: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.beat = beat
        self.requests: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.address = f"http://127.0.0.1:{self.server_port}"

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close without a shutdown, which would precede a reset."""
        self.close_request(request)

    def url(self, fault: str) -> str:
        """URL of a fault."""
        return f"{self.address}/{fault}/rows"


@contextlib.contextmanager
def serving(beat: float) -> Iterator[FaultServer]:
    """Run a `FaultServer`."""
    with FaultServer(beat) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


Fault = Callable[[Handler, int], None]


def _part(length: int | None) -> Fault:
    def answer(self: Handler, _: int) -> None:
        self.head(**({} if length is None else {"Content_Length": length}))
        self.wfile.write(TEXT[: len(TEXT) // 2])

    return answer


def _once(fault: Fault) -> Fault:
    return lambda self, count: fault(self, count) if count == 1 else self.whole()


def _code(code: int, **headers: object) -> Fault:
    return lambda self, _: self.head(code, Content_Length=0, **headers)


def _to(place: str) -> Fault:
    def answer(self: Handler, count: int) -> None:
        where = place.format(count=count, port=closed_port())
        self.head(302, Location=where, Content_Length=0)

    return answer


def _body(text: bytes, kind: str = "application/octet-stream") -> Fault:
    def answer(self: Handler, _: int) -> None:
        self.head(Content_Length=len(text), Content_Type=kind)
        self.wfile.write(text)

    return answer


def _slow(self: Handler, _: int) -> None:
    self.server.over.wait(10 * self.server.beat)
    self.head(Content_Length=len(TEXT))
    for start in range(0, len(TEXT), download.PIECE_BYTES):
        self.wfile.write(TEXT[start : start + download.PIECE_BYTES])
        self.wfile.flush()
        self.server.over.wait(self.server.beat)


def _trickle(self: Handler, _: int) -> None:
    self.head(Content_Length=len(TEXT))
    self.dribble(TEXT)


def _trickling_head(self: Handler, _: int) -> None:
    self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
    self.dribble(b"x" * 10_000)


def _silent(self: Handler, _: int) -> None:
    self.server.over.wait()


def _hangs_up(self: Handler, _: int) -> None:
    pass


def _garbage(self: Handler, _: int) -> None:
    self.wfile.write(b"\x00\x01 this is not HTTP\r\n\r\n")


def _reset(self: Handler, count: int) -> None:
    _part(len(TEXT))(self, count)
    self.wfile.flush()
    time.sleep(0.05)  # a reset discards data that has not been read yet
    self.reset()


def _truncated_chunks(self: Handler, _: int) -> None:
    self.protocol_version = "HTTP/1.1"
    self.head(Transfer_Encoding="chunked")
    self.wfile.write(b"1000\r\n" + TEXT[:4096] + b"\r\n1000\r\n" + TEXT[:100])
    self.close_connection = True


def _endless(self: Handler, _: int) -> None:
    self.head()
    while not self.server.over.is_set():
        self.wfile.write(TEXT)


FAULTS: dict[str, Fault] = {
    "whole": lambda self, _: self.whole(),
    "slow": _slow,
    "trickle": _trickle,
    "trickling-head": _trickling_head,
    "silent": _silent,
    "hangs-up": _hangs_up,
    "not-http": _garbage,
    "reset": _reset,
    "reset-once": _once(_reset),
    "truncated": _part(len(TEXT)),
    "truncated-once": _once(_part(len(TEXT))),
    "truncated-unsaid": _part(None),
    "truncated-chunks": _truncated_chunks,
    "wrong-bytes": _body(TEXT.replace(b"0.5", b"0.6")),
    "web-page": _body(b"<html>Please log in</html>", "text/html; charset=utf-8"),
    "empty": _body(b""),
    "endless": _endless,
    "no-content": _code(204),
    "403": _code(403),
    "404": _code(404),
    "410": _code(410),
    "429-asks-an-hour": _code(429, Retry_After=3600),
    "500": _code(500),
    "503-once": _once(_code(503)),
    "503-asks-2-s": _once(_code(503, Retry_After=2)),
    "redirected": _to("/whole/rows"),
    "redirected-in-a-ring": _to("/redirected-in-a-ring/rows"),
    "redirected-to-a-file": _to("file:///etc/passwd"),
    "redirected-to-ftp": _to("ftp://127.0.0.1/rows"),
    "redirected-to-nowhere": _to("http://127.0.0.1:{port}/rows"),
}

# Several addresses of one file, in order; or none that answers.
IN_TURN: dict[str, tuple[str, ...]] = {
    "404, then whole": ("404", "whole"),
    "silent, then whole": ("silent", "whole"),
    "wrong-bytes, then whole": ("wrong-bytes", "whole"),
    "refused": (),
}


def closed_port() -> int:
    """A port of this machine without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass(frozen=True)
class Row:
    """Outcome of a fault; the file is taken 'whole', 'NOT WHOLE' or not ('no')."""

    said: str
    requests: int
    taken: str
    left: int  # other files in the folder of downloads


def tried(server: FaultServer, fault: str, folder: Path) -> Row:
    """Request a file through one fault, or several in order, with an empty cache."""
    faults = IN_TURN.get(fault, (fault,))
    urls = tuple(server.url(each) for each in faults)
    urls = urls or (f"http://127.0.0.1:{closed_port()}/rows",)
    wanted = DataFile(file="rows", urls=urls, sha256=SHA256, bytes=len(TEXT))
    before = server.requests.total()
    with environment(SVMBENCH_CACHE=str(folder)):
        try:
            fetch.locate("one", wanted)
            said = "taken"
        except DataError as error:
            said = _reason(str(error), server)
    return Row(said, server.requests.total() - before, *found(folder))


def _reason(message: str, server: FaultServer) -> str:
    # The hash of the content and the port differ between runs.
    inner = re.sub(r"^one: rows is missing \((.*?)\); put rows .*$", r"\1", message)
    inner = re.sub(r"sha256 [0-9a-f]{64}, not [0-9a-f]{64}", "another sha256", inner)
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", inner.replace(server.address, ""))


def found(folder: Path) -> tuple[str, int]:
    """Whether the file was stored under its name, and the number of other files next to it."""
    files = folder / "files"
    names = sorted(path.name for path in files.iterdir()) if files.is_dir() else []
    if "rows" not in names:
        return "no", len(names)
    whole = (files / "rows").read_bytes() == TEXT
    return "whole" if whole else "NOT WHOLE", len(names) - 1


@contextlib.contextmanager
def environment(**changes: str) -> Iterator[None]:
    """Set environment variables temporarily, without a mirror or a proxy."""
    old = dict(os.environ)
    os.environ.pop("SVMBENCH_MIRROR", None)
    os.environ.pop("SVMBENCH_OFFLINE", None)
    os.environ.update({"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"} | changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(old)
