"""The suite's own best: `auto`, which chooses how to train, and the phases it is made of."""
