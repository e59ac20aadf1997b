"""Kernels own their state: what Python calls has few arguments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[2] / "kernels"

#: Most arguments of a function or method that Python can call, besides ``self``.
MOST = 8

_HEADING = re.compile(r"^[ ]*(?:def|cpdef)\b[^(=\n]*?(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)


def arguments(text):
    """The number of arguments of each function and method that Python can call."""
    found = {}
    for name, listed in _HEADING.findall(text):
        plain = re.sub(r"\[[^\]]*\]|\([^()]*\)|#.*", "", listed)
        names = [each.strip() for each in plain.split(",")]
        found[name] = sum(each not in ("", "*", "/", "self") for each in names)
    return found


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.pyx")), ids=lambda path: path.stem)
def test_no_entry_point_has_many_arguments(path):
    assert {name: n for name, n in arguments(path.read_text()).items() if n > MOST} == {}


def test_arguments_are_counted():
    text = """
cdef int inner(int a, int b):
def plain(const entry_t[::1] x, double y=f(1, 2), *, int z):
    cpdef double method(self, double[:, :] x,
                        int y) except -1:
"""
    assert arguments(text) == {"plain": 3, "method": 2}
