"""Instructions per nonzero of the hot kernels, which a busy machine does not change.

Counted by callgrind on a portable build of the kernels, which is made here: callgrind does not
know the newest instructions, and a build for the machine at hand would count its own.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Those that are counted, and what they need.
KERNELS = (
    *("descent", "dcd", "pegasos", "sgd_primal", "sampling"),
    *("rows", "rng", "scaled", "rowwise", "counters", "room"),
)
VERSION = 12

#: Instructions a touched nonzero, as measured; a tenth more is too many.
MEASURED = {
    "auto texts": 8.25,
    "auto indicators": 10.43,
    "auto dense": 5.44,
    "dcd texts": 9.85,
    "sgd-s texts": 9.11,
    "pegasos texts": 9.31,
    "dcd indicators": 11.93,
    "sgd-s indicators": 10.11,
    "pegasos indicators": 11.01,
    "dcd dense": 5.74,
    "sgd-s dense": 5.35,
    "pegasos dense": 5.59,
}

CLIENT = """
#include <valgrind/callgrind.h>
void count_from_here(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void count_to_here(const char *label)
{ CALLGRIND_DUMP_STATS_AT(label); CALLGRIND_STOP_INSTRUMENTATION; }
"""


def compiler():
    """The C compiler's words, and its version in its own words."""
    words = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"the C compiler {words[0]} is not there")
    return words


def require_what_counts():
    """Skip where there is nothing to count with, or where other counts are right."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    words = [*compiler(), "-dM", "-E", "-x", "c", os.devnull]
    macros = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = re.search(r"__GNUC__ (\d+)", macros)
    if platform.machine() != "x86_64" or "__clang__" in macros or found[1] != str(VERSION):
        pytest.skip(f"the bounds are those of GCC {VERSION} on x86-64")


def build(folder):
    """A package of the kernels counted, portable, and the library that starts the counting."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "kernels", folder / "kernels", ignore=shutil.ignore_patterns("*.so"))
    # What Cython has made of the same sources; it makes anew what is older than its source.
    for made in (ROOT / "build").glob("cython-*"):
        shutil.copytree(made, folder / "build" / made.name)
    chosen = {"SVMBENCH_NATIVE": "0", "SVMBENCH_CFLAGS": "", "SVMBENCH_KERNELS": " ".join(KERNELS)}
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "."],
        cwd=folder,
        env=os.environ | chosen,
        capture_output=True,
        check=True,
    )
    for package in ("svmbench", "svmbench/kernels"):
        (folder / package / "__init__.py").touch()
    (folder / "client.c").write_text(CLIENT)
    library = folder / "client.so"
    words = [*compiler(), "-fPIC", "-shared", str(folder / "client.c"), "-o", str(library)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("the headers of valgrind are not installed")
    return library


def counts(folder):
    """Instructions a touched nonzero by label, less those of a call that takes no step."""
    library = build(folder)
    done = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--instr-atstart=no", "-q"),
            f"--callgrind-out-file={folder}/count",
            *(sys.executable, str(HERE / "counted.py"), str(library)),
        ],
        env={**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    instructions = {}
    for dump in folder.glob("count.*"):
        text = dump.read_text()
        label = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if label and total:
            instructions[label[1]] = int(total[1])
    touched = json.loads(done.stdout)
    return {
        label: (instructions[label] - instructions[f"{label} 0"]) / nonzeros
        for label, nonzeros in touched.items()
    }


@pytest.mark.slow
def test_no_hot_kernel_takes_a_tenth_more_instructions_than_it_did(tmp_path):
    require_what_counts()
    found = counts(tmp_path)
    assert found.keys() == MEASURED.keys()
    table = "\n".join(f"{label}: {found[label]:.2f}, was {MEASURED[label]:.2f}" for label in found)
    assert all(found[label] <= 1.1 * MEASURED[label] for label in found), f"\n{table}"
