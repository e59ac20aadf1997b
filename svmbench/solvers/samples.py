"""Samples of the rows on which Newton steps begin: their sizes, and how far they are solved."""

from __future__ import annotations

#: Least number of rows of a sample, in total and per feature; and its share of the rows of the
#: next stage, which is a larger sample or all rows.
SAMPLE_ROWS, SAMPLE_ROWS_A_FEATURE, SAMPLE_SHARE = 4000, 16, 0.15

#: A sample is solved to this share of d/n, about the difference between its optimum and that of
#: all rows; and to the sharper share where it has at least this many rows per feature.
SAMPLE_ACCURACY, SHARP_SAMPLE_ACCURACY, SHARP_ROWS_A_FEATURE = 0.5, 0.2, 1000


def sample_accuracy(n: int, d: int) -> float:
    """Relative gap to which a sample of n rows is solved."""
    sharp = n >= SHARP_ROWS_A_FEATURE * d
    return (SHARP_SAMPLE_ACCURACY if sharp else SAMPLE_ACCURACY) * d / n


def sample_sizes(m: int, d: int) -> list[int]:
    """Sizes of the samples that precede all m rows, ascending; none where m is small."""
    sizes: list[int] = []
    size = int(SAMPLE_SHARE * m)
    while size >= max(SAMPLE_ROWS, SAMPLE_ROWS_A_FEATURE * d):
        sizes.insert(0, size)
        size = int(SAMPLE_SHARE * size)
    return sizes
