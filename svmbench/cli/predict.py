"""``svmbench predict``: labels and decision values of rows, from a model."""

from __future__ import annotations

from pathlib import Path

import click

from svmbench.cli import options


@click.command(
    name="predict",
    epilog=options.examples(
        "svmbench predict rows.model new.libsvm -o labels.txt",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@options.text_file("data")
@options.zero_based
@options.out_file("out", "Write the predicted labels to this file, one line per row.")
@click.option(
    "--values",
    is_flag=True,
    help="Write the decision values, too. The first line has the labels that they belong to.",
)
@options.as_json
@options.quiet
def command(
    model: Path,
    data: Path,
    zero_based: bool,
    out: Path | None,
    values: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Predict the labels of the rows in DATA with MODEL.

    MODEL was written by svmbench train or by LIBLINEAR's train. DATA is a file of LIBSVM text; for
    rows whose label is unknown, write any whole number. Of a model that was trained on a table,
    DATA may be another table, with or without the column of classes. The command prints how many
    rows have the predicted label in DATA. Features that the model does not have are ignored. A
    model that was trained with --zero-based is used so.
    """
    with options.loading_numpy():
        import numpy as np

        from svmbench.data.liblinear_model import read_liblinear
        from svmbench.durable import replacing, require_replaceable, require_writable, resolved
        from svmbench.errors import DataError
        from svmbench.train.examples import read_others
        from svmbench.train.files import (
            certificate_of,
            certificate_path,
            encoding_in,
            was_zero_based,
        )

    if values and out is None:
        raise click.UsageError("--values needs a file to write them to: -o FILE")
    if out is not None:
        out = options.target(out)
        # svmbench train follows a link: its certificate is beside what the link leads to.
        certificates = certificate_path(model), certificate_path(resolved(model))
        require_replaceable(out, model, data, *certificates)
        require_writable(out)
    read = read_liblinear(model)
    others = []
    encoding = None
    for each in dict.fromkeys((model, options.target(model))):
        facts, another = certificate_of(each)
        if another:
            others.append(each)
        elif facts:
            encoding = encoding or encoding_in(facts)
            trained = was_zero_based(facts)
            if zero_based and not trained:
                raise click.UsageError(
                    f"--zero-based: {model} was trained on indices from 1; leave the option out"
                )
            zero_based = trained
    for each in () if quiet else others:
        click.echo(f"{certificate_path(each)} is the certificate of another model", err=True)
    examples = read_others(data, read.n_features, zero_based=zero_based, encoding=encoding)
    names = {} if encoding is None else encoding.names
    decided = read.decision_values(examples.rows)
    beyond = np.flatnonzero(~np.isfinite(decided).all(axis=1))
    if len(beyond):
        raise DataError(
            f"{data}: row {beyond[0] + 1}: its decision value leaves double precision; scale the "
            "features before training"
        )
    labels = read.classes_of(decided)
    if out is not None:
        with replacing(out) as file:
            if values:
                known = (_one_word(str(names.get(label, label))) for label in read.labels)
                file.write("labels " + " ".join(known) + "\n")
            for label, numbers in zip(labels.tolist(), decided.tolist(), strict=True):
                shown = "".join(f" {number!r}" for number in numbers) if values else ""
                name = str(names.get(label, label))
                file.write(f"{_one_word(name) if values else name}{shown}\n")
    right, m = int(np.count_nonzero(labels == examples.labels)), len(labels)
    if as_json:
        import json

        score = {"correct": right, "accuracy": right / m} if examples.labelled else {}
        click.echo(json.dumps({"rows": m, **score}))
    elif not quiet and examples.labelled:
        click.echo(f"{right / m:.4%} right: {right:,} of {m:,} rows")
    elif not quiet:
        click.echo(
            f"{m:,} rows, whose classes are not known"
            + ("" if out else "; -o FILE keeps the predicted ones")
        )
    for line in () if quiet else (examples.strange, examples.of_others(read.labels)):
        if line:
            click.echo(line, err=True)
    return 0


def _one_word(name: str) -> str:
    """A class's name as a field between spaces: in quotes where it has some, or begins with one."""
    whole = len(name.split()) < 2 and not name.startswith('"')
    return name if whole else '"' + name.replace('"', '""') + '"'
