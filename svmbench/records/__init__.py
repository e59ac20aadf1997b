"""Finished runs: reading a results folder, grouping its runs, and statistics on them.

The harness writes results with these modules; reports, papers and the benchmark read them.
Nothing here runs a solver.
"""
