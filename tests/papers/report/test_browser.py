"""index.html in a browser: nothing sticks out, and it is a picture."""

from __future__ import annotations

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
    assert found["sticking"] == []
    assert len(found["tables"]) == 3
    assert all(len(set(widths)) == 1 for widths in found["tables"])
