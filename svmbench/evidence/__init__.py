"""Anytime-valid evidence on the ratio of paired measurements.

Evidence is an e-process: the wealth of a bettor who starts with 1 and bets against a hypothesis at
odds that are fair if it is true. If it is true, the wealth is large only with small probability,
however often one looks and whenever one stops, so that repeats may be added until a question is
decided.

- `Question`, `paired`, `reaching`, `growing`, `changing`, `unpaired`: the questions and their pairs
- `judge`: the answers to a page of questions, with one bound on false verdicts for all of them
- `least_factor`: the least factor that some pairs are likely to show
- `across`: Wilcoxon's signed ranks over data sets, one value each
"""

from svmbench.evidence.across import MIN_DATA_SETS, Across, across
from svmbench.evidence.forecast import FEWEST, least_factor
from svmbench.evidence.growth import exponent, growing
from svmbench.evidence.page import LEVEL, Answer, Verdict, judge, verdicts
from svmbench.evidence.processes import RatioEvidence, sign_process
from svmbench.evidence.questions import (
    Question,
    changing,
    factor_of,
    log_ratios,
    paired,
    reaching,
    unpaired,
)
from svmbench.evidence.steadiness import unsteady

__all__ = [
    "FEWEST",
    "LEVEL",
    "MIN_DATA_SETS",
    "Across",
    "Answer",
    "Question",
    "RatioEvidence",
    "Verdict",
    "across",
    "changing",
    "exponent",
    "factor_of",
    "growing",
    "judge",
    "least_factor",
    "log_ratios",
    "paired",
    "reaching",
    "sign_process",
    "unpaired",
    "unsteady",
    "verdicts",
]
