"""A claim as a paper's file writes it: its kind, what it compares, and how many cases must hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from svmbench.claims.places import Place, WrittenMeasure, refuse_along
from svmbench.config.reading import Strict, refuse
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.measures import ALONG, Asked

ClaimKind = Literal["ratio", "order", "reaches", "fails", "grows", "path", "untestable"]

#: Horizontal axes of the curves that claims can be about.
CURVES = tuple(name for name, each in ABSCISSAE.items() if each.in_claims)


@dataclass(frozen=True)
class KindOfClaim:
    # needs, takes: keys that it requires, and optional ones. All kinds have text, source, where and
    # least_rows.
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    along: tuple[str | None, ...] = ()  # values of its key 'along'
    # whether it says something of each solver separately, so that the solvers may be in different
    # sweeps
    alone: bool = False


#: Every kind by name.
KINDS: dict[ClaimKind, KindOfClaim] = {
    "ratio": KindOfClaim(
        ("measure",),
        ("solver", "over", "solvers", "spread", "over_dataset", "by", "published", "within",
         "along", "between", "cases", "across"),
        along=("C", "lambda", None),
    ),
    "order": KindOfClaim(
        ("solvers", "measure"), ("tie", "cases"),
    ),
    "reaches": KindOfClaim(
        ("solvers", "measure"), ("at_most", "at_least", "cases"), alone=True,
    ),
    "fails": KindOfClaim(
        ("solver", "how"), ("measure", "cases"), alone=True,
    ),
    "grows": KindOfClaim(
        ("solver", "measure", "along"), ("at_most", "at_least", "between", "points", "cases"),
        along=("lambda", "m", *CURVES), alone=True,
    ),
    "path": KindOfClaim(
        ("solver", "over", "measure", "along"),
        ("between", "by", "points", "ratios", "within", "cases"),
        along=CURVES,
    ),
    "untestable": KindOfClaim(("why",)),
}  # fmt: skip


#: Keys of all kinds.
_ALWAYS = ("text", "source", "where", "kind", "least_rows", "rests_on")

#: Largest factor: its product with another is a number.
_MOST = 1e100

Ground = Literal["program", "setting", "reconstruction"]

#: What a verdict rests on, in words.
GROUNDS: Mapping[Ground, str] = {
    "program": "our program for the authors'",
    "setting": "a setting that is lost",
    "reconstruction": "a reconstruction",
}

ClaimFactor = Annotated[float, Field(gt=0.0, le=_MOST)]

#: Largest exponent that a claim can be about: powers of it are numbers.
_STEEPEST = 100.0


class Claim(Strict):
    """A sentence of the paper, and how the runs decide it. docs/papers.md has its keys."""

    text: str
    source: str = ""
    where: Place = Place()
    kind: ClaimKind
    solver: str | None = None
    over: str | None = None
    over_dataset: str | None = None
    solvers: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    measure: WrittenMeasure | None = None
    by: ClaimFactor = 1.0
    at_most: float | None = None
    at_least: float | None = None
    published: ClaimFactor = 1.0
    within: float | None = Field(default=None, gt=1.0, le=_MOST)
    tie: float = Field(default=1.0, ge=1.0, le=_MOST)
    how: Literal["not-finite", "finite", "limit"] | None = None
    along: str | None = None
    between: tuple[float, float] | None = None
    points: int = Field(default=5, ge=2, le=1000)
    ratios: tuple[tuple[float, float], ...] = ()
    cases: Literal["all", "most", "any"] = "all"
    across: Literal["datasets"] | None = None
    least_rows: dict[str, Annotated[int, Field(gt=0)]] = Field(default={})
    rests_on: tuple[Ground, ...] = ()
    why: str | None = None
    # The item's published numbers that it is about, which no file writes here: of a ratio over data
    # sets, by data set, the measure of `over` divided by that of `solver`.
    quoted: dict[str, float] = Field(default={})

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        if not self.source.strip():
            refuse(
                "a claim needs the place where the paper makes it; add 'source', such as "
                "'Section 4.2'",
                "source",
            )
        kind = KINDS[self.kind]
        for key in kind.needs:
            if getattr(self, key) in (None, ()) or key not in self.model_fields_set:
                refuse(f"a claim of kind {self.kind} needs {key!r}; add it", key)
        for key in sorted(self.model_fields_set - {*_ALWAYS, *kind.needs, *kind.takes}):
            refuse(f"a claim of kind {self.kind} has no {key!r}; drop it", key)
        self._check_kind()
        return self

    def _check_kind(self) -> None:
        """Refuse what a kind of claim does not allow besides the keys that it has."""
        if self.kind == "reaches":
            assert self.measure is not None
            if self.measure.at is None and not self.bounds:
                refuse("reaches which value? add 'at_most' or 'at_least'", "measure")
            self._check_bounds(self.measure)
        if self.kind == "grows" and not self.bounds:
            refuse("grows with which exponent? add 'at_most' or 'at_least'", "along")
        kind = KINDS[self.kind]
        if kind.along and self.along not in kind.along:
            choices = " or ".join(filter(None, kind.along))
            refuse(f"a claim of kind {self.kind} is along {choices}; write one of them", "along")
        if self.kind == "fails" and (self.how == "limit") != (self.measure is not None):
            if self.measure is None:
                refuse("does not reach which accuracy? add 'measure'", "how")
            refuse("not-finite is a state of the run, not a measure; drop 'measure'", "measure")
        if self.kind == "path" or self.along_curve:
            self._check_curve()
        elif self.measure is not None:
            refuse_along(self.measure.measure, "measure")
        if self.kind == "grows":
            self._check_growth()
        if self.kind == "ratio":
            self._check_ratio()
        if any(0 < len(listed) < 2 for listed in (self.solvers, self.spread)) and self.compares:
            refuse(f"a claim of kind {self.kind} compares two solvers or more; add them", "solvers")
        if self.over_dataset is None and len(set(self.labels)) < len(self.labels):
            key = "solvers" if self.solvers else "over"
            refuse("a solver is not compared with itself; name another one", key)

    def _check_curve(self) -> None:
        assert self.measure is not None
        curves = (*ALONG, "regret")
        if self.measure.name not in curves:
            refuse(f"no curve shows {self.measure.name}; use {', '.join(curves)}", "measure")
        if self.kind == "path":
            self._check_path()
        self._check_range()

    def _check_range(self) -> None:
        if self.between is not None and not 0.0 < self.between[0] < self.between[1]:
            refuse("write the range as [FROM, TO], both above 0", "between")

    def _check_ratio(self) -> None:
        self._check_range()
        given = [self.solver is not None, self.over is not None]
        ways = [any(given), bool(self.solvers), bool(self.spread)]
        if ways.count(True) != 1 or given.count(True) == 1:
            refuse("which ratio? give 'solver' and 'over', or 'solvers', or 'spread'", "kind")
        if (self.along is None) != (self.between is None):
            refuse("from where to where? give both 'along' and 'between'", "along")
        if self.between is not None and len(self.solvers) > 2:
            refuse("a change is that of one ratio; name two solvers, or 'spread'", "solvers")
        if self.spread and self.between is None and self.region[0] <= 1.0:
            refuse("any two results differ by this factor; write one above 1", "by")

    def _check_path(self) -> None:
        if (self.between is None) == (not self.ratios):
            refuse("where along the path? give either 'between' or 'ratios'", "along")
        if bool(self.ratios) == (self.within is None):
            refuse("'ratios' are held 'within' a factor, a range 'by' one", "along")
        if any(not (at > 0.0 and ratio > 0.0) for at, ratio in self.ratios):
            refuse("abscissae and ratios are above 0; correct them", "ratios")

    def _check_growth(self) -> None:
        if self.along_curve and self.between is None:
            refuse("grows over which range? add 'between'", "along")
        if self.along_curve and self.points < 3:
            refuse("an exponent needs 3 points or more", "points")
        if not self.along_curve and self.model_fields_set & {"between", "points"}:
            refuse(f"all values of {self.along} count; drop 'between' and 'points'", "along")
        for key in ("at_least", "at_most"):
            if abs(getattr(self, key) or 0.0) > _STEEPEST:
                refuse(f"no exponent is beyond {_STEEPEST:g}; correct it", key)
        if self.at_least is not None and self.at_most is not None and self.at_least >= self.at_most:
            refuse("no exponent lies between these bounds; correct them", "at_most")

    def _check_bounds(self, asked: Asked) -> None:
        """Refuse bounds that any result keeps."""
        least, most = 0.0, 1.0 if asked.measure.share else math.inf
        for key, value, empty in (
            ("at_least", self.at_least, self.at_least is not None and self.at_least <= least),
            ("at_most", self.at_most, self.at_most is not None and self.at_most >= most),
        ):
            if empty:
                refuse(f"any result meets '{key}: {value:g}'; the claim says nothing", key)
        if self.at_most is not None and self.at_most < 0.0:
            refuse("no result is below 0; correct this bound", "at_most")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            refuse("no result lies between these bounds; correct them", "at_most")

    @property
    def bounds(self) -> list[tuple[str, float]]:
        """The bounds of its value or exponent, each after its sign, ≥ or ≤."""
        both = ("≥", self.at_least), ("≤", self.at_most)
        return [(sign, bound) for sign, bound in both if bound is not None]

    @property
    def asked(self) -> Asked:
        """Its measure; only for kinds that have one."""
        assert self.measure is not None
        return self.measure

    @property
    def along_curve(self) -> bool:
        """Whether it is about growth along the curves of single runs."""
        return self.kind == "grows" and self.along not in ("lambda", "m")

    @property
    def sign_along(self) -> str:
        """What it is along, as one writes it before its value."""
        return {"lambda": "λ"}.get(self.along or "", self.along or "")

    @property
    def compares(self) -> bool:
        return not KINDS[self.kind].alone

    @property
    def of_change(self) -> bool:
        """Whether it is about a ratio at one value of C or λ over that at another."""
        return self.kind == "ratio" and self.between is not None

    @property
    def region(self) -> tuple[float, float]:
        """Where the ratios that it is about are claimed to lie."""
        if self.kind == "order":
            return 1.0 / self.tie, math.inf
        if self.within is None:
            return self.by, math.inf
        return self.published / self.within, self.published * self.within

    @property
    def ratios_of(self) -> list[tuple[str, str]]:
        """The solvers below and above in each of its ratios."""
        if self.kind == "order":
            return list(pairwise(self.solvers))
        if self.solvers:
            return [(other, self.solvers[0]) for other in self.solvers[1:]]
        return [(self.solver or "", self.over or "")]

    @property
    def labels(self) -> tuple[str, ...]:
        return self.solvers or self.spread or tuple(filter(None, (self.solver, self.over)))
