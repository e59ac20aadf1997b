"""Error rate and speed of decision of the evidence, with a look after every repeat.

The script compares equal methods on pages of several questions, and judges each page after every
repeat: the first verdict of a difference is false, and ends the page. It also compares methods that
differ by a known factor, until the evidence shows the difference. Then it does both with ratios on
two problems, and asks whether they differ. Of the scatter it assumes what it assumes for costs.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Collection

import click
import numpy as np

from svmbench.cli.columns import align
from svmbench.data.dataset import FloatArray
from svmbench.evidence import LEVEL, Question, RatioEvidence, changing, judge
from svmbench.records.measures import COST_SCATTER

Noise = Callable[[np.random.Generator, int, int], FloatArray]

#: Standard deviation of the logarithm of a run's time, 20 % of it.
SCATTER = 0.2

#: Noise without a standard deviation, of which the evidence promises nothing: shown, not judged.
WITHOUT_PROMISE = ("Cauchy",)

#: Log-ratio of a run that meets its limit against one that reaches its target: exactly this one is
#: a bound of what is not known.
LIMIT = math.log(10.0)

#: Questions per page, and the number of pages.
PAGES = {1: 4000, 10: 1000, 50: 300}

#: Most repeats of a page.
REPEATS = 100

#: Factor, and the number of pairs that should decide nine of ten trials.
POWER = {1.5: 16, 1.2: 56, 1.1: 170}
TRIALS = 4000
HORIZON = 600

#: Pages of equal ratios on two problems; and factors between such ratios, and their trials.
PAGES_OF_CHANGES = 300
CHANGES = (3.0, 2.0, 1.5)
TRIALS_OF_CHANGES = 100


def normal(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """Independent normal noise of each run."""
    return np.asarray(SCATTER * math.sqrt(2) * random.standard_normal((questions, repeats)))


def student(freedom: float) -> Noise:
    """Independent noise of each run with Student's distribution; 1 is Cauchy's."""

    def draw(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
        runs = random.standard_t(freedom, (2, questions, repeats))
        return np.asarray(SCATTER * (runs[1] - runs[0]))

    return draw


def on_a_machine(level: FloatArray, random: np.random.Generator) -> FloatArray:
    """Log-ratios of two runs per block, in random order, on a machine with varying speed.

    Parameters
    ----------
    level : ndarray of shape (questions, 2 * repeats)
        Logarithm of the machine's slowness at each run.
    random : Generator
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


