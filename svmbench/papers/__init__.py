"""The papers: their tables and figures as sweeps, published numbers and claims, from YAML."""
