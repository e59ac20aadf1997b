import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from recorded_folders import records_of, write_records
from small_sweep import run_sweep
from small_sweep import sweep as small_sweep

from plugins import Ladder
from svmbench import memory
from svmbench.errors import ConfigError, DataError
from svmbench.harness.plan import plan_runs
from svmbench.harness.store import Store
from svmbench.harness.sweeps import MORE_ROOM, Options, Reporter, prepare
from svmbench.harness.trace import read_trace
from svmbench.harness.weights import keep_weights
from svmbench.records.read import read_regret

STOP = {"accuracy": [0.1, 0.001], "max_epochs": 300, "time_limit": 10.0}


def sweep(**changes):
    return small_sweep(**{"stop": STOP, "repeats": 2} | changes)


def planned(wanted):
    return plan_runs(wanted, prepare(wanted, Reporter(), Options()))


def runs_csv(outcome):
    return pd.read_csv(outcome.folder / "runs.csv").set_index(["label", "repeat"])


def test_a_sweep_leaves_its_numbers(tmp_path):
    outcome = run_sweep(sweep(solvers=["dcd", "sgd-s"]), tmp_path)
    assert (outcome.made, outcome.reused, outcome.faulty) == (4, 0, False)
    runs = runs_csv(outcome)
    assert set(runs.index) == {("dcd", 0), ("dcd", 1), ("sgd-s", 0), ("sgd-s", 1)}
    assert (runs["state"] == "converged").all()
    assert (runs["accuracy"] <= 0.001).all()
    assert (runs["reference_gap"] <= 1e-5).all()
    assert (runs["seconds_to_0.1"] <= runs["seconds_to_0.001"]).all()
    assert (runs["setup_seconds"] <= runs["train_seconds"]).all()
    assert (runs["peak_memory_bytes"] > 1e6).all()
    # What the parent holds is not the worker's.
    assert (runs["peak_memory_bytes"] < 1.3 * runs["data_bytes"] + 150 * 2**20).all()
    assert runs.loc[("dcd", 0), "seed"] == runs.loc[("sgd-s", 0), "seed"]
    assert runs.loc[("dcd", 0), "seed"] != runs.loc[("dcd", 1), "seed"]
    traces = pd.read_csv(outcome.folder / "traces.csv")
    last = traces.groupby("id")["accuracy"].last().to_dict()
    assert last == runs.set_index("id")["accuracy"].to_dict()
    assert "name: small" in (tmp_path / "config.yaml").read_text()
    assert (tmp_path / "environment.json").exists()


def test_finished_runs_are_reused_and_only_damaged_ones_made_again(tmp_path):
    first = run_sweep(sweep(repeats=3), tmp_path)
    before = runs_csv(first)
    files = sorted((tmp_path / "runs").iterdir())
    files[0].unlink()
    text = files[1].read_text()
    files[1].write_text(text.replace('"presentations": 0', '"presentations": 1', 1))
    second = run_sweep(sweep(repeats=3), tmp_path)
    assert (second.made, second.reused) == (2, 1)
    machine = (tmp_path / "environment.json").read_text()
    (tmp_path / "environment.json").write_text(machine.replace('"recorded": "2', '"recorded": "1'))
    third = run_sweep(sweep(repeats=3), tmp_path)
    assert (third.made, third.reused) == (0, 3)
    assert (tmp_path / "environment.json").read_text() != machine, "stated without a new run"
    assert (runs_csv(third)["presentations"] == before["presentations"]).all()
    older = '{"cpu": "of the runs", "order": Infinity}'
    (tmp_path / "environment.json").write_text(older)
    assert run_sweep(sweep(repeats=3), tmp_path).made == 0
    assert (tmp_path / "environment.json").read_text() == older
    fresh = run_sweep(sweep(repeats=3), tmp_path, options=Options(fresh=True))
    assert fresh.made == 3
    assert '"recorded": "2' in (tmp_path / "environment.json").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"lambda": [0.02]},
        {"solvers": [{"name": "dcd", "shrinking": False}]},
        {"loss": "squared-hinge"},
        {"stop": {"accuracy": [0.1, 0.0001], "max_epochs": 300}},
        {"datasets": ["tiny-dense"]},
    ],
)
def test_a_change_that_matters_makes_a_new_run(change, tmp_path):
    def ids(wanted):
        return {run.id for run in planned(wanted)}

    assert not ids(sweep()) & ids(sweep(**change))
    assert ids(sweep()) < ids(sweep(repeats=3, tables=["time"]))


