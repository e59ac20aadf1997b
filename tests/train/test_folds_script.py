"""The script that measures what cross-validation of all folds at once saves, in small."""

import subprocess
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).parents[2] / "scripts" / "train" / "folds.py"


def test_both_ways_are_timed_on_files(tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.choice([-1, 1])} " + " ".join(f"{k}:{rng.normal():.3f}" for k in (1, k % 7 + 2))
        for k in range(120)
    ]
    file = tmp_path / "rows.libsvm"
    file.write_text("\n".join(lines) + "\n")
    words = [file, "--loss", "hinge", "--bias", "none", "--repeats", "1", "--folds", "3"]
    words += ["--check", "1e-4"]
    done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    cells = printed[2].split(" | ")
    assert cells[:3] == ["| hinge", "none", "rows.libsvm"]
    one_by_one, at_once, ratio = map(float, cells[3:6])
    assert min(one_by_one, at_once) > 0.0
    missed, differ = float(cells[11]), float(cells[12].rstrip(" |"))
    assert 0.0 <= missed <= differ + 1.0
    line = f"| hinge | none | 1 | {ratio:.2f} | {ratio:.2f} | {ratio:.2f} | rows.libsvm |"
    assert printed[-1] == line
