"""The report of one results folder: tables and plots, from its files.

Nothing here loads data or runs a solver.
"""
