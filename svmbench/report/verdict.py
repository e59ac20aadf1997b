"""The answer of a results folder: which solver takes least to each accuracy, and how clearly.

A label is "shown to take less" than another if the pairs of their runs show it
(`svmbench.report.questions`), and nothing is called faster on less evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
    found: Estimate | None = None  # that median with its interval
    unit: str = ""
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
    def value(self) -> str:
        """The leader's median with its interval and unit."""
        found = self.found
        return interval_text(found.median, found.low, found.high) + self.unit if found else ""

    @property
    def settled(self) -> bool:
        """Whether it is known of every other that it takes more, or is alike."""
        return self.clear or bool(self.alike and not self.rivals)

    @property
    def proven(self) -> str:
        """Against whom it was shown to take less, or was not; and who did not arrive."""
        said = []
        few, count = len(self.rivals) <= 2, len(self.rivals)
        if self.clear:
            said.append("yes")
        elif count == self.others > 1:
            said.append("against none yet")
        elif count:
            who = " and ".join(self.rivals) if few else f"{count} of {self.others}"
            said.append(f"not against {who}")
        if self.alike:
            said.append(f"alike within {100 * (ALIKE - 1):.0f} %: {' and '.join(self.alike)}")
        if names := self.absent:
            gone = " and ".join(names) if len(names) <= 2 else f"{len(names)} others"
            said.append(f"{gone} did not arrive")
        return "; ".join(said) or "–"


@dataclass(frozen=True)
class Leads:
    """Who leads on one data set and λ."""

    heading: str
    lam: str  # λ as it is printed
    value: float  # λ itself
    leads: tuple[Lead, ...]
    missing: tuple[str, ...]  # who does not reach an accuracy in the median, where, and why
    disturbed: str = ""  # whose runs were disturbed, and how many of them; empty if none was


_Contender = tuple[Group, Estimate]


def verdicts(results: Results) -> list[Leads]:
    """The leads of each data set and λ: by time, or by the objective at the end of the runs."""
    shown, found = order(results), []
    judge = _to_accuracies if results.accuracies else _at_the_stop
    for key, members in summarise(results, "time").items():
        for lam in dict.fromkeys(group.lam for group, _ in members):
            same = [(group, row) for group, row in members if group.lam == lam]
            found.append(judge(shown, heading(*key), same))
    return found


#: Headings of the lines of an answer.
_HEADER = ("data set", "λ", "to", "fastest", "median [interval]", "next", "proven")
_AT_THE_STOP = ("data set", "λ", "", "closest", "median distance [interval]", "next", "proven")


def answer(standings: Iterable[Leads]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Who is fastest to each accuracy on each problem, a line each, below their header."""
    lines: list[tuple[str, ...]] = [
        (
            leads.heading,
            leads.lam,
            lead.place,
            lead.leader or "nobody",
            lead.value,
            lead.following or "–",
            lead.proven,
        )
        for leads in standings
        for lead in leads.leads
    ]
    timed = any(place != _STOP for _, _, place, *_ in lines)
    return _HEADER if timed else _AT_THE_STOP, lines


def conclusion(standings: Sequence[Leads]) -> str:
    """The answer at the tightest accuracy in one sentence; empty where there is no time."""
    last = [leads.leads[-1] for leads in standings]
    if not last or last[0].place == _STOP:
        return ""
    place = last[0].place
    if not any(lead.leader for lead in last):
        return f"no solver reached {place}"
    if len(last) == 1:
        (lead,) = last
        only, proven = f"{lead.leader} reached {place} in {lead.value}", lead.proven
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


# ---------------------------------------------------------------- times


def _to_accuracies(
    shown: Order, name: str, members: Sequence[tuple[Group, Sequence[Summary]]]
) -> Leads:
    leads = []
    for at, first in enumerate(members[0][1]):
        asked = Asked("seconds", first.accuracy)
        contenders = [
            (group, row[at])
            for group, row in members
            if set(group.runs["state"]) != {"not_installed"}
        ]
        place = f"ε = {short(first.accuracy)}"
        leads.append(_lead(shown, asked, place, contenders, " s"))
    groups = [group for group, _ in members]
    missing = tuple(_missing(members))
    one, disturbed = groups[0], _disturbed(groups)
    return Leads(name, one.written_lambda, one.lam, tuple(leads), missing, disturbed)


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
    by = ranked_by([group for group, _ in contenders], asked)
    if by != asked:
        unit += " of processor time"
        contenders = [
            (group, estimate(samples(group, by).values()) if found.reached else found)
            for group, found in contenders
        ]
    ranked = sorted(contenders, key=lambda c: c[1].median if c[1].reached else math.inf)
    if not ranked or not math.isfinite(ranked[0][1].median):
        return Lead(place, "")
    (leader, least), *others = ranked
    absent = [group for group, found in others if isinstance(found, Summary) and found.absent]
    arrived = [group for group, _ in others if group not in absent]
    behind = [group for group in arrived if not shown.shown(leader, group, asked)]
    alike = [group for group in behind if shown.alike(leader, group, asked)]
    rivals = [group for group in behind if group not in alike]
    longer = [group for group in absent if _takes_longer(leader, group, asked)]
    clear = bool(others) and not behind and (bool(arrived) or len(longer) == len(absent))
    ahead = ""
    if clear and arrived and asked.name == "seconds":
        ratio = interval_text(*shown.ratio(leader, arrived[0], asked))
        ahead = f"{leader.label} was {ratio} times as fast as {arrived[0].label}"
    return Lead(
        place,
        leader.label,
        least,
        unit,
        clear=clear,
        following=_following(*others[0], least.median) if others else "",
        rivals=tuple(group.label for group in rivals),
        alike=tuple(group.label for group in alike),
        others=len(arrived),
        absent=tuple(group.label for group in absent),
        ahead=ahead,
    )


def _takes_longer(leader: Group, other: Group, asked: Asked) -> bool:
    """Whether every repeat of one that never arrived had spent more than the leader ever took."""
    most = max(filter(math.isfinite, samples(leader, asked).values()))
    return min(least(other, asked).values()) > most


def _following(group: Group, found: Estimate, least: float) -> str:
    """The next label, and its median as a multiple of the least."""
    if not math.isfinite(found.median):
        return f"{group.label}, not reached"
    return f"{group.label}, {_ratio(found.median, least)}x"


def _ratio(value: float, least: float) -> str:
    if value == least:  # both may be 0
        return "1.0"
    if not 0 < value < 1e3 * least:
        return "> 1000"
    ratio = float(f"{value / least:.2g}")
    return "1.0" if ratio == 1 else f"{ratio:g}"


# ---------------------------------------------------------------- objective


def _at_the_stop(
    shown: Order, name: str, members: Sequence[tuple[Group, Sequence[Summary]]]
) -> Leads:
    contenders, missing = [], []
    asked = Asked("accuracy")
    for group, _ in members:
        found = estimate(samples(group, asked).values())
        if not math.isfinite(found.median):
            ends = dict.fromkeys(map(in_words, group.runs["state"]))
            missing.append(f"{group.label}: {', '.join(ends)}")
        if set(group.runs["state"]) != {"not_installed"}:
            contenders.append((group, found))
    lead = _lead(shown, asked, _STOP, contenders, "")
    first = members[0][0]
    return Leads(name, first.written_lambda, first.lam, (lead,), tuple(missing))
