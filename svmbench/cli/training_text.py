"""What ``svmbench train`` prints: tables of errors over C, and a summary of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.records.spelling import short

if TYPE_CHECKING:
    from svmbench.train.classes import Trained
    from svmbench.train.examples import Examples
    from svmbench.train.files import PathFiles
    from svmbench.train.objective import Objective
    from svmbench.train.validation import Validation

#: Classes whose certificates are listed one by one, and those that a table of predictions has.
_LISTED, _CONFUSED = 20, 12


def shortfall(trained: Trained, tolerance: float, time_limit: float) -> str:
    """Why a model is not certified to the tolerance, and what may help."""
    worst = max(trained.fits, key=lambda fit: fit.gap)
    why = "no method came nearer; choose scaled features"
    if trained.out_of_time(tolerance, time_limit):
        why = "--time-limit ended the training; allow more time"
    elif worst.is_rounded:
        why = f"the rounding of these rows allows a gap of {worst.gap:.1e}; choose scaled features"
    return f"not proven to {tolerance:g}: {why}, a larger --tol or a smaller C"


def nearness(gap: float) -> str:
    """How far P is from the optimum at most, by a relative gap that may be infinite."""
    return f"within {gap:.1e} of the optimum" if math.isfinite(gap) else "no lower bound above 0"


def path_text(records: Sequence[dict[str, Any]], files: PathFiles) -> list[str]:
    """A path, one line for each C, and where its files are."""
    validated = "validation_error" in records[0]
    head = f"{'C':>12}  {'objective':>13}  {'gap':>7}  {'vs. w = 0':>9}  train error"
    lines = [head + ("  validation error" if validated else "")]
    for each in records:
        gap = "none" if each["gap"] is None else f"{each['gap']:.1e}"
        line = (
            f"{short(each['C']):>12}  {each['objective']:>13.7g}  {gap:>7}"
            f"  {each['share_of_zero']:>9.2%}  {each['training_error']:>11.2%}"
        )
        if validated and each["validation_error"] is not None:
            line += f"  {each['validation_error']:>16.2%}"
        lines.append(line)
    return [*lines, f"path: {files.table}, {files.document}, plot: {files.plot}"]


def validation_table(validation: Validation) -> list[str]:
    lines = [f"{'C':>12}  error     95 % interval"]
    for C, (error, low, high) in zip(validation.values, validation.shares(), strict=True):
        mark = "  chosen" if validation.best == C else ""
        lines.append(f"{short(C):>12}  {error:6.2%}  {low:6.2%} to {high:6.2%}{mark}")
    return lines


def errors_text(examples: Examples, facts: dict[str, Any]) -> list[str]:
    """What the model is worth: errors, those of the larger class, and who is taken for whom."""
    larger, test = facts["larger_class"], facts.get("test")
    weighed = " by weight" if facts["class_weights"] else ""
    shares = [f"training {facts['training_error']:.2%}{weighed}"]
    if test is not None:
        shares.append(f"test {test['error']:.2%} of {test['rows']:,} rows")
    constant = f"always {examples.named(larger['class'])}: {larger['error']:.2%}"
    whole = "weight of the training rows" if weighed else "training rows"
    lines = [f"errors: {', '.join(shares)} ({constant} of the {whole})"]
    if test is None or len(test["classes"]) > _CONFUSED:
        return lines
    names = test["classes"]
    first = max(len("class"), *map(len, names))
    width = max(9, *(len(f"{count:,}") for row in test["confusion"] for count in row))
    width = max(width, *map(len, names))
    lines.append(f"  {'class':{first}}  predicted as " + " ".join(f"{n:>{width}}" for n in names))
    for name, row in zip(names, test["confusion"], strict=True):
        counts = " ".join(f"{count:>{width},}" for count in row)
        lines.append(f"  {name:{first}}{'':15}{counts}")
    return lines


def summary(
    examples: Examples,
    objective: Objective,
    trained: Trained,
    facts: dict[str, Any],
    path: Path,
    read: float,
    taken: float,
) -> list[str]:
    """The rows, the problem, each fit's certificate and errors, and where the model is.

    ``facts`` are those of `svmbench.train.files.certificate`, and of a test.
    """
    from svmbench.train.files import certificate_path

    rows, model = examples.rows, trained.model
    m = rows.n_samples
    bias = {"none": "no bias", "free": "free bias"}.get(objective.bias, "regularised bias")
    lines = [
        f"{rows.summary}, {len(model.labels)} classes",
        f"{objective.loss}, {bias}, C = {short(objective.C)}, "
        f"λ = {short(objective.regularisation(m))}",
    ]
    if "max-abs" in rows.provenance.transforms:
        lines.append("columns scaled: P is of these, the weights in the model of the rows as given")
    if examples.class_weights:
        weights = sorted(examples.class_weights.items())
        each = (f"class {examples.named(label)} {short(w)}" for label, w in weights)
        lines.append(f"weights: {', '.join(each)}; P is for weights whose mean is 1")
    for fit, own in list(zip(trained.fits, facts["fits"], strict=True))[:_LISTED]:
        wrong = own["training_errors"]
        of = "" if own["of"] == "the text" else f" of {own['of']}"
        name = examples.named(own["class"])
        lines.append(
            f"class {name}: P = {fit.primal:.10g}, {nearness(fit.gap)}{of}; "
            f"{wrong:,} training {'error' if wrong == 1 else 'errors'} ({wrong / m:.2%}); "
            f"{fit.method}"
        )
    if len(trained.fits) > _LISTED:
        lines.append(
            f"{len(trained.fits) - _LISTED} more classes, in {certificate_path(path)}; the worst "
            f"of all: {nearness(trained.gap)}"
        )
    lines += errors_text(examples, facts)
    lines.append(f"{read:.2f} s reading, {taken:.2f} s training")
    lines.append(f"model: {path}, certificate: {certificate_path(path)}")
    return lines
