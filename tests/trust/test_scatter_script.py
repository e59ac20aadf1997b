"""The script that measures the scatter of a page's ratios."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import scatter

from svmbench.evidence import Question, paired

SCRIPT = Path(scatter.__file__)


def results(*questions):
    """A claim of one case, each of whose parts asks one of these questions."""
    parts = [SimpleNamespace(part=SimpleNamespace(question=each)) for each in questions]
    return [SimpleNamespace(cases=[SimpleNamespace(parts=parts)])]


def test_each_pair_of_methods_counts_once_and_only_for_costs():
    cost = paired([1.0, 2.0], [3.0, 4.0], low=1.0, scatter=0.5)
    reverse = paired([3.0, 4.0], [1.0, 2.0], low=2.0, scatter=0.5)
    error = paired([1.0, 2.0], [3.0, 5.0], low=1.0)
    assert scatter.questions_of(results(cost, reverse, error, None)) == [cost]


def test_the_scatter_is_that_of_runs_that_arrived():
    logs = (0.0, 0.2, 0.4, 0.6)
    limited = Question((*logs, 9.0), 1.0, upper_logs=(*logs, math.inf), scatter=0.5)
    unreached = Question((*logs, math.inf), 1.0, scatter=0.5)
    few = Question(logs[:3], 1.0, scatter=0.5)
    assert scatter.scatters([limited, unreached, few]) == pytest.approx([0.2582, 0.2582], abs=1e-4)


def test_a_folder_without_results(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path}: no question about a cost has 4 pairs\n"
