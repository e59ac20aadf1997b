"""No kernel takes a long list of arguments: it owns its state."""

import io
import tokenize
from pathlib import Path

import pytest

KERNELS = sorted((Path(__file__).resolve().parents[2] / "kernels").glob("*.pyx"))
MOST = 8


def entry_points(source):
    """Functions and methods that Python can call: name -> number of arguments but for self."""
    tokens = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type in (tokenize.NAME, tokenize.OP)
    ]
    found = {}
    for k, word in enumerate(tokens):
        if word in ("def", "cpdef"):
            opening = tokens.index("(", k)
            found[tokens[opening - 1]] = count_arguments(tokens[opening:])
    return found


def count_arguments(tokens):
    """Arguments of a signature that begins with a bracket; self and bare stars are none."""
    depth, arguments, argument = 0, 0, []
    for word in tokens:
        depth += (word in "([{") - (word in ")]}")
        if depth == 0 or (depth == 1 and word == ","):
            arguments += bool(argument) and argument not in (["self"], ["*"], ["/"])
            argument = []
        elif word != "(" or depth > 1:
            argument.append(word)
        if depth == 0:
            return arguments
    raise ValueError("the signature does not end")


def test_the_arguments_of_every_kind_of_entry_point_are_counted():
    source = '''
cdef class Method(RowWise):
    def __init__(self, CompactRows rows, const double[:, ::1] a, tuple t=(1, 2),
                 *, double lam=f(1, 2)):  # a comment, with a comma
        """Text, def text(a, b, c)."""

    cpdef double cost(self, Py_ssize_t i,) except? -1:
        return inner(1, 2, 3)

cdef void hidden(int a, int b, int c) noexcept nogil:
    pass

def nothing():
    pass
'''
    assert entry_points(source) == {"__init__": 4, "cost": 1, "nothing": 0}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)
def test_no_entry_point_takes_more_than_eight_arguments(kernel):
    found = entry_points(kernel.read_text())
    assert {name: n for name, n in found.items() if n > MOST} == {}
