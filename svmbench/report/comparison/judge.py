"""Judges what the pairs of each case show, over the whole page."""

from __future__ import annotations

from collections.abc import Sequence

from svmbench.evidence.forecast import FEWEST
from svmbench.evidence.page import Answer, judge
from svmbench.evidence.questions import Question, log_ratios
from svmbench.records.spelling import counted
from svmbench.report.comparison.match import Samples
from svmbench.report.comparison.model import ComparedCase, Conclusion
from svmbench.report.pairing import ASSUMED_SHIFT

#: A region needs a width: the least is beyond what a clock can resolve.
_LEAST_MARGIN = 1 + 1e-9


def judge_page(page: Sequence[Samples], margin: float) -> list[ComparedCase]:
    questions = [
        Question(
            log_ratios(samples.a, samples.b),
            *region(margin),
            0.0 if samples.paired else ASSUMED_SHIFT,
            exchangeable=True,
        )
        for samples in page
    ]
    return [_concluded(*each) for each in zip(page, judge(questions), strict=True)]


def region(margin: float) -> tuple[float, float]:
    """The ratios that count as no difference."""
    margin = max(margin, _LEAST_MARGIN)
    return 1 / margin, margin


def _concluded(samples: Samples, answer: Answer) -> ComparedCase:
    conclusion = _conclusion(answer)
    is_open = conclusion == "open"
    group = samples.match.one
    return ComparedCase(
        dataset=group.dataset,
        stand_in=bool(group.stand_in),  # JSON does not know numpy's
        lam=float(group.lam),
        C=float(group.runs["C"].iloc[0]),
        written_lambda=group.written_lambda,
        accuracy=samples.accuracy,
        label=samples.match.label,
        a=samples.a,
        b=samples.b,
        answer=answer,
        paired=samples.paired,
        conclusion=conclusion,
        why=_why_open(samples, answer) if is_open else "",
    )


def _conclusion(answer: Answer) -> Conclusion:
    if answer.verdict == "holds":
        return "alike"
    if answer.verdict == "open":
        return "open"
    return "slower" if answer.estimate > 1 else "faster"


def _why_open(samples: Samples, answer: Answer) -> str:
    return "; ".join(filter(None, [_what_it_takes(samples, answer), samples.missing]))


def _what_it_takes(samples: Samples, answer: Answer) -> str:
    if answer.pairs == 0:
        return "neither reached it" if samples.a else "no pairs"
    if answer.pairs < FEWEST:
        return "too few pairs for a forecast"
    if answer.more is not None:
        return f"about {counted(answer.more, 'more repeat')}"
    if not samples.paired:
        return "measured at different times: more repeats do not help"
    return "more repeats than can be run"
