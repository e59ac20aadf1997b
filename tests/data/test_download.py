"""Downloads hold against servers that fail in every way, and nothing asks for one when offline."""

import os
import resource
import threading
import time
from email.message import Message
from functools import partial
from io import BytesIO
from types import SimpleNamespace
from urllib.request import Request

import fault_servers
import pytest
from refusals import refusal

from svmbench.cli import main
from svmbench.data import download, fetch
from svmbench.data.catalogue import DataFile
from svmbench.data.fetch import downloads, locate
from svmbench.errors import DataError


@pytest.fixture(scope="module")
def server():
    with fault_servers.serving(beat=0.01) as running:
        yield running


@pytest.fixture(autouse=True)
def impatient(monkeypatch, tmp_path):
    """No time between tries; the waits asked for."""
    waits = []
    monkeypatch.setattr(download, "_pause", waits.append)
    monkeypatch.setattr(fetch, "_offline", (0.0, ""))
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SVMBENCH_OFFLINE", raising=False)
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return waits


def wanted(*urls, **facts):
    return DataFile(file="rows", urls=urls, **{"sha256": fault_servers.SHA256} | facts)


# Requests made, whether the file is taken, and what is said otherwise.
OUTCOMES = {
    "whole": (1, True, ""),
    "slow": (1, True, ""),
    "trickle": (3, False, "less than 32 KiB in 0.5 s (3 tries)"),
    "trickling-head": (3, False, "less than 32 KiB in 0.5 s (3 tries)"),
    "silent": (3, False, "less than 32 KiB in 0.5 s (3 tries)"),
    "hangs-up": (3, False, "without response (3 tries)"),
    "not-http": (3, False, "/not-http/rows: ?? this is not HTTP (3 tries)"),
    "reset": (3, False, "reset by peer (3 tries)"),
    "reset-once": (2, True, ""),
    "truncated": (3, False, "more bytes expected (3 tries)"),
    "truncated-once": (2, True, ""),
    "truncated-unsaid": (1, False, "not the expected rows"),
    "truncated-chunks": (3, False, "cut off (3 tries)"),
    "wrong-bytes": (1, False, "not the expected rows"),
    "web-page": (1, False, "not the expected rows"),
    "empty": (1, False, "not the expected rows"),
    "endless": (1, False, "more than the 213618 bytes that the file may have"),
    "no-content": (1, False, "204 No Content"),
    "403": (1, False, "403 Forbidden"),
    "404": (1, False, "404 Not Found"),
    "410": (1, False, "410 Gone"),
    "429-asks-an-hour": (1, False, "429 Too Many Requests, retry in 3600 s"),
    "500": (3, False, "500 Internal Server Error (3 tries)"),
    "503-once": (2, True, ""),
    "503-asks-2-s": (2, True, ""),
    "redirected": (2, True, ""),
    "redirected-in-a-ring": (6, False, "more than 5 redirections"),
    "redirected-to-a-file": (1, False, "file:///etc/passwd, which is not followed"),
    "redirected-to-ftp": (1, False, "ftp://127.0.0.1/rows, which is not followed"),
    "redirected-to-nowhere": (3, False, "refused (3 tries)"),
    "404, then whole": (2, True, ""),
    "silent, then whole": (4, True, ""),
    "wrong-bytes, then whole": (2, True, ""),
    "refused": (0, False, "refused"),
}


# Only where nothing comes may time run out: a busy machine may take long for everything else.
STALLING = {"trickle": 0.5, "trickling-head": 0.5, "silent": 0.5, "silent, then whole": 2.0}


@pytest.mark.parametrize("fault", [*fault_servers.FAULTS, *fault_servers.IN_TURN])
def test_a_fault(fault, server, tmp_path, monkeypatch):
    if fault in STALLING:
        monkeypatch.setattr(download, "STALL_SECONDS", STALLING[fault])
    server.requests.clear()  # some fail the first time alone
    requests, taken, said = OUTCOMES[fault]
    row = fault_servers.tried(server, fault, tmp_path / "empty")
    assert (row.requests, row.taken, row.left) == (requests, "whole" if taken else "no", 0)
    assert said in row.said
    assert "\n" not in row.said


