"""Tasks keep what they have measured until it depends on something else."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

from svmbench.bench.carry_out import carry_out
from svmbench.bench.tasks import (
    Task,
    read_task,
    repeats_of,
    run_task,
    solver_job,
)
from svmbench.harness.options import Reporter


def pretended(monkeypatch, made, state="converged", reason=""):
    """Measurements that do nothing but say that they were made."""

    def pretend(job, seconds):
        made.append((job["label"], job["first"]))
        measured = {"kind": "opening", "set": "rows", "stand_in": False, "seconds": 1.0}
        ended = {"state": state, "reason": reason}
        return [{"label": job["label"], "repeat": job["first"], **measured, **ended}]

    monkeypatch.setattr("svmbench.bench.tasks.run_job", pretend)


def task_of(labels, repeats, prepare=lambda: None, limit=1.0):
    job = {"limit": limit, "solver": solver_job({"name": "dcd"})}
    return Task(
        "some",
        1.0,
        repeats,
        lambda first, count: [
            job | {"label": label, "first": first + at} for at in range(count) for label in labels
        ],
        prepare,
    )


def test_a_task_is_kept_until_what_it_depends_on_changes(tmp_path, monkeypatch):
    made, prepared = [], []
    pretended(monkeypatch, made, "time_limit", "late")
    task = task_of("ab", 2, lambda: prepared.append(len(made)))
    assert run_task(task, tmp_path, math.inf) == "made"
    # The second repeat of what met its limit is not made.
    assert made == [("a", 0), ("b", 0)]
    assert [r["state"] for r in read_task(tmp_path, "some")] == ["time_limit"] * 2 + ["skipped"] * 2
    assert run_task(task, tmp_path, math.inf) == "reused"
    assert prepared == [0]
    changed = task_of("ab", 2, limit=2.0)
    assert run_task(changed, tmp_path, -math.inf) == "left"
    assert run_task(changed, tmp_path, math.inf) == "made"
    (tmp_path / "some.json").write_text(json.dumps({"schema_version": 0}))
    assert read_task(tmp_path, "some") == []


@pytest.mark.parametrize(
    "change",
    [
        {"repeat": ...},
        {"repeat": "0"},
        {"repeat": True},
        {"repeat": -1},
        {"label": 3},
        {"state": []},
        {"reason": ...},
        {"reason": None},
        {"kind": ...},
        {"kind": "walk"},
        {"kind": []},
        {"kind": "growth"},
        {"set": None},
        {"stand_in": 1},
        {"seconds": ...},
        {"seconds": "soon"},
        {"seconds": math.nan},
        {"seconds": 10**400},
        {"scale": {}},
        {"scale": "1"},
    ],
    ids=str,
)
def test_records_of_another_shape_are_made_again(tmp_path, monkeypatch, change):
    made = []
    pretended(monkeypatch, made)
    task, path = task_of("a", 1), tmp_path / "some.json"
    run_task(task, tmp_path, math.inf)
    content = json.loads(path.read_text())
    (record,) = content["results"]
    record |= change
    content["results"] = [{key: value for key, value in record.items() if value is not ...}]
    path.write_text(json.dumps(content))
    assert read_task(tmp_path, "some") == []
    assert repeats_of(tmp_path, "some") == 0
    assert run_task(task, tmp_path, math.inf) == "made"
    assert len(made) == 2


@pytest.mark.parametrize(
    "change", [{"facts": None}, {"facts": 3}, {"results": {"a": 1}}, {"results": [3]}]
)
def test_a_file_of_another_shape_is_made_again(tmp_path, monkeypatch, change):
    made = []
    pretended(monkeypatch, made)
    task, path = task_of("a", 1), tmp_path / "some.json"
    run_task(task, tmp_path, math.inf)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert read_task(tmp_path, "some") == []
    assert run_task(task, tmp_path, math.inf) == "made"


def test_further_repeats_of_a_task_are_added_to_those_that_are_there(tmp_path, monkeypatch):
    made = []
    pretended(monkeypatch, made)
    task = task_of("ab", 2)
    assert run_task(task, tmp_path, math.inf) == "made"
    assert run_task(task, tmp_path, math.inf, further=3) == "made"
    assert made == [(label, repeat) for repeat in range(5) for label in "ab"]
    assert repeats_of(tmp_path, "some") == 5
    assert run_task(task, tmp_path, math.inf) == "reused"
    # What is repeated as a whole has no more repeats than it should have.
    assert run_task(task_of("ab", 2, limit=2.0), tmp_path, math.inf) == "made"
    assert repeats_of(tmp_path, "some") == 2


def test_further_repeats_do_not_begin_again_because_something_failed(tmp_path, monkeypatch):
    made = []
    pretended(monkeypatch, made, "failed", "no such module")
    task = task_of("a", 2)
    run_task(task, tmp_path, math.inf)
    run_task(task, tmp_path, math.inf, further=1)
    assert made == [("a", 0), ("a", 1), ("a", 2)]
    run_task(task, tmp_path, math.inf)
    assert made[3:] == [("a", 0), ("a", 1)]


def test_further_repeats_are_made_until_no_bound_asks_for_them(tmp_path, monkeypatch):
    made = []
    pretended(monkeypatch, made)
    plan = SimpleNamespace(tasks=[task_of("a", 4)], parts=tmp_path, sweeps=[], budget=None)
    asked = iter([{"some": 10}, {"some": 2}, {}])
    progress = carry_out(plan, Reporter(), beside=lambda: next(asked, {}))
    assert len(made) == 4 + 4 + 1  # half of what is asked for, a whole set of repeats at most
    assert progress.tasks == {"some": "made"}
