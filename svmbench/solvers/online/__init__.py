"""First-order methods of online convex optimisation, on the l1 ball or without one."""
