"""The experiment on noise: its planted difference, its counts, and a complete run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PLACE = Path(__file__).resolve().parent.parent / "scripts" / "trust"


@pytest.fixture
def noise(monkeypatch):
    monkeypatch.syspath_prepend(str(PLACE))
    return __import__("noise")


def test_all_of_it_in_small():
    done = subprocess.run(
        [sys.executable, str(PLACE / "noise.py"), "--smoke", "--conditions", "hog"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "planted: 5 %; pages of 2 repeats and 3 cases"
    said = [line.split() for line in lines if line.startswith("hog") and " of " in line]
    # Two repeats decide nothing, whatever they are.
    assert [line[:5] for line in said] == [
        ["hog", metric, margin, "0", "of"]
        for metric in ("seconds", "cpu_seconds")
        for margin in ("1", "1.02")
    ]


def test_a_condition_says_how_many_processes_are_busy(noise):
    assert [noise.hogs(name) for name in ("quiet", "hog", "hog3")] == [0, 1, 3]
    with pytest.raises(noise.ConfigError, match="--conditions loud: not"):
        noise.hogs("loud")


def test_busy_processes_end_with_the_block(noise):
    with noise.busy(2) as hogs:
        assert [hog.poll() for hog in hogs] == [None, None]
    assert all(hog.poll() is not None for hog in hogs)


def test_the_planted_share_is_of_processor_time(noise, monkeypatch):
    """On a clock that only goes on when it is read, by a unit each time."""
    now = iter(range(10_000))
    monkeypatch.setattr(noise.time, "process_time", lambda: next(now))
    monkeypatch.setenv(noise.VARIABLE, "0.05")
    with noise.prolonged():
        for _ in range(1000):
            next(now)
    # 1001 units of work and its end, 5 % more of waiting, and the reading that ends it.
    assert next(now) == pytest.approx(1001 * 1.05, abs=2)


def test_pages_drawn_anew_find_what_is_there_and_nothing_else(noise):
    rng = np.random.default_rng(3)
    samples = np.exp(rng.normal(0.0, 0.01, (40, 4, 3)))
    samples[:, -1] *= 1.05

    def share(margin, planted):
        draws = np.random.default_rng(4)
        return np.mean(
            [noise.drawn(samples, 15, margin, planted, draws) for _ in range(60)], dtype=float
        )

    assert share(1.0, True) == share(1.02, True) == 1.0
    assert share(1.0, False) <= 0.15
    assert share(1.02, False) == 0.0
    samples[:, -1] /= 1.1  # a faster one is no find
    assert share(1.0, True) == 0.0


def test_two_days_are_not_taken_for_a_difference(noise):
    for common, wrong in ((True, 0.1), (False, 0.3)):
        as_pairs, as_days = noise.false_pages(200, common, np.random.default_rng(5))
        assert as_pairs > wrong
        assert as_days <= 0.05


def test_the_page_says_how_many_repeats_it_takes(noise):
    page = (PLACE.parent.parent / "docs" / "trust-noise.md").read_text()
    said = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in page.splitlines()
        if line.strip().startswith(("| scatter", "| repeats"))
    }
    needed = [noise.pairs_to_find(float(s.removesuffix(" %")) / 100, 1.05) for s in said["scatter"]]
    assert said["repeats"] == [str(n) for n in needed]