def test_faults_of_a_solver_stay_its_own(tmp_path, install, monkeypatch):
    names = ["Crashing", "Raising", "Hungry", "Diverging", "Wordy", "Flipping"]
    install(*(f"plugins:{name}" for name in names))
    solvers = ["dcd", *(name.lower() for name in names)]
    outcome = run_sweep(sweep(solvers=solvers, repeats=1), tmp_path)
    runs = runs_csv(outcome)
    states = {label: state for (label, _), state in runs["state"].items()}
    assert states == {
        "dcd": "converged",
        "crashing": "failed",
        "raising": "failed",
        "hungry": "out_of_memory",
        "diverging": "diverged",
        "wordy": "failed",
        "flipping": "failed",
    }
    assert outcome.faulty
    reasons = runs["reason"].droplevel("repeat")
    assert "SIGSEGV" in reasons["crashing"]
    assert "no step can be taken" in reasons["raising"]
    assert len(reasons["wordy"]) == 500
    assert reasons["wordy"].endswith("x and that was all")
    assert "WRITEABLE" in reasons["flipping"]  # a worker's rows are mapped read-only
    again = run_sweep(sweep(solvers=solvers, repeats=1), tmp_path)
    assert again.made == 0
    retried = run_sweep(
        sweep(solvers=solvers, repeats=1), tmp_path, options=Options(retry_faults=True)
    )
    assert (retried.made, retried.reused) == (5, 2)


def test_a_hanging_solver_is_killed_and_its_cell_not_repeated(tmp_path, install):
    install("plugins:Hanging")
    stop = {"accuracy": [0.1], "time_limit": 0.5, "grace": 2.0}
    outcome = run_sweep(sweep(solvers=["hanging", "dcd"], repeats=3, stop=stop), tmp_path)
    runs = runs_csv(outcome)
    assert list(runs.loc["hanging", "state"]) == ["time_limit", "skipped", "skipped"]
    assert (runs.loc["dcd", "state"] == "converged").all()
    assert "killed after" in runs.loc[("hanging", 0), "reason"]
    assert not outcome.faulty
    resumed = run_sweep(sweep(solvers=["hanging", "dcd"], repeats=3, stop=stop), tmp_path)
    assert resumed.made == 0
    assert resumed.states["skipped"] == 2


def test_two_processes_do_not_write_to_one_folder(tmp_path):
    with Store(tmp_path).locked(), pytest.raises(ConfigError, match="another run is writing"):
        run_sweep(sweep(), tmp_path)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_keeps_everything_and_goes_on(tmp_path, install, signum):
    install("plugins:Hanging")
    config = tmp_path / "config.yaml"
    config.write_text(
        "version: 1\nname: small\ndatasets: [tiny-separable]\nlambda: 0.01\n"
        "solvers: [dcd, sgd-s, hanging]\nrepeats: 2\n"
        "stop: {accuracy: [0.1], time_limit: 1000}\nplots: []\n"
    )
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "svmbench", "run", str(config), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    hanging = None
    deadline = time.monotonic() + 60.0
    while hanging is None and time.monotonic() < deadline:
        hanging = next(out.glob("runs/*hanging*"), None)
        time.sleep(0.05)
    assert hanging is not None, process.communicate()
    process.send_signal(signum)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert "Traceback" not in complaints
    assert read_trace(hanging.with_suffix(".jsonl")).state == "interrupted"
    runs = pd.read_csv(out / "runs.csv")
    assert "interrupted" in set(runs["state"])
    assert (out / "tables" / "time.md").exists()
    kept = set(runs.loc[runs["state"] == "converged", "id"])
    from svmbench.config import load_sweep

    wanted = load_sweep(config)
    plan = planned(wanted)
    store = Store(out)
    assert {run.id for run in plan if store.finished(run)} == kept


