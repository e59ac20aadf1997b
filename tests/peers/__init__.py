"""Solvers held against independent programs, and against the claims of their papers."""
