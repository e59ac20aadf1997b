"""Methods that compute steps from the curvature of the objective."""
