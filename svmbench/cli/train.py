"""``svmbench train``: a certified model of a LIBSVM file."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from svmbench.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from svmbench.train.classes import Trained
    from svmbench.train.examples import Examples
    from svmbench.train.objective import Objective
    from svmbench.train.path import Validation

#: Classes whose certificates are listed one by one.
_LISTED = 20


@click.command(name="train")
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    "model",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The model's file.  [default: DATA's name with .model, in this folder]",
)
@click.option(
    "--loss",
    type=click.Choice(["hinge", "squared-hinge", "logistic"]),
    default="hinge",
    show_default=True,
    help="What an error costs; LIBLINEAR's -s 3, -s 1 and -s 0.",
)
@click.option("-C", "cost", type=float, help="Weight of the losses beside 1/2 |w|^2.  [default: 1]")
@click.option(
    "--lambda",
    "lam",
    type=float,
    help="The same as C = 1/(lambda m); 1/(2 lambda m) for the squared hinge.",
)
@click.option(
    "--cv",
    "folds",
    type=click.IntRange(2),
    metavar="K",
    help="Choose C by K-fold cross-validation, from 25 powers of two; errors count --weight.",
)
@click.option(
    "--bias",
    type=click.Choice(["none", "regularised", "free"]),
    default="none",
    show_default=True,
    help="regularised: the weight of a constant feature, LIBLINEAR's -B 1. free: not regularised.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="CLASS=W",
    help="Multiply C by W for the rows of a class, LIBLINEAR's -wCLASS W; may be repeated.",
)
@click.option(
    "--tol",
    "tolerance",
    type=click.FloatRange(0.0, math.inf, min_open=True, max_open=True),
    callback=options.refuse_nan,
    default=1e-4,
    show_default=True,
    help="Train until P is within this share of the least possible.",
)
@click.option(
    "--time-limit",
    default="",
    metavar="TIME",
    help="Give up a fit after this time, such as 90s or 10m, and keep the best weights so far.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Classes trained at the same time.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=0,
    show_default=True,
    help="Of random orders of rows.",
)
@options.as_json
@options.quiet
def command(
    data: Path,
    model: Path | None,
    loss: str,
    cost: float | None,
    lam: float | None,
    folds: int | None,
    bias: str,
    weights: tuple[str, ...],
    tolerance: float,
    time_limit: str,
    threads: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Train a linear classifier on your own data.

    DATA is a file of LIBSVM text, plain or compressed. Of two classes, the larger label has
    positive decision values; of more, each class is trained against the rest. The model is a text
    that LIBLINEAR's predict reads too. MODEL.json states
    P, a lower bound D on the least possible P, and the origin of the rows. Exits 1 if a fit was
    given up short of its tolerance.
    """
    from svmbench.durable import require_replaceable, require_writable
    from svmbench.train.classes import train
    from svmbench.train.examples import read_examples
    from svmbench.train.files import certificate, certificate_path, save
    from svmbench.train.path import cross_validate, grid
    from svmbench.train.plot import plot_path, save_plot

    if folds is not None and (cost is not None or lam is not None):
        raise click.UsageError("--cv chooses C: leave -C and --lambda out")
    if cost is not None and lam is not None:
        raise click.UsageError("-C and --lambda; keep one of them")
    seconds = options.seconds_of("--time-limit", time_limit) if time_limit else math.inf
    class_weights = _class_weights(weights)
    path = options.target(model) if model else _default_model(data)
    for each in (path, certificate_path(path), *([plot_path(path)] if folds else [])):
        require_replaceable(each, data)
        require_writable(each)
    begun = time.monotonic()
    examples = replace(read_examples(data), class_weights=class_weights)
    read = time.monotonic() - begun
    objective = _objective(loss, cost, lam, bias, examples)
    validation = None
    if folds is not None:
        with _shown(quiet or as_json, "fold {} of " + f"{folds}: C = {{:g}}") as show:
            validation = cross_validate(
                examples, objective, folds, grid(examples, objective), tolerance,
                seed=seed, time_limit=seconds, threads=threads,
                progress=lambda fold, C: show(fold + 1, C),
            )  # fmt: skip
        objective = replace(objective, C=validation.best)
    with _shown(quiet or as_json, "training class {}: within {:.1e} of the optimum") as show:
        trained = train(
            examples, objective, tolerance,
            seed=seed, time_limit=seconds, threads=threads, progress=show,
        )  # fmt: skip
    taken = time.monotonic() - begun - read
    save(path, trained, examples, objective, validation)
    if validation is not None:
        save_plot(plot_path(path), validation)
    short = trained.gap > tolerance
    if as_json:
        import json

        click.echo(json.dumps(certificate(trained, examples, objective, validation), indent=2))
    elif not quiet:
        if validation is not None:
            click.echo("\n".join(_table(validation)) + f"\nplot: {plot_path(path)}")
        click.echo("\n".join(_summary(examples, objective, trained, path, read, taken)))
    if validation is not None and validation.gap > tolerance and not quiet:
        click.echo(
            f"cross-validation: a fold's values of C end where a fit was not certified to "
            f"{tolerance:g}; larger values repeat its errors",
            err=True,
        )
    if validation is not None and validation.extreme is not None and not quiet:
        chosen = f"the chosen C = {validation.best:g} is the {validation.extreme} tried"
        click.echo(f"cross-validation: {chosen}", err=True)
    if short and not quiet:
        click.echo(
            f"not certified to {tolerance:g}: --time-limit or rounding ended the training; allow "
            "more time, a larger --tol or a smaller C",
            err=True,
        )
    return 1 if short else 0


