"""Runs on the nodes of a Dask cluster: `place` is the planner's side, `node` the nodes'."""
