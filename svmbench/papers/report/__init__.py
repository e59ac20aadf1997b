"""The report of the papers: their tables and figures anew, and one page for all of them."""
