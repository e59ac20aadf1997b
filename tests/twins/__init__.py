"""Plain NumPy twins of the kernels: dense, slow, and written to be read."""
