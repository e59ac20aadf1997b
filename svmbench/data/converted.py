"""LIBSVM text of a set that is public only as delimited text with scaled columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from svmbench.data.catalogue import Conversion
from svmbench.errors import DataError


def convert(source: Path, conversion: Conversion, target: Path) -> None:
    """Write each row's label and its whole numbers other than 0.

    A column with a range holds (number - least)/(largest - least), to so many digits that the
    number is found by rounding.

    Raises DataError when the source is not such text.
    """
    try:
        table = pd.read_csv(source)
        label = table.pop(conversion.label)
        for column, (least, largest) in conversion.ranges.items():
            table[column] = table[column] * (largest - least) + least
        values = np.rint(table.to_numpy(dtype=float)).astype(int)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{source}: not the expected table ({error}); replace or delete it"
        ) from None
    with target.open("w", encoding="ascii", newline="\n") as stream:
        for row, positive in zip(values, label == conversion.positive, strict=True):
            entries = "".join(f" {at + 1}:{row[at]}" for at in np.flatnonzero(row))
            stream.write(f"{'+1' if positive else '-1'}{entries}\n")
