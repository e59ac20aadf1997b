"""Settings of the whole suite.

Hypothesis makes the same examples on every run, so that a red test is red for its
neighbour too; ``pytest --hypothesis-profile explore`` looks at many new ones.
"""

import itertools
import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("repeatable", deadline=None, max_examples=60, derandomize=True)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=2000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

#: Fixtures that tests of several folders share.
pytest_plugins = ["results_folders", "browser", "latex"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Two more than there are processors: many tests wait for processes and limits."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist takes the user's own number
    return (os.cpu_count() or 1) + 2


@pytest.fixture(scope="session")
def empty_folders(tmp_path_factory):
    """One empty folder after another; `mktemp` looks through all of the session for each."""
    root = tmp_path_factory.mktemp("folders")

    def made():
        for number in itertools.count():
            folder = root / str(number)
            folder.mkdir()
            yield folder

    return made()


@pytest.fixture
def own_cache(empty_folders, monkeypatch):
    """An empty cache folder, which is in use."""
    folder = next(empty_folders)
    monkeypatch.setenv("SVMBENCH_CACHE", str(folder))
    return folder
