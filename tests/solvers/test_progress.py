"""What passes are expected to need still, from what those so far have gained."""

import math

import pytest

from svmbench.solvers.dual.progress import PastGaps


def falling(factor, passes, each=10.0):
    progress = PastGaps()
    for k in range(1, passes + 1):
        progress.add(each * k, factor**k)
    return progress


@pytest.mark.parametrize("passes", [2, 3, 10, 11, 100])
def test_a_gap_that_falls_by_the_same_factor_is_predicted_exactly(passes):
    progress = falling(0.8, passes)
    more = 7
    wanted = 0.8 ** (passes + more)
    assert progress.remaining(wanted) == pytest.approx(10.0 * more)


def test_nothing_remains_once_the_gap_is_small_enough():
    assert falling(0.5, 4).remaining(0.5**4) == 0.0
    assert falling(0.5, 4).remaining(0.9) == 0.0


def test_what_has_not_fallen_is_not_expected_to():
    assert PastGaps().remaining(1e-3) == math.inf
    assert falling(0.5, 1).remaining(1e-3) == math.inf
    still = falling(0.5, 3)
    for k in range(4, 20):
        still.add(10.0 * k, 0.5**3)
    assert still.remaining(1e-3) == math.inf
    nothing = PastGaps()
    nothing.add(10.0, math.inf)
    assert nothing.remaining(1e-3) == math.inf


def test_only_the_later_half_of_the_work_counts():
    progress = falling(0.1, 5)
    gap = 0.1**5
    for k in range(6, 40):
        gap *= 0.99
        progress.add(10.0 * k, gap)
    steps = math.log(2.0) / -math.log(0.99)
    assert progress.remaining(gap / 2.0) == pytest.approx(10.0 * steps)


def test_gaps_above_that_of_zero_count():
    progress = PastGaps()
    for k in range(1, 6):
        progress.add(10.0 * k, 10.0 ** (6 - k))
    assert progress.gap == 10.0
    assert progress.remaining(1e-3) == pytest.approx(40.0)


def test_a_gap_that_rises_counts_as_the_least_so_far():
    progress = falling(0.5, 4)
    progress.add(50.0, 0.9)
    progress.add(60.0, 0.5**5)
    assert 0.0 < progress.remaining(0.5**6) < math.inf


def test_what_a_survey_finds_beyond_the_rows_met_stays_in_proportion():
    progress = falling(0.5, 6)
    progress.correct(4.0 * 0.5**6)
    assert progress.gap == 4.0 * 0.5**6
    assert progress.remaining(0.5**6) == pytest.approx(20.0)
    progress.add(70.0, 0.5**7)
    assert progress.gap == 4.0 * 0.5**7
    progress.correct(0.5**7)
    assert progress.gap == 0.5**7


def test_a_survey_does_not_lower_what_rows_showed():
    progress = falling(0.5, 6)
    progress.correct(0.5**9)
    assert progress.gap == 0.5**6
