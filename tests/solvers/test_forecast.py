"""The forecast of methods on shards: its arithmetic, and what it is asked for."""

import json
import math

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.errors import ConfigError
from svmbench.solvers.distributed import forecast as module
from svmbench.solvers.distributed.forecast import (
    ClusterCosts,
    ProblemSize,
    forecast,
    forecasts,
    like,
)
from svmbench.solvers.distributed.measured import RUNS, MeasuredRounds

GIVEN = ["--rows", "1e6", "--features", "100", "--nonzeros", "1e7"]
COSTS = ClusterCosts(
    latency=2.0, node=0.5, bandwidth=100.0, descent=3.0, newton=5.0, multiply=7.0, flop=11.0
)


def run(method="cocoa", lam=1e-3, shards=8, target=1e-3, reached=True, rounds=20, **extra):
    given = {"data": "a", "steps": 10, "reads": 4.0, "changed": 0.5} | extra
    return MeasuredRounds(
        method=method, lam=lam, shards=shards, target=target, reached=reached, rounds=rounds,
        **given,
    )  # fmt: skip


def size(**changes):
    given = {"rows": 12, "features": 6, "nonzeros": 48, "nodes": 4, "lam": 1e-3, "target": 1e-3}
    return ProblemSize(**given | changes)


@pytest.fixture
def table(monkeypatch):
    def use(*runs):
        monkeypatch.setattr(module, "RUNS", runs)

    return use


def test_cocoa_by_hand(table):
    table(run())
    found = forecast("cocoa", 4, size(), COSTS)
    # A step sends the number of passes and w, and returns a change, four numbers and two sums.
    numbers = (1 + 6) + (6 + 4 + 2)
    assert found.bytes_per_round == pytest.approx(8 * numbers * 10 * 4 / 20)
    assert found.latency == pytest.approx(20 * (2.0 + 3 * 0.5))
    assert found.transfer == pytest.approx(8 * numbers * 10 * 4 / 100.0)
    assert found.reading == pytest.approx(48 / 4 * 4.0 * 3.0)
    assert found.planner == pytest.approx(10 * 4 * 6 * 7.0)
    assert found.network == pytest.approx(found.latency + found.transfer)
    assert found.total == pytest.approx(found.network + found.reading + found.planner)
    assert found.most == "planner"
    assert not found.at_least


def test_newton_shards_by_hand(table):
    table(run("newton-shards"))
    found = forecast("newton-shards", 4, size(), COSTS)
    # The step, its 16 lengths, the length taken; 16 slopes, u, the triangle, three numbers.
    numbers = (6 + 16 + 1) + (16 + 6 + 21 + 3)
    assert found.transfer == pytest.approx(8 * numbers * 10 * 4 / 100.0)
    # 12 entries on a node, read four times; rows of 4 entries, half of which change.
    assert found.reading == pytest.approx(12 * 4.0 * 5.0 + 0.5 * 3 * 4**2 / 2 * 7.0)
    assert found.planner == pytest.approx(10 * (6**3 / 3 * 11.0 + 4 * 6**2 / 2 * 7.0))


def test_one_node_waits_for_no_network(table):
    table(run())
    found = forecast("cocoa", 1, size(), COSTS)
    assert found.network == 0.0
    assert found.reading == pytest.approx(48 * 4.0 * 3.0)


def test_the_bytes_are_those_that_runs_count():
    from problems import PROBLEMS, at_start
    from svmbench.solvers.distributed.cocoa import Cocoa

    solver = at_start(Cocoa, PROBLEMS["sparse"], shards=3)
    solver.advance(4)
    executor, d = solver._executor, PROBLEMS["sparse"].data.n_features
    assert executor.sent + executor.received == 4 * 3 * 8 * module.cocoa_numbers(d)


def test_newton_shards_sends_as_much_at_least_and_not_twice_as_much():
    from problems import PROBLEMS, at_start
    from svmbench.solvers.distributed.newton_shards import NewtonShards

    problem = PROBLEMS["sparse"]
    solver = at_start(NewtonShards, problem, shards=3)
    solver.advance(8)
    executor = solver._executor
    modelled = 8 * 3 * 8 * module.newton_numbers(problem.data.n_features)
    assert modelled <= executor.sent + executor.received <= 2 * modelled


@pytest.mark.parametrize(
    ("asked", "data"),
    [
        ((8, 1e-3, 1e-3), "here"),
        ((8, 1e-3, 5e-3), "here"),  # the next stricter target
        ((8, 1e-3, 2e-1), "rough"),
        ((8, 1e-5, 1e-3), "small λ"),
        ((8, 3e-4, 1e-3), "here"),  # nearer to 1e-3 than to 1e-5 by its logarithm
        ((100, 1e-3, 1e-3), "many"),
        ((2, 1e-3, 1e-3), "here"),  # a single shard says nothing about two
        ((1, 1e-3, 1e-3), "alone"),
        ((8, 1e-3, 1e-9), "strict"),  # nothing stricter was measured
    ],
)
def test_the_nearest_measured_run_stands_for_it(table, asked, data):
    table(
        run(data="here"),
        run(data="easier", rounds=5),
        run(data="rough", target=1e-1, rounds=3),
        run(data="small λ", lam=1e-5),
        run(data="many", shards=64),
        run(data="alone", shards=1, rounds=2),
        run(data="strict", target=1e-6),
        run("newton-shards", data="another method"),
    )
    assert like("cocoa", *asked).data == data


