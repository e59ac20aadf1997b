"""Our fastest method: `auto`, which chooses how to train, and its phases."""
