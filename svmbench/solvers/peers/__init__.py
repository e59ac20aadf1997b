"""Widely used external programs, run through the same interface."""
