"""Error rate and speed of decision of the evidence, with a look after every repeat.

The script compares equal methods on pages of several questions, and judges each page after every
repeat: the first verdict of a difference is false, and ends the page. So does it with methods whose
median ratio is exactly the one that is asked about. It also compares methods that differ by a known
factor, until the evidence shows the difference.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import click
import numpy as np

from svmbench.cli.columns import align
from svmbench.data.dataset import FloatArray
from svmbench.evidence.page import LEVEL, verdicts
from svmbench.evidence.processes import RatioEvidence
from svmbench.evidence.questions import Question

Noise = Callable[[np.random.Generator, int, int], FloatArray]

#: Standard deviation of the logarithm of a run's time, 20 % of it.
SCATTER = 0.2

#: Log-ratio of a run that meets its limit against one that reaches its target: exactly this one is
#: a bound of what is not known.
LIMIT = math.log(10.0)

#: Questions per page, and the number of pages.
PAGES = {1: 4000, 10: 1000, 50: 300}

#: Most repeats of a page.
REPEATS = 100

#: Factor, and the number of pairs that should decide nine of ten trials.
POWER = {10.0: 6, 3.0: 6, 2.0: 8, 1.5: 16, 1.2: 56, 1.1: 170}
TRIALS = 4000
HORIZON = 600


def normal(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """Independent normal noise of each run."""
    return np.asarray(SCATTER * math.sqrt(2) * random.standard_normal((questions, repeats)))


def wide(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """Normal noise by which a ratio scatters by a factor of 4.5."""
    return np.asarray(1.5 * random.standard_normal((questions, repeats)))


def calm_start(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """The same after six repeats that scatter by 5 %."""
    logs = wide(random, questions, repeats)
    logs[:, :6] /= 30.0
    return logs


def spikes(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """One run in ten takes three to ten times as long."""
    runs = random.uniform(math.log(3.0), math.log(10.0), (2, questions, repeats))
    runs *= random.random(runs.shape) < 0.1
    return np.asarray(runs[1] - runs[0] + normal(random, questions, repeats) / 10)


def two_speeds(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """Each run has one of two speeds."""
    speeds = math.log(2.0) * random.integers(2, size=(2, questions, repeats))
    return np.asarray(speeds[1] - speeds[0] + normal(random, questions, repeats) / 10)


def order_effect(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """The second run of a block takes a fifth less."""
    order = random.choice([-1.0, 1.0], (questions, repeats))
    return np.asarray(0.2 * order + normal(random, questions, repeats) / 10)


def student(freedom: float) -> Noise:
    """Independent noise of each run with Student's distribution; 1 is Cauchy's."""

    def draw(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
        runs = random.standard_t(freedom, (2, questions, repeats))
        return np.asarray(SCATTER * (runs[1] - runs[0]))

    return draw


def on_a_machine(level: FloatArray, random: np.random.Generator) -> FloatArray:
    """Log-ratios of two runs per block, in random order, on a machine with varying speed.

    - ``level``: (shape (questions, 2 * repeats)) Logarithm of the machine's slowness at each run.
    """
    step = level[:, 1::2] - level[:, 0::2]
    order = random.choice([-1.0, 1.0], step.shape)
    return np.asarray(order * step + normal(random, *step.shape) / 2)


def random_walk(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """The machine's level is a random walk with heavy-tailed steps."""
    steps = 0.1 * random.standard_t(2, (questions, 2 * repeats))
    return on_a_machine(np.cumsum(steps, axis=1), random)


