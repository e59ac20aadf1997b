"""Claims about runs, and what the runs say about them.

`model` has the claims as a file writes them, and the table of their kinds. `empty` refuses
claims that say nothing. `judge` takes the questions of each claim and its rows from the function of
its kind, and answers those of all claims of a page together.
"""
