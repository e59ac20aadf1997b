"""The benchmark of speed: our solvers and loader compared with the programs that people use."""