def test_only_the_chosen_runs_are_made_and_the_others_kept(tmp_path):
    wanted = sweep(solvers=["dcd", "sgd-s"], **{"lambda": [0.1, 0.01]})
    first = run_sweep(wanted, tmp_path, options=Options(only=("*/0.1/dcd",)))
    assert first.made == 2
    second = run_sweep(wanted, tmp_path, options=Options(only=("sgd-s",)))
    assert (second.made, second.reused) == (4, 0)
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == 6
    with pytest.raises(ConfigError, match="matches no run"):
        run_sweep(wanted, tmp_path, options=Options(only=("sgd",)))


@pytest.mark.parametrize("written", ["0.3", "*/0.3/*", "1.67e-2", "tiny-separable/0.0167/dcd"])
def test_a_run_is_chosen_by_c_or_by_its_rounded_lambda(written, tmp_path):
    wanted = sweep(**{"lambda": None, "C": [0.3, 3.0]})
    made = run_sweep(wanted, tmp_path, options=Options(only=(written,)))
    assert made.made == 2
    assert pd.read_csv(tmp_path / "runs.csv")["C"].round(9).tolist() == [0.3, 0.3]


def test_parallel_runs_are_made_once_and_marked(tmp_path):
    wanted = sweep(solvers=["dcd", "sgd-s"], repeats=3)
    together = run_sweep(wanted, tmp_path, options=Options(jobs=2))
    assert together.made == 6
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert runs["contended"].all()
    assert runs["id"].is_unique
    alone = run_sweep(wanted, tmp_path)
    assert (alone.made, alone.reused) == (6, 0)
    assert not pd.read_csv(tmp_path / "runs.csv")["contended"].any()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("started", ...),
        ("started", None),
        ("started", "yesterday"),
        ("started", 3),
        ("node", ["a"]),
        ("reference_gap", ...),
    ],
)
def test_a_finished_run_without_what_its_header_has_to_tell_is_made_again(tmp_path, field, value):
    run_sweep(sweep(repeats=1), tmp_path)
    (path,) = tmp_path.glob("runs/*.jsonl")
    records = records_of(path)
    records[0].pop(field, None)
    if value is not ...:
        records[0][field] = value
    write_records(path, records)
    again = run_sweep(sweep(repeats=1), tmp_path)
    assert (again.made, again.reused) == (1, 0)


def test_a_relative_limit_follows_the_best_so_far(tmp_path, install):
    install("plugins:Slow")
    stop = {"accuracy": [0.01], "time_limit": 1000.0, "relative_limit": 5.0}
    wanted = sweep(solvers=["dcd", "slow"], repeats=1, stop=stop)
    run_sweep(wanted, tmp_path, options=Options(only=("dcd",)))
    outcome = run_sweep(wanted, tmp_path)
    runs = runs_csv(outcome)
    assert runs.loc[("slow", 0), "state"] == "time_limit"
    assert runs.loc[("slow", 0), "limit_seconds"] == 1.0
    assert runs.loc[("dcd", 0), "limit_seconds"] == 1000.0
    assert 1.0 <= runs.loc[("slow", 0), "train_seconds"] < 100.0


def test_a_solver_that_needs_its_last_step_runs_once_a_horizon(tmp_path, install):
    install("plugins:Steps")
    stop = {"accuracy": [0.1, 0.001], "max_epochs": 20}
    runs = runs_csv(run_sweep(sweep(solvers=["steps"], repeats=1, stop=stop), tmp_path))
    assert sorted(runs["horizon"]) == [1, 2, 4, 8, 16, 20]
    assert (runs["epochs"] == runs["horizon"]).all()
    assert (runs["state"] == "converged").all()
    assert (runs["conversion_seconds"] >= 0.01).all()
    points = pd.read_csv(tmp_path / "traces.csv").groupby("id").size()
    assert (points == 2).all()
    best = runs.sort_values("horizon")["accuracy"]
    assert best.iloc[-1] < best.iloc[0]
    given = sweep(solvers=[{"name": "steps", "epochs": 3.0}], repeats=1, stop=stop)
    assert [run.horizon for run in planned(given)] == [3.0]


