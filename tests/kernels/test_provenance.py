"""Every kernel records its build."""

import hashlib
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import svmbench.kernels

SOURCES = Path(__file__).resolve().parents[2] / "kernels"
KERNELS = sorted(
    module.name
    for module in iter_modules(svmbench.kernels.__path__)
    if not module.name.startswith("_")  # not ours
)


@pytest.mark.parametrize("name", KERNELS)
def test_the_record_names_sources_flags_and_compiler(name):
    record = import_module(f"svmbench.kernels.{name}").__build__
    assert set(record) == {"source_sha256", "flags", "compiler"}
    assert re.fullmatch("[0-9a-f]{64}", record["source_sha256"])
    assert "-ffp-contract=off" in record["flags"]
    assert "-ffast-math" not in record["flags"]
    assert record["compiler"] not in ("", "unknown")


def sources(name, found):
    """The files of a kernel, and of all kernels that these import."""
    for path in (SOURCES / f"{name}.pyx", SOURCES / f"{name}.pxd"):
        if path.exists() and path not in found:
            found.add(path)
            for line in path.read_text().splitlines():
                if line.startswith(("from .", "from svmbench.kernels.")):
                    sources(line.split()[1].rpartition(".")[2], found)
    return found


@pytest.mark.parametrize("name", sorted(source.stem for source in SOURCES.glob("*.pyx")))
def test_the_kernel_tested_is_the_one_in_the_sources(name):
    digest = hashlib.sha256()
    for source in sorted(sources(name, set())):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    built = import_module(f"svmbench.kernels.{name}").__build__["source_sha256"]
    assert built == digest.hexdigest(), "kernels/ was edited since it was built; build it again"
