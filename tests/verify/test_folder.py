"""What `svmbench verify` says of sound folders, and of ones that have been changed."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, copy_of, make, records_of, write_records
from small_sweep import run_sweep

from svmbench.cli import main
from svmbench.config import Sweep
from svmbench.harness import sweeps as sweeps_module
from svmbench.harness.sweeps import Options
from svmbench.harness.trace import close_trace, read_trace
from svmbench.harness.weights import SUFFIX
from svmbench.reference.optimum import certified_optimum

KEEP = Options(keep_weights=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with weights and its cache, to be copied."""
    return make(tmp_path_factory.mktemp("made"), SWEEP)


@pytest.fixture
def root(made, tmp_path, monkeypatch):
    return copy_of(made, tmp_path, monkeypatch)


def verified(root, *options):
    return CliRunner().invoke(main, ["verify", str(root / "results"), *options])


def run_files(root):
    """Trace files of dcd and sgd-s."""
    return sorted((root / "results" / "runs").glob("*.jsonl"))


def rewritten(path, **changes):
    """A trace whose last point says something else, with a hash that fits; as do the tables."""
    records = records_of(path)
    next(r for r in reversed(records) if r["kind"] == "point").update(changes)
    write_records(path, records)
    for name in ("runs.csv", "traces.csv"):
        table = pd.read_csv(path.parent.parent / name)
        last = table.index[table["id"] == path.stem][-1]
        for column, value in changes.items():
            table.loc[last, column] = value
        table.to_csv(path.parent.parent / name, index=False)


def test_a_sound_folder_holds(root):
    result = verified(root)
    assert result.exit_code == 0, result.output
    assert "2 runs: 2 hold" in result.output
    assert "1 reference: 1 holds" in result.output
    assert verified(root, "--quiet").output.count("\n") == 2
    assert "holds: " not in result.output
    assert verified(root, "--all").output.count("  holds: ") == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"train_error": 0.5, "test_error": 0.5}, "train errors are"),
        ({"test_error": 0.5}, "test errors are"),
    ],
)
def test_another_error_does_not_hold(root, changes, said):
    rewritten(run_files(root)[0], **changes)
    result = verified(root)
    assert result.exit_code == 1
    assert said in result.output
    assert "2 runs: 1 does not hold, 1 holds" in result.output or (
        "2 runs: 1 holds, 1 does not hold" in result.output
    )


def test_another_primal_does_not_hold(root):
    path = run_files(root)[0]
    trace = read_trace(path)
    primal = trace.points[-1]["primal"] * (1.0 - 1e-9)
    dual, own = trace.header["reference_dual"], trace.points[-1]["dual"]
    gaps = {"accuracy": (primal - dual) / dual, "gap": (primal - own) / own}
    rewritten(path, primal=primal, **gaps)
    table = root / "results" / "runs.csv"  # the last point is the first within the accuracy
    runs = pd.read_csv(table)
    runs.loc[runs["id"] == path.stem, "primal_at_0.001"] = primal
    runs.to_csv(table, index=False)
    result = verified(root)
    assert result.exit_code == 1
    assert "does not hold" in result.output
    assert "and rounding explains" in result.output, result.output
    rewritten(path, primal=primal, **gaps | {"accuracy": 0.0})
    assert "its accuracy is" in verified(root).output


def test_a_table_that_says_something_else_does_not_hold(root):
    table = root / "results" / "runs.csv"
    runs = pd.read_csv(table)
    runs.loc[0, "reference_dual"] *= 0.999
    runs.to_csv(table, index=False)
    result = verified(root)
    assert result.exit_code == 1
    assert "runs.csv: reference_dual is" in result.output


def changed(path, **arrays):
    with np.load(path) as stored:
        content = dict(stored) | arrays
    np.savez(path, **content)


def test_exchanged_damaged_and_missing_weights_are_told(root):
    first, second = (path.with_suffix(SUFFIX) for path in run_files(root))
    kept = first.read_bytes()
    shutil.copy(second, first)
    result = verified(root)
    assert result.exit_code == 3
    assert "not the file that the run wrote" in result.output
    first.write_bytes(kept[:-1] + b"!")
    assert verified(root).exit_code == 3
    first.unlink()
    result = verified(root)
    assert result.exit_code == 3
    assert "No such file" in result.output


def test_missing_and_damaged_traces_are_told(root):
    first, second = run_files(root)
    first.unlink()
    second.write_text(second.read_text().replace('"updates": 0', '"updates": 1', 1))
    result = verified(root)
    assert result.exit_code == 3
    assert f"{first.name}: missing" in result.output
    assert f"{second.name}: damaged" in result.output


def test_rows_are_held_against_their_hash_and_missing_ones_are_told(root):
    entries = sorted((root / "cache" / "datasets").glob("*/values.npy"))
    for path in entries:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    result = verified(root)
    assert result.exit_code == 3
    assert "has sha256" in result.output
    shutil.rmtree(root / "cache" / "datasets")
    assert "its rows are not in the cache" in verified(root).output


def test_a_reference_that_proves_less_or_something_else_is_told(root):
    (path,) = (root / "cache" / "references").glob("*.npz")
    with np.load(path) as stored:
        alpha = stored["alpha"]
    changed(path, alpha=alpha * 0.9)
    result = verified(root)
    assert result.exit_code == 3
    assert "tighter than the reference in the cache proves" in result.output
    path.unlink()
    result = verified(root)
    assert result.exit_code == 3
    assert "its reference is not in the cache" in result.output


