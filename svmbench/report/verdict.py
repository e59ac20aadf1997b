"""The answer of a results folder: which solver takes least to each accuracy, and how clearly.

"Clear of" is said of medians whose intervals do not overlap, and nothing is called faster
than another on less.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import samples
from svmbench.records.statistics import median, median_interval
from svmbench.records.summaries import Summary
from svmbench.report.tables import interval_text, summarise

#: The place of the one finding where no accuracy was asked for.
_STOP = "at the stop"


@dataclass(frozen=True)
class Finding:
    """Who is first at one threshold of one λ.

    Parameters
    ----------
    place : str
        The threshold.
    leader : str
        Label with the least median; empty when none arrives.
    value : str
        That median with its interval and unit.
    remark : str
        How clear that is.
    clear : bool
        Whether the leader's interval lies apart from all others'.
    """

    place: str
    leader: str
    value: str
    remark: str
    clear: bool = False


@dataclass(frozen=True)
class Problem:
    """The findings for one data set and λ.

    Parameters
    ----------
    lam : str
    findings : tuple of Finding
    missing : tuple of str
        Who does not arrive, where, and why.
    """

    lam: str
    findings: tuple[Finding, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What is found on one data set.

    Parameters
    ----------
    heading : str
    headline : str
        In a sentence.
    problems : tuple of Problem
        One a λ.
    """

    heading: str
    headline: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class _Contender:
    label: str
    median: float
    low: float
    high: float
    samples: int


def verdicts(results: Results) -> list[Verdict]:
    """One verdict a data set: on times, or on the objective when no accuracy was asked for."""
    if not results.thresholds:
        return [
            _verdict(heading(*key), [_at_the_stop(members) for members in _by_lambda(groups)])
            for key, groups in results.groups.items()
        ]
    found = []
    for key, members in summarise(results, "time").items():
        summaries = {id(group): row for group, row in members}
        problems = [
            _problem([(group, summaries[id(group)]) for group in groups])
            for groups in _by_lambda([group for group, _ in members])
        ]
        found.append(_verdict(heading(*key), problems))
    return found


def _by_lambda(groups: Sequence[Group]) -> Iterator[list[Group]]:
    for lam in dict.fromkeys(group.lam for group in groups):
        yield [group for group in groups if group.lam == lam]


def _verdict(title: str, problems: Sequence[Problem]) -> Verdict:
    return Verdict(title, _headline(problems), tuple(problems))


def _headline(problems: Sequence[Problem]) -> str:
    """Who leads at the last place, which is the tightest accuracy, over the λ."""
    last = [(problem.lam, problem.findings[-1]) for problem in problems]
    parts = []
    for leader in dict.fromkeys(finding.leader for _, finding in last):
        lambdas = [lam for lam, finding in last if finding.leader == leader]
        clear = [lam for lam, finding in last if finding.leader == leader and finding.clear]
        at = f"at λ = {', '.join(lambdas)}"
        if not leader:
            parts.append(f"no solver {at}")
        elif len(clear) == len(lambdas):
            parts.append(f"{leader} {at}, clear of all others")
        elif clear:
            parts.append(f"{leader} {at}, clear of all others at {', '.join(clear)}")
        else:
            parts.append(f"{leader} {at}, not clear of all others")
    place = last[0][1].place
    what = "distance from the optimum" if place == _STOP else "time to"
    return f"Least median {what} {place}: {'; '.join(parts)}."


# ---------------------------------------------------------------- times


def _problem(members: Sequence[tuple[Group, Sequence[Summary]]]) -> Problem:
    findings = []
    for at in range(len(members[0][1])):
        column = [(group.label, row[at]) for group, row in members]
        contenders = [
            _Contender(label, s.median, s.low, s.high, len(s.samples)) for label, s in column
        ]
        findings.append(
            _finding(f"ε = {short(column[0][1].threshold)}", contenders, " s", "takes {} as long")
        )
    return Problem(members[0][0].written_lambda, tuple(findings), tuple(_missing(members)))


def _missing(members: Sequence[tuple[Group, Sequence[Summary]]]) -> Iterator[str]:
    """Who does not arrive, together where it is at the same place and for the same reason."""
    together: dict[tuple[str, str], list[str]] = {}
    for group, row in members:
        unreached = [summary for summary in row if not math.isfinite(summary.median)]
        if not unreached:
            continue
        first = unreached[0]
        count = sum(map(math.isfinite, first.samples))
        partly = f", {count} of {len(first.samples)}" if len(first.samples) > 1 else ""
        whole = len(unreached) == len(row)
        where = "at none of the ε" if whole else f"not at ε ≤ {short(first.threshold)}"
        reason = f"{first.limit}{partly}"
        together.setdefault((where, reason), []).append(group.label)
    for (where, reason), labels in together.items():
        yield f"{', '.join(labels)}: {where} ({reason})".replace("≥ ", "≥\N{NO-BREAK SPACE}")


def _finding(place: str, contenders: Sequence[_Contender], unit: str, verb: str) -> Finding:
    ranked = sorted((c for c in contenders if math.isfinite(c.median)), key=lambda c: c.median)
    if not ranked:
        return Finding(place, "", "", "No solver arrives in the median.")
    leader, *others = ranked
    clear, remark = _clarity(leader, others, len(contenders), verb)
    value = interval_text(leader.median, leader.low, leader.high) + unit
    return Finding(place, leader.label, value, remark, clear)


def _clarity(
    leader: _Contender, others: Sequence[_Contender], entered: int, verb: str
) -> tuple[bool, str]:
    """Whether the least median is clear of all others, and how to say it."""
    if entered == 1:
        return False, "The only solver."
    if not others:
        return True, "No other arrives in the median."
    following = f"the next, {others[0].label}, {_ratio(others[0].median, leader.median, verb)}"
    if min(leader.samples, others[0].samples) == 1:
        return False, f"Single runs show no order; {following}."
    rivals = [c.label for c in others if c.low <= leader.high or c.median == leader.median]
    if not rivals:
        return True, f"Clear of all others; {following}."
    every = len(rivals) == len(others) > 1
    named = ("all others" + " that arrive" * (len(others) < entered - 1)) if every else ""
    return False, f"Interval overlaps with {named or ', '.join(rivals)}: no order shown."


def _ratio(value: float, least: float, verb: str) -> str:
    factor = f"{value / least:.2g} times" if 0 < value < 1e3 * least else "over 1000 times"
    return verb.format(factor)


# ---------------------------------------------------------------- objective


def _at_the_stop(groups: Sequence[Group]) -> Problem:
    contenders, missing = [], []
    for group in groups:
        values = list(samples(group, Asked("accuracy")).values())
        if not values or math.isinf(median(values)):
            missing.append(f"{group.label}: {_ends(group)}")
            continue
        low, high, _ = median_interval(values)
        contenders.append(_Contender(group.label, median(values), low, high, len(values)))
    finding = _finding(_STOP, contenders, "", "is {} as far from the optimum")
    return Problem(groups[0].written_lambda, (finding,), tuple(missing))


def _ends(group: Group) -> str:
    return ", ".join(dict.fromkeys(state.replace("_", " ") for state in group.runs["state"]))
