"""A path's files: a table as CSV, the same as JSON with the origin of the rows, and a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.durable import replacing
from svmbench.train.files import origin

if TYPE_CHECKING:
    from svmbench.train.examples import Examples
    from svmbench.train.objective import Objective
    from svmbench.train.path import Point
    from svmbench.train.validation import Validation

#: Columns of cross-validation, where there was one.
_VALIDATED = ("validation_error", "low", "high")


@dataclass(frozen=True)
class PathFiles:
    """Where a path's files go.

    Parameters
    ----------
    table, document, plot : Path
    """

    table: Path
    document: Path
    plot: Path

    @classmethod
    def beside(cls, model: Path) -> PathFiles:
        """Files named after a model's, whether or not it is written."""
        table, document, plot = (
            model.with_name(f"{model.name}.path.{suffix}") for suffix in ("csv", "json", "svg")
        )
        return cls(table, document, plot)

    @property
    def all(self) -> tuple[Path, ...]:
        """Each of them."""
        return self.table, self.document, self.plot


def records(points: Sequence[Point], validation: Validation | None) -> list[dict[str, Any]]:
    """One record for each C; the columns of cross-validation are None where it did not try C."""
    shares = {} if validation is None else dict(
        zip(validation.values, validation.shares(), strict=True)
    )  # fmt: skip
    found = []
    for each in points:
        record: dict[str, Any] = asdict(each)
        if not math.isfinite(each.gap):  # JSON knows no infinity
            record["gap"] = None
        if validation is not None:
            record |= dict(zip(_VALIDATED, shares.get(each.C, (None,) * 3), strict=True))
        found.append(record)
    return found


def document(
    points: Sequence[Point],
    examples: Examples,
    objective: Objective,
    tolerance: float,
    validation: Validation | None = None,
) -> dict[str, Any]:
    """The path, of which rows, and by what program."""
    return {
        **origin(examples, objective),
        "problem": "objective = 1/2 ||w||^2 + C sum weight loss, summed over the classes; "
        "bound <= least objective <= objective",
        "tolerance": tolerance,
        "values": records(points, validation),
    }


def save_path(
    files: PathFiles,
    points: Sequence[Point],
    examples: Examples,
    objective: Objective,
    tolerance: float,
    validation: Validation | None = None,
) -> None:
    """Write the table and the document, each as a whole.

    Raises
    ------
    UnwritableError
        When a file cannot be written.
    """
    import csv  # a training without a path needs the names of the files only

    with replacing(files.table) as file:
        lines = records(points, validation)
        writer = csv.DictWriter(file, fieldnames=list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    with replacing(files.document) as file:
        json.dump(
            document(points, examples, objective, tolerance, validation),
            file, indent=2, allow_nan=False,
        )  # fmt: skip
        file.write("\n")