def autoregressive(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """The machine's level is an autoregressive process, x' = 0.9 x + noise."""
    level = np.zeros((questions, 2 * repeats))
    for at in range(1, 2 * repeats):
        level[:, at] = 0.9 * level[:, at - 1] + 0.1 * random.standard_normal(questions)
    return on_a_machine(level, random)


def common_rival(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """All questions of a page compare with the same runs."""
    runs = SCATTER * random.standard_normal((questions + 1, repeats))
    return np.asarray(runs[1:] - runs[0])


def some_unreached(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """One run in five does not reach its target; if both runs fail, the pair does not count."""
    failed = random.random((2, questions, repeats)) < 0.2
    logs = normal(random, questions, repeats)
    logs[failed[1] & ~failed[0]] = math.inf
    logs[failed[0] & ~failed[1]] = -math.inf
    logs[failed[0] & failed[1]] = math.nan
    return logs


def some_limited(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """The same, but a limit ends those that do not reach their target."""
    logs = some_unreached(random, questions, repeats)
    infinite = np.isinf(logs)
    logs[infinite] = np.copysign(LIMIT, logs[infinite])
    return logs


def one_sided(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """Exponential noise of one of the two methods, about its median."""
    return np.asarray(0.3 * (random.exponential(size=(questions, repeats)) - math.log(2.0)))


def half_slow(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """One of the two methods takes twice as long in half of its runs."""
    slow = random.random((questions, repeats)) < 0.5
    near = 0.02 * np.abs(random.standard_normal((questions, repeats)))
    return np.asarray(np.where(slow, math.log(2.0) + near, -near))


EQUAL: dict[str, Noise] = {
    "normal": normal,
    "normal, 150 %": wide,
    "calm, then 150 %": calm_start,
    "Student, 3": student(3),
    "Cauchy": student(1),
    "spikes": spikes,
    "two speeds": two_speeds,
    "order": order_effect,
    "random walk": random_walk,
    "autoregressive": autoregressive,
    "common rival": common_rival,
    "some unreached": some_unreached,
    "some limited": some_limited,
}

#: Noise about a ratio of `FACTOR`, which is then asked about.
UNEQUAL: dict[str, Noise] = {"one-sided": one_sided, "half slow": half_slow}
FACTOR = 1.5

TAILS: dict[str, Noise] = {"normal": normal, "Student, 3": student(3)}


def first_verdict(logs: FloatArray, factor: float = 1.0) -> int | None:
    """Number of repeats after which a page first has a verdict on any question.

    The paths of the evidence show which looks are candidates; `judge` decides.

    - ``logs``: (shape (questions, repeats)) nan where a repeat is not informative.
    - ``factor``: the ratio that is asked about; ``logs`` are relative to it.
    """
    best = np.array([_best_path(row, factor == 1.0) for row in logs])
    counts = np.arange(1, len(logs) + 1)[:, None]
    enough = -np.sort(-best, axis=0) >= np.log(2 * len(logs) / (LEVEL * counts)) - 1e-9
    for look in np.flatnonzero(enough.any(axis=0)):
        asked = page(logs[:, : look + 1], factor)
        if any(verdict != "open" for verdict in verdicts(asked)):
            return int(look) + 1
    return None


def _best_path(row: FloatArray, symmetric: bool) -> FloatArray:
    """The larger evidence of both sides after each repeat."""
    informative = ~np.isnan(row)
    lowers, uppers = bounds(row[informative])
    path = np.maximum(
        RatioEvidence(lowers).path(0.0, 1.0, symmetric),
        RatioEvidence(uppers).path(0.0, -1.0, symmetric),
    )
    return np.asarray(np.concatenate([[0.0], path])[np.cumsum(informative)])


def page(logs: FloatArray, factor: float = 1.0) -> list[Question]:
    """One question per row: whether the ratio is above a factor."""
    return [asked(row[~np.isnan(row)], factor) for row in logs]


def asked(logs: FloatArray, factor: float = 1.0) -> Question:
    """Whether the ratio is above a factor."""
    lowers, uppers = (tuple((each + math.log(factor)).tolist()) for each in bounds(logs))
    return Question(lowers, low=factor, upper_logs=uppers, exchangeable=True)


def bounds(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of the log-ratios."""
    return np.where(logs == -LIMIT, -math.inf, logs), np.where(logs == LIMIT, math.inf, logs)


def false_pages(noise: Noise, questions: int, pages: int, seed: int, repeats: int = REPEATS) -> int:
    """Number of pages that have a verdict within all their repeats, where none is true."""
    random = np.random.default_rng((seed, questions))
    factor = FACTOR if noise in UNEQUAL.values() else 1.0
    found = (first_verdict(noise(random, questions, repeats), factor) for _ in range(pages))
    return sum(first is not None for first in found)


def pairs_to_decide(noise: Noise, factor: float, trials: int, seed: int) -> FloatArray:
    """Number of pairs after which each trial shows a ratio above 1; +inf beyond `HORIZON`."""
    random = np.random.default_rng((seed, round(1000 * factor)))
    needed = np.full(trials, math.inf)
    for trial in range(trials):
        logs = math.log(factor) + noise(random, 1, HORIZON)[0]
        path = RatioEvidence(logs).path(0.0, 1.0, True)
        for look in np.flatnonzero(path >= math.log(2 / LEVEL) - 1e-9):
            if verdicts([asked(logs[: look + 1])]) == ["holds"]:
                needed[trial] = look + 1
                break
    return needed


@click.command(help=(__doc__ or "").split("\n\n")[0])
@click.option("--scale", default=1.0, show_default=True, help="Factor of pages and trials.")
@click.option("--seed", default=1, show_default=True)
def main(scale: float, seed: int) -> None:
    """Simulate all and print the tables."""
    begun = time.monotonic()
    sizes = {questions: max(int(scale * pages), 2) for questions, pages in PAGES.items()}
    trials = max(int(scale * TRIALS), 10)
    rows, wrong = [], False
    for name, noise in (EQUAL | UNEQUAL).items():
        cells = [name]
        for questions, pages in sizes.items():
            false = false_pages(noise, questions, pages, seed)
            wrong |= false > LEVEL * pages + 3 * math.sqrt(LEVEL * pages)
            cells.append(f"{false} of {pages} ({100 * false / pages:.1f} %)")
        rows.append(tuple(cells))
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(
        "Equal methods, and two that differ by what is asked: pages with a false verdict, "
        f"a look after each of {REPEATS} repeats\n"
    )
    print(align(("noise", *(f"{n} to a page" for n in sizes)), rows))
    rows = []
    for name, noise in TAILS.items():
        for factor, within in POWER.items():
            needed = pairs_to_decide(noise, factor, trials, seed)
            decided = float(np.mean(needed <= within))
            wrong |= name == "normal" and decided < 0.9 - 3 * math.sqrt(0.09 / trials)
            halfway, most = np.quantile(needed, (0.5, 0.9), method="inverted_cdf")
            cells = [name, f"{factor:g}", f"{100 * decided:.1f} % in {within}"]
            rows.append((*cells, f"{halfway:.0f}", f"{most:.0f}"))
    print(f"\nMethods that differ, {trials} trials: pairs until it is shown on a page of its own\n")
    print(align(("noise", "factor", "decided", "half", "nine of ten"), rows))
    print(f"\n{time.monotonic() - begun:.0f} s")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
