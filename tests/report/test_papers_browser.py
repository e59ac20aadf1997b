"""index.html in a browser: nothing sticks out, and it is a picture."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape

import matplotlib.image
import pytest

BROWSER = shutil.which("chromium")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")

PROBE = """<script>
const all = (query) => [...document.querySelectorAll(query)];
const sticksOut = (element) => !element.closest(".scroll, .unseen")
  && element.getBoundingClientRect().right > document.documentElement.clientWidth;
const found = { width: document.scrollingElement.scrollWidth, window: innerWidth };
found.scrolling = all(".scroll").filter((box) => box.scrollWidth > box.clientWidth).length;
found.sticking = all("body *").filter(sticksOut).map((element) => element.outerHTML);
found.tables = all("table.paper").map((table) => [...table.rows].map((row) =>
  [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0)));
const result = parent.document.createElement("pre");
result.id = "found";
result.textContent = JSON.stringify(found);
parent.document.body.append(result);
</script>"""


def chromium(folder, page, *options: str) -> str:
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", f"--user-data-dir={folder / 'profile'}", *options, page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_sticks_out_of_the_page(papered, tmp_path, width):
    text = (papered / "index.html").read_text(encoding="utf-8")
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert len(policy.findall(text)) == 1
    probed = escape(policy.sub("", text).replace("</body>", f"{PROBE}</body>"))
    # In a frame, since a window of the browser is never narrower than 500 pixels.
    frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{probed}"></iframe>'
    page = tmp_path / "frame.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{frame}", encoding="utf-8")
    dumped = chromium(tmp_path, page, "--dump-dom", "--window-size=1400,1000")
    match = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.S)
    assert match
    found = json.loads(unescape(match.group(1)))
    assert found["window"] == width
    assert found["width"] <= width
    assert found["scrolling"] >= 1  # wide tables scroll by themselves
    assert found["sticking"] == []
    assert len(found["tables"]) == 3
    assert all(len(set(widths)) == 1 for widths in found["tables"])


def test_page_is_a_picture(papered, tmp_path):
    picture = tmp_path / "page.png"
    chromium(tmp_path, papered / "index.html", f"--screenshot={picture}", "--window-size=1280,1500")
    pixels = matplotlib.image.imread(picture)
    assert pixels.shape[:2] == (1500, 1280)
    ink = (pixels[..., :3].min(axis=2) < 0.5).any(axis=1)
    assert ink.sum() > 300
