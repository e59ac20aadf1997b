"""A cache of its own for each test, a folder to edit, and what verification finds in it."""

import pytest
from recorded_folders import copy_of

from svmbench.verify.folder import Verifier


@pytest.fixture(autouse=True)
def apart(own_cache):
    """Each test has a cache of its own."""


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of the results that a module has made."""
    return copy_of(made, tmp_path, monkeypatch) / "results"


@pytest.fixture
def wrong():
    """What does not hold in a folder, by name."""
    verifier = Verifier()  # reads the rows once

    def found(folder):
        results = verifier.folder(folder)
        return {each.name: each.reason for each in results if each.verdict != "holds"}

    return found
