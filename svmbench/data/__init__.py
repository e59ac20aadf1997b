"""Data sets: the catalogue, fetching, readers, compact rows and their cache."""
