"""The benchmark of speed: our solvers and loader beside the programs that people use."""
