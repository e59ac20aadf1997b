"""Whether LIBLINEAR's predict and ours give the same labels from our models.

    python scripts/train/predictions.py FILE ... [--test FILE] [--loss hinge] [--tol 1e-2]

Each FILE is LIBSVM text. For each loss and kind of bias a model of it is trained and written, and
both programs predict the rows of FILE, or those of --test, from the model's text. A line for each
model says how many labels differ. The exit code is 1 if any does.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from svmbench.data.liblinear_model import read_liblinear, write_liblinear
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.train.classes import train
from svmbench.train.examples import read_examples
from svmbench.train.objective import Objective


def different(model: Path, rows: Path, out: Path) -> tuple[int, int]:
    """Number of labels that differ, and of all."""
    known = read_liblinear(model)
    examples = read_examples(rows, n_features=known.n_features, dtype="float64")
    ours = known.classes_of(known.decision_values(examples.rows))
    subprocess.run(["liblinear-predict", rows, model, out], check=True, stdout=subprocess.DEVNULL)
    theirs = np.loadtxt(out, dtype=np.int64, ndmin=1)
    return int(np.count_nonzero(ours != theirs)), len(ours)


def main() -> int:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--test", type=Path, help="rows to predict")
    parser.add_argument("--loss", choices=TRAINED_LOSSES, action="append", help="may be repeated")
    parser.add_argument("--tol", type=float, default=1e-2)
    given = parser.parse_args()
    if shutil.which("liblinear-predict") is None:
        parser.error(
            "liblinear-predict is not installed; install LIBLINEAR's programs (Debian, Ubuntu: apt"
            " install liblinear-tools)"
        )
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model", Path(folder) / "out"
        for file in given.files:
            examples = read_examples(file)
            for loss in given.loss or TRAINED_LOSSES:
                for bias in TRAINED_BIASES:
                    trained = train(examples, Objective(loss, bias=bias), given.tol)
                    write_liblinear(model, trained.model)
                    differ, of = different(model, given.test or file, out)
                    print(f"{file.name}, {loss}, bias {bias}: {differ:,} of {of:,} labels differ")
                    wrong += differ
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
