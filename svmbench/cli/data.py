"""``svmbench data``: list, describe and fetch the data sets, and convert tables."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli import options
from svmbench.cli.columns import WIDTH, align

if TYPE_CHECKING:
    from svmbench.data.catalogue import DataFile, Entry, Role
    from svmbench.data.shape import Shape
    from svmbench.data.tables import OnMissing

_CLASSES_SHOWN = 10


@click.group(name="data", no_args_is_help=False)
def command() -> None:
    """List, describe and fetch data sets, and convert tables."""


@command.command(name="list")
@options.as_json
def list_command(as_json: bool) -> None:
    """List the data sets of the catalogue and where their files are.

    "cached" files are ready to run; "mirror", "downloaded" and "with svmbench" files are read
    before the first run. "partly here" lacks some of them, "to be fetched" all. "drawn here" needs
    none: svmbench draws the rows. A density with ~ is that of the set's stand-in, its synthetic
    imitation. Column +1 has the labels of the positive class.
    """
    from svmbench.data.catalogue import entry, names

    header = ("name", "rows", "test rows", "features", "density", "+1", "files", "size", "title")
    if as_json:
        click.echo(json.dumps([_facts(entry(name)) for name in names()], indent=2))
    else:
        click.echo(align(header, [_row(entry(name)) for name in names()]))


@command.command()
@click.argument("name", shell_complete=options.data_names)
@options.zero_based
@options.as_json
def info(name: str, zero_based: bool, as_json: bool) -> None:
    """Describe the data set NAME.

    The description has its files, labels, licence, origin and stand-in. NAME is one of "svmbench
    data list", or a path to a LIBSVM file of your own, which is read to show its rows, columns and
    labels, and how svmbench stores it.
    """
    from svmbench.data import catalogue

    known = name in catalogue.names()
    if known and zero_based:
        raise click.UsageError(f"--zero-based is for a file; the catalogue knows {name}'s indices")
    found = catalogue.resolve(name).model_copy(update={"zero_based": zero_based})
    if known:
        facts, stated = _entry_facts(found), found.model_dump(mode="json", exclude_none=True)
    else:
        facts, stated = _own_facts(found)
    if as_json:
        click.echo(json.dumps(stated | {"name": found.name}, indent=2, ensure_ascii=False))
        return
    lines = [f"{found.name}: {found.title}", ""]
    lines += [*textwrap.wrap(found.description, WIDTH), ""] if found.description else []
    width = max(map(len, facts)) + 2
    for what, text in facts.items():
        if text:
            lines += textwrap.wrap(
                f"{what:<{width}}{text}",
                WIDTH,
                subsequent_indent=" " * width,
                break_long_words=False,
                break_on_hyphens=False,
            )
    click.echo("\n".join(lines))


@command.command()
@click.argument(
    "names", metavar="NAME...", nargs=-1, required=True, shell_complete=options.data_names
)
@options.offline
def fetch(names: tuple[str, ...], offline: bool) -> None:
    """Find or download each data set NAME, and put it in the cache.

    NAME is one of "svmbench data list", or a path to a LIBSVM file of your own.
    """
    from svmbench.data.load import load

    for name in names:
        loaded = load(name, offline=offline)
        click.echo(f"{loaded.train.summary}; in {loaded.train_path}")
        if loaded.test is not None:
            click.echo(f"{loaded.test.summary}; in {loaded.test_path}")


@command.command()
@options.text_file("table")
@options.target_column
@options.missing_values
@options.dropped_columns
@options.out_file("out", "File to write.  [default: TABLE's name with .libsvm, in this folder]")
def convert(
    table: Path,
    target: str | None,
    missing: OnMissing,
    dropped: tuple[str, ...],
    out: Path | None,
) -> None:
    """Write a table as LIBSVM text, for 'svmbench run'.

    TABLE is what 'svmbench train' takes: .csv, .tsv, .parquet, .arrow, .npz or .npy. The numbers of
    features and of classes that are texts are printed. They are found for each table anew: a test
    table with other texts has other features ('svmbench train --test' knows better).
    """
    import numpy as np

    from svmbench.data.csr import csr
    from svmbench.data.text_files import kind_of, stem
    from svmbench.durable import replacing, require_replaceable
    from svmbench.errors import ConfigError, DataError
    from svmbench.train.examples import read_examples

    if not kind_of(table):
        raise DataError(f"{table}: is no table by its name; it is LIBSVM text already")
    path = out or Path(f"{stem(table)}.libsvm")
    if out is None and path.exists():
        raise ConfigError(f"{path}: exists and is not replaced; name a file with -o")
    path = options.target(path)
    require_replaceable(path, table)
    found = read_examples(table, target=target, missing=missing, dropped=dropped)
    assert found.encoding is not None
    rows = csr(found.rows, np.float64).copy()
    rows.eliminate_zeros()
    with replacing(path) as file:
        for at, label in enumerate(found.labels.tolist()):
            part = slice(rows.indptr[at], rows.indptr[at + 1])
            entries = zip((rows.indices[part] + 1).tolist(), rows.data[part].tolist(), strict=True)
            file.write(f"{label} " + " ".join(f"{j}:{value!r}" for j, value in entries) + "\n")
    for label, name in enumerate(found.encoding.classes or ()):
        click.echo(f"class {label}: {name}")
    names = found.encoding.features
    for at, name in enumerate(names, 1):
        click.echo(f"feature {at}: {name}")
    click.echo(f"{path}: {np.shape(rows)[0]:,} rows, {len(names):,} features")
    if found.uneven:
        click.echo(f"{found.uneven}; a sweep needs 'transforms: [max-abs]'", err=True)


def _entry_facts(entry: Entry) -> dict[str, str]:
    """The catalogue's facts about a data set, and the places of its files."""
    from svmbench.data.shape import calibration

    facts = {
        "features": _count(entry.n_features),
        "labels": entry.labels,
        "+1": _positive(entry),
        "licence": entry.licence,
        "citation": entry.citation,
        "homepage": entry.homepage,
        "checked": entry.checked,
        "format": entry.format,
    }
    for role, file in entry.files.items():
        facts[role] = f"{file.file}, {_contents(file)}"
        facts |= _origin(role, file)
        if file.label_file is not None:
            facts[f"{role} labels"] = file.label_file.file
            facts |= _origin(f"{role} labels", file.label_file)
    if entry.recipe is not None:
        facts["drawn by"] = ", ".join(
            f"{key} {value}" for key, value in entry.recipe.model_dump().items()
        )
    if entry.stand_in is not None:
        facts["stand-in"] = _shape(entry.stand_in)
        found = "; ".join(calibration(entry.targets))
        facts["calibrated"] = found or "no"
        facts["published in"] = "; ".join(dict.fromkeys(target.source for target in entry.targets))
    return facts


