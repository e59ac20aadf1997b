"""Results for others: published folders, and a table over the machines of several."""
