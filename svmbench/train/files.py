"""Files of a training: models in LIBLINEAR's text, certificates in JSON, and tables of paths."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import svmbench
from svmbench.data.dataset import Array
from svmbench.data.liblinear_model import LiblinearModel, write_liblinear
from svmbench.durable import replacing
from svmbench.errors import DataError, is_endless
from svmbench.train.examples import Examples, SquaredLengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.data.tables import Encoding
    from svmbench.engine.fit import Fit
    from svmbench.train.classes import Trained
    from svmbench.train.objective import Objective
    from svmbench.train.path import Point
    from svmbench.train.validation import Validation


SCHEMA_VERSION = 1

#: What a certificate says of rows whose columns were scaled.
SCALED = (
    "; each column is divided by its largest absolute value in P and D, and the weights in the "
    "model are those of the rows as they were given"
)

#: Columns of cross-validation in a path's table, where there was one.
_VALIDATED = ("validation_error", "low", "high")


def certificate_path(model: Path) -> Path:
    """Path of the JSON that belongs to a model."""
    return model.parent / f"{model.name}.json"  # a folder has no name to change


class Files(NamedTuple):
    """Where the files of a training go, which are named after the model's."""

    model: Path
    certificate: Path
    validation: Path  # picture of cross-validation
    table: Path  # table, document, plot: of a path
    document: Path
    plot: Path

    @classmethod
    def beside(cls, model: Path) -> Files:
        ends = ("json", "cv.svg", "path.csv", "path.json", "path.svg")
        return cls(model, *(model.parent / f"{model.name}.{end}" for end in ends))


def save(path: Path, model: LiblinearModel, facts: dict[str, Any]) -> None:
    """Write a model, and then the facts of its `certificate` with the model's hash.

    If the program is killed between the two, the old certificate is told from that of the new
    model.
    """
    written = write_liblinear(path, model)
    _write_json(certificate_path(path), {**facts, "model_sha256": written})


def save_path(files: Files, facts: dict[str, Any]) -> None:
    """Write the table and the document of a path, from the `path_facts`."""
    import csv  # a training without a path needs the names of the files only

    lines = facts["values"]
    with replacing(files.table) as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    _write_json(files.document, facts)


def _write_json(path: Path, facts: dict[str, Any]) -> None:
    with replacing(path) as file:
        json.dump(facts, file, indent=2, allow_nan=False)
        file.write("\n")


def certificate(
    trained: Trained,
    examples: Examples,
    objective: Objective,
    validation: Validation | None = None,
) -> dict[str, Any]:
    """What is certified, of which rows, and by what program, for a JSON."""
    rows, (errors, share) = examples.rows, training_errors(examples, trained.model)
    larger, constant = examples.larger_class
    scaled = "max-abs" in rows.provenance.transforms
    longest = math.sqrt(SquaredLengths.of(rows).largest) if examples.rounded else 0.0
    chosen = {} if validation is None else {"cross_validation": _choice_of_c(validation)}
    return chosen | {
        **_origin(examples, objective),
        "problem": "P = lambda/2 ||w||^2 + 1/m sum weight loss, mean weight 1, D <= P* <= P"
        + (SCALED if scaled else ""),
        "C": objective.C,
        "lambda": objective.regularisation(rows.n_samples),
        "training_error": share,
        "larger_class": {"class": larger, "error": constant},
        "no_better_than_larger_class": share >= constant,
        "fits": [
            {
                "class": label,
                "lambda": fit.lam,
                "P": fit.primal,
                "D": fit.dual,
                # JSON knows no infinity: without a positive lower bound there is no such gap.
                "relative_gap": fit.gap if fit.dual > 0.0 else None,
                "of": "the rows as stored" if _is_moved(fit, longest) else "the text",
                "training_errors": wrong,
                "seconds": fit.seconds,
                "method": fit.method,
            }
            for label, fit, wrong in zip(examples.fitted, trained.fits, errors, strict=True)
        ],
    }


