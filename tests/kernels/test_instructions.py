"""Instructions a nonzero of the hot kernels: what seconds on a busy machine cannot tell.

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from svmbench.kernels import dcd

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KERNELS = ROOT / "kernels"
COUNTED = ("descent", "dcd", "pegasos", "sgd_primal", "sampling")
NEEDED = ("rows", "rng", "scaled", "counters")  # built, but not counted, and so not optimised
COMPILER = "gcc"
VERSION = 12

#: Instructions a touched nonzero, as measured; a tenth more is too many.
MEASURED = {
    "auto texts": 9.28,
    "auto indicators": 9.56,
    "auto dense": 5.23,
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


def c_source(name, folder):
    """The C source of a kernel: the one that its build left, unless that is older than it."""
    built = ROOT / "build" / "cython" / "kernels" / f"{name}.c"
    sources = [KERNELS / f"{name}.pyx", *KERNELS.glob("*.pxd")]
    if built.exists() and built.stat().st_mtime > max(s.stat().st_mtime for s in sources):
        return built
    made = folder / f"{name}.c"
    directives = ("boundscheck", "wraparound", "initializedcheck")
    subprocess.run(
        [
            *(sys.executable, "-m", "cython", "-3", "-I", str(ROOT / "build" / "pxd")),
            *(f"-X{directive}=False" for directive in directives),
            *("-Xcdivision=True", "-Xembedsignature=True", "-o", str(made)),
            *("--module-name", f"svmbench.kernels.{name}", str(KERNELS / f"{name}.pyx")),
        ],
        check=True,
    )
    return made


def build(folder):
    """A package of the kernels counted, portable, and the library that starts the counting."""
    package = folder / "svmbench" / "kernels"
    package.mkdir(parents=True)
    for place in (package, package.parent):
        (place / "__init__.py").touch()
    flags = [flag for flag in dcd.__build__["flags"].split() if not flag.startswith("-march")]
    own = [f for f in sysconfig.get_config_var("CFLAGS").split() if f != "-g"]
    shared = [*compiler(), "-w", *own, *flags, "-fPIC", "-shared"]
    include = f"-I{sysconfig.get_paths()['include']}"

    def compiled(name):
        target = package / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        source, level = c_source(name, folder), ["-O0"] if name in NEEDED else []
        subprocess.run([*shared, *level, include, str(source), "-o", str(target)], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, COUNTED + NEEDED))
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


def test_no_hot_kernel_takes_a_tenth_more_instructions_than_it_did(tmp_path):
    require_what_counts()
    found = counts(tmp_path)
    assert found.keys() == MEASURED.keys()
    table = "\n".join(f"{label}: {found[label]:.2f}, was {MEASURED[label]:.2f}" for label in found)
    assert all(found[label] <= 1.1 * MEASURED[label] for label in found), f"\n{table}"