def test_a_solver_that_needs_its_accuracy_runs_once_a_threshold(tmp_path, install):
    install("plugins:Accuracy")
    runs = runs_csv(run_sweep(sweep(solvers=["accuracy"], repeats=1), tmp_path))
    assert sorted(runs["horizon"]) == [0.001, 0.1]
    assert (runs["state"] == "converged").all()
    by_horizon = runs.set_index("horizon")
    assert by_horizon.loc[0.001, "epochs"] > by_horizon.loc[0.1, "epochs"]


def horizons_of(outcome, repeat=0):
    """The horizons run of a single solver's repeat, in the order of the file, and their states."""
    runs = runs_csv(outcome).reset_index()
    mine = runs[runs["repeat"] == repeat]
    return list(mine["horizon"]), list(mine["state"])


def test_a_ladder_is_climbed_to_the_first_rung_that_is_accurate_enough(tmp_path, install):
    install("plugins:Ladder")
    rungs = Ladder.rungs
    wanted = sweep(solvers=["ladder"])
    outcome = run_sweep(wanted, tmp_path)
    runs = runs_csv(outcome)
    assert (runs["state"] == "converged").all()
    climbed = 0
    for repeat in (0, 1):
        horizons, _ = horizons_of(outcome, repeat)
        assert horizons == list(rungs[: len(horizons)])
        assert 1 < len(horizons) < len(rungs)
        enough = runs.xs(repeat, level="repeat")["seconds_to_0.001"].notna()
        assert list(enough) == [False] * (len(horizons) - 1) + [True]
        climbed += len(horizons)
    assert outcome.made == climbed
    assert outcome.states == {"converged": climbed, "spared": 2 * len(rungs) - climbed}
    assert len(list((tmp_path / "runs").iterdir())) == climbed
    again = run_sweep(wanted, tmp_path)
    assert (again.made, again.reused, again.states) == (0, climbed, outcome.states)
    # A rung below the end that went missing is made again, whatever stands above it.
    next((tmp_path / "runs").glob("*-r1-h0.3-*")).unlink()
    assert (run_sweep(wanted, tmp_path).made, run_sweep(wanted, tmp_path).made) == (1, 0)


@pytest.mark.parametrize(
    ("name", "state", "made"), [("Rotten", "failed", 3), ("Limited", "max_steps", 3)]
)
def test_a_ladder_ends_where_it_does_not_come_to_its_horizon(name, state, made, tmp_path, install):
    install(f"plugins:{name}")
    outcome = run_sweep(sweep(solvers=[name.lower()]), tmp_path)
    for repeat in (0, 1):
        horizons, states = horizons_of(outcome, repeat)
        assert horizons == list(Ladder.rungs[:made])
        assert states == ["converged"] * (made - 1) + [state]
    assert outcome.states["spared"] == 2 * (len(Ladder.rungs) - made)
    assert not (runs_csv(outcome)["epochs"] >= 300).any()  # none was ended by the sweep's limit


def test_a_rung_out_of_time_ends_its_ladder_and_is_not_repeated(tmp_path, install):
    install("plugins:Endless")
    stop = {"accuracy": [0.001], "time_limit": 0.5, "grace": 2.0}
    wanted = sweep(solvers=["endless"], stop=stop)
    outcome = run_sweep(wanted, tmp_path)
    assert horizons_of(outcome) == ([1.0, 0.3, 0.1], ["converged", "converged", "time_limit"])
    assert horizons_of(outcome, 1) == ([1.0, 0.3, 0.1], ["converged", "converged", "skipped"])
    assert outcome.states["spared"] == 2 * (len(Ladder.rungs) - 3)
    again = run_sweep(wanted, tmp_path)
    assert (again.made, again.states) == (0, outcome.states)


