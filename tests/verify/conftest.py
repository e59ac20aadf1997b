"""A cache of its own for each test."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