def _own_facts(entry: Entry) -> tuple[dict[str, str], dict[str, Any]]:
    """The content of a user's own file, in words and in numbers."""
    import numpy as np

    from svmbench.data import libsvm
    from svmbench.data.blocks import occurring_columns
    from svmbench.errors import DataError

    path = Path(entry.train.path or "")
    cached = _cached(entry).get("train")
    text = libsvm.parse_own(path, zero_based=entry.zero_based)
    labels, counts = np.unique(text.labels, return_counts=True)
    try:
        positive: tuple[float, ...] = libsvm.positive_labels(text)
        chosen = " ".join(map(libsvm.label_text, positive))
    except DataError:
        # The other facts do not depend on which label is +1.
        positive, chosen = (float(labels[-1]),), "not clear from the labels; state 'positive'"
    data = libsvm.to_dataset(text, name=entry.name, n_features=text.max_index, positive=positive)
    m, d, nnz = data.n_samples, data.n_features, text.nnz
    classes = [
        f"{libsvm.label_text(label)} ({count:,})"
        for label, count in zip(labels, counts, strict=True)
    ]
    occurring = len(occurring_columns(data))
    numbers = {
        "rows": m,
        "features": d,
        "features_with_an_entry": occurring,
        "entries": nnz,
        "labels": dict(zip(map(libsvm.label_text, labels), counts.tolist(), strict=True)),
        "storage": data.storage,
        "bytes_stored": data.nbytes,
        "bytes": path.stat().st_size,
        "sha256": text.sha256,
    }
    more = f" and {len(classes) - _CLASSES_SHOWN:,} more" * (len(classes) > _CLASSES_SHOWN)
    facts = {
        "rows": _count(m),
        "features": f"{d:,}, {occurring:,} of them with an entry",
        "entries": f"{nnz:,}, {_percent(nnz / max(1, m * d))}",
        "labels": ", ".join(classes[:_CLASSES_SHOWN]) + more,
        "+1": chosen,
        "stored as": f"{data.storage}, {_bytes(data.nbytes)}",
        "cached": str(cached or "not yet; 'svmbench data fetch' or the first run does it"),
        "file": _bytes(path.stat().st_size),
        "sha256": text.sha256,
    }
    return facts, numbers


def _facts(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "rows": entry.train.rows,
        "test_rows": entry.test.rows if entry.test else None,
        "features": entry.n_features,
        "files": _state(entry)[0],
    }


