"""Methods that take turns: who comes next, and when they end."""

from collections import Counter
from itertools import islice

import numpy as np

from svmbench.solvers.pairs import WorkCount
from svmbench.train.methods import MOST_ITERATIONS
from svmbench.train.turns import FEWEST_PAIRS, Candidate, in_turns


def test_what_comes_nearer_for_ever_ends_once_another_method_has_ended():
    def slow(method):
        for _ in range(10**5):
            method.note(1.0 + 1.0 / (1.0 + method.work), 1.0)
            yield np.zeros(1), 0.0, np.zeros(1)

    quick = Candidate("quick", iter([(np.zeros(1), 0.0, np.zeros(1))] * 30))
    forever = Candidate("forever", iter(()))
    forever.pairs = slow(forever)
    taken = []
    for method, _ in in_turns(iter([[quick, forever]]), lambda: False):
        taken.append(method.name)
        if method is quick:
            method.note(1.0 + 1e-9, 1.0)
    assert taken.count("quick") == FEWEST_PAIRS
    assert 300 < taken.count("forever") < 2000


def coming_nearer(name, power, least=1):
    """A method whose relative gap is a power of its work."""
    method = Candidate(name, iter(()), least=least)

    def pairs():
        while method.work < 1e4:
            method.note(1.0 + (1.0 + method.work) ** -power, 1.0)
            yield np.zeros(1), 0.0, np.zeros(1)

    method.pairs = pairs()
    return method


def taken_by(groups, **how):
    return Counter(method.name for method, _ in in_turns(iter(groups), lambda: False, **how))


def test_methods_that_come_nearer_far_too_slowly_make_way_for_the_next():
    slow = [coming_nearer("slow", 1.0), coming_nearer("slower", 0.5)]
    found = taken_by([slow, [], [coming_nearer("next", 4.0)]], wanted=1e-9, ample=100.0)
    assert 100 <= found["slow"] + found["slower"] <= 102
    assert found["next"] > 1000


def test_methods_that_will_soon_be_near_enough_go_on():
    found = taken_by([[coming_nearer("a", 1.0), coming_nearer("b", 1.0)]], wanted=5e-3, ample=100.0)
    assert found["a"] > 1000


def test_a_method_alone_goes_on_however_slowly():
    assert taken_by([[coming_nearer("alone", 0.5)]], wanted=1e-9, ample=100.0)["alone"] == 1e4


def test_methods_have_time_to_begin_before_they_count_as_slow():
    slow = [coming_nearer("slow", 1.0), coming_nearer("starting", 0.5, least=300)]
    assert taken_by([slow], wanted=1e-9, ample=100.0)["starting"] == 300


def test_a_head_start_is_used_up_before_others_begin():
    def named(name, **how):
        pairs = iter([(np.zeros(1), 0.0, np.zeros(1))] * 30)
        return Candidate(name, pairs, lambda so_far: max(10.0, so_far), **how)

    # The last pair before the head start is used up may cost as much as all before it.
    methods = [named("other"), named("first", head_start=lambda: 35.0)]
    taken = [method.name for method, _ in islice(in_turns(iter([methods]), lambda: False), 5)]
    assert taken == ["first", "first", "first", "other", "other"]


def test_a_method_that_shows_few_of_its_steps_ends_for_lack_of_progress():
    count = WorkCount()

    def pairs():
        while True:
            yield np.zeros(1), 0.0, np.zeros(1)
            count.steps = max(1, 2 * count.steps)
            count.entries = 10.0 * count.steps

    method = Candidate("slow", pairs(), least=MOST_ITERATIONS, count=count)
    while method.next() is not None:
        assert count.steps < 10 * MOST_ITERATIONS
        method.note(1.0, 0.5)
    assert count.steps >= MOST_ITERATIONS
