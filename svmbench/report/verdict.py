"""The answer of a results folder: which solver takes least to each accuracy, and how clearly.

A label is "shown to take less" than another if the pairs of their runs show it
(`svmbench.report.questions`), and nothing is called faster on less evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import least, samples
from svmbench.records.spelling import short
from svmbench.records.states import in_words
from svmbench.records.statistics import Estimate, estimate
from svmbench.records.summaries import Summary
from svmbench.report.numbers import interval_text
from svmbench.report.questions import ALIKE, Order, order, ranked_by
from svmbench.report.tables.accuracy import summarise

#: The only place if no accuracy was asked for.
_STOP = "at the stop"


@dataclass(frozen=True)
class Lead:
    place: str  # the accuracy
    leader: str  # label with the least median; empty if no median is finite
    value: str  # that median with its interval and unit
    # whether the leader was shown to take less than every other. An absent one counts if each of
    # its runs had spent more than the leader ever took.
    clear: bool = False
    # the label with the next median and its ratio to the least; empty if there is none
    following: str = ""
    # labels that the leader was not shown to take less than; and those that were shown to be alike
    rivals: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    others: int = 0  # how many labels there are beside the leader's that arrived in some repeat
    absent: tuple[str, ...] = ()  # labels that arrived in no repeat. They are no rivals.
    ahead: str = ""  # how many times as fast as the next a clear leader was

    @property
    def settled(self) -> bool:
        """Whether it is known of every other that it takes more, or is alike."""
        return self.clear or bool(self.alike and not self.rivals)


@dataclass(frozen=True)
class Leads:
    lam: str  # λ as it is printed
    value: float
    leads: tuple[Lead, ...]
    missing: tuple[str, ...]  # who does not reach an accuracy in the median, where, and why
    disturbed: str = ""  # whose runs were disturbed, and how many of them; empty if none was


@dataclass(frozen=True)
class Standings:
    heading: str
    problems: tuple[Leads, ...]  # one per λ


@dataclass(frozen=True)
class _Contender:
    group: Group
    found: Estimate
    absent: bool = False


def verdicts(results: Results) -> list[Standings]:
    """The standings of each data set: by time, or by the objective at the end of the runs."""
    shown = order(results)
    if not results.accuracies:
        return [
            Standings(
                heading(*key),
                tuple(_at_the_stop(shown, members) for members in _by_lambda(groups)),
            )
            for key, groups in results.groups.items()
        ]
    found = []
    for key, members in summarise(results, "time").items():
        summaries = {id(group): row for group, row in members}
        problems = [
            _to_accuracies(shown, [(group, summaries[id(group)]) for group in groups])
            for groups in _by_lambda([group for group, _ in members])
        ]
        found.append(Standings(heading(*key), tuple(problems)))
    return found


#: Headings of the lines of an answer.
_HEADER = ("data set", "λ", "to", "fastest", "median [interval]", "next", "proven")
_AT_THE_STOP = ("data set", "λ", "", "closest", "median distance [interval]", "next", "proven")


@dataclass(frozen=True)
class AnswerTable:
    """Who is fastest to each accuracy on each problem, a line each."""

    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def answer(standings: Iterable[Standings]) -> AnswerTable:
    lines = tuple(
        (
            standing.heading,
            leads.lam,
            lead.place,
            lead.leader or "nobody",
            lead.value,
            lead.following or "–",
            proof_of(lead),
        )
        for standing in standings
        for leads in standing.problems
        for lead in leads.leads
    )
    timed = any(place != _STOP for _, _, place, *_ in lines)
    return AnswerTable(_HEADER if timed else _AT_THE_STOP, lines)


def conclusion(standings: Sequence[Standings]) -> str:
    """The answer at the tightest accuracy in one sentence; empty where there is no time."""
    last = [problem.leads[-1] for standing in standings for problem in standing.problems]
    if not last or last[0].place == _STOP:
        return ""
    place = last[0].place
    if not any(lead.leader for lead in last):
        return f"no solver reached {place}"
    if len(last) == 1:
        (lead,) = last
        only, proven = f"{lead.leader} reached {place} in {lead.value}", proof_of(lead)
        if lead.clear:
            said = f"{lead.ahead} to {place}" if lead.ahead else only
            return said if proven == "yes" else f"{said}; {proven.removeprefix('yes; ')}"
        return only if proven == "–" else f"{only}; proven faster: {proven}"
    if not any(lead.others or lead.absent for lead in last):
        name = next(lead.leader for lead in last if lead.leader)
        arrived = sum(bool(lead.leader) for lead in last)
        return f"{name} reached {place} in {arrived} of {len(last)} cases"
    firsts = Counter(lead.leader for lead in last if lead.clear)
    alike = sum(lead.settled and not lead.clear for lead in last)
    shown = [f"{name} in {count}" for name, count in firsts.most_common()]
    missed = sum(not lead.leader for lead in last)
    shown += [f"alike in {alike}"] if alike else []
    left = len(last) - missed - firsts.total() - alike
    shown += [f"not decided in {left}"] if left else []
    shown += [f"nobody arrived in {missed}"] if missed else []
    return f"fastest to {place} in {len(last)} cases: {', '.join(shown)}"


def proof_of(lead: Lead) -> str:
    """Against whom the leader was shown to take less, or was not; and who did not arrive."""
    names = lead.absent
    gone = " and ".join(names) if len(names) <= 2 else f"{len(names)} others"
    absent = [f"{gone} did not arrive"] if names else []
    return "; ".join([*_compared(lead), *absent]) or "–"


def _compared(lead: Lead) -> Iterator[str]:
    open_ones = len(lead.rivals)
    if lead.clear:
        yield "yes"
    elif open_ones == lead.others > 1:
        yield "against none yet"
    elif open_ones:
        few = open_ones <= 2
        yield f"not against {' and '.join(lead.rivals) if few else f'{open_ones} of {lead.others}'}"
    if lead.alike:
        yield f"alike within {100 * (ALIKE - 1):.0f} %: {' and '.join(lead.alike)}"


def _by_lambda(groups: Sequence[Group]) -> Iterator[list[Group]]:
    for lam in dict.fromkeys(group.lam for group in groups):
        yield [group for group in groups if group.lam == lam]


# ---------------------------------------------------------------- times


def _to_accuracies(shown: Order, members: Sequence[tuple[Group, Sequence[Summary]]]) -> Leads:
    leads = []
    for at, first in enumerate(members[0][1]):
        asked = Asked("seconds", first.accuracy)
        contenders = [
            _Contender(group, row[at], row[at].absent)
            for group, row in members
            if set(group.runs["state"]) != {"not_installed"}
        ]
        place = f"ε = {short(first.accuracy)}"
        leads.append(_lead(shown, asked, place, contenders, " s"))
    groups = [group for group, _ in members]
    missing = tuple(_missing(members))
    shared = groups[0]
    return Leads(shared.written_lambda, shared.lam, tuple(leads), missing, _disturbed(groups))


def _disturbed(groups: Sequence[Group]) -> str:
    """Whose runs something else on the machine has disturbed."""
    counts = [
        f"{group.label} {count} of {len(group.runs)}"
        for group in groups
        if (count := int((group.runs["disturbed"] != "").sum()))
    ]
    return ", ".join(counts)


def _missing(members: Sequence[tuple[Group, Sequence[Summary]]]) -> Iterator[str]:
    """Who does not reach an accuracy, grouped by place and reason."""
    together: dict[tuple[str, str], list[str]] = {}
    for group, row in members:
        unreached = [summary for summary in row if not math.isfinite(summary.median)]
        if not unreached:
            continue
        first = unreached[0]
        count = sum(map(math.isfinite, first.samples))
        partly = f", {count} of {len(first.samples)}" if len(first.samples) > 1 else ""
        whole = len(unreached) == len(row)
        where = "at none of the ε" if whole else f"not at ε ≤ {short(first.accuracy)}"
        reason = f"{first.limit}{partly}"
        together.setdefault((where, reason), []).append(group.label)
    for (where, reason), labels in together.items():
        yield f"{', '.join(labels)}: {where} ({reason})".replace("≥ ", "≥\N{NO-BREAK SPACE}")


def _lead(
    shown: Order,
    asked: Asked,
    place: str,
    contenders: Sequence[_Contender],
    unit: str,
) -> Lead:
    by = ranked_by([each.group for each in contenders], asked)
    if by != asked:
        unit += " of processor time"
        contenders = [
            replace(each, found=estimate(samples(each.group, by).values()))
            if each.found.reached
            else each
            for each in contenders
        ]
    ranked = sorted(contenders, key=lambda c: c.found.median if c.found.reached else math.inf)
    if not ranked or not math.isfinite(ranked[0].found.median):
        return Lead(place, "", "")
    leader, *others = ranked
    value = interval_text(leader.found.median, leader.found.low, leader.found.high) + unit
    absent = [c for c in others if c.absent]
    arrived = [c for c in others if not c.absent]
    behind = [c.group for c in arrived if not shown.shown(leader.group, c.group, asked)]
    alike = [group for group in behind if shown.alike(leader.group, group, asked)]
    rivals = [group for group in behind if group not in alike]
    longer = [c for c in absent if _takes_longer(leader.group, c.group, asked)]
    clear = bool(others) and not behind and (bool(arrived) or len(longer) == len(absent))
    ahead = ""
    if clear and arrived and asked.name == "seconds":
        ratio = interval_text(*shown.ratio(leader.group, arrived[0].group, asked))
        ahead = f"{leader.group.label} was {ratio} times as fast as {arrived[0].group.label}"
    return Lead(
        place,
        leader.group.label,
        value,
        clear=clear,
        following=_following(leader, others[0]) if others else "",
        rivals=tuple(group.label for group in rivals),
        alike=tuple(group.label for group in alike),
        others=len(arrived),
        absent=tuple(c.group.label for c in absent),
        ahead=ahead,
    )


def _takes_longer(leader: Group, other: Group, asked: Asked) -> bool:
    """Whether every repeat of one that never arrived had spent more than the leader ever took."""
    most = max(filter(math.isfinite, samples(leader, asked).values()))
    return min(least(other, asked).values()) > most


def _following(leader: _Contender, other: _Contender) -> str:
    """The next label, and its median as a multiple of the least."""
    if not math.isfinite(other.found.median):
        return f"{other.group.label}, not reached"
    return f"{other.group.label}, {_ratio(other.found.median, leader.found.median)}x"


def _ratio(value: float, least: float) -> str:
    if value == least:  # both may be 0
        return "1.0"
    if not 0 < value < 1e3 * least:
        return "> 1000"
    ratio = float(f"{value / least:.2g}")
    return "1.0" if ratio == 1 else f"{ratio:g}"


# ---------------------------------------------------------------- objective


def _at_the_stop(shown: Order, groups: Sequence[Group]) -> Leads:
    contenders, missing = [], []
    asked = Asked("accuracy")
    for group in groups:
        found = estimate(samples(group, asked).values())
        if not math.isfinite(found.median):
            missing.append(f"{group.label}: {_ends(group)}")
        if set(group.runs["state"]) != {"not_installed"}:
            contenders.append(_Contender(group, found))
    lead = _lead(shown, asked, _STOP, contenders, "")
    return Leads(groups[0].written_lambda, groups[0].lam, (lead,), tuple(missing))


def _ends(group: Group) -> str:
    return ", ".join(dict.fromkeys(map(in_words, group.runs["state"])))
