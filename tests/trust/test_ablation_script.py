"""The script that measures what each trick of auto saves runs, and its counts repeat."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "champion" / "ablation.py"


def cells_of(*arguments):
    """The cells of one problem, by variant."""
    given = ["tiny-sparse", "--lam", "1e-3", "--accuracies", "1e-3", "1e-2", *arguments]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *given], capture_output=True, text=True, check=True
    )
    heads, rule, row = (line.split("|")[1:-1] for line in done.stdout.splitlines())
    assert len(heads) == len(rule) == len(row)
    return dict(zip([head.strip() for head in heads], [cell.strip() for cell in row], strict=True))


def test_it_times_the_variants_that_are_asked_for(tmp_path):
    table = tmp_path / "table.md"
    cells = cells_of("--variants", "auto", "plain", "--repeats", "1", "--out", str(table))
    assert list(cells) == ["set", "λ", "auto", "plain"]
    for name in ("auto", "plain"):
        first, second = (each.split(" ") for each in cells[name].split(", "))
        assert 0.0 < float(first[0]) <= float(second[0])
        assert 1 <= int(first[1].strip("()")) <= int(second[1].strip("()"))
    assert cells["auto"] in table.read_text()


def test_counts_are_the_same_again():
    first = cells_of("--counts")
    assert first == cells_of("--counts")
    assert {"auto", "plain", "dual", "newton"} <= set(first)