def test_a_program_that_is_not_installed_is_asked_for_again(tmp_path, install):
    install("plugins:Foreign")
    outcome = run_sweep(sweep(solvers=["foreign", "dcd"], repeats=1), tmp_path)
    runs = runs_csv(outcome)
    assert runs.loc[("foreign", 0), "state"] == "not_installed"
    assert "pip install" in runs.loc[("foreign", 0), "reason"]
    assert not outcome.faulty
    assert run_sweep(sweep(solvers=["foreign", "dcd"], repeats=1), tmp_path).made == 1


def test_a_memory_limit_holds_beyond_the_data(tmp_path, install):
    install("plugins:Greedy")
    stop = {"accuracy": [0.1], "max_epochs": 2}
    roomy = sweep(solvers=["greedy"], repeats=1, stop=stop | {"memory_limit": "400MiB"})
    tight = sweep(solvers=["greedy"], repeats=1, stop=stop | {"memory_limit": "200MiB"})
    assert run_sweep(roomy, tmp_path / "roomy").states == {"max_steps": 1}
    outcome = run_sweep(tight, tmp_path / "tight")
    assert outcome.states == {"out_of_memory": 1}
    assert outcome.faulty


def test_regret_is_found_after_the_run_where_it_can_be(tmp_path):
    changes = {"solvers": ["pegasos", "dcd"], "stop": {"max_epochs": 1}, "repeats": 1}
    plain = run_sweep(sweep(**changes), tmp_path / "plain")
    assert not (plain.folder / "regret.csv").exists()
    outcome = run_sweep(sweep(**changes, regret=True), tmp_path)
    assert read_regret(plain.folder).empty
    table = read_regret(outcome.folder)
    m = int(runs_csv(outcome)["m"].iloc[0])
    assert set(table["solver"]) == {"pegasos"}
    assert table["presentations"].tolist() == [2.0**k for k in range(2, 20) if 2**k < m] + [m]
    assert (table["regret_low"] <= table["regret_high"]).all()
    assert (table["regret_high"] <= table["online_cost"]).all()
    assert (table["regret_high"] <= table["regret_bound"]).all()
    wide = table["regret_high"] - table["regret_low"]
    assert (wide <= 2e-6 * table["online_cost"] + 1e-9).all()
    # What was measured before is not affected: the points are the same, the run another.
    numbers = ["presentations", "updates", "nonzeros", "primal"]
    before, after = (runs_csv(each)[numbers].sort_index() for each in (plain, outcome))
    assert before.equals(after)
    assert set(runs_csv(plain)["id"]).isdisjoint(runs_csv(outcome)["id"])
    # A plan that asks for none leaves none behind.
    again = run_sweep(sweep(**changes), tmp_path)
    assert again.folder == outcome.folder
    assert not (again.folder / "regret.csv").exists()


def test_accuracies_can_be_absolute(tmp_path):
    stop = {"accuracy": [0.05, 0.01], "max_epochs": 300}
    relative = runs_csv(run_sweep(sweep(solvers=["dcd"], repeats=1, stop=stop), tmp_path / "r"))
    stop["distance"] = "absolute"
    outcome = run_sweep(sweep(solvers=["dcd"], repeats=1, stop=stop), tmp_path / "a")
    absolute = runs_csv(outcome)
    for (_, run), above in ((next(relative.iterrows()), None), (next(absolute.iterrows()), 1.0)):
        distance = run["primal"] - run["reference_dual"]
        assert run["accuracy"] == pytest.approx(distance / (above or run["reference_dual"]))
    run = absolute.iloc[0]
    assert run["state"] == "converged"
    assert 0 <= run["primal_at_0.05"] - run["reference_dual"] <= 0.05
    assert run["seconds_to_0.05"] <= run["seconds_to_0.01"]
    # The optimum is below 1: the same number is a looser target if it is absolute.
    assert run["reference_dual"] < 1
    assert run["epochs_to_0.01"] <= relative.iloc[0]["epochs_to_0.01"]