def test_every_address_is_named_with_what_it_did(server):
    urls = [server.url(fault) for fault in ("404", "500", "wrong-bytes")]
    message = refusal(locate, "set", wanted(*urls))
    assert f"{urls[0]}: 404 Not Found, {urls[1]}: 500 Internal Server Error (3 tries), " in message
    assert f"{urls[2]}: not the expected rows" in message
    assert f"put rows from {urls[0]}" in message
    assert "SVMBENCH_MIRROR" in message


def test_a_server_that_cannot_be_reached_ends_all_downloads(server, monkeypatch):
    monkeypatch.setattr(download, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_: threading.Event().wait(2.0))
    begun = time.monotonic()
    assert "no server answers for its name)" in refusal(locate, "set", wanted(server.url("whole")))
    assert time.monotonic() - begun < 1.5
    server.requests.clear()
    assert "(no network)" in refusal(locate, "other", wanted(server.url("whole")))
    assert not server.requests


@pytest.mark.parametrize(
    ("there", "refused"),
    [
        ("https://b/x", False),
        ("http://a/x", True),
        ("FILE:///x", True),
        ("data:,x", True),
    ],
)
def test_where_a_redirection_from_https_may_lead(there, refused):
    asked, headers = Request("https://a/x"), Message()
    headers["location"] = there
    follow = download._Redirections()
    follow.parent = SimpleNamespace(open=lambda request, timeout: request.full_url)
    asked.timeout = 1.0
    answer = partial(follow.http_error_302, asked, BytesIO(), 302, "Found", headers)
    if not refused:
        assert answer() == there
        return
    with pytest.raises(download._FinalError, match="not followed"):
        answer()


def test_a_web_page_in_place_of_a_file_of_unknown_hash(server):
    with pytest.raises(DataError, match="/web-page/rows: a web page and not the file"):
        locate("set", wanted(server.url("web-page"), sha256=None))
    size = len(fault_servers.TEXT)
    with pytest.raises(DataError, match="/truncated-unsaid/rows: its text has 72902 bytes, not "):
        locate("set", wanted(server.url("truncated-unsaid"), sha256=None, bytes=size))
    assert list(downloads().iterdir()) == []
    assert (
        locate("set", wanted(server.url("whole"), sha256=None)).read_bytes() == fault_servers.TEXT
    )


def test_no_room_is_said_at_once(server):
    server.requests.clear()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        with pytest.raises(DataError) as caught:
            locate("set", wanted(server.url("whole"), server.url("slow")))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value) == (
        f"{downloads()}: File too large; make room for rows there, or set SVMBENCH_CACHE to"
        " another folder"
    )
    assert server.requests.total() == 1
    assert list(downloads().iterdir()) == []


def test_what_a_server_says_does_not_reach_the_terminal_raw():
    message = str(download._failure("http://a/x", "\x1b[2Jgone\r\nfor\tever", 1))
    assert message == "http://a/x: ?[2Jgone for ever"


def test_remains_of_killed_downloads_go_after_a_day(server):
    downloads().mkdir(parents=True)
    old, new = (downloads() / f"{fetch._PARTIAL}{name}-rows" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(fault_servers.TEXT[:100])
    os.utime(old, (0, time.time() - 25 * 3600))
    locate("set", wanted(server.url("whole")))
    assert sorted(path.name for path in downloads().iterdir()) == [new.name, "rows"]


COMMANDS = [
    ["run", "adult", "--offline", "--quiet", "--real"],
    ["data", "fetch", "adult", "--offline"],
    ["papers", "--offline", "--dry-run", "sgd-qn/table-5"],
    ["bench", "smoke", "--offline", "--dry-run"],
    ["data", "list"],
    ["data", "info", "adult"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_offline_asks_nobody(arguments, monkeypatch, tmp_path, capsys):
    def refuse(*_args, **_kwargs):
        asked.append(arguments)
        raise OSError("the network was asked")

    asked = []
    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(f"socket.{name}", refuse)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert asked == []
    assert "the network was asked" not in capsys.readouterr().err
    if "adult" in arguments and "--offline" in arguments:
        assert caught.value.code == 3


@pytest.mark.parametrize("command", [["run", "demo"], ["papers"], ["bench"]])
def test_fetching_offline_is_a_contradiction(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command, "--fetch-all", "--offline"])
    assert caught.value.code == 2
    assert "--fetch-all and --offline; keep one of them" in capsys.readouterr().err
