"""Recompute the figures in results, by code independent of the code that measured them."""
