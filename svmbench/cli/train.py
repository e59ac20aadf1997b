"""``svmbench train``: a certified model of a LIBSVM file."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from svmbench.cli import options
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.records.spelling import short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from svmbench.data.liblinear_model import LiblinearModel
    from svmbench.data.tables import OnMissing
    from svmbench.engine.effort import Effort
    from svmbench.train.classes import Trained
    from svmbench.train.examples import Examples
    from svmbench.train.files import Files
    from svmbench.train.objective import Objective
    from svmbench.train.path import Point
    from svmbench.train.validation import Validation

#: Columns of a terminal that does not say how many it has.
_USUAL_WIDTH = 80


@click.command(
    name="train",
    epilog=options.examples(
        "svmbench train rows.libsvm -C 0.1 -o rows.model",
        "svmbench train rows.libsvm --loss logistic --cv 5",
    ),
)
@options.text_file("data")
@options.target_column
@options.missing_values
@options.dropped_columns
@options.zero_based
@options.out_file("model", "The model's file.  [default: DATA's name with .model, in this folder]")
@click.option(
    "--test",
    type=options.Named(path_type=Path),
    metavar="FILE",
    help="Count the errors on the rows of this file, too.",
)
@click.option(
    "--loss",
    type=click.Choice(TRAINED_LOSSES),
    default="hinge",
    show_default=True,
    help="Loss of a row: LIBLINEAR's -s 3, -s 1 and -s 0.",
)
@click.option(
    "-C",
    "cost",
    type=options.Number(),
    help="Weight of the losses beside 1/2 |w|^2, as in LIBLINEAR.  [default: 1]",
)
@click.option(
    "--lambda",
    "lam",
    type=options.Number(),
    help="Set C to 1/(lambda m) for m rows; to 1/(2 lambda m) for the squared hinge.",
)
@click.option(
    "--cv",
    "folds",
    type=options.WholeRange(2),
    metavar="K",
    help="Choose C by K-fold cross-validation among powers of two.",
)
@click.option(
    "--Cs",
    "values",
    metavar="C,C,...",
    help="Values of C that --cv and --path try, all of them and no others.",
)
@click.option(
    "--path",
    "along",
    is_flag=True,
    help="Train with powers of two as C, and write how the results change. Writes no model "
    "without --cv.",
)
@click.option(
    "--bias",
    type=click.Choice(TRAINED_BIASES),
    help="regularised: the weight of a constant feature, LIBLINEAR's -B 1. free: not regularised.  "
    "[default: none, as LIBLINEAR has; free for a table]",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="CLASS=W",
    help="Multiply C by W for the rows of a class, as LIBLINEAR's -wCLASS W does. May be repeated.",
)
@click.option(
    "--scale",
    is_flag=True,
    help="Divide each column by its largest absolute value. The model is that of the rows as they "
    "are in DATA.",
)
@click.option(
    "--tol",
    "tolerance",
    type=options.Number(0.0, math.inf, min_open=True, max_open=True),
    default=1e-4,
    show_default=True,
    help="Train until P is proven to exceed the least possible by at most this fraction.",
)
@click.option(
    "--time-limit",
    default="",
    metavar="TIME",
    help="End each fit after this time, such as 90s or 10m, and write the best weights so far.",
)
@click.option(
    "--threads",
    type=options.WholeRange(1),
    default=1,
    show_default=True,
    help="Number of classes to train at the same time; with --cv, of folds. With two classes, "
    "the threads share the work of auto, which trains with the hinge loss.",
)
@click.option(
    "--seed",
    type=options.WholeRange(0, 2**64 - 1),
    default=0,
    show_default=True,
    help="Seed of the random orders of rows.",
)
@options.as_json
@options.quiet
def command(
    data: Path,
    target: str | None,
    missing: OnMissing,
    dropped: tuple[str, ...],
    zero_based: bool,
    model: Path | None,
    test: Path | None,
    loss: str,
    cost: float | None,
    lam: float | None,
    folds: int | None,
    values: str | None,
    along: bool,
    bias: str | None,
    weights: tuple[str, ...],
    scale: bool,
    tolerance: float,
    time_limit: str,
    threads: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Train a linear classifier on your own data.

    DATA is a file of LIBSVM text, plain or compressed, whose labels are whole numbers; or a table
    (.csv, .tsv, .parquet, .arrow, .npz, .npy), whose column of classes --target names. With two
    classes, the larger label has positive decision values. With more classes, each is trained
    against the rest.

    LIBLINEAR's predict reads the model, too. MODEL.json beside it holds the objective P, a lower
    bound D on the least possible P, and the origin of the rows. --cv also writes MODEL.cv.svg;
    --path writes MODEL.path.csv, MODEL.path.json and MODEL.path.svg.

    Exits with code 1 if a fit ended before it reached its tolerance.
    """
    with options.loading_numpy():
        from svmbench.data.libsvm import plain_name
        from svmbench.durable import require_replaceable, require_writable
        from svmbench.engine.effort import Effort
        from svmbench.errors import DataError
        from svmbench.train.examples import read_examples, read_others, with_even_columns
        from svmbench.train.files import Files, tested

    _refuse_two_ways_to_c(cost, lam, folds, along)
    limit = options.seconds_of("--time-limit", time_limit) if time_limit else math.inf
    class_weights = _class_weights(weights)
    model = options.target(model or Path(f"{plain_name(data)}.model"))
    request = _Request(
        Files.beside(model), folds, along, _values(values), tolerance,
        Effort(seed, limit, threads), quiet or as_json,
    )  # fmt: skip
    if request.values and folds is None and not along:
        raise click.UsageError("--Cs gives the values that --cv and --path try; add one of them")
    if test is not None and not request.one_c:
        raise click.UsageError("--test needs a model, and --path alone writes none; add --cv K")
    for each in request.written():
        require_replaceable(each, data, *filter(None, [test]))
        require_writable(each)
    begun = time.monotonic()
    # Scaled values have all digits, as predict reads them.
    examples = read_examples(
        data,
        dtype="float64" if scale else None,
        zero_based=zero_based,
        tolerance=tolerance,
        target=target,
        missing=missing,
        dropped=dropped,
    ).weighed(class_weights)
    new = None
    if test is not None:
        width = examples.rows.n_features
        new = read_others(test, width, zero_based=zero_based, encoding=examples.encoding)
        if not new.labelled:
            raise DataError(f"{test}: a test needs the column of classes")
    examples, sizes = with_even_columns(examples) if scale else (examples, None)
    read = time.monotonic() - begun
    objective = _objective(loss, cost, lam, bias, examples)
    found = _trained(request, examples, objective)
    taken = time.monotonic() - begun - read
    own = None if found.trained is None else found.trained.model
    own = own if own is None or sizes is None else own.of_columns_times(sizes)
    facts = _written(request, found, own)
    if new is not None and own is not None:
        facts["test"] = tested(own, new)
    if as_json:
        import json

        click.echo(json.dumps(facts, indent=2))
    elif not quiet:
        click.echo("\n".join(_lines(request, found, facts, read, taken)))
    if not quiet:
        for line in _remarks(found, facts, new):
            click.echo(line, err=True)
    return _shortcomings(request, found, quiet)


