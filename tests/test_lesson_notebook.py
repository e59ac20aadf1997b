"""The notebook of the lesson runs, and has the outputs that a reader sees without running it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "lesson.ipynb"


def outputs(cells):
    return [kind["output_type"] for cell in cells for kind in cell.get("outputs", ())]


@pytest.mark.slow
def test_the_lesson_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    run = runpy.run_path(str(ROOT / "scripts" / "notebooks.py"))["run"](NOTEBOOK)["cells"]
    assert outputs(run) == outputs(kept) != []


def test_its_methods_reach_the_optimum():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {}
    for source in code[:5]:
        if "def " in source:  # what is drawn afterwards is left out
            exec(source.split("\n\n\npath")[0].split("\n\n\nfigure")[0].split("\nfigure")[0], names)
    path, duals = names["dcd"](50)
    primal = names["primal"](path[-1])
    assert duals[-1] <= primal <= duals[-1] * (1.0 + 1e-6)
    assert (np.diff(duals) >= -1e-12).all()
    assert primal <= names["primal"](names["sgd"](2000)[-1]) <= 1.05 * primal
