"""What finished runs say: a results folder read, its runs in groups, and statistics of them.

The harness writes results with what stands here; reports, papers and the benchmark read them.
Nothing here runs a solver.
"""
