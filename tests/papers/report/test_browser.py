"""index.html in a browser: nothing sticks out, and it is a picture."""

from __future__ import annotations

import shutil

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
    assert found["scrolling"] >= 1  # wide tables scroll by themselves
    assert found["sticking"] == []
    assert len(found["tables"]) == 3
    assert all(len(set(widths)) == 1 for widths in found["tables"])


def test_linked_pictures_are_shown(linked, chromium, tmp_path):
    root = tmp_path / "copy"
    shutil.copytree(linked, root)

    def ink() -> float:
        picture = tmp_path / "page.png"
        chromium(root / "index.html", f"--screenshot={picture}", "--window-size=1280,9000")
        return float((matplotlib.image.imread(picture)[..., :3] < 0.5).mean())

    shown = ink()
    for file in root.rglob("*.png"):
        file.unlink()
    assert ink() < 0.9 * shown


def test_page_is_a_picture(papered, chromium, tmp_path):
    picture = tmp_path / "page.png"
    chromium(papered / "index.html", f"--screenshot={picture}", "--window-size=1280,1500")
    pixels = matplotlib.image.imread(picture)
    assert pixels.shape[:2] == (1500, 1280)
    ink = (pixels[..., :3].min(axis=2) < 0.5).any(axis=1)
    assert ink.sum() > 300
