"""`svmbench verify --replay`: runs that were exchanged or invented do not come out again."""

import random

import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, make, records_of, write_records

from svmbench.cli import main
from svmbench.verify.folder import Verifier
from svmbench.verify.recorded import Verification
from svmbench.verify.replay import found_with, replay


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    solvers = ["dcd", "pegasos", "sgd-m"]
    return make(tmp_path_factory.mktemp("made"), SWEEP | {"solvers": solvers, "repeats": 2})


def replayed(folder, number=100):
    verifier = Verifier()
    return {each.name: each for each in replay(folder, number, verifier.recorded, random.Random(1))}


def test_honest_runs_come_out_again(folder):
    found = replayed(folder)
    assert len(found) == len(list((folder / "runs").glob("*.jsonl")))
    assert {each.verdict for each in found.values()} == {"holds"}
    assert len(replayed(folder, 2)) == 2


@pytest.mark.parametrize("kind", ["relabelled", "cloned", "intermediate", "invented"])
def test_what_a_forger_may_do_is_found(folder, kind):
    paths = sorted((folder / "runs").glob("*.jsonl"))
    path, other = (p for p in paths if "pegasos" in p.name)
    records = records_of(path)
    points = [record for record in records if record["kind"] == "point"]
    if kind == "relabelled":
        better = next(records_of(p) for p in paths if "sgd-m" in p.name)
        records = [records[0], *better[1:]]
    elif kind == "cloned":
        records = [records_of(other)[0], *records[1:]]
        path = other
    elif kind == "intermediate":
        points[-2]["primal"] *= 1.0 - 1e-6
    else:
        more = points[-1] | {"presentations": points[-1]["presentations"] + 1}
        records.insert(-1, more)
    write_records(path, records)
    assert replayed(folder)[path.stem].verdict == "does not hold"


def test_the_command_says_what_the_sample_proves(folder):
    result = CliRunner().invoke(main, ["verify", str(folder), "--replay", "3"])
    assert result.exit_code == 0, result.output
    runs = len(list((folder / "runs").glob("*.jsonl")))
    assert f"3 of {runs} runs came out again: if one run in ten were changed" in result.output


def test_the_probability_is_that_of_missing_every_changed_run():
    ten = [Verification("replay", "x", "holds")] * 10
    assert "chance of 67 %" in found_with(ten, 100)  # 1 - C(90, 10) / C(100, 10)
    assert found_with(ten, 10) == "10 of 10 runs came out again"
    assert found_with([], 5) == ""
