"""report.html in a browser: nothing sticks out, its script runs, it prints."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

import matplotlib.image
import pytest

BROWSER = shutil.which("chromium")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")

#: Asks the page for what only a browser knows, and leaves it in the document around it.
PROBE = """<script>
const all = (query) => [...document.querySelectorAll(query)];
const table = document.querySelector("table.time");
const heads = [...table.tHead.querySelectorAll("button")];
const order = () => [...table.tBodies[0].rows].map((row) => row.cells[1].innerText);
const sticksOut = (element) => !element.closest(".scroll, .unseen")
  && element.getBoundingClientRect().right > document.documentElement.clientWidth;
const found = { width: document.scrollingElement.scrollWidth, window: innerWidth };
found.scrolling = all(".scroll").filter((box) => box.scrollWidth > box.clientWidth).length;
found.sticking = all("body *").filter(sticksOut).map((element) => element.outerHTML);
found.before = order();
heads[4].click(); found.up = order();
heads[4].click(); found.down = order();
heads[1].click(); found.named = order();
found.sorted = table.querySelectorAll("[aria-sort]").length;
heads[0].click(); heads[0].click();
found.lambda = table.querySelector("tbody .lambda").innerText;
const result = parent.document.createElement("pre");
result.id = "found";
result.textContent = JSON.stringify(found);
parent.document.body.append(result);
</script>"""


def chromium(folder: Path, page: Path, *options: str) -> str:
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


def ask(folder: Path, reported: Path, width: int) -> dict:
    """What the probe finds in a copy of the page that allows it to run.

    The copy stands in a frame, since a window of the browser is never narrower than 500 pixels.
    """
    text = (reported / "report.html").read_text(encoding="utf-8")
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert len(policy.findall(text)) == 1
    probed = escape(policy.sub("", text).replace("</body>", f"{PROBE}</body>"))
    frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{probed}"></iframe>'
    page = folder / "frame.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{frame}", encoding="utf-8")
    dumped = chromium(folder, page, "--dump-dom", "--window-size=1400,1000")
    found = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.S)
    assert found
    return json.loads(unescape(found.group(1)))


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_sticks_out_of_the_page(reported, tmp_path, width):
    found = ask(tmp_path, reported, width)
    assert found["window"] == width
    assert found["width"] <= width
    assert found["scrolling"] >= (width == 420)  # tables scroll by themselves
    assert found["sticking"] == []


def test_columns_sort_within_each_lambda(reported, tmp_path):
    found = ask(tmp_path, reported, 1280)
    order = ["sgd-m(schedule=blocks)", "dcd", "pegasos", "crawl"]
    assert [label for label in found["up"] if label in order] == order != found["before"][:4]
    assert set(found["down"][:2]) == {"crawl", "svmperf"}
    assert found["named"] == sorted(found["before"])
    assert found["sorted"] == 1
    assert found["lambda"] == "1e-4"


@pytest.mark.parametrize("width", [1280, 420])
def test_page_is_a_picture(reported, tmp_path, width):
    picture = tmp_path / "page.png"
    chromium(
        tmp_path, reported / "report.html", f"--screenshot={picture}", f"--window-size={width},1500"
    )
    pixels = matplotlib.image.imread(picture)
    assert pixels.shape[:2] == (1500, width)
    assert pixels[..., :3].std() > 0.05
    ink = (pixels[..., :3].min(axis=2) < 0.5).any(axis=1)
    assert ink.sum() > 300  # rows of the picture with text in them


def test_script_passes_the_pages_own_policy(reported, tmp_path):
    page = chromium(tmp_path, reported / "report.html", "--dump-dom")
    assert page.count('<button type="button">') == 2 * (6 + 6 + 8)


def test_page_prints(reported, tmp_path):
    paper = tmp_path / "report.pdf"
    chromium(tmp_path, reported / "report.html", f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF-")
    assert paper.stat().st_size > 50_000