def test_a_run_that_did_not_reach_the_target_stands_before_all_that_did(table):
    table(run(data="slow", rounds=100), run(data="never", rounds=30, reached=False))
    assert like("cocoa", 8, 1e-3, 1e-3).data == "never"
    assert forecast("cocoa", 8, size(nodes=8), COSTS).at_least


def test_a_target_beyond_all_measured_ones_takes_more_than_the_strictest(table):
    table(run(target=1e-6))
    assert not forecast("cocoa", 8, size(nodes=8, target=1e-6), COSTS).at_least
    assert forecast("cocoa", 8, size(nodes=8, target=1e-7), COSTS).at_least


def test_the_command_says_why_rounds_to_a_strict_target_are_a_bound():
    lines = call(*GIVEN, "--nodes", "8", "--tol", "1e-8").output.splitlines()
    assert all(">" in line for line in lines[1:5])
    assert "no run was measured to less than 1e-06; 1e-08 takes more rounds" in lines


def test_many_features_leave_only_cocoa():
    wide = size(features=5001, nonzeros=48)
    assert {each.method for each in forecasts(wide, COSTS)} == {"cocoa"}
    assert [each.nodes for each in forecasts(wide, COSTS)] == [4, 1]
    assert {each.method for each in forecasts(size(), COSTS)} == {"newton-shards", "cocoa"}


def test_the_measured_runs_are_whole():
    settings = {run[:5] for run in RUNS}
    assert len(settings) == len(RUNS) > 50
    for each in RUNS:
        assert each.rounds >= each.steps >= 1
        assert each.reads >= 1.0
        assert (each.method == "newton-shards") == (each.changed > 0.0)
    for method in ("newton-shards", "cocoa"):
        for target in (1e-1, 1e-2, 1e-3, 1e-6):
            assert like(method, 8, 1e-4, target).target == target


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": 0}, "rows must be 1 or more, not 0"),
        ({"nodes": -3}, "nodes must be 1 or more, not -3"),
        ({"nonzeros": 73}, "73 nonzeros do not fit into 12 rows of 6 features"),
        ({"nodes": 13}, "13 nodes for 12 rows"),
        ({"lam": 0.0}, "lambda must be positive and finite"),
        ({"lam": math.nan}, "lambda must be positive and finite"),
        ({"target": 1.0}, "the target must be between 0 and 1"),
        ({"target": math.nan}, "the target must be between 0 and 1"),
        ({"rows": 10**400}, "rows must be 1e18 or less"),
        ({"nonzeros": 10**19}, "nonzeros must be 1e18 or less"),
    ],
)
def test_impossible_problems_are_refused(change, said):
    with pytest.raises(ConfigError, match=said):
        size(**change)


@pytest.mark.parametrize(
    "bad", [{"latency": -1.0}, {"bandwidth": 0.0}, {"flop": math.inf}, {"node": 1e308}]
)
def test_impossible_costs_are_refused(bad):
    with pytest.raises(ConfigError, match=f"{next(iter(bad))} must be"):
        ClusterCosts(**bad)


def call(*arguments):
    return CliRunner().invoke(main, ["cluster", "plan", *arguments])


def test_the_command_prints_a_table():
    answer = call(*GIVEN, "--nodes", "8")
    assert answer.exit_code == 0, answer.output
    lines = answer.output.splitlines()
    assert lines[0].split()[:3] == ["method", "nodes", "rounds"]
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["newton-shards", "8"], ["cocoa", "8"], ["newton-shards", "1"], ["cocoa", "1"],
    ]  # fmt: skip
    assert "rows of a node: 7.5 MB" in lines


def test_the_command_s_json_has_the_same_numbers():
    answer = call(*GIVEN, "--latency", "0.25", "--bandwidth", "1e6", "--json")
    facts = json.loads(answer.output)
    assert facts["problem"]["rows"] == 10**6
    assert (facts["costs"]["latency"], facts["costs"]["bandwidth"]) == (0.25, 1e6)
    expected = forecasts(
        ProblemSize(10**6, 100, 10**7, 8, 1e-4, 1e-3), ClusterCosts(latency=0.25, bandwidth=1e6)
    )
    assert [each["total"] for each in facts["methods"]] == [each.total for each in expected]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nodes", "1.5"], "'1.5' is not a whole number"),
        (["--nodes", "nan"], "'nan' is not a whole number"),
        (["--nodes", "inf"], "'inf' is not a whole number"),
        (["--nodes", "0"], "nodes must be 1 or more"),
        (["--nodes", "9" * 5000], "is not a whole number"),
        (["--nodes", "1e200"], "nodes must be 1e18 or less"),
        (["--bandwidth", "0"], "bandwidth must be between 1 and 1e30"),
        (["--latency", "nan"], "nan is not a number"),
        (["--tol", "2"], "the target must be between 0 and 1"),
    ],
)
def test_bad_input_is_one_line(arguments, said):
    answer = call(*GIVEN, *arguments)
    assert answer.exit_code == 2
    assert said in answer.output
    assert "Traceback" not in answer.output
