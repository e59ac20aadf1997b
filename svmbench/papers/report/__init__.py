"""The report of the papers: their tables and figures, and one page for all of them."""