def growing_scale(random: np.random.Generator, questions: int, repeats: int) -> FloatArray:
    """The scatter grows from 1 % to 100 %, with a calm period in the middle."""
    scale = np.geomspace(0.01, 1.0, repeats)
    scale[repeats // 2 : repeats // 2 + repeats // 10] = 0.01
    return np.asarray(scale * random.standard_normal((questions, repeats)))


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


EQUAL: dict[str, Noise] = {
    "normal": normal,
    "Student, 3": student(3),
    "Student, 2": student(2),
    "Cauchy": student(1),
    "random walk": random_walk,
    "autoregressive": autoregressive,
    "growing scale": growing_scale,
    "common rival": common_rival,
    "some unreached": some_unreached,
    "some limited": some_limited,
}

OF_CHANGES = ("normal", "Student, 3", "common rival")

TAILS: dict[str, Noise] = {"normal": normal, "Student, 3": student(3), "Cauchy": student(1)}


def first_verdict(logs: FloatArray) -> int | None:
    """Number of repeats after which a page first has a verdict on any question.

    The paths of the evidence show which looks are candidates; `judge` decides.

    Parameters
    ----------
    logs : ndarray of shape (questions, repeats)
        nan where a repeat is not informative.
    """
    best = np.array([_best_path(row) for row in logs])
    counts = np.arange(1, len(logs) + 1)[:, None]
    enough = -np.sort(-best, axis=0) >= np.log(2 * len(logs) / (LEVEL * counts)) - 1e-9
    for look in np.flatnonzero(enough.any(axis=0)):
        if any(answer.verdict != "open" for answer in judge(page(logs[:, : look + 1]))):
            return int(look) + 1
    return None


def _best_path(row: FloatArray) -> FloatArray:
    """The larger evidence of both sides after each repeat."""
    informative = ~np.isnan(row)
    lowers, uppers = bounds(row[informative])
    path = np.maximum(
        RatioEvidence(lowers, COST_SCATTER, uppers).path(0.0, 1.0),
        RatioEvidence(uppers, COST_SCATTER, lowers).path(0.0, -1.0),
    )
    return np.asarray(np.concatenate([[0.0], path])[np.cumsum(informative)])


def page(logs: FloatArray) -> list[Question]:
    """One question per row: whether the ratio is above 1."""
    return [asked(row[~np.isnan(row)]) for row in logs]


def asked(logs: FloatArray) -> Question:
    """Whether the ratio is above 1."""
    lowers, uppers = (tuple(each.tolist()) for each in bounds(logs))
    return Question(lowers, low=1.0, upper_logs=uppers, scatter=COST_SCATTER)


def bounds(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of the log-ratios."""
    return np.where(logs == -LIMIT, -math.inf, logs), np.where(logs == LIMIT, math.inf, logs)


def false_pages(noise: Noise, questions: int, pages: int, seed: int) -> int:
    """Number of pages of equal methods that have a verdict within all their repeats."""
    random = np.random.default_rng((seed, questions))
    return sum(first_verdict(noise(random, questions, REPEATS)) is not None for _ in range(pages))


def pairs_to_decide(noise: Noise, factor: float, trials: int, seed: int) -> FloatArray:
    """Number of pairs after which each trial shows a ratio above 1; +inf beyond `HORIZON`."""
    random = np.random.default_rng((seed, round(1000 * factor)))
    needed = np.full(trials, math.inf)
    for trial in range(trials):
        logs = math.log(factor) + noise(random, 1, HORIZON)[0]
        path = RatioEvidence(logs, COST_SCATTER).path(0.0, 1.0)
        for look in np.flatnonzero(path >= math.log(2 / LEVEL) - 1e-9):
            if judge([asked(logs[: look + 1])])[0].verdict == "holds":
                needed[trial] = look + 1
                break
    return needed


def pairs_until_change(logs: FloatArray, verdicts: Collection[str]) -> float:
    """Number of pairs on each of two problems after which their ratios have one of these verdicts.

    Parameters
    ----------
    logs : ndarray of shape (2, repeats)
    verdicts : collection of str
        On the claim that the second ratio is the larger one.

    Returns
    -------
    float
        +inf if all repeats give none of them.
    """
    for look in range(1, logs.shape[1] + 1):
        before, after = page(logs[:, :look])
        if judge([changing(before, after, low=1.0)])[0].verdict in verdicts:
            return look
    return math.inf


def false_changes(noise: Noise, pages: int, seed: int) -> int:
    """Number of pages that show a change although both ratios are equal."""
    random = np.random.default_rng((seed, 2))
    wrong = ("holds", "does not hold")
    found = (pairs_until_change(noise(random, 2, REPEATS), wrong) for _ in range(pages))
    return sum(needed < math.inf for needed in found)


def pairs_to_show_change(noise: Noise, factor: float, trials: int, seed: int) -> float:
    """Median number of pairs on each problem until the change of a ratio is shown."""
    random = np.random.default_rng((seed, round(1000 * factor)))
    change = np.array([[0.0], [math.log(factor)]])
    needed = [
        pairs_until_change(noise(random, 2, REPEATS) + change, ("holds",)) for _ in range(trials)
    ]
    return float(np.quantile(needed, 0.5, method="inverted_cdf"))


@click.command(help=(__doc__ or "").split("\n\n")[0])
@click.option("--scale", default=1.0, show_default=True, help="Factor of pages and trials.")
@click.option("--seed", default=1, show_default=True)
def main(scale: float, seed: int) -> None:
    """Simulate all and print the tables."""
    begun = time.monotonic()
    sizes = {questions: max(int(scale * pages), 2) for questions, pages in PAGES.items()}
    trials = max(int(scale * TRIALS), 10)
    rows, wrong = [], False
    for name, noise in EQUAL.items():
        cells = [name]
        for questions, pages in sizes.items():
            false = false_pages(noise, questions, pages, seed)
            judged = name not in WITHOUT_PROMISE
            wrong |= judged and false > LEVEL * pages + 3 * math.sqrt(LEVEL * pages)
            cells.append(f"{false} of {pages} ({100 * false / pages:.1f} %)")
        rows.append(tuple(cells))
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"Equal methods: pages with a false verdict, a look after each of {REPEATS} repeats\n")
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
    pages, trials = max(int(scale * PAGES_OF_CHANGES), 2), max(int(scale * TRIALS_OF_CHANGES), 2)
    rows = []
    for name in OF_CHANGES:
        false = false_changes(EQUAL[name], pages, seed)
        wrong |= false > LEVEL * pages + 3 * math.sqrt(LEVEL * pages)
        halves = [pairs_to_show_change(EQUAL[name], factor, trials, seed) for factor in CHANGES]
        share = f"{false} of {pages} ({100 * false / pages:.1f} %)"
        rows.append((name, share, *(f"{half:.0f}" for half in halves)))
    print("\nRatios on two problems: false pages of equal ones; pairs until half are shown\n")
    print(align(("noise", "equal", *(f"factor {factor:g}" for factor in CHANGES)), rows))
    print(f"\n{time.monotonic() - begun:.0f} s")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
