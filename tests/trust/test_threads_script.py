"""The script that measures what a second thread saves auto runs, and certifies what it times."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "champion" / "threads.py"


def test_it_times_numbers_of_threads_in_turns_to_a_gap_that_is_certified():
    given = ["tiny-sparse", "--lam", "1e-3", "1e-4", "--repeats", "2", "--tolerance", "1e-2"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *given], capture_output=True, text=True, check=True
    )
    heads, _, *rows = (line.split("|")[1:-1] for line in done.stdout.splitlines())
    assert [head.strip() for head in heads] == ["rows", "λ", "gap", "threads: 1", "threads: 2"]
    assert [row[1].strip() for row in rows] == ["0.001", "0.0001"]
    for row in rows:
        assert 0.0 <= float(row[2]) <= 1e-2
        assert row[3].strip().endswith("(1.00x)")
