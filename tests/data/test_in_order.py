"""Results in the order of what they are made of, whoever is done first."""

import pytest

from svmbench.data.in_order import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_keep_their_order(threads):
    assert list(in_order(lambda n: n * n, range(50), threads)) == [n * n for n in range(50)]
    assert list(in_order(str, [], threads)) == []


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
