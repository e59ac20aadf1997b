"""Raw files are found in the mirror, among downloads, or on a server of the test's own."""

import bz2
import gzip
import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from refusals import refusal

from svmbench.data import download, fetch
from svmbench.data.catalogue import DataFile
from svmbench.data.fetch import downloads, locate, remember
from svmbench.data.stamp import stamp

TEXT = b"+1 1:1\n-1 2:1\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """An empty mirror, an empty cache, and no proxy between the test and its server."""
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SVMBENCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.delenv("SVMBENCH_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(download, "_pause", lambda seconds: None)
    monkeypatch.setattr(fetch, "_offline", (0.0, ""))
    return tmp_path


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_args):
        pass

    def send_head(self):
        if self.path.startswith("/short/"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(TEXT)
            return None
        return super().send_head()


@pytest.fixture
def server(tmp_path):
    """Address and folder of a server on this machine."""
    folder = tmp_path / "www"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", folder
        http.shutdown()
        thread.join()


def wanted(*urls, sha256=SHA256):
    return DataFile(file="rows", urls=urls, sha256=sha256)


@pytest.mark.parametrize("suffix", ["", ".xz", ".bz2", ".gz"])
@pytest.mark.parametrize("place", ["mirror", "cache/files"])
def test_a_file_on_this_machine(places, suffix, place):
    path = places / place / f"rows{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    assert locate("set", wanted("http://127.0.0.1:9/rows")) == path


def test_the_mirror_goes_first(places):
    for folder in (places / "mirror", downloads()):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rows").write_bytes(TEXT)
    assert locate("set", wanted()).parent == places / "mirror"


def test_download(server, monkeypatch):
    url, folder = server
    (folder / "rows.bz2").write_bytes(bz2.compress(TEXT))
    path = locate("set", wanted(f"{url}/rows.bz2"))
    assert path == downloads() / "rows.bz2"
    assert bz2.decompress(path.read_bytes()) == TEXT
    monkeypatch.setenv("SVMBENCH_OFFLINE", "1")
    assert locate("set", wanted(f"{url}/rows.bz2")) == path
    assert [entry.name for entry in downloads().iterdir()] == ["rows.bz2"]


def test_nothing_is_kept_of_what_is_not_the_file(server):
    url, folder = server
    (folder / "rows").write_bytes(b"1 1:1\n")
    (folder / "rows.xz").write_bytes(b"not xz")
    urls = [f"{url}/rows", f"{url}/rows.xz", f"{url}/short/rows", f"{url}/gone/rows"]
    message = refusal(locate, "set", wanted(*urls))
    assert f"{url}/rows: not the expected rows: its text has sha256 " in message
    assert f" not {SHA256}" in message
    assert f"{url}/rows.xz: truncated or corrupt" in message
    assert "404" in message
    assert list(downloads().iterdir()) == []


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_missing_file(places, monkeypatch, how):
    if how == "environment":
        monkeypatch.setenv("SVMBENCH_OFFLINE", "1")
    message = refusal(locate, "set", wanted("https://example.org/rows"), offline=how == "argument")
    assert message == (
        "set: rows is missing (the network is switched off); put rows from"
        f" https://example.org/rows, plain or .xz, .bz2, .gz, into {places / 'mirror'}"
        f" (SVMBENCH_MIRROR) or into {downloads()}, or run 'svmbench run configs/smoke.yaml',"
        " which needs only data that comes with svmbench"
    )


def test_missing_file_without_a_mirror_or_an_address(monkeypatch):
    monkeypatch.delenv("SVMBENCH_MIRROR")
    message = refusal(locate, "set", wanted())
    assert "it has no address" in message
    assert "into a folder that SVMBENCH_MIRROR names or into" in message


CONVERTED = """{file: rows, sha256: %s, converted: {source: {file: t.csv, urls: [%s/t.csv.gz]},
  label: class, positive: 2, ranges: {height: [-10, 30]}}}"""


def test_a_file_is_made_of_delimited_text_with_scaled_columns(server, places):
    url, folder = server
    table = b"height,oak,class\n0.274999,1,2\n0.25,0,1\n1,0,2\n"
    made = b"+1 1:1 2:1\n-1\n+1 1:30\n"
    (folder / "t.csv.gz").write_bytes(gzip.compress(table))
    hashed = hashlib.sha256(made).hexdigest()
    file = DataFile.model_validate(yaml.safe_load(CONVERTED % (hashed, url)))
    assert locate("set", file).read_bytes() == made
    other = DataFile.model_validate(yaml.safe_load(CONVERTED % (SHA256, url)))
    (downloads() / "rows").unlink()
    assert "not the expected rows" in refusal(locate, "set", other)
    (places / "mirror" / "t.csv").write_text("a,b\n1,2\n")
    assert "not the expected table" in refusal(locate, "set", file)


def test_a_download_that_has_changed(server, places):
    url, folder = server
    unknown = wanted(f"{url}/rows", sha256=None)
    (folder / "rows").write_bytes(TEXT)
    remember(unknown, stamp(folder / "rows"), SHA256)
    assert locate("set", unknown).read_bytes() == TEXT
    (downloads() / "rows").unlink()
    (folder / "rows").write_bytes(b"changed")
    message = refusal(locate, "set", unknown)
    assert f"{url}/rows: rows has changed: its text has sha256 " in message
    assert f"not {SHA256} as when it was first read here" in message
    assert list(downloads().iterdir()) == []
