"""Claims about runs, and what the runs say about them.

`model` has the claims as a file writes them, `empty` refuses those that say nothing,
`kinds` turns a claim and its rows into questions, and `judge` answers the questions of all claims
of a page together.
"""