def test_steps_can_be_the_limit(tmp_path):
    solvers = ["pegasos", {"name": "pegasos", "batch": 8, "label": "batches"}, "gd"]
    stop = {"max_steps": 123, "max_epochs": 4}
    runs = runs_csv(run_sweep(sweep(solvers=solvers, repeats=1, stop=stop), tmp_path))
    m = runs["m"].iloc[0]
    # The lesser of the two limits, which differ by solver; a step of gd is a whole pass.
    assert 123 < 4 * m < 8 * 123
    assert runs.loc[("pegasos", 0), "presentations"] == 123
    assert runs.loc[("pegasos", 0), "max_epochs"] == pytest.approx(123 / m)
    assert runs.loc[("batches", 0), "presentations"] == 4 * m
    assert runs.loc[("gd", 0), "epochs"] == 4
    assert (runs["state"] == "max_steps").all()
    stop = {"max_steps": 30}
    runs = runs_csv(run_sweep(sweep(solvers=solvers[:2], repeats=1, stop=stop), tmp_path / "few"))
    assert runs.loc[("batches", 0), "presentations"] == 240


def wide(tmp_path, **facts):
    path = tmp_path / "wide.libsvm"
    path.write_text("+1 1:1 2147483647:1\n-1 2:1\n+1 1:0.5 5:1\n-1 2:0.25\n")
    return sweep(datasets=[{"path": str(path), **facts}], repeats=1)


def test_weights_beyond_the_memory_are_refused_before_any_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100 * 10**9)
    with pytest.raises(DataError) as caught:
        run_sweep(wide(tmp_path), tmp_path / "results")
    assert str(caught.value) == (
        "data set wide: training on 2,147,483,647 features needs 103.1 GB of memory, and 100.0 GB"
        f" are free; {MORE_ROOM}"
    )
    assert caught.value.exit_code == 3


def test_rows_beyond_the_memory_are_refused_before_a_reference_is_computed(tmp_path, monkeypatch):
    path = tmp_path / "long.libsvm"
    path.write_text("+1 1:1\n-1\n" * 500)
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    with pytest.raises(DataError, match=r"data set long: measuring on 1,000 rows needs"):
        run_sweep(sweep(datasets=[{"path": str(path)}], repeats=1), tmp_path / "results")


def test_rows_in_the_cache_must_fit_into_the_memory_too(tmp_path, monkeypatch):
    path = tmp_path / "dense.libsvm"
    line = " ".join(f"{j}:{j / 7:.9f}" for j in range(1, 101))
    path.write_text(f"+1 {line}\n-1 {line}\n" * 50)
    asked = sweep(datasets=[{"path": str(path)}], repeats=1)
    instance = prepare(asked, Reporter(), Options())[0]
    rows = instance.problem.data.mapped_bytes
    assert rows > 8 * 100 * 100 * 0.9
    monkeypatch.setattr(memory, "available_memory", lambda: rows)
    with pytest.raises(
        DataError, match=r"dense: measuring on 100 rows .*svmbench train takes rows"
    ):
        run_sweep(asked, tmp_path / "results")


def test_columns_that_never_occur_can_be_left_out(tmp_path):
    outcome = run_sweep(wide(tmp_path, transforms=["compact-columns"]), tmp_path / "results")
    assert outcome.states == {"converged": 1}


def test_a_folder_of_other_runs_is_left_alone(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "model.part").write_text("mine")
    (tmp_path / "config.yaml").write_text("mine: true")
    with pytest.raises(ConfigError, match="svmbench has not written it"):
        run_sweep(sweep(), tmp_path)
    assert (tmp_path / "runs" / "model.part").read_text() == "mine"


def test_weights_of_a_finished_run_stay_until_its_repeat_has_finished(tmp_path):
    run_sweep(sweep(solvers=["dcd"], repeats=1), tmp_path, options=Options(keep_weights=True))
    (kept,) = (tmp_path / "runs").glob("*.weights.npz")
    before = kept.read_bytes()
    keep_weights(next((tmp_path / "runs").glob("*.jsonl")).with_suffix(".part"), np.ones(3), 0.0)
    assert kept.read_bytes() == before
