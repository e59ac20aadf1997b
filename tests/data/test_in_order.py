"""Results in the order of what they are made of, whoever is done first."""

import threading

import pytest

from svmbench.data.in_order import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_keep_their_order(threads):
    assert list(in_order(lambda n: n * n, range(50), threads)) == [n * n for n in range(50)]
    assert list(in_order(str, [], threads)) == []


def test_a_slow_first_thing_is_waited_for():
    second_done = threading.Event()

    def work(n):
        if n == 0:
            assert second_done.wait(10)
        if n == 1:
            second_done.set()
        return n

    assert list(in_order(work, range(4), 2)) == [0, 1, 2, 3]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_exception_comes_in_its_place(threads):
    def work(n):
        if n >= 7:
            raise ValueError(str(n))
        return n

    results = in_order(work, range(50), threads)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ValueError, match=r"^7$"):
        next(results)


def test_only_a_few_are_under_way():
    asked = []

    def things():
        for n in range(100):
            asked.append(n)
            yield n

    results = in_order(str, things(), 3)
    assert next(results) == "0"
    assert len(asked) <= 6
