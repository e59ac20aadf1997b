"""Recomputes what results claim, by other code than measured them."""