def _class_weights(given: tuple[str, ...]) -> dict[int, float]:
    found: dict[int, float] = {}
    for each in given:
        label, _, weight = each.partition("=")
        try:
            which, value = int(label), float(weight)
        except ValueError:
            raise click.UsageError(f"--weight {each}: write CLASS=W, such as 1=10") from None
        if which in found:
            raise click.UsageError(f"--weight {each}: class {which} has a weight already")
        found[which] = value
    return found


def _default_model(data: Path) -> Path:
    from svmbench.data.libsvm import plain_name

    return options.target(Path(f"{plain_name(data)}.model"))


def _objective(
    loss: str, cost: float | None, lam: float | None, bias: str, examples: Examples
) -> Objective:
    from svmbench.train.objective import Objective

    if lam is not None:
        return Objective.of_lambda(loss, lam, examples.rows.n_samples, bias)
    return Objective(loss, 1.0 if cost is None else cost, bias)


@contextmanager
def _shown(quiet: bool, text: str) -> Iterator[Callable[[int, float], None]]:
    """Show how far the training is, on a terminal only; ``text`` has room for both numbers."""
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    if quiet or not console.is_terminal:
        yield lambda which, value: None
        return
    with console.status("training") as status:
        yield lambda which, value: status.update(text.format(which, value))


def _table(validation: Validation) -> list[str]:
    """Validation errors, one line for each C."""
    lines = [f"{'C':>12}  error     95 % interval"]
    for C, (error, low, high) in zip(validation.values, validation.shares(), strict=True):
        mark = "  chosen" if validation.best == C else ""
        lines.append(f"{C:>12.6g}  {error:6.2%}  {low:6.2%} to {high:6.2%}{mark}")
    return lines


def _summary(
    examples: Examples,
    objective: Objective,
    trained: Trained,
    path: Path,
    read: float,
    taken: float,
) -> list[str]:
    from svmbench.train.files import certificate_path

    rows, model = examples.rows, trained.model
    m = rows.n_samples
    bias = {"none": "no bias", "free": "free bias"}.get(objective.bias, "regularised bias")
    lines = [
        f"{rows.name}: {m:,} rows, {rows.n_features:,} features, {rows.nnz:,} entries, "
        f"{len(model.labels)} classes",
        f"{objective.loss}, {bias}, C = {objective.C:.6g}, λ = {objective.regularisation(m):.6g}",
    ]
    if examples.class_weights:
        each = (f"class {label} {w:g}" for label, w in sorted(examples.class_weights.items()))
        lines.append(f"weights: {', '.join(each)}; P is for weights whose mean is 1")
    against = model.labels if len(trained.fits) > 1 else model.labels[:1]
    for label, fit in list(zip(against, trained.fits, strict=True))[:_LISTED]:
        lines.append(
            f"class {label}: P = {fit.primal:.10g}, within {fit.gap:.1e} of the optimum; "
            f"{fit.errors:,} training errors ({fit.errors / m:.2%}); {fit.method}"
        )
    if len(trained.fits) > _LISTED:
        lines.append(
            f"{len(trained.fits) - _LISTED} more classes, in {certificate_path(path)}; the largest "
            f"gap of all is {trained.gap:.1e}"
        )
    lines.append(f"{read:.2f} s reading, {taken:.2f} s training")
    lines.append(f"model: {path}, certificate: {certificate_path(path)}")
    return lines