def _row(entry: Entry) -> tuple[str, ...]:
    test_rows = _count(entry.test.rows) if entry.test else "-"
    state, size = _state(entry)
    return (
        entry.name,
        _count(entry.train.rows),
        test_rows,
        _count(entry.n_features),
        _density(entry),
        _positive(entry),
        state,
        size,
        entry.title,
    )


def _parts(entry: Entry) -> dict[str, DataFile]:
    found: dict[str, DataFile] = {}
    for role, file in entry.files.items():
        found[role] = file
        if file.label_file is not None:
            found[f"{role} labels"] = file.label_file
    return found


def _cached(entry: Entry) -> dict[Role, Path]:
    """Existing cache entries, by role."""
    from svmbench.data.load import cached_paths
    from svmbench.errors import DataError

    try:
        paths = cached_paths(entry)
    except DataError:  # a raw file has changed; loading it says so
        return {}
    return {role: path for role, path in paths.items() if path.is_dir()}


def _state(entry: Entry) -> tuple[str, str]:
    """Where a set is, and the size of its raw files: on this machine, else uncompressed."""
    from svmbench.data.fetch import downloads, find

    if entry.recipe is not None:
        return "drawn here", "-"
    paths = {role: find(part) for role, part in _parts(entry).items()}
    here = [path for path in paths.values() if path is not None]
    stated = [part.bytes for part in _parts(entry).values() if part.bytes is not None]
    size = "?"
    if len(here) == len(paths):
        size = _bytes(sum(path.stat().st_size for path in here))
    elif len(stated) == len(paths):
        size = _bytes(sum(stated))
    if entry.train.path is not None:
        state = "with svmbench"
    elif set(_cached(entry)) == set(entry.files):
        state = "cached"
    elif not here:
        state = "to be fetched"
    elif len(here) < len(paths):
        state = "partly here"
    else:
        state = "downloaded" if here[0].parent == downloads() else "mirror"
    return state, size


def _origin(what: str, file: DataFile) -> dict[str, str]:
    from svmbench.data.fetch import find, first_seen, served_by

    sha256 = file.sha256
    if sha256 is None:
        seen = first_seen(file)
        first = f"first seen here: {seen.sha256}" if seen else "the first one seen will count"
        sha256 = f"not stated by the source; {first}"
    return {
        f"{what} here": str(find(file) or "no; see 'svmbench data fetch'"),
        f"{what} from": ", ".join(served_by(file).urls) or (file.obtain or ""),
        f"{what} sha256": sha256,
        f"{what} size": f"{file.bytes:,} bytes uncompressed" if file.bytes else "",
    }


def _contents(file: DataFile) -> str:
    counts = {"rows": file.rows, "positive": file.positives, "nonzeros": file.nnz}
    return ", ".join(f"{_count(count)} {what}" for what, count in counts.items())


def _density(entry: Entry) -> str:
    train = entry.train
    if train.nnz is not None and train.rows is not None and entry.n_features is not None:
        return _percent(train.nnz / (train.rows * entry.n_features))
    return f"~{_percent(entry.stand_in.fraction)}" if entry.stand_in else "?"


def _positive(entry: Entry) -> str:
    from svmbench.data.libsvm import label_text

    return " ".join(map(label_text, entry.positive or ())) or "the larger"


def _shape(shape: Shape) -> str:
    entries = (
        f"{shape.nnz_row:g} entries per row"
        if shape.nnz_row is not None
        else f"{_percent(shape.fraction)} of the entries"
    )
    columns: str = shape.columns.law
    if columns == "zipf":
        columns += f" with exponent {shape.columns.exponent:g}"
    return ", ".join(
        [
            f"{shape.m:,} rows and {shape.m_test:,} test rows of {shape.d:,} columns",
            f"{entries}, columns {columns}, values {shape.values.kind}",
            *(["rows of unit norm"] if shape.unit_norm else []),
            f"{_percent(shape.positives)} positive, {_labels(shape)}",
            f"{_percent(shape.noise)} of the labels flipped",
            f"columns' scales over {shape.conditioning:g} decades, seed {shape.seed}",
        ]
    )


def _labels(shape: Shape) -> str:
    """What the classes of a stand-in differ in."""
    if shape.topics is not None:
        return f"{shape.topics.count} topics of each class"
    if shape.means is not None:
        return f"means {shape.means.distance:g} apart"
    noise = f" with noise {shape.margin_noise:g}" if shape.margin_noise else ""
    return f"divided by a plane{noise}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else f"{100 * fraction:.0f} %"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"
