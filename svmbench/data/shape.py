"""The shape of a stand-in, and the published figures that it should meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Fraction = Annotated[float, Field(ge=0, le=1)]

#: Largest relative deviations from a published P* and from a published test error.
PRIMAL_TOLERANCE, ERROR_TOLERANCE = 0.02, 0.1


class CatalogueModel(BaseModel):
    """A part of a description file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnLaw(CatalogueModel):
    """How often each column occurs in a stand-in's rows."""

    law: Literal["zipf", "uniform", "dense"] = "uniform"
    exponent: float = Field(default=1.0, gt=0)


class ValueLaw(CatalogueModel):
    """The distribution of a stand-in's entries."""

    kind: Literal["ones", "tfidf", "normal", "counts"] = "normal"


class Topics(CatalogueModel):
    """The topics of a text stand-in's documents, by the law of `synthetic.TopicModel`."""

    count: int = Field(default=20, gt=0)
    words: int = Field(default=1000, gt=0)
    share: float = Field(gt=0, lt=1)
    spread: float = Field(default=0.6, ge=0, allow_inf_nan=False)
    vague: float = Field(default=0.0, ge=0, lt=1)


class Means(CatalogueModel):
    """Classes that differ in their means, in a dense stand-in."""

    # between the means of the two classes, in standard deviations of a column
    distance: float = Field(ge=0, allow_inf_nan=False)
    # standard deviation of the logarithm of the values along the line through both means; without
    # skew they are normal
    skew: float = Field(default=0.0, ge=0, le=3)


class Shape(CatalogueModel):
    """The shape of a data set, from which a stand-in is generated as `synthetic` says."""

    m: int = Field(gt=0)
    m_test: int = Field(default=0, ge=0)
    d: int = Field(gt=0, lt=1 << 31)
    density: float | None = Field(default=None, gt=0, le=1)
    nnz_row: float | None = Field(default=None, gt=0)
    columns: ColumnLaw = ColumnLaw()
    values: ValueLaw = ValueLaw()
    unit_norm: bool = False
    positives: Fraction = 0.5
    noise: float = Field(default=0.0, ge=0, le=0.5)
    margin_noise: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    conditioning: float = Field(default=0.0, ge=0)
    # It gives the rows one common direction, along which steps of a stochastic method are noisiest.
    offset: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    size: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    topics: Topics | None = None
    means: Means | None = None
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _one_count_that_fits(self) -> Self:
        if (self.density is None) == (self.nnz_row is None):
            raise ValueError("give one of density and nnz_row")
        if self.nnz_row is not None and self.nnz_row > self.d:
            raise ValueError("nnz_row is above d")
        if (self.columns.law == "dense") != (self.fraction == 1):
            raise ValueError("the law is dense exactly when every entry is there")
        if self.topics is not None and self.columns.law != "zipf":
            raise ValueError("topics need columns of Zipf's law")
        if self.means is not None and (self.columns.law != "dense" or self.values.kind != "normal"):
            raise ValueError("means need dense columns and normal values")
        if self.means is not None and self.conditioning:
            raise ValueError("means need columns of variance 1; leave 'conditioning' out")
        if self.means is not None and self.offset:
            raise ValueError("means are those of the classes; leave 'offset' out")
        if self.margin_noise and (self.topics is not None or self.means is not None):
            raise ValueError("margin_noise belongs to labels from a plane")
        if self.offset and self.values.kind != "normal":
            raise ValueError("offset belongs to normal values, whose mean is 0 without it")
        if self.size != 1.0 and self.unit_norm:
            raise ValueError("size has no effect on rows of unit norm")
        return self

    @property
    def fraction(self) -> float:
        """Mean fraction of nonzero entries."""
        if self.density is not None:
            return self.density
        assert self.nnz_row is not None
        return self.nnz_row / self.d


class Reached(CatalogueModel):
    """What a stand-in reaches of a `CalibrationTarget`, as ``scripts/calibrate.py`` measured it."""

    generator: int = Field(gt=0)  # `svmbench.data.synthetic.GENERATOR_VERSION` of the rows
    scale: float = Field(gt=0)  # of the stand-in
    rows: int = Field(gt=0)  # training rows
    primal: float = Field(gt=0)  # P* of these rows, certified to a relative gap of 1e-3 or less
    test_error: Fraction | None = None  # of the optimum


class CalibrationTarget(CatalogueModel):
    """A published figure of the real data set, which its full stand-in should meet."""

    model_config = ConfigDict(populate_by_name=True)

    lam: float = Field(alias="lambda", gt=0)
    loss: str = "hinge"
    # as in a configuration; they lead from the set's files to the published rows
    transforms: tuple[Any, ...] = ()
    primal: float | None = Field(default=None, gt=0)
    test_error: Fraction | None = None
    source: str  # where the figures are published, and how ours follow from them
    reached: Reached | None = None

    @model_validator(mode="after")
    def _has_a_figure(self) -> Self:
        if self.primal is None and self.test_error is None:
            raise ValueError("give primal, test_error or both")
        return self


def calibration(targets: Sequence[CalibrationTarget]) -> Iterator[str]:
    """The published and the reached figures of a stand-in, a phrase for each target."""
    for target in targets:
        reached = target.reached
        figures = []
        if target.primal is not None:
            ours = "not measured" if reached is None else f"{reached.primal:.5g}"
            figures.append(f"P* {ours} (published {target.primal:.5g})")
        if target.test_error is not None:
            known = None if reached is None else reached.test_error
            ours = "not measured" if known is None else _percent(known)
            figures.append(f"test error {ours} (published {_percent(target.test_error)})")
        rows = "" if reached is None else f", {reached.rows:,} rows"
        lam = f"{target.lam:.4g}".replace("e-0", "e-")
        yield f"{' and '.join(figures)} at λ = {lam}, {target.loss}{rows}"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