def test_a_bound_above_the_optimum_does_not_hold(root):
    path = run_files(root)[0]
    records = records_of(path)
    higher = records[0]["reference_dual"] * 1.01
    records[0]["reference_dual"] = higher
    last = next(r for r in reversed(records) if r["kind"] == "point")
    write_records(path, records)
    rewritten_csv = pd.read_csv(root / "results" / "runs.csv")
    chosen = rewritten_csv["id"] == path.stem
    rewritten_csv.loc[chosen, "reference_dual"] = higher
    rewritten_csv.loc[chosen, "accuracy"] = (last["primal"] - higher) / higher
    rewritten_csv.to_csv(root / "results" / "runs.csv", index=False)
    result = verified(root)
    assert result.exit_code == 1
    assert "but P* lies in" in result.output


@pytest.mark.parametrize("keep_weights", [False, True])
def test_runs_against_wide_bounds_are_repeated_once_there_are_better(
    keep_weights, tmp_path, monkeypatch
):
    """An interrupted search for an optimum, then a complete one: the folder verifies."""
    options, folder = Options(keep_weights=keep_weights), tmp_path / "results"
    with monkeypatch.context() as patch:
        patch.setattr(sweeps_module, "certified_optimum", short_of_its_gap)
        first = run_sweep(Sweep.model_validate(SWEEP), folder, options=options)
        again = run_sweep(Sweep.model_validate(SWEEP), folder, options=options)
    assert (first.made, again.made, again.reused) == (2, 0, 2)
    whole = Sweep.model_validate(SWEEP | {"repeats": 2})
    # A call that makes only some of the runs leaves a folder that says so.
    run_sweep(whole, folder, options=replace(options, only=("dcd",)))
    result = verified(tmp_path)
    assert result.exit_code == 3
    assert "wider than was asked" in result.output
    second = run_sweep(whole, folder, options=options)
    assert (second.made, second.reused) == (2, 2)
    assert verified(tmp_path).exit_code == 0
    assert run_sweep(whole, folder, options=options).reused == 4


def short_of_its_gap(problem, gap, time_limit, progress):
    """A search that ends at its time limit, with a lower bound a tenth below the best."""
    found = certified_optimum(problem, gap, time_limit, progress)
    return replace(found, dual=0.9 * found.dual, sought=time_limit)


def test_a_run_that_is_to_be_repeated_stays_if_its_repetition_is_interrupted(tmp_path, monkeypatch):
    wanted, folder = Sweep.model_validate(SWEEP | {"solvers": ["dcd"]}), tmp_path / "results"
    with monkeypatch.context() as patch:
        patch.setattr(sweeps_module, "certified_optimum", short_of_its_gap)
        run_sweep(wanted, folder)
    (path,) = run_files(tmp_path)
    before = path.read_bytes()

    def interrupted(assignment, path, *_):
        return close_trace(path, assignment.header, "interrupted", "interrupted by the user", 0.0)

    monkeypatch.setattr("svmbench.harness.supervise.carry_out", interrupted)
    assert run_sweep(wanted, folder).states["interrupted"] == 1
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert run_sweep(wanted, folder).made == 1
    assert path.read_bytes() != before


def test_the_summary_counts_all_folders_and_says_so(root):
    shutil.copytree(root / "results", root / "more")
    result = CliRunner().invoke(main, ["verify", str(root / "results"), str(root / "more")])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[:3] == [f"{root / 'results'}:", f"{root / 'more'}:", "all 2 folders:"]


def test_weights_asked_for_later_are_made_and_then_reused(tmp_path):
    wanted = Sweep.model_validate(SWEEP | {"solvers": ["dcd"]})
    bare = run_sweep(wanted, tmp_path / "results")
    result = verified(tmp_path)
    assert result.exit_code == 0
    assert "1 run without weights" in result.output
    assert (bare.made, run_sweep(wanted, tmp_path / "results").reused) == (1, 1)
    assert run_sweep(wanted, tmp_path / "results", options=KEEP).made == 1
    assert run_sweep(wanted, tmp_path / "results", options=KEEP).reused == 1
    assert run_sweep(wanted, tmp_path / "results").reused == 1  # more than asked for is kept
    (weights,) = (tmp_path / "results" / "runs").glob(f"*{SUFFIX}")
    weights.write_bytes(b"?")
    assert run_sweep(wanted, tmp_path / "results", options=KEEP).made == 1
    assert verified(tmp_path).exit_code == 0
    run_sweep(wanted, tmp_path / "results", options=Options(fresh=True))
    assert not weights.exists()


@pytest.mark.parametrize("distance", ["relative", "absolute"])
def test_accuracies_are_checked_by_their_own_definition(distance, tmp_path):
    stop = SWEEP["stop"] | {"distance": distance}
    sweep = Sweep.model_validate(SWEEP | {"stop": stop, "solvers": ["dcd"]})
    run_sweep(sweep, tmp_path / "results", options=KEEP)
    assert verified(tmp_path).exit_code == 0
    (path,) = run_files(tmp_path)
    trace = read_trace(path)
    other = trace.points[-1]["primal"] - trace.header["reference_dual"]
    if distance == "absolute":
        other /= trace.header["reference_dual"]
    rewritten(path, accuracy=other)
    assert verified(tmp_path).exit_code != 0
