"""The tiny sets are what their script makes, and what their descriptions say."""

import importlib.util
from pathlib import Path

import pytest

from svmbench.bundled import bundled

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_tiny.py"
TINY = bundled("datasets") / "tiny"


@pytest.fixture(scope="module")
def script():
    """scripts/make_tiny.py as a module."""
    spec = importlib.util.spec_from_file_location("make_tiny", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_are_made_anew_byte_for_byte(script):
    made = script.contents()
    assert {path.name for path in TINY.glob("*.libsvm")} == set(made)
    for name, content in made.items():
        assert (TINY / name).read_bytes() == content, name
        assert len(content) < 100_000
