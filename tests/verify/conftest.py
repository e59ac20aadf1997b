"""A cache of its own for each test."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(empty_folders, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(next(empty_folders)))
