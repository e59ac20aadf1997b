"""The report of one results folder: tables and plots, from the files that lie there.

Nothing here loads data or runs a solver.
"""
