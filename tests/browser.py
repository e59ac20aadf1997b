"""Opens pages in a browser and asks them what only a browser knows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path

import pytest

#: What is left in the document around the page: its width, what scrolls and what sticks out.
_PROBE = """<script>
const all = (query) => [...document.querySelectorAll(query)];
const sticksOut = (element) => !element.closest(".scroll, .unseen")
  && element.getBoundingClientRect().right > document.documentElement.clientWidth;
const found = { width: document.scrollingElement.scrollWidth, window: innerWidth };
found.scrolling = all(".scroll").filter((box) => box.scrollWidth > box.clientWidth).length;
found.sticking = all("body *").filter(sticksOut).map((element) => element.outerHTML);
%s
const result = parent.document.createElement("pre");
result.id = "found";
result.textContent = JSON.stringify(found);
parent.document.body.append(result);
</script>"""


@pytest.fixture
def chromium(tmp_path: Path) -> Callable[..., str]:
    """Opens a page with the given options and returns what the browser prints."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")

    def open_page(page: Path, *options: str) -> str:
        done = subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}", *options,
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return open_page


@pytest.fixture
def ask(tmp_path: Path, chromium: Callable[..., str]) -> Callable[..., dict]:
    """Asks a page, so many pixels wide, for what only a browser knows; takes more questions.

    It is a copy that allows scripts, in a frame, since a window of the browser is never
    narrower than 500 pixels.
    """

    def put(page: Path, width: int, questions: str = "") -> dict:
        text = page.read_text(encoding="utf-8")
        policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
        assert len(policy.findall(text)) == 1
        probed = escape(policy.sub("", text).replace("</body>", f"{_PROBE % questions}</body>"))
        frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{probed}"></iframe>'
        around = tmp_path / "frame.html"
        around.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{frame}", encoding="utf-8")
        dumped = chromium(around, "--dump-dom", "--window-size=1400,1000")
        found = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.S)
        assert found
        return json.loads(unescape(found.group(1)))

    return put
