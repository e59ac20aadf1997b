"""Time goes to every cell's repeats first, then to open questions, the cheapest first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from simulated import Simulation, planned_of, sweep_of

from svmbench.cli.series import open_questions, time_spent
from svmbench.harness import sweeps
from svmbench.harness.series import Doubt, run_series
from svmbench.harness.sweeps import Reporter

RULE = {"at_least": 2, "until": "decided", "at_most": 12}


@pytest.fixture
def simulation(monkeypatch):
    return Simulation().install(monkeypatch)


def cell(label, dataset="tiny-separable"):
    return dataset, 0.01, label


class Asked:
    """Questions that are decided as soon as their cells have so many repeats in common."""

    def __init__(self, *questions):
        self.questions = questions
        self.rounds = []

    def __call__(self):
        found = [
            Doubt(number, tuple(map(cell, labels)), needed - pairs, pairs, " against ".join(labels))
            for number, one, labels, needed in self.questions
            if (pairs := common_repeats(one, labels)) < needed
        ]
        self.rounds.append([doubt.text for doubt in found])
        return found


def repeats_of(one):
    runs = pd.read_csv(one.folder / "runs.csv")
    return {label: set(of_label["repeat"]) for label, of_label in runs.groupby("label")}


def common_repeats(one, labels):
    found = repeats_of(one)
    return len(set.intersection(*(found[label] for label in labels)))


def beyond(simulation, least=2):
    return [(label, repeat) for _, label, repeat in simulation.made if repeat >= least]


# --- what every cell has -----------------------------------------------------------


def test_every_cell_has_its_first_repeat_before_any_has_its_second(simulation, tmp_path):
    planned = [
        planned_of(sweep_of("dcd", "sgd-s", repeats=3), tmp_path / "one"),
        planned_of(sweep_of("dcd", repeats=2, dataset="tiny-dense"), tmp_path / "two"),
    ]
    result = run_series(planned, Reporter())
    order = [(dataset, repeat) for dataset, _, repeat in simulation.made]
    one, two = "tiny-separable", "tiny-dense"
    assert order == [
        *[(one, 0), (one, 0), (two, 0)],
        *[(one, 1), (one, 1), (two, 1)],
        *[(one, 2), (one, 2)],
    ]
    assert (result.made, result.left) == (8, 0)


def test_without_questions_no_cell_has_more_than_at_least(simulation, tmp_path):
    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    result = run_series([one], Reporter())
    assert repeats_of(one) == {"dcd": {0, 1}, "sgd-s": {0, 1}}
    assert (result.made, result.left) == (4, 0)


@pytest.mark.parametrize("slow_first", [True, False])
def test_a_slow_sweep_does_not_keep_the_others_from_their_repeats(simulation, tmp_path, slow_first):
    simulation.seconds = {"sgd-s": 40.0, "dcd": 1.0}
    slow = planned_of(sweep_of("sgd-s", repeats=9), tmp_path / "slow")
    quick = planned_of(sweep_of("dcd", repeats=9), tmp_path / "quick")
    planned = [slow, quick] if slow_first else [quick, slow]
    result = run_series(planned, Reporter(), budget=200.0)
    assert repeats_of(quick) == {"dcd": set(range(9))}
    # What the quick one has left over goes to the slow one.
    assert repeats_of(slow) == {"sgd-s": {0, 1, 2, 3}}
    assert result.left == 5
    assert simulation.now == 1200.0


def test_what_one_sweep_takes_beyond_its_share_is_missing_to_all_others(
    simulation, tmp_path, monkeypatch
):
    in_earnest, opened = sweeps.prepare, []

    def prepare(*given):
        opened.append(given)
        simulation.now += 70.0 if len(opened) == 1 else 0.0
        return in_earnest(*given)

    monkeypatch.setattr(sweeps, "prepare", prepare)
    planned = [planned_of(sweep_of("dcd", repeats=1), tmp_path / "large")]
    labels = [{"name": "dcd", "label": f"dcd {k}"} for k in range(20)]
    others = ["a", "b", "c", "d"]
    for name in others:
        named = [{"name": "tiny-dense", "label": name}]
        planned.append(planned_of(sweep_of(*labels, repeats=1, datasets=named), tmp_path / name))
    run_series(planned, Reporter(), budget=100.0)
    made = Counter(dataset for dataset, _, _ in simulation.made)
    assert min(made[name] for name in others) >= 4


# --- what questions have -----------------------------------------------------------


def test_time_goes_to_open_questions_the_cheapest_first(simulation, tmp_path):
    simulation.seconds = {"dcd": 1.0, "sgd-s": 2.0, "pegasos": 9.0, "ocas": 9.0}
    sweep = sweep_of("dcd", "sgd-s", "pegasos", "ocas", repeats=RULE)
    one = planned_of(sweep, tmp_path / "one")
    asked = Asked((0, one, ("pegasos", "ocas"), 4), (0, one, ("dcd", "sgd-s"), 8))
    result = run_series([one], Reporter(), doubts=asked)
    # Two pairs at 18 s are dearer than six at 3 s. A batch is half of what is needed.
    labels = [label for label, _ in beyond(simulation)]
    assert set(labels[:12]) == {"dcd", "sgd-s"}
    assert set(labels[12:]) == {"pegasos", "ocas"}
    assert len(labels[12:]) == 4
    assert asked.rounds[-1] == [] == result.open


def test_a_question_that_repeats_cannot_decide_has_no_time(simulation, tmp_path):
    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    never = Doubt(0, (cell("dcd"), cell("sgd-s")), None, 0, "which of two that do not arrive")
    result = run_series([one], Reporter(), doubts=lambda: [never])
    assert not beyond(simulation)
    assert [(each.doubt, each.seconds, each.lacks) for each in result.open] == [
        (never, None, "information")
    ]


def test_no_run_is_announced_that_a_round_leaves_to_a_later_one(simulation, tmp_path):
    simulation.seconds = {"dcd": 5.0, "sgd-s": 5.0}
    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    announced = []

    class Announced(Reporter):
        def begin(self, total, reused):
            announced.append(total)

        grow = announced.append

    def ask():
        simulation.now += 0.05
        made = common_repeats(one, ("dcd", "sgd-s"))
        cells = cell("dcd"), cell("sgd-s")
        return [Doubt(0, cells, 9, made, "far from decided")] if made < 4 else []

    result = run_series([one], Announced(), doubts=ask)
    assert sum(announced) == result.made == 8


def test_no_cell_has_more_repeats_than_at_most(simulation, tmp_path):
    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    result = run_series([one], Reporter(), doubts=Asked((0, one, ("dcd", "sgd-s"), 99)))
    assert repeats_of(one) == {"dcd": set(range(12)), "sgd-s": set(range(12))}
    assert [each.lacks for each in result.open] == ["repeats"]


def test_what_stays_open_at_the_end_of_the_budget_says_what_it_takes(simulation, tmp_path):
    simulation.seconds = {"dcd": 1.0, "sgd-s": 2.0}
    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    asked = Asked((0, one, ("dcd", "sgd-s"), 9))
    result = run_series([one], Reporter(), doubts=asked, budget=12.5)
    # 6 s for two repeats, 6 s for two of the seven pairs; the last run is given up.
    assert (result.made, result.left) == (8, 0)
    assert (result.total.first, result.total.at_least, result.total.doubts) == (3.0, 3.0, 6.5)
    (still,) = result.open
    assert (still.lacks, still.doubt.more, still.seconds) == ("time", 5, 15.0)
    assert time_spent(result, [one]) == [
        "time: 3 s first repeats, 3 s further repeats of every cell, 6 s repeats for open questions"
    ]
    (line,) = open_questions([replace(still, doubt=replace(still.doubt, later=True))])
    assert line.startswith("1 question open whose answers change no verdict: about 15 s more")


def test_an_interruption_keeps_what_was_made_and_a_later_call_goes_on(simulation, tmp_path):
    class Impatient(Reporter):
        ended = 0

        def run_ends(self, run, state):
            self.ended += 1
            if self.ended == 7:
                raise KeyboardInterrupt

    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    asked = Asked((0, one, ("dcd", "sgd-s"), 9))
    first = run_series([one], Impatient(), doubts=asked)
    assert (first.interrupted, first.made) == (True, 7)
    again = run_series([planned_of(one.sweep, one.folder)], Reporter(), doubts=asked)
    assert (again.interrupted, again.reused, again.open) == (False, 7, [])
    # Of the block that was torn, the half that was made makes no pair.
    assert common_repeats(one, ("dcd", "sgd-s")) == 9
    assert again.made == 12
    third = run_series([planned_of(one.sweep, one.folder)], Reporter(), doubts=asked)
    assert (third.made, third.reused) == (0, 19)


class Counted(Reporter):
    """Keeps count as a progress bar does."""

    def __init__(self):
        self.total = self.ended = self.reused = 0

    def begin(self, total, reused):
        self.total, self.reused = total - reused, reused

    def grow(self, runs):
        self.total += runs
        assert self.ended <= self.total

    def run_ends(self, run, state):
        self.ended += 1
        assert self.ended <= self.total


def test_a_further_repeat_that_was_stopped_from_outside_is_made_again(simulation, tmp_path):
    sweep = sweep_of("dcd", "sgd-s", repeats=RULE)
    one = planned_of(sweep, tmp_path / "one")
    simulation.killed = {("sgd-s", 3)}
    first = run_series([one], Reporter(), doubts=Asked((0, one, ("dcd", "sgd-s"), 4)))
    assert (first.faulty, first.made) == (True, 8)
    simulation.killed = set()
    counted = Counted()
    again = run_series([planned_of(sweep, one.folder)], counted)
    assert (again.faulty, again.made, counted.total, counted.ended) == (False, 1, 1, 1)
    assert simulation.made[-1] == ("tiny-separable", "sgd-s", 3)
    assert set(pd.read_csv(one.folder / "runs.csv")["state"]) == {"converged"}
    assert run_series([planned_of(sweep, one.folder)], Reporter()).made == 0


def test_a_repeat_that_is_lost_does_not_close_its_question(simulation, tmp_path):
    one = planned_of(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    simulation.killed = {("sgd-s", 2)}

    def asked():
        runs = pd.read_csv(one.folder / "runs.csv")
        whole = runs[runs["state"] == "converged"].groupby("label")["repeat"].agg(set)
        pairs = len(whole["dcd"] & whole["sgd-s"])
        cells = cell("dcd"), cell("sgd-s")
        return [Doubt(0, cells, 4 - pairs, pairs)] if pairs < 4 else []

    result = run_series([one], Reporter(), doubts=asked)
    assert (result.open, result.faulty) == ([], True)
