"""Anytime-valid evidence on the ratio of paired measurements.

Evidence is an e-process: the wealth of a bettor who starts with 1 and bets against a hypothesis at
odds that are fair if it is true. If it is true, the wealth is large only with small probability,
however often one looks and whenever one stops, so that repeats may be added until a question is
decided. `questions` asks; `page.judge` answers a page of them with one bound on false verdicts.
"""
