"""The benchmark of speed: our solvers compared with the programs that people use."""
