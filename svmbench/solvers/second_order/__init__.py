"""Methods that solve for a step by the curvature of the objective."""
