"""A model's files: whole whenever the program is killed, and known to belong together."""

import hashlib
import itertools
import json
import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from problems import dataset
from svmbench.data import liblinear_model
from svmbench.errors import DataError
from svmbench.train import files
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective

#: Modules whose lines are the moments of writing.
WRITERS = ("durable.py", "liblinear_model.py", str(Path("train") / "files.py"))


def trained(C):
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + labels[:, None]
    examples = Examples(dataset(X, np.ones(60), "dense float64"), labels)
    found = train(examples, Objective(C=C))
    return found.model, files.certificate(found, examples, Objective(C=C))


def killed_at(moment, work):
    """Whether a child that does the work was killed before its line of that number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which the child does not use
        child = os.fork()
    if child == 0:
        lines = itertools.count()

        def trace(frame, event, arg):
            if not frame.f_code.co_filename.endswith(WRITERS):
                return None
            if event == "line" and next(lines) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        work()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL)
    return status != 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_program_that_is_killed_leaves_the_old_files_or_the_new_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(liblinear_model, "_AT_A_TIME", 3)  # a line at a time
    path = tmp_path / "model"
    old, new = trained(0.1), trained(10.0)
    known = {}
    for name, each in (("old", old), ("new", new)):
        files.save(path, *each)
        known[path.read_bytes()] = name
    seen = []
    for moment in itertools.count():
        files.save(path, *old)
        killed = killed_at(moment, lambda: files.save(path, *new))
        model = path.read_bytes()
        facts = json.loads(files.certificate_path(path).read_text())
        state = known[model], facts["C"]
        if state not in seen:
            seen.append(state)
        own = facts["model_sha256"] == hashlib.sha256(model).hexdigest()
        assert files.certificate_of(path)[1] is not own
        if not killed:
            break
    assert seen == [("old", 0.1), ("new", 0.1), ("new", 10.0)]
    assert moment > 100


@pytest.mark.parametrize("beside", ["[]", "{}", '{"model_sha256": null}'])
def test_what_names_no_model_is_no_certificate_of_another(tmp_path, beside):
    path = tmp_path / "model"
    path.write_text("content")
    assert not files.certificate_of(path)[1]
    files.certificate_path(path).write_text(beside, encoding="latin-1")
    assert not files.certificate_of(path)[1]


@pytest.mark.parametrize("beside", ["", "{", "\xff", "[" * 100_000])
def test_a_damaged_certificate_is_refused(tmp_path, beside):
    path = tmp_path / "model"
    path.write_text("content")
    files.certificate_path(path).write_text(beside, encoding="latin-1")
    with pytest.raises(DataError, match=r"model.json: cannot be read \(damaged\)"):
        files.certificate_of(path)


def test_a_pipe_is_no_certificate(tmp_path):
    path = tmp_path / "model"
    path.write_text("content")
    os.mkfifo(files.certificate_path(path))  # whoever opens it waits
    assert not files.certificate_of(path)[1]