def tested(model: LiblinearModel, examples: Examples) -> dict[str, Any]:
    """How a model does on other rows: the share of errors, and the rows of each pair of classes."""
    predicted = model.classes_of(model.decision_values(examples.rows))
    return {
        "data": examples.rows.name,
        "rows": len(predicted),
        "error": float(np.mean(predicted != examples.labels)),
        **confusion(model, examples, predicted),
    }


def confusion(model: LiblinearModel, examples: Examples, predicted: Array) -> dict[str, Any]:
    """The number of rows by their own class and by the predicted one; classes ascending."""
    own = sorted({*examples.classes, *model.labels})
    row, to = (np.searchsorted(own, each) for each in (examples.labels, predicted))
    pairs = row * len(own) + to
    return {
        "classes": [examples.named(label) for label in own],
        "confusion": np.bincount(pairs, minlength=len(own) ** 2).reshape(-1, len(own)).tolist(),
    }


def _is_moved(fit: Fit, longest: float) -> bool:
    """Whether rounding to single precision may move P by more than a tenth of its gap.

    To first order P moves by the mean of alpha_i w.dx_i, where |dx_i| is at most 2^-24 |x_i|, and
    near the optimum the mean of alpha_i is at most 2 P for each loss.
    """
    return 2.0**-23 * math.sqrt(float(fit.w @ fit.w)) * longest > 0.1 * fit.gap


def training_errors(examples: Examples, model: LiblinearModel) -> tuple[tuple[int, ...], float]:
    """Training rows that each fit predicts wrongly, and the weighted share that the model does.

    A row on a plane is predicted as the rest. Rows of weight 0 do not count.
    """
    rows = examples.counting()
    values, costs = model.decision_values(rows.rows), rows.costs()
    of_fits = tuple(
        int(np.count_nonzero((values[:, k] > 0.0) != (rows.labels == label)))
        for k, label in enumerate(examples.fitted)
    )
    wrong = model.classes_of(values) != rows.labels
    return of_fits, float(costs[wrong].sum() / costs.sum())


def _choice_of_c(validation: Validation) -> dict[str, Any]:
    return {
        "folds": len(validation.errors),
        "effective_rows": validation.effective_rows,
        "chosen_is": validation.extreme,
        "no_better_than_larger_class": validation.useless,
        "tolerance": validation.tolerance,
        "largest_relative_gap": validation.gap if validation.gap < math.inf else None,
        "values": validation.facts(),
    }


def certificate_of(path: Path) -> tuple[dict[str, Any], bool]:
    """The certificate beside a model, empty without one, and whether it is another model's.

    Raises DataError if it cannot be read: it may say that indices count from 0.
    """
    beside = certificate_path(path)
    if is_endless(beside):
        return {}, False
    try:
        facts = json.loads(beside.read_text(encoding="utf-8"))
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}, False
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "damaged"
        raise DataError(
            f"{beside}: cannot be read ({why}), and says how rows are read; restore it, or remove"
            " it if indices count from 1"
        ) from None
    known = facts.get("model_sha256") if isinstance(facts, dict) else None
    if known is None:
        return {}, False
    return facts, known != hashlib.sha256(content).hexdigest()


def encoding_in(facts: dict[str, Any]) -> Encoding | None:
    """How a model reads tables, by its certificate; None if it was not trained on one.

    Raises DataError if the certificate does not say it rightly.
    """
    from svmbench.data.tables import Encoding

    table = facts.get("table")
    return Encoding.of(table) if isinstance(table, dict) else None


def was_zero_based(facts: dict[str, Any]) -> bool:
    """Whether a certificate is of rows whose indices count from 0."""
    data = facts.get("data")
    return isinstance(data, dict) and data.get("zero_based") is True