class _Request(NamedTuple):
    files: Files
    folds: int | None  # folds of the cross-validation that chooses C
    along: bool  # whether a path is trained
    values: tuple[float, ...]  # ascending values of C to try; empty if they are to be found
    tolerance: float
    effort: Effort
    hidden: bool  # whether progress is not shown

    @property
    def one_c(self) -> bool:
        """Whether there is a C for a model: given, by default, or chosen by cross-validation."""
        return self.folds is not None or not self.along

    def written(self) -> list[Path]:
        files, there = self.files, [self.one_c] * 2 + [self.folds is not None] + [self.along] * 3
        return [path for path, written in zip(files, there, strict=True) if written]


class _Fitted(NamedTuple):
    examples: Examples
    objective: Objective  # with the C of the model
    validation: Validation | None
    points: Sequence[Point]  # of the path; empty without one
    trained: Trained | None  # the model; None if there is no C for it


def _trained(request: _Request, examples: Examples, objective: Objective) -> _Fitted:
    """Choose C, train the path, and train the model unless the path has it."""
    from svmbench.train.classes import train

    values, complete = request.values, bool(request.values)
    tolerance, effort = request.tolerance, request.effort
    if not complete and (request.folds is not None or request.along):
        from svmbench.train.path import grid

        values = grid(examples, objective)
    validation = None
    if request.folds is not None:
        from svmbench.train.validation import SELECTION, cross_validate

        with _shown(request.hidden, "{}: C = {:g}") as show:

            def progress(fold: int | None, C: float) -> None:
                show("all folds" if fold is None else f"fold {fold + 1} of {request.folds}", C)

            validation = cross_validate(
                examples, objective, request.folds, values, max(tolerance, SELECTION),
                effort, complete=complete, progress=progress,
            )  # fmt: skip
        values = max(values, validation.values, key=len)
        objective = replace(objective, C=validation.best)
    points: list[Point] = []
    model: Trained | None = None
    if request.along:
        from svmbench.train.path import path, point

        with _shown(request.hidden, "value {} of C, " + f"of at most {len(values)}") as show:
            show(1)
            models = path(examples, objective, values, tolerance, effort, complete=complete)
            for C, at in zip(values, models, strict=False):
                points.append(point(examples, at, replace(objective, C=C)))
                show(len(points) + 1)
                if request.one_c and objective.C == C:
                    model = at
    if request.one_c and model is None:
        with _shown(request.hidden, "training class {}: {}") as show:
            model = train(
                examples, objective, tolerance, effort,
                progress=lambda label, gap: show(label, nearness(gap)),
            )  # fmt: skip
    return _Fitted(examples, objective, validation, points, model)


