"""Settings of the whole suite.

Hypothesis makes the same examples on every run, so that a red test is red for its
neighbour too; ``pytest --hypothesis-profile explore`` looks at many new ones.
"""

import itertools
import os
import re
import zlib
from collections import defaultdict
from pathlib import Path

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


#: Why a test may be skipped where .ci/run runs, which sets SVMBENCH_KNOWN_SKIPS.
NO_DATA = "SVMBENCH_MIRROR names no folder with real data"
KNOWN_SKIPS = (
    NO_DATA,
    r"the package (sklearn-contrib-lightning|snapml) is not installed",  # no wheel for each Python
    r"this processor has no AVX-512",
    r"the machine's host took time from it",
    r"the administrator may read all folders",  # CI is one
)

#: Before a fixture names another.
_MIRROR = os.environ.get("SVMBENCH_MIRROR")


#: Cases of one test of methods that run by default; `make slow` and `make coverage` run the others.
MOST_CASES = 6
OF_METHODS = tuple(
    f"tests/{name}" for name in ("solvers/", "kernels/", "reference/", "train/", "peers/", "test_p")
)

#: Tests of developers' scripts.
SCRIPTS = ("tests/trust/",)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow the cases of a test that are too many, spread by their names, and scripts."""
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    for several in cases.values():
        several.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        if several[0].nodeid.startswith(OF_METHODS):
            for item in several[MOST_CASES:]:
                item.add_marker(pytest.mark.slow)
        if several[0].nodeid.startswith(SCRIPTS):
            for item in several:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Fail for a skip that is new, where that is asked for."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("SVMBENCH_KNOWN_SKIPS"):
        return
    reasons = {each.longrepr[2] for each in reporter.stats.get("skipped", ())}
    new = [each for each in sorted(reasons) if not re.search("|".join(KNOWN_SKIPS), each)]
    for reason in new:
        reporter.write_line(f"\nnot in KNOWN_SKIPS of tests/conftest.py: {reason}", red=True)
    if new:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data that SVMBENCH_MIRROR names."""
    if not _MIRROR or not list(Path(_MIRROR).glob("a9a*")):
        pytest.skip(NO_DATA)
    return Path(_MIRROR)


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
