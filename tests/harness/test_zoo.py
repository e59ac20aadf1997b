"""Plug-ins that go wrong as one's own may by accident: what comes of each of them."""

from pathlib import Path

import pandas as pd
import pytest
from small_sweep import run_sweep, sweep
from zoo import SPECIMENS, WORK

from svmbench.errors import UnwritableError
from svmbench.harness.sweeps import Options
from svmbench.harness.trace import read_trace
from svmbench.records.read import read_results
from svmbench.report.notices import notices
from svmbench.verify.folder import Verifier

REACHED = ("seconds", "cpu_seconds", "epochs", "data_passes")
pytestmark = pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs Linux")

STOP = {
    "accuracy": [0.1, 0.001],
    "max_epochs": 300,
    "time_limit": 5.0,
    "grace": 1.0,
    "memory_limit": 300_000_000,
}


@pytest.mark.parametrize("entry", SPECIMENS, ids=lambda entry: entry.solver.name)
def test_specimen(entry, tmp_path, install):
    install(f"zoo:{entry.solver.__name__}")
    # The limit of the one that would never end; others may need it on a busy machine.
    stop = STOP | ({"time_limit": 2.0} if entry.state == "time_limit" else {})
    outcome = run_sweep(sweep(solvers=[entry.solver.name, "dcd"], stop=stop), tmp_path)
    runs = pd.read_csv(outcome.folder / "runs.csv", keep_default_na=False).set_index("label")
    found = runs.loc[entry.solver.name]
    assert found["state"] == entry.state, found["reason"]
    if entry.state == "failed":
        reached = [found[f"{what}_to_{at}"] != "" for what in REACHED for at in (0.1, 0.001)]
        assert not any(reached)
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
    if "read" in entry.flag:
        assert float(found["train_seconds"]) > 0.8 * WORK
    # Whatever it did, the next run is as it would have been.
    assert runs.loc["dcd", "state"] == "converged"
    assert runs.loc["dcd", "off_clock"] == ""
    assert (tmp_path / "runs.csv").stat().st_size < 10_000
    assert not list(tmp_path.glob("runs/*.weights.npz"))


def test_the_report_warns_of_time_off_the_clock(tmp_path, install):
    install("zoo:TrainsInW", "zoo:WorksInStep")
    solvers = ["trains-in-w", "works-in-step", "dcd"]
    run_sweep(sweep(solvers=solvers, stop=STOP), tmp_path)
    said = [notice for notice in notices(read_results(tmp_path)) if "in doubt" in notice.text]
    assert [notice.text.partition(":")[0] for notice in said] == solvers[:2]
    assert all(notice.of_time for notice in said)


def test_kept_weights_refute_an_understated_p(tmp_path, install):
    install("zoo:CostUnderstated")
    wanted = sweep(solvers=["cost-understated", "dcd"], stop=STOP)
    run_sweep(wanted, tmp_path, options=Options(keep_weights=True))
    said = {each.name: each.reason for each in Verifier().folder(tmp_path) if each.reason}
    ((name, reason),) = said.items()
    assert "cost-understated" in name
    assert reason.startswith("P is ")


@pytest.mark.parametrize("name", ["{id}.part", "{id}.jsonl"])
def test_a_folder_in_place_of_a_trace_ends_the_sweep_in_one_line(tmp_path, name):
    wanted = sweep()
    run_sweep(wanted, tmp_path)
    (trace,) = (tmp_path / "runs").glob("*.jsonl")
    trace.unlink()
    place = tmp_path / "runs" / name.format(id=trace.stem)
    place.mkdir()
    with pytest.raises(UnwritableError, match="remove what is in its place"):
        run_sweep(wanted, tmp_path)
    assert not list((tmp_path / "runs").glob("*.tmp"))
    place.rmdir()
    assert run_sweep(wanted, tmp_path).made == 1
