"""The script that measures how well the order of methods is chosen, in small."""

import importlib
import math
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "train" / "order.py"


@pytest.fixture
def order(monkeypatch):
    for folder in (SCRIPT.parent, SCRIPT.parents[1] / "champion"):
        monkeypatch.syspath_prepend(folder)
    return importlib.import_module("order")


def printed(*arguments):
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_problem_is_measured_once_and_kept(tmp_path):
    words = ["2", "--kinds", "heavy tails", "--loss", "hinge", "--repeats", "1"]
    words += ["--keep", tmp_path / "kept.jsonl"]
    first = printed(*words)
    assert first == printed(*words)
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 1
    lines = first.splitlines()
    assert lines[0] == "hinge, free, none: problems: 1"
    cells = lines[4].split(" | ")
    assert cells[:6] == ["| hinge", "free", "none", "heavy tails, 2", "1091", "7"]
    assert float(cells[6]) > 0.0
    assert cells[10] == "newton |"
    assert lines[-1].startswith("| hinge | free | none | 1 | 0 | ")
    assert lines[-1].endswith(f" | {cells[9]} | {int(float(cells[9]) > 1.25)} | heavy tails, 2 |")


def test_what_another_build_measured_does_not_count(order, tmp_path):
    kept = order.Kept(tmp_path / "kept.jsonl")
    costs = order.Cost(0.5, True), order.Cost(0.2, False, "dcd"), order.Cost(math.inf)
    row = order.Row(order.Case("logistic", "none", 10.0), "text, 3", 100, 20, costs)
    kept.add(["one build", 3, None], row)
    again = order.Kept(tmp_path / "kept.jsonl")
    assert again.find(["one build", 3, None]) == row
    assert again.find(["another", 3, None]) is None


def test_only_problems_that_a_single_method_solves_have_a_ratio(order):
    case = order.Case("squared-hinge", "free", 1.0)
    cut, short = order.Cost(3.0, cut=True), order.Cost(math.inf)

    def row(name, *costs):
        return order.Row(case, name, 10, 2, costs)

    cost = order.Cost
    rows = [
        row("a", cost(2.0), cost(1.0), cost(4.0)),
        row("b", cost(1.0), short, cost(1.0)),
        row("c", cut, cut, cost(1.0)),  # at most a third
        row("d", cut, cut, cut),
        row("e", short, short, cost(1.0)),
    ]
    assert [each.ratio for each in rows[:3]] == [4.0, 1.0, pytest.approx(1 / 3)]
    *_, measured, nothing, alone = order.summary(rows, [case])
    assert measured == "| squared hinge | free | none | 3 | 1 | 1.10 | 1.00 | 4.00 | 1 | a |"
    assert nothing == "left out: d (squared hinge, free, none): nothing reached the tolerance"
    assert alone.startswith("left out: e ")
    assert alone.endswith("only the usual fit reached the tolerance")


@pytest.mark.parametrize("bias", ["none", "regularised", "free"])
def test_a_weight_is_that_of_the_larger_label(order, bias):
    from adversary import drawn

    given = drawn(13, 2)
    found = order.Case("hinge", bias, 10.0).of(given, C=0.5)
    ratio = found.row_weights[given.data.labels > 0].min() / found.row_weights.min()
    assert ratio == pytest.approx(10.0)
    assert found.row_weights.mean() == pytest.approx(1.0)
    assert found.data.n_features == given.data.n_features + (bias == "regularised")
    # lambda times C times the number of rows is one over the mean of the weights as given.
    weights = 1.0 + 9.0 * (given.data.labels > 0)
    assert found.lam == pytest.approx(1.0 / (0.5 * weights.sum()))


def test_the_hinge_alone_has_no_choice(tmp_path):
    words = [sys.executable, SCRIPT, "2", "--loss", "hinge", "--bias", "none", "--dry-run"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "order.py: the hinge has a choice only with weights or a free bias\n"