def _written(request: _Request, found: _Fitted, model: LiblinearModel | None) -> dict[str, Any]:
    """Write the files; the facts that they hold."""
    from svmbench.durable import replacing
    from svmbench.train import files

    examples, objective, validation, points, trained = found
    own: dict[str, Any] = {}
    of_path: dict[str, Any] = {}
    # Files are written once all pictures are drawn: Ctrl-C meanwhile leaves no part of them.
    pictures: dict[Path, bytes] = {}
    if validation is not None:
        pictures[request.files.validation] = files.validation_plot(validation)
    if request.along:
        pictures[request.files.plot] = files.path_plot(points, validation)
        of_path = files.path_facts(points, examples, objective, request.tolerance, validation)
    if trained is not None and model is not None:
        own = files.certificate(trained, examples, objective, validation)
        files.save(request.files.model, model, own)
    for name, picture in pictures.items():
        with replacing(name, "wb") as file:
            file.write(picture)
    if request.along:
        files.save_path(request.files, of_path)
    return of_path | own


def _lines(
    request: _Request, found: _Fitted, facts: dict[str, Any], read: float, taken: float
) -> Iterator[str]:
    """What is printed: the path, the errors of cross-validation, the model."""
    files = request.files
    if request.along:
        yield from path_text(facts["values"])
        yield f"path: {files.table}, {files.document}, plot: {files.plot}"
    if found.validation is not None:
        yield from validation_table(found.validation)
        yield f"plot: {files.validation}"
    if found.trained is not None:
        yield from summary(found, found.trained, facts, files.certificate)
    yield f"{read:.2f} s reading, {taken:.2f} s training"
    if found.trained is not None:
        yield f"model: {files.model}, certificate: {files.certificate}"
    else:
        yield "no model is written: choose C with --cv K, or train with -C"


def _remarks(found: _Fitted, facts: dict[str, Any], test: Examples | None) -> Iterator[str]:
    """What is doubtful about the model that was asked for, and about its test."""
    examples = found.examples
    if found.validation is not None and found.validation.useless:
        from svmbench.train.validation import USELESS

        yield f"cross-validation: {USELESS.format(found.validation.constant_error)}"
    elif facts.get("no_better_than_larger_class"):
        larger = facts["larger_class"]
        yield (
            f"training errors: {facts['training_error']:.2%}, no fewer than with class "
            f"{examples.named(larger['class'])} for every row ({larger['error']:.2%})"
        )
    if examples.uneven:
        yield f"{examples.uneven}; add --scale, and choose C again (--cv 5)"
    if test is not None:
        yield from filter(None, (test.strange, test.of_others(examples.classes)))


