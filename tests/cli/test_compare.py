"""`svmbench compare`: folders with known effects, what is said of them, and exit codes."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from results_folders import whole

from svmbench.cli import main
from svmbench.records.columns import TRACES

MACHINE = {"cpu": "A CPU", "logical_cpus": 2, "caches": {"L2": "1M"}, "flags": "-O3", "git": "abc"}
THRESHOLD = 0.01
LIMIT = 60.0
REPEATS = 12
BEGIN = datetime(2026, 3, 1, 8, tzinfo=UTC)


def times(factor=1.0, n=REPEATS, sigma=0.02, seed=0):
    """Noisy samples about ``factor``."""
    return list(factor * np.random.default_rng(seed).lognormal(0, sigma, n))


def row(label, lam, repeat, time, day=0, **changes):
    """A run; those of one repeat are made in the same minute, on whatever side they are."""
    reached = math.isfinite(time)
    started = BEGIN + timedelta(days=day, minutes=repeat)
    values = {
        "schema_version": 1,
        "id": f"{label}-{lam}-{repeat}-{changes.get('horizon')}",
        "dataset": "adult",
        "stand_in": False,
        "solver": label,
        "label": label,
        "loss": "hinge",
        "lambda": lam,
        "C": 1 / (lam * 1000),
        "repeat": repeat,
        "seed": 17 + repeat,
        "precision": "float64",
        "state": "converged" if reached else "time_limit",
        "m": 1000,
        "d": 10,
        "nnz": 5000,
        "threads": 1,
        "contended": False,
        "reference_dual": 0.35,
        "reference_primal": 0.3500001,
        "reference_gap": 1e-6,
        "setup_seconds": 0.001,
        "train_seconds": time if reached else LIMIT,
        "limit_seconds": LIMIT,
        "max_epochs": 1000.0,
        "epochs": 10.0,
        "primal": 0.36,
        "accuracy": 0.005 if reached else 0.05,
        "gap": None,
        "train_error": 0.1,
        "test_error": 0.1,
        f"seconds_to_{THRESHOLD}": time if reached else None,
        f"cpu_seconds_to_{THRESHOLD}": time if reached else None,
        f"epochs_to_{THRESHOLD}": 10.0 if reached else None,
        f"last_above_seconds_{THRESHOLD}": 0.0,
        "started": started.isoformat(timespec="seconds"),
    }
    return values | changes


def rows(label, samples, lam=1e-4, **changes):
    return [row(label, lam, repeat, time, **changes) for repeat, time in enumerate(samples)]


@pytest.fixture
def write(tmp_path):
    def writer(name, runs, environment=MACHINE):
        folder = tmp_path / name
        folder.mkdir()
        whole(pd.DataFrame(runs)).to_csv(folder / "runs.csv", index=False)
        (folder / "traces.csv").write_text(",".join(each.name for each in TRACES) + "\n")
        labels = list(dict.fromkeys(run["label"] for run in runs))
        sweep = {"name": name, "datasets": ["adult"], "solvers": labels, "repeats": REPEATS}
        (folder / "config.yaml").write_text(yaml.safe_dump(sweep))
        if environment is not None:
            (folder / "environment.json").write_text(json.dumps(environment))
        return str(folder)

    return writer


def compare(*args):
    return CliRunner().invoke(main, ["compare", *args], prog_name="svmbench")


def verdicts(*args):
    """Exit code and, by label and λ, the verdict and why."""
    done = compare(*args, "--json")
    assert done.exit_code in (0, 4), done.output
    cases = json.loads(done.stdout)["cases"]
    return done.exit_code, {(c["label"], c["lambda"]): (c["verdict"], c["why"]) for c in cases}


@pytest.mark.parametrize(
    ("factor", "threshold", "code", "verdict"),
    [
        (1.2, "1.05", 4, "slower"),
        (1.2, "1.5", 0, "alike"),
        (1.0, "1.05", 0, "alike"),
        (0.8, "1.05", 0, "faster"),
        (1.04, "1.2", 0, "alike"),
        (1.04, "1", 4, "slower"),
    ],
)
def test_a_known_effect_in_two_folders(write, factor, threshold, code, verdict):
    a = write("a", rows("dcd", times(n=20, sigma=0.01)))
    b = write("b", rows("dcd", times(factor, n=20, sigma=0.01, seed=1)))
    assert verdicts(a, b, "--threshold", threshold) == (code, {("dcd", 1e-4): (verdict, "")})


def test_what_is_open_says_how_many_repeats_it_takes(write):
    a, b = write("a", rows("dcd", times())), write("b", rows("dcd", times(1.06, seed=1)))
    code, found = verdicts(a, b)
    verdict, why = found["dcd", 1e-4]
    assert (code, verdict) == (0, "open")
    assert re.fullmatch(r"about \d+ more repeats", why)
    (case,) = json.loads(compare(a, b, "--json").stdout)["cases"]
    assert case["more_repeats"] == int(why.split()[1])
    assert max(case["e_alike"], case["e_different"]) < case["e_needed"]


@pytest.mark.parametrize("factor", [1.0, 1.03, 1.05, 1.1, 2.0])
@pytest.mark.parametrize("day", [0, 1])
def test_verdict_and_interval_never_contradict(write, factor, day):
    a = write("a", rows("dcd", times(n=25)))
    b = write("b", rows("dcd", times(factor, n=25, seed=1), day=day))
    (case,) = json.loads(compare(a, b, "--json").stdout)["cases"]
    low, high = case["ratio_low"], case["ratio_high"]
    assert case["paired"] == (day == 0)
    inside, beyond = low >= 1 / 1.05 and high <= 1.05, low >= 1.05
    assert case["verdict"] == ("alike" if inside else "slower" if beyond else "open")


def test_two_labels_of_one_folder(write):
    folder = write("a", rows("dcd", times()) + rows("sgd-s", times(3.0, seed=1)))
    code, found = verdicts(folder, "--labels", "dcd", "sgd-s")
    assert (code, found) == (4, {("dcd -> sgd-s", 1e-4): ("slower", "")})
    code, found = verdicts(folder, "--labels", "sgd-s", "dcd")
    assert (code, found) == (0, {("sgd-s -> dcd", 1e-4): ("faster", "")})


def test_pairs_take_out_what_repeats_have_in_common(write):
    seeds = np.resize([1.0, 3.0, 0.4, 2.0, 7.0, 0.8, 1.5], REPEATS)
    a = write("a", rows("sgd-s", seeds))
    b = write("b", rows("sgd-s", 1.15 * seeds * times(sigma=0.01)))
    assert verdicts(a, b)[0] == 4
    # The same numbers with other partners show nothing.
    c = write("c", rows("sgd-s", 1.15 * np.roll(seeds, 2)))
    code, found = verdicts(a, c)
    assert (code, found["sgd-s", 1e-4][0]) == (0, "open")


def test_a_few_repeats_show_nothing_however_far_apart(write):
    for count, shown in ((5, (0, "open")), (8, (4, "slower"))):
        a = write(f"a{count}", rows("dcd", times(n=count)))
        b = write(f"b{count}", rows("dcd", times(10.0, n=count)))
        code, found = verdicts(a, b)
        assert (code, found["dcd", 1e-4][0]) == shown
    one, other = write("c", rows("dcd", times(n=1))), write("d", rows("dcd", times(5.0, n=1)))
    assert verdicts(one, other)[1]["dcd", 1e-4][0] == "open"


def test_many_comparisons_ask_for_more_than_one(write):
    # Evidence enough for one comparison, and too little for one of ten.
    others = [row for k in range(1, 10) for row in rows("dcd", times(sigma=0.3, seed=k), lam=2**-k)]
    again = [
        row for k in range(1, 10) for row in rows("dcd", times(sigma=0.3, seed=-k % 97), lam=2**-k)
    ]
    one, slow = rows("dcd", times(n=8)), rows("dcd", times(1.5, n=8, seed=1))
    assert verdicts(write("a", one), write("b", slow))[0] == 4
    code, found = verdicts(write("c", one + others), write("d", slow + again))
    assert (code, len(found)) == (0, 10)
    assert {verdict for verdict, _ in found.values()} == {"open"}


def test_arriving_less_often_is_a_regression(write):
    a = write("a", rows("dcd", times(n=20)))
    b = write("b", rows("dcd", [1.0, *[math.inf] * 19]))
    assert verdicts(a, b) == (4, {("dcd", 1e-4): ("slower", "")})
    assert verdicts(b, a) == (0, {("dcd", 1e-4): ("faster", "")})
    done = compare(a, b)
    assert "∞ (1 of 20)" in done.stdout
    assert "count as +∞" in done.stdout


def test_what_neither_reaches_is_open(write):
    never = rows("dcd", [math.inf] * REPEATS)
    done = verdicts(write("a", never), write("b", never))
    assert done == (0, {("dcd", 1e-4): ("open", "neither reached it")})


def skipping(first):
    """One repeat that met the limit, and the others, which were skipped for it."""
    made = rows("dcd", [first])
    skipped = rows("dcd", [math.inf] * REPEATS, state="skipped", train_seconds=None, started=None)
    return made + skipped[1:]


def test_skipped_repeats_count_where_the_limit_was_generous(write):
    b = write("b", skipping(math.inf))
    fast, slow = write("fast", rows("dcd", times(2.0))), write("slow", rows("dcd", times(50.0)))
    assert verdicts(fast, b)[0] == 4
    # 50 s of a limit of 60 s: the repeats that were not made might have reached it.
    for one, other in ((slow, b), (b, slow)):
        code, found = verdicts(one, other)
        verdict, why = found["dcd", 1e-4]
        assert (code, verdict) == (0, "open")
        assert "11 skipped at a time limit near what the other side took" in why


def test_json_holds_samples_and_no_infinity(write):
    a, b = write("a", rows("dcd", times())), write("b", rows("dcd", [math.inf] * REPEATS))
    done = compare(a, b, "--json")
    page = json.loads(done.stdout, parse_constant=pytest.fail)
    (case,) = page["cases"]
    assert (page["schema_version"], page["regressions"]) == (3, 1)
    assert case["a"] == pytest.approx(times())
    assert case["b"] == [None] * REPEATS
    assert (case["ratio"], case["ratio_high"]) == (None, None)
    assert case["e_different"] >= case["e_needed"] == 40


@pytest.mark.parametrize(
    ("change", "says", "marked"),
    [
        (
            {"cpu": "Another"},
            "DIFFERENT MACHINES; ratios of times are marked ‡: cpu A CPU -> An",
            1,
        ),
        ({"caches": {"L2": "2M"}}, "L2 1M -> 2M", 1),
        ({"flags": "-O2"}, "Not the same on both sides: flags -O3 -> -O2.", 0),
        ({"git": "def"}, "git abc -> def", 0),
        (None, "no environment.json", 1),
    ],
)
def test_other_machines_and_builds_are_told(write, change, says, marked):
    a = write("a", rows("dcd", times()))
    b = write("b", rows("dcd", times()), None if change is None else MACHINE | change)
    done = compare(a, b)
    assert done.exit_code == 0
    assert says in done.stdout
    (case,) = (line for line in done.stdout.splitlines() if line.startswith("adult"))
    assert ("‡" in case) == bool(marked)
    assert "‡" not in compare(a, b, "--metric", "epochs").stdout


def test_cases_of_one_side_alone_are_named(write):
    a = write("a", rows("dcd", times()) + rows("sgd-s", times()))
    b = write("b", rows("dcd", times()) + rows("dcd", times(), lam=1e-5))
    code, found = verdicts(a, b)
    assert (code, list(found)) == (0, [("dcd", 1e-4)])
    text = compare(a, b).stdout
    assert "In A alone: adult, λ = 1e-4, sgd-s." in text
    assert "In B alone: adult, λ = 1e-5, dcd." in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"m": 999}, "adult, λ = 1e-4: m is 1,000 in"),
        ({"loss": "squared-hinge"}, "loss is hinge in"),
        ({"bias": "free"}, "bias is none in"),
        ({"l1_radius": 10.0}, "l1_radius is infinite in"),
        ({"reference_dual": 0.36, "reference_primal": 0.3600001}, "exclude each other"),
        ({"dataset": "covtype"}, "have no cell"),
    ],
)
def test_other_problems_are_not_compared(write, changes, message):
    a, b = write("a", rows("dcd", times())), write("b", rows("dcd", times(), **changes))
    done = compare(a, b)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_bad_usage_is_2(write):
    a = write("a", rows("dcd", times()) + rows("sgd-s", times()))
    for args, message in (
        ([a], "one folder and no labels"),
        ([a, "--labels", "dcd", "?"], "no label '?'; known: dcd, sgd-s"),
        ([a, "--labels", "dcd", "sgd-x"], "no label 'sgd-x'; did you mean 'sgd-s'?"),
        ([a, a, "--metric", "hours"], "'hours' is not one of"),
        ([a, a, "--threshold", "0.9"], "0.9 is not in the range"),
        ([a, a, "--threshold", "inf"], "inf is not in the range"),
        ([a, a, "--threshold", "nan"], "nan is not a number"),
    ):
        done = compare(*args)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert message in done.stderr


def test_unreadable_results_are_3(write, tmp_path):
    a = write("a", rows("dcd", times()))
    done = compare(a, str(tmp_path / "nowhere"))
    assert (done.exit_code, done.stderr.count("\n")) == (3, 1)
    old = rows("dcd", times())
    for run in old:
        del run[f"cpu_seconds_to_{THRESHOLD}"]
    b = write("b", old)
    done = compare(a, b, "--metric", "cpu_seconds")
    assert done.exit_code == 3
    assert f"no column 'cpu_seconds_to_{THRESHOLD}'" in done.stderr
    for run in old:
        run[f"cpu_seconds_to_{THRESHOLD}"] = "soon"
    done = compare(a, write("c", old), "--metric", "cpu_seconds")
    assert done.exit_code == 3
    assert f"column 'cpu_seconds_to_{THRESHOLD}': 'soon' is not a finite number" in done.stderr


def test_disturbed_runs_are_told(write):
    calm = rows("dcd", times())
    hurried = rows("dcd", times(seed=1))
    for run in hurried[:3]:
        run["train_cpu_seconds"] = 0.5 * run["train_seconds"]
    printed = compare(write("a", calm), write("b", hurried)).stdout
    assert "warning: B: 3 of 12 runs were disturbed: 3 waited for the processor." in printed
    assert "warning: A" not in printed


# ---------------------------------------------------------------- different times


def pages(write, days, factor=1.0, **changes):
    """The JSON page of two folders, the second made on another day."""
    a = write("a", rows("dcd", times(n=25)))
    b = write("b", rows("dcd", times(factor, n=25, seed=1), day=days, **changes))
    done = compare(a, b)
    return json.loads(compare(a, b, "--json").stdout), done.stdout


def test_folders_of_different_days_have_no_pairs(write):
    page, printed = pages(write, days=1, factor=1.12)
    (case,) = page["cases"]
    assert (case["paired"], case["verdict"], page["regressions"]) == (False, "open", 0)
    assert case["why"] == "measured at different times: more repeats do not help"
    assert "A and B were measured at different times" in printed
    assert "scatters by 5.7 %" in printed
    assert "put both into one sweep" in printed
    (line,) = (line for line in printed.splitlines() if line.startswith("adult"))
    assert "]†" in line


def test_epochs_do_not_depend_on_the_day(write):
    a, b = write("a", rows("dcd", times())), write("b", rows("dcd", times(seed=1), day=1))
    (case,) = json.loads(compare(a, b, "--metric", "epochs", "--json").stdout)["cases"]
    assert (case["paired"], case["verdict"]) == (True, "alike")
