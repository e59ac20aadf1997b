"""Solvers that cheat, lie or break things: what comes of each of them."""

import os
from pathlib import Path

import pandas as pd
import pytest
from zoo import SPECIMENS, WORK, table

from svmbench.config import Sweep
from svmbench.errors import UnwritableError
from svmbench.harness import processes
from svmbench.harness.sweeps import Options, run_sweep
from svmbench.harness.trace import read_trace
from svmbench.records.read import read_results
from svmbench.report.notices import notices
from svmbench.verify.folder import Verifier

REACHED = ("seconds", "cpu_seconds", "epochs", "data_passes")
ROOT = Path(__file__).resolve().parent.parent.parent

#: Specimens whose hidden work is counted as training, and not flagged.
ON_THE_CLOCK = ("trains-in-counters", "states-its-time", "becomes-a-program", "trains-in-lookup")

pytestmark = pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs Linux")

CONFIG = {
    "version": 1,
    "name": "zoo",
    "datasets": ["tiny-separable"],
    "lambda": [0.01],
    "stop": {
        "accuracy": [0.1, 0.001],
        "max_epochs": 300,
        "time_limit": 5.0,
        "grace": 1.0,
        "memory_limit": 300_000_000,
    },
    "repeats": 1,
}


@pytest.mark.parametrize("entry", SPECIMENS, ids=lambda entry: entry.solver.name)
def test_specimen(entry, tmp_path, install, monkeypatch):
    install(f"zoo:{entry.solver.__name__}")
    if entry.solver.name == "stops-its-launcher":  # which answers never, however long it is given
        monkeypatch.setattr(processes, "PATIENCE", 2.0)
    # The limit of those that would never end; others may need it on a busy machine.
    endless = entry.state == "time_limit" or entry.reason == "without a checkpoint"
    stop = CONFIG["stop"] | ({"time_limit": 2.0} if endless else {})
    asked = CONFIG | {"solvers": [entry.solver.name, "dcd"], "stop": stop}
    outcome = run_sweep(Sweep.model_validate(asked), tmp_path)
    runs = pd.read_csv(outcome.folder / "runs.csv", keep_default_na=False).set_index("label")
    found = runs.loc[entry.solver.name]
    assert found["state"] == entry.state, found["reason"]
    if entry.state == "failed":
        reached = [found[f"{what}_to_{at}"] != "" for what in REACHED for at in (0.1, 0.001)]
        assert reached == [entry.reaches] * len(reached)
        curves = pd.read_csv(outcome.folder / "traces.csv")
        assert not (entry.refused and entry.solver.name in set(curves["label"]))
    else:
        assert found["off_clock"] == entry.flag
    trace = read_trace(tmp_path / "runs" / f"{found['id']}.jsonl")
    assert trace.end.get("refused", False) == entry.refused
    said = {each.name: each.reason for each in Verifier().folder(tmp_path)}
    assert not any(said.values()), said
    assert entry.reason in found["reason"]
    assert bool(entry.reason) == bool(found["reason"])
    assert found["reason"].isprintable()
    assert found["remark"].isprintable()
    if "read" in entry.flag or entry.solver.name in ON_THE_CLOCK:
        assert float(found["train_seconds"]) > 0.8 * WORK
    if found["pass_seconds"]:
        assert float(found["pass_seconds"]) < 50.0 * float(runs.loc["dcd", "pass_seconds"])
    # Whatever it did, the next run is as it would have been.
    assert runs.loc["dcd", "state"] == "converged"
    assert runs.loc["dcd", "off_clock"] == ""
    assert (tmp_path / "runs.csv").stat().st_size < 10_000
    assert not list(tmp_path.glob("runs/*.weights.npz"))


def test_the_documentation_has_the_whole_zoo():
    page = (ROOT / "docs" / "trust-results.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in page


def test_the_report_warns_of_time_off_the_clock(tmp_path, install):
    install("zoo:TrainsInW", "zoo:WorksInStep")
    solvers = ["trains-in-w", "works-in-step", "dcd"]
    run_sweep(Sweep.model_validate(CONFIG | {"solvers": solvers}), tmp_path)
    said = [notice for notice in notices(read_results(tmp_path), []) if "in doubt" in notice.text]
    assert [notice.text.partition(":")[0] for notice in said] == solvers[:2]
    assert all(notice.of_time for notice in said)


def test_kept_weights_refute_an_understated_p(tmp_path, install):
    install("zoo:CostUnderstated")
    sweep = Sweep.model_validate(CONFIG | {"solvers": ["cost-understated", "dcd"]})
    run_sweep(sweep, tmp_path, options=Options(keep_weights=True))
    said = {each.name: each.reason for each in Verifier().folder(tmp_path) if each.reason}
    ((name, reason),) = said.items()
    assert "cost-understated" in name
    assert reason.startswith("P is ")


def test_no_run_inherits_what_another_has_done_to_the_launcher(tmp_path, install):
    install("zoo:HobblesItsLauncher", "zoo:ShowsItsStanding")
    remarks = []
    for solvers in (["shows-its-standing"], ["hobbles-its-launcher", "shows-its-standing"]):
        folder = tmp_path / str(len(solvers))
        sweep = CONFIG | {"solvers": solvers, "repeats": 2}
        run_sweep(Sweep.model_validate(sweep), folder)
        runs = pd.read_csv(folder / "runs.csv")
        assert set(runs["state"]) == {"converged"}
        remarks.append(set(runs["remark"][runs["label"] == "shows-its-standing"]))
    assert len(remarks[0]) == 1
    assert remarks[0] == remarks[1]


def test_no_link_that_a_solver_puts_in_place_of_a_table_is_followed(tmp_path, install):
    install("zoo:LinksTheTables")
    sweep = Sweep.model_validate(CONFIG | {"solvers": ["links-the-tables", "dcd"]})
    run_sweep(sweep, tmp_path)
    assert (Path(os.environ["SVMBENCH_CACHE"]) / "victim").read_text() == "mine"
    assert not any((tmp_path / name).is_symlink() for name in ("runs.csv", "traces.csv"))


@pytest.mark.parametrize("name", ["{id}.part", "{id}.jsonl"])
def test_a_folder_in_place_of_a_trace_ends_the_sweep_in_one_line(tmp_path, name):
    sweep = Sweep.model_validate(CONFIG | {"solvers": ["dcd"]})
    run_sweep(sweep, tmp_path)
    (trace,) = (tmp_path / "runs").glob("*.jsonl")
    trace.unlink()
    place = tmp_path / "runs" / name.format(id=trace.stem)
    place.mkdir()
    with pytest.raises(UnwritableError, match="remove what is in its place"):
        run_sweep(sweep, tmp_path)
    assert not list((tmp_path / "runs").glob("*.tmp"))
    place.rmdir()
    assert run_sweep(sweep, tmp_path).made == 1
