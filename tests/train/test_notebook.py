"""The notebook runs, and what its text says is so."""

import json
from pathlib import Path

import matplotlib as mpl

NOTEBOOK = Path(__file__).parents[2] / "examples" / "training.ipynb"


def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("svg")
    names = {}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    ran = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(ran) >= 5
    for cell in ran:
        exec("".join(cell["source"]), names)
    assert names["X"].shape == (569, 30)
    assert names["model"].certificate_.gap <= 1e-6
    assert names["model"].score(names["X_test"], names["y_test"]) > 0.9
    assert names["objective"] >= names["ours"].certificate_.D
    assert names["objective"] <= names["ours"].certificate_.P * 1.01
    assert names["chosen"].C_ in names["path"].Cs_
    assert len(names["figure"].axes) == 2
