"""Fits at the same time share one limit of BLAS's threads."""

import sys
from types import ModuleType, SimpleNamespace

from svmbench.train import blas
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


def test_the_last_of_several_fits_gives_the_threads_back(monkeypatch):
    monkeypatch.setattr(blas, "ThreadpoolController", Library)
    monkeypatch.setattr(OneThread, "_found", (0, None))
    first, second = OneThread().held(), OneThread().held()
    seen = [Library.threads]
    for step in (first.__enter__, second.__enter__):
        step()
        seen.append(Library.threads)
    for held in (first, second):
        held.__exit__(None, None, None)
        seen.append(Library.threads)
    assert seen == [4, 1, 1, 1, 4]


def test_libraries_are_looked_for_once_until_modules_are_loaded(monkeypatch):
    looks = []
    monkeypatch.setattr(blas, "ThreadpoolController", lambda: looks.append(1) or Library())
    monkeypatch.setattr(OneThread, "_found", (0, None))
    for wanted in (1, 1, 2):
        if wanted == 2:
            monkeypatch.setitem(sys.modules, "another", ModuleType("another"))
        OneThread()
        assert len(looks) == wanted
