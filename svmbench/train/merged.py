"""Equal rows of a class, trained on as one row with a weight.

P and D remain the same numbers: the losses of equal rows are equal, and so may be their dual
variables, because D is concave.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svmbench.data.derived import take_rows
from svmbench.kernels.equal_rows import count_alike, group_equal
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective

#: Share of the rows that may differ for equal ones to be merged. To find and to copy them takes
#: as long as 7 passes over the rows of kddcup10 (0.29 differ), and weights take time, too: on adult
#: (0.80) and w8a (0.70), fits of merged rows took 0.7 to 1.3 times as long.
MOST_DIFFERENT = 0.5


def merged(examples: Examples, objective: Objective) -> Examples:
    """The examples without repeated rows, if these are most of them; else as they are.

    Rows in a file are left as they are, and so are those that auto trains on, which knows no
    weights.

    Parameters
    ----------
    examples : Examples
    objective : Objective
        Its C does not matter.
    """
    weights, rows = examples.row_weights, examples.rows
    weighted = weights is not None or examples.class_weights
    of_auto = objective.loss == "hinge" and objective.bias != "free" and not weighted
    if rows.mapped_bytes or of_auto:
        return examples
    most = int(MOST_DIFFERENT * rows.n_samples)
    if count_alike(rows.rows, examples.labels) > most:
        return examples
    first, sums = group_equal(rows.rows, examples.labels, weights, most)
    if first is None or not np.isfinite(sums).all():
        return examples
    return replace(
        examples, rows=take_rows(rows, first), labels=examples.labels[first], row_weights=sums
    )
