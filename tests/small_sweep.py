"""A sweep of one short run, and what it leaves, for tests of how runs are executed."""

import sys
from contextlib import suppress

import pandas as pd
import pytest

from svmbench.config import Sweep
from svmbench.harness.plan import plan_runs
from svmbench.harness.sweeps import OpenSweep, Options, Reporter, prepare

ONE_RUN = {
    "version": 1,
    "name": "small",
    "datasets": ["tiny-separable"],
    "lambda": [0.01],
    "solvers": ["dcd"],
    "stop": {"accuracy": [0.1], "max_epochs": 20, "time_limit": 1000.0},
    "repeats": 1,
}

#: For solvers that write nothing: the run is given up after 1.55 seconds.
SILENT = {"accuracy": [0.1], "time_limit": 0.5, "grace": 1.0}

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the means")


def sweep(**changes):
    return Sweep.model_validate(ONE_RUN | changes)


def plan(**changes):
    wanted = sweep(**changes)
    return plan_runs(wanted, prepare(wanted, Reporter(), Options()))


def runs_csv(folder):
    return pd.read_csv(folder / "runs.csv").set_index("label")


def run_sweep(wanted, folder, reporter=None, options=None):
    """Run everything in a sweep that is not finished yet, and write its tables of numbers."""
    reporter, options = reporter or Reporter(), options or Options()
    with OpenSweep(wanted, folder, reporter, options) as opened:
        reused = opened.outcome.reused
        reporter.begin(opened.announce(options) + reused, reused)
        with suppress(KeyboardInterrupt):  # the outcome records it
            opened.make(options)
    return opened.outcome
