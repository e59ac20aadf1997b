"""A certified benchmark of linear support vector machine training."""

__version__ = "0.1.0"
