"""First-order methods of online convex optimisation, with or without an l1 ball."""
