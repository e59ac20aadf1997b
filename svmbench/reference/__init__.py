"""Certified optima of problems: the bound that runs are measured against, and regret."""