def _shortcomings(request: _Request, found: _Fitted, quiet: bool) -> int:
    """Say what falls short of what was asked for; the exit code."""
    _, _, validation, points, trained = found
    tolerance, time_limit = request.tolerance, request.effort.time_limit
    notes, failures = [], []
    if validation is not None and validation.gap > validation.tolerance:
        notes.append(
            f"cross-validation: a fold's values of C end where a fit was not certified to "
            f"{validation.tolerance:g}; larger values repeat its errors"
        )
    if validation is not None and validation.extreme is not None:
        chosen = f"the chosen C = {validation.best:g} is the {validation.extreme} tried"
        notes.append(f"cross-validation: {chosen}")
    if points and points[-1].gap > tolerance:
        failures.append(f"path: it ends at C = {points[-1].C:g}, not certified to {tolerance:g}")
    if trained is not None and trained.gap > tolerance:
        failures.append(shortfall(trained, tolerance, time_limit))
    for line in [*([] if quiet else notes), *failures]:
        click.echo(line, err=True)
    return 1 if failures else 0


def _refuse_two_ways_to_c(
    cost: float | None, lam: float | None, folds: int | None, along: bool
) -> None:
    if cost is not None and lam is not None:
        raise click.UsageError("-C and --lambda; keep one of them")
    if cost is not None or lam is not None:
        for given, what in ((folds, "--cv chooses C"), (along, "--path tries values of C")):
            if given:
                raise click.UsageError(f"{what}: leave -C and --lambda out")


def _values(given: str | None) -> tuple[float, ...]:
    """The distinct values of C, ascending; empty if none are given."""
    number = options.Number()
    values = set() if given is None else {number.convert(C, None, None) for C in given.split(",")}
    for C in values:
        if not 0.0 < C < math.inf:
            raise click.UsageError(f"--Cs {C}: C must be positive and finite")
    return tuple(sorted(values))


def _class_weights(given: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in given:
        which, _, weight = each.rpartition("=")
        try:
            value = float(weight.replace("_", "?"))
        except ValueError:
            which = ""
        if not which:
            raise click.UsageError(f"--weight {each}: write CLASS=W, such as 1=10")
        if which in found:
            raise click.UsageError(f"--weight {each}: class {which} has a weight already")
        found[which] = value
    return found


def _objective(
    loss: str, cost: float | None, lam: float | None, bias: str | None, examples: Examples
) -> Objective:
    from svmbench.train.objective import Objective

    bias = bias or ("none" if examples.encoding is None else "free")
    if lam is not None:
        return Objective.of_lambda(loss, lam, examples.rows.n_samples, bias)
    return Objective(loss, 1.0 if cost is None else cost, bias)


@contextmanager
def _shown(quiet: bool, text: str) -> Iterator[Callable[..., None]]:
    """Show how far the training is, on a terminal only; ``text`` has room for what it is given."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda *what: None
        return
    # Each line replaces the one before, if none is continued on a second line.
    clear, terminal = "\r\x1b[K", sys.stderr.fileno()

    def show(*what: float | str) -> None:
        room = os.get_terminal_size(terminal).columns or _USUAL_WIDTH
        click.echo(clear + text.format(*what)[: room - 1], nl=False, err=True)

    try:
        yield show
    finally:
        click.echo(clear, nl=False, err=True)


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


def path_text(records: Sequence[dict[str, Any]]) -> list[str]:
    """A path, one line for each C."""
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
    return lines


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
    constant = f"with {examples.named(larger['class'])} for every row: {larger['error']:.2%}"
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
    found: _Fitted, trained: Trained, facts: dict[str, Any], certificate: Path
) -> list[str]:
    """The rows, the problem, each fit's certificate and errors.

    ``facts`` are those of `svmbench.train.files.certificate`, and of a test.
    """
    examples, objective = found.examples, found.objective
    rows, model, m = examples.rows, trained.model, examples.rows.n_samples
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
            f"{len(trained.fits) - _LISTED} more classes, in {certificate}; the worst "
            f"of all: {nearness(trained.gap)}"
        )
    return lines + errors_text(examples, facts)
