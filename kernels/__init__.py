"""Compiled inner loops over sparse rows; see kernels/README.md in the sources."""
