"""Certified optima of problems, against which runs are measured, and regret."""
