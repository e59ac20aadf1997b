"""index.html in a browser: nothing sticks out, and it is a picture."""

from __future__ import annotations

import matplotlib.image
import pytest

CELLS = """
found.tables = all("table.paper").map((table) => [...table.rows].map((row) =>
  [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0)));
"""


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_sticks_out_of_the_page(papered, ask, width):
    found = ask(papered / "index.html", width, CELLS)
    assert found["window"] == width
    assert found["width"] <= width
    assert found["scrolling"] >= (width == 420)  # wide tables scroll by themselves
    assert found["sticking"] == []
    assert len(found["tables"]) == 3
    assert all(len(set(widths)) == 1 for widths in found["tables"])


def test_page_is_a_picture(papered, chromium, tmp_path):
    picture = tmp_path / "page.png"
    chromium(papered / "index.html", f"--screenshot={picture}", "--window-size=1280,1500")
    pixels = matplotlib.image.imread(picture)
    assert pixels.shape[:2] == (1500, 1280)
    ink = (pixels[..., :3].min(axis=2) < 0.5).any(axis=1)
    assert ink.sum() > 300
