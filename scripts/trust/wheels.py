"""Test the distributions in clean environments: the sdist, its wheel, and runs elsewhere.

    python scripts/trust/wheels.py                         # with this interpreter
    python scripts/trust/wheels.py python3.12 python3.13   # with these

Each interpreter builds the wheel from the source distribution and installs it with its
dependencies into an empty virtual environment. It then runs the bundled smoke configuration from an
empty folder, and its dcd from a folder that nobody can write. This needs a package index.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNWRITABLE = Path("/proc")


def call(*arguments: object, cwd: Path, **environment: str) -> str:
    """Run a program and return its output; a failure ends this script with its message."""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def source_distribution(folder: Path) -> Path:
    """Build it from the files in git's index, so that the checkout does not change."""
    sources = folder / "sources"
    sources.mkdir()
    call("git", "checkout-index", "--all", f"--prefix={sources}/", cwd=ROOT)
    call(
        sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder / "dist",
        cwd=sources,
    )  # fmt: skip
    (path,) = (folder / "dist").glob("*.tar.gz")
    return path


def states(results: Path) -> str:
    """Final states of the runs of a sweep, with their counts."""
    with (results / "runs.csv").open(encoding="utf-8", newline="") as file:
        ends = Counter(row["state"] for row in csv.DictReader(file))
    return ", ".join(f"{count} {state}" for state, count in ends.most_common())


def tried(python: str, sdist: Path, folder: Path) -> str:
    """A row of the table: the results for the wheel of one interpreter."""
    folder.mkdir()
    call(python, "-m", "venv", folder / "venv", cwd=folder)
    bin_folder = folder / "venv" / "bin"
    pip = (bin_folder / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    call(
        *pip, "wheel", "--no-deps", "--wheel-dir", folder / "dist", sdist,
        cwd=folder, SVMBENCH_NATIVE="0",
    )  # fmt: skip
    (wheel,) = (folder / "dist").iterdir()
    call(*pip, "install", wheel, cwd=folder)
    call(*pip, "check", cwd=folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    run = (bin_folder / "svmbench", "run", "smoke", "--offline", "--quiet")
    own = {"SVMBENCH_CACHE": str(folder / "cache")}
    call(*run, cwd=elsewhere, **own)
    # Even root cannot create files in /proc.
    call(*run, "--only", "dcd", "--out", folder / "out", cwd=UNWRITABLE, **own)
    cells = (wheel.name, states(elsewhere / "results" / "smoke"), states(folder / "out"))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", default=[sys.executable])
    parser.add_argument("--sdist", type=Path, help="use this one; by default the script builds it")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sdist = asked.sdist.resolve() if asked.sdist else source_distribution(folder)
        print("| wheel | from an empty folder | dcd from /proc, with --out |")
        print("|---|---|---|")
        for number, python in enumerate(asked.pythons):
            print(tried(python, sdist, folder / str(number)), flush=True)


if __name__ == "__main__":
    main()
