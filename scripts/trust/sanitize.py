"""Run hostile input and the reader's tests on kernels built with the sanitizers.

    python scripts/trust/sanitize.py            # the reader's kernels
    python scripts/trust/sanitize.py --every    # also those of all solvers, with their tests

The kernels are built in a separate folder (by default build/sanitized), so that they never replace
the kernels for measurements. AddressSanitizer ends a process after an invalid read or write, and
UndefinedBehaviorSanitizer ends it after undefined behaviour; both count as finds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
READER = ("libsvm", "rows")
READER_TESTS = ("tests/data/test_libsvm_kernel.py",)
#: The solvers' tests, except those that run other programs.
SOLVER_TESTS = (
    "tests/kernels",
    "tests/solvers",
    "--ignore=tests/solvers/test_peers.py",
)


def runtimes() -> list[str]:
    """Libraries that must be loaded before all others; empty if the compiler lacks them."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    found = []
    for library in ("libasan.so", "libubsan.so", "libstdc++.so.6"):
        words = [*compiler, f"-print-file-name={library}"]
        try:
            said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return []
        if not Path(said).is_absolute():  # the bare name of a library that the compiler lacks
            return []
        found.append(said)
    return found


def build(folder: Path, kernels: tuple[str, ...] = READER) -> None:
    """Build the package with these kernels, or with all if there are none, into a folder."""
    environment = os.environ | {
        "SVMBENCH_SANITIZE": "1",
        "SVMBENCH_NATIVE": "0",
        "SVMBENCH_KERNELS": " ".join(kernels),
    }
    words = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(folder)]
    words += ["--build-temp", str(folder / "temporary")]
    subprocess.run(words, cwd=ROOT, env=environment, check=True)
    package = folder / "svmbench"
    for source in sorted((ROOT / "svmbench").rglob("*.py")):
        target = package / source.relative_to(ROOT / "svmbench")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    shutil.copyfile(ROOT / "kernels" / "__init__.py", package / "kernels" / "__init__.py")
    for part in ("configs", "datasets"):
        shutil.copytree(ROOT / part, package / part, dirs_exist_ok=True)


def environment(folder: Path) -> dict[str, str]:
    """Environment in which a process can load the sanitized kernels."""
    return os.environ | {
        "LD_PRELOAD": " ".join(runtimes()),
        # Python itself does not free everything at exit; this is no leak of ours.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(folder),
        "PYTHONMALLOC": "malloc",
        "OPENBLAS_NUM_THREADS": "1",
    }


@click.command(help=(__doc__ or "").split("\n\n")[0])
@click.option("--every", is_flag=True, help="All kernels, with the solvers' tests.")
@click.option("--inputs", default=1000, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--tests/--no-tests", default=True, help="Whether to run tests, too.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=ROOT / "build" / "sanitized",
    help="Folder.",
)
def main(every: bool, inputs: int, seed: int, tests: bool, folder: Path) -> None:
    """Build and run; exit with 1 if there are finds."""
    if not runtimes():
        raise click.ClickException("the compiler has no libasan or libubsan; install them")
    build(folder, () if every else READER)
    place = environment(folder)
    tried = [str(HERE / "hostile.py"), "--reader", "--inputs", str(inputs), "--seed", str(seed)]
    runs = [[sys.executable, *tried]]
    if tests:
        pytest = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        pytest += ["--numprocesses", "auto"]
        runs.append([*pytest, *READER_TESTS])
        if every:
            runs.append([*pytest, *SOLVER_TESTS])
    for words in runs:
        done = subprocess.run(words, cwd=ROOT, env=place, check=False)
        if done.returncode:
            sys.exit(1)


if __name__ == "__main__":
    main()
