"""The report of one results folder, made from its files alone."""