def path_facts(
    points: Sequence[Point],
    examples: Examples,
    objective: Objective,
    tolerance: float,
    validation: Validation | None = None,
) -> dict[str, Any]:
    """A path, of which rows, and by what program, for a JSON; a record for each C."""
    shares = {} if validation is None else dict(
        zip(validation.values, validation.shares(), strict=True)
    )  # fmt: skip
    values = []
    for each in points:
        record: dict[str, Any] = asdict(each)
        if not math.isfinite(each.gap):  # JSON knows no infinity
            record["gap"] = None
        if validation is not None:
            record |= dict(zip(_VALIDATED, shares.get(each.C, (None,) * 3), strict=True))
        values.append(record)
    return {
        **_origin(examples, objective),
        "problem": "objective = 1/2 ||w||^2 + C sum weight loss, summed over the classes; "
        "bound <= least objective <= objective",
        "tolerance": tolerance,
        "values": values,
    }


def _origin(examples: Examples, objective: Objective) -> dict[str, Any]:
    """What was trained, except for C, on which rows and by what program."""
    rows = examples.rows
    return {
        "schema_version": SCHEMA_VERSION,
        "program": f"svmbench {svmbench.__version__}",
        "loss": objective.loss,
        "bias": objective.bias,
        "class_weights": {str(label): w for label, w in examples.class_weights.items()},
        "data": {
            "name": rows.name,
            "sha256": rows.provenance.sha256,
            "rows": rows.n_samples,
            "features": rows.n_features,
            "entries": rows.nnz,
            "storage": rows.storage,
            "rounded": examples.rounded,
            "zero_based": "zero-based" in rows.provenance.transforms,
            "transforms": list(rows.provenance.transforms),
        },
        **({} if examples.encoding is None else {"table": examples.encoding.facts()}),
    }


_BLUE, _ORANGE, _BLACK = "#0072B2", "#D55E00", "#222222"


def validation_plot(validation: Validation) -> bytes:
    """Draw the validation error over C with its intervals, and the chosen C, as SVG."""
    figure, (axes,) = _panels(1, 4.2)
    _draw_validated(axes, validation)
    axes.set_ylabel("validation error (%), with 95 % intervals")
    return _as_svg(figure, axes, validation)


def path_plot(points: Sequence[Point], validation: Validation | None = None) -> bytes:
    """Draw the objective and the errors over C, as SVG."""
    figure, (above, below) = _panels(2, 6.4)
    values = [each.C for each in points]
    above.plot(values, [100.0 * each.share_of_zero for each in points], "o-", color=_BLACK)
    above.set_ylabel("objective (% of that of w = 0)")
    above.set_ylim(bottom=0.0)
    errors = [100.0 * each.training_error for each in points]
    if validation is not None:
        _draw_validated(below, validation)
    below.plot(values, errors, "o-", color=_ORANGE, label="training")
    below.set_ylabel("error (%)" + ("" if validation is None else ", with 95 % intervals"))
    below.legend(frameon=False)
    return _as_svg(figure, below, validation)


def _panels(rows: int, height: float) -> tuple[Figure, list[Axes]]:
    # Deferred: to load it takes longer than to choose C on many a set.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, height), layout="constrained")
    return figure, list(figure.subplots(rows, 1, sharex=True, squeeze=False).flat)


def _draw_validated(axes: Axes, validation: Validation) -> None:
    errors, low, high = (
        [100.0 * share for share in each] for each in zip(*validation.shares(), strict=True)
    )
    axes.fill_between(validation.values, low, high, color=_BLUE, alpha=0.2, linewidth=0)
    axes.plot(validation.values, errors, "o-", color=_BLUE, label="validation")
    axes.axvline(validation.best, color="grey", linestyle=":")


def _as_svg(figure: Figure, lowest: Axes, validation: Validation | None) -> bytes:
    from matplotlib import rc_context

    lowest.set_xscale("log", base=2)
    lowest.set_xlabel("C" if validation is None else f"C; chosen: {validation.best:g}")
    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "svmbench"}):  # the same model gives the same bytes
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
