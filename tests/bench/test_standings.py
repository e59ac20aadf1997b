"""Who is fastest, and who is shown ahead, in the benchmark's tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from measured_rows import SWEPT, group, swept

from svmbench.bench import tables
from svmbench.bench.versus import answered


def test_who_is_fastest_is_asked_within_a_sweep(monkeypatch):
    monkeypatch.setattr(tables, "champion", lambda: "dcd")
    quiet = [group("dcd", [1.0] * 3), group("liblinear", [2.0] * 3, solver="liblinear"),
             group("rehline", [1.5] * 3, solver="rehline")]  # fmt: skip
    busy = [group("dcd", [4.0] * 3), group("rehline", [3.0] * 3, solver="rehline")]
    result = swept(quiet, monkeypatch)
    result.parts.append(replace(SWEPT, part="peers", groups=busy))
    shown = {one["solver"]: one for one in tables.fastest_entries(result)}
    assert {
        name: (one["sweep"], one["median_seconds"], one["ratio"]) for name, one in shown.items()
    } == {
        "rehline": ("peers", 3.0, pytest.approx(0.75)),
        "dcd": ("peers", 4.0, 1.0),
        "liblinear": ("core", 2.0, pytest.approx(2.0)),
    }
    # The least seconds are the champion's of the other sweep; the fastest is rehline.
    ((row,),) = [each.rows for each in tables.fastest_table(result, []).sections]
    assert [cell.text for cell in row.cells if cell.best] == ["3.00"]


@pytest.mark.parametrize(
    ("ours", "theirs", "standing", "mark"),
    [
        ([1.0] * 20, [0.5] * 20, "peer ahead", "✗ "),
        ([1.0] * 3, [0.1, 4.0, 0.2], "open", "(✗) "),
        ([1.0] * 3, [2.0] * 3, "open", "2"),
        ([1.0] * 20, [2.0] * 20, "champion ahead", "2"),
        ([1.0] * 2, [math.nan] * 2, "no peer reached it", "≥ "),
        ([math.nan] * 2, [math.nan] * 2, "nobody reached it", "nobody"),
        ([math.nan] * 20, [1.0] * 20, "peer ahead", "✗ not reached"),
    ],
)
def test_who_is_ahead_is_counted_and_marked(ours, theirs, standing, mark, monkeypatch):
    state = "max_steps" if math.isnan(theirs[0]) else "converged"
    rows_of = [
        group("dcd", ours, state="max_steps" if math.isnan(ours[0]) else "converged", spent=2.0),
        group("rehline", theirs, solver="rehline", state=state, spent=3.0),
    ]
    (one,) = tables.compared(answered(swept(rows_of, monkeypatch))[0])
    assert one["standing"] == standing
    cell = tables.standing_cell(one)
    assert cell.text.startswith(mark)
    assert ("✗" in cell.text) == (one["ratio"] < 1.0)
    said = tables.standings([one])
    assert f"a peer is shown ahead in {int(standing == 'peer ahead')}" in said
    assert f"the champion is shown ahead in {int(standing == 'champion ahead')}," in said
    if standing == "open":
        slower = int(one["ratio"] < 1.0)
        assert f"neither is shown ahead in 1 (a peer is faster so far in {slower})." in said
