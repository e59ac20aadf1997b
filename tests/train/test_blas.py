"""Fits at the same time share one limit of BLAS's threads."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import threadpoolctl

from svmbench.train.blas import OneThread


class Library:
    """A BLAS with four threads, as threadpoolctl shows it."""

    threads = 4

    def select(self, user_api):
        assert user_api == "blas"
        return self

    def limit(self, limits):
        before, Library.threads = Library.threads, limits
        return SimpleNamespace(restore_original_limits=lambda: setattr(Library, "threads", before))


@pytest.fixture
def several(monkeypatch):
    """Nobody has said how many threads BLAS is to have, and nothing has been looked for yet."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setattr(OneThread, "_found", (0, None))


def test_the_last_of_several_fits_gives_the_threads_back(several, monkeypatch):
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Library)
    first, second = OneThread().held(), OneThread().held()
    seen = [Library.threads]
    for step in (first.__enter__, second.__enter__):
        step()
        seen.append(Library.threads)
    for held in (first, second):
        held.__exit__(None, None, None)
        seen.append(Library.threads)
    assert seen == [4, 1, 1, 1, 4]


def test_libraries_are_looked_for_once_until_modules_are_loaded(several, monkeypatch):
    looks = []
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", lambda: looks.append(1) or Library())
    for wanted in (1, 1, 2):
        if wanted == 2:
            monkeypatch.setitem(sys.modules, "another", ModuleType("another"))
        OneThread()
        assert len(looks) == wanted


@pytest.mark.skipif("openblas" not in str(np.show_config(mode="dicts")), reason="another BLAS")
def test_a_blas_that_was_told_to_have_one_thread_is_not_looked_for(several, monkeypatch):
    looks = []
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", lambda: looks.append(1) or Library())
    for told, found in (("1", 0), ("2", 1)):
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", told)
        with OneThread().held():
            assert len(looks) == found
            assert Library.threads == (1 if found else 4)
    assert Library.threads == 4
