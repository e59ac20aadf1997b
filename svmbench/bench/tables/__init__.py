"""The tables of a benchmark, by subject."""
