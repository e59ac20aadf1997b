"""The papers' claims, and what the runs say about them.

`model` has the claims as a paper's file writes them, `empty` refuses those that say nothing,
`kinds` turns a claim and its rows into questions, and `judge` answers the questions of all claims
of a page together.
"""
