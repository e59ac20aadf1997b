"""Stochastic (sub)gradient methods on the primal."""
