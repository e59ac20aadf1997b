"""Whatever LIBLINEAR's train reads is read alike, but for what it reads without sense."""

import ctypes
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmbench.data.storage import Part
from svmbench.kernels.libsvm import ParseError, Parser

libc = ctypes.CDLL(None, use_errno=True)
address, place = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
libc.strtok.argtypes, libc.strtok.restype = [address, ctypes.c_char_p], address
libc.strtol.argtypes, libc.strtol.restype = [address, place, ctypes.c_int], ctypes.c_long
libc.strtod.argtypes, libc.strtod.restype = [address, place], ctypes.c_double


def converted(call, text, *base):
    """What a call of C's makes of a word, whether it fits, and what is left of the word."""
    end = address()
    ctypes.set_errno(0)
    number = call(text, ctypes.byref(end), *base)
    whole = end.value != text and not ctypes.get_errno()
    return number, whole, ctypes.string_at(end.value)


def theirs(line):
    """The label and the pairs that LIBLINEAR's read_problem takes from a line; None: refused."""
    buffer = ctypes.create_string_buffer(line)
    word = libc.strtok(ctypes.addressof(buffer), b" \t\n")
    if word is None:
        return None
    label, _, rest = converted(libc.strtod, word)
    if rest:
        return None
    pairs, least = [], 0
    while True:
        index = libc.strtok(None, b":")
        value = libc.strtok(None, b" \t")
        if value is None:
            return label, pairs
        number, whole, rest = converted(libc.strtol, index, 10)
        number = ctypes.c_int(number).value
        if not whole or rest or number <= least:
            return None
        least = number
        entry, whole, rest = converted(libc.strtod, value)
        if not whole or not (not rest or rest[:1].isspace()):
            return None
        pairs.append((number, entry))


def ours(line):
    """The same from our reader; no label of a line that is no row."""
    parser = Parser()
    try:
        parser.feed(line)
        part = Part(*parser.take())
    except ParseError:
        return None
    if part.n_samples == 0:
        return None, []
    if part.indices is None:
        row = part.values[0].tolist()
        return part.labels[0], [(k, value) for k, value in enumerate(row, 1) if value]
    values = [1.0] * part.nnz if part.values is None else part.values.tolist()
    return part.labels[0], list(zip((part.indices.astype(int) + 1).tolist(), values, strict=True))


#: What only LIBLINEAR reads, and how it shows in a line: each but the first loses or invents a
#: number.
NONSENSE = {
    b"1 1:0x1p3\n": rb"0[xX]",
    b"1 1:nan": rb"(?i)nan|inf|[ep]999",
    b"1 4294967297:1": rb"\d{10}:",  # it wraps to 1
    b"1 1:2\v3\n": rb"[\v\f\r\0](?!\n?$)",  # what follows is dropped, as at each of the next
    b"1 1:2 x\n": rb"[^: \t][ \t]+[^ \t\n:]+[ \t\r\n]*$",
    b"1 1:2 3:": rb":[ \t]*$",
    b"1 :1:2": rb"[ \t]:",
}

#: What only we read.
MORE = {
    b" \n": rb"^[ \t]*\r?\n?$",
    b"1 1:2# a:b\n": rb"#",
    b"1\r\n": rb"^[^:]*\r\n$",
    b"1 1:1e-310\n": rb"e-[34]\d\d",  # C calls what has fewer digits out of range
}


def matches(line, patterns):
    return any(re.search(pattern, line) for pattern in patterns.values())


def any_of(words):
    return st.sampled_from(words.split())


numbers = st.one_of(
    any_of(
        "1 +1 -1 0 -0. .5 5. -.5e+3 1e5 1E-2 007 0.10 0x1p3 0X.8P-1 -0xAbp0 0x10 0x 0x1p 0x.p1 "
        "00x1 .0x1 1e 1e+ . + 1_0 1,5 1f 0x1p99999 1e999 1e-310 1e-400 0x1p-1070 nan -inf x"
    ),
    st.floats(-10, 10).map(lambda x: f"{x:.6g}"),
    st.floats(allow_nan=False, allow_infinity=False).flatmap(
        lambda x: st.sampled_from([repr(x), x.hex()])
    ),
)
indices = st.one_of(
    any_of("1 +2 003 -4 0 +0 2147483647 2147483648 4294967299 5x + 0x6"),
    st.integers(1, 99).map(str),
)
usual = st.sampled_from([" ", " ", "\t", "  ", " \t"])
blanks = st.one_of(usual, usual, st.sampled_from(["", "\v", " \r", " :", "\f "]))
pairs_ = st.tuples(
    blanks,
    indices,
    st.sampled_from([*[":"] * 8, " :", "::", ""]),
    st.one_of(st.just(""), usual),
    numbers,
)
ends = st.sampled_from(
    [
        *(
            "\n",
            "\r\n",
            "",
            " \n",
            "\t\r\n",
            " 7:\n",
            "7:",
            " x\n",
            " # c\n",
            ":\n",
        ),
    ]
)
lines = st.tuples(st.one_of(st.just(""), usual), numbers, st.lists(pairs_, max_size=4), ends).map(
    lambda parts: "".join([parts[0], parts[1], *map("".join, parts[2]), parts[3]]).encode()
)


@settings(max_examples=500)
@given(lines)
def test_whatever_liblinear_reads(line):
    found, wanted = ours(line), theirs(line)
    if found is None:
        assert wanted is None or matches(line, NONSENSE)
    elif wanted is None:
        assert matches(line, MORE)
    else:
        label, pairs = wanted
        assert found == (label, [pair for pair in pairs if pair[1]])


@pytest.mark.parametrize("line", NONSENSE)
def test_what_liblinear_reads_without_sense_is_refused(line):
    assert theirs(line) is not None
    assert ours(line) is None
    assert matches(line, NONSENSE)


@pytest.mark.parametrize("line", MORE)
def test_what_only_we_read(line):
    assert theirs(line) is None
    assert ours(line) is not None
    assert matches(line, MORE)
