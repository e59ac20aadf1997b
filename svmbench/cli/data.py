"""``svmbench data``: the catalogue of data sets, and getting them ready."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from svmbench.cli.columns import align

if TYPE_CHECKING:
    from svmbench.data.catalogue import DataFile, Entry
    from svmbench.data.dataset import Dataset


@click.group(name="data", no_args_is_help=False)
def command() -> None:
    """List the data sets, describe one, get one ready to run."""


@command.command(name="list")
def list_command() -> None:
    """List the data sets of the catalogue and whether their files are here."""
    from svmbench.data.catalogue import entry, names

    header = ("name", "rows", "test rows", "features", "nonzeros", "files", "title")
    rows = [_row(entry(name)) for name in names()]
    click.echo(align(header, rows))


@command.command()
@click.argument("name")
def info(name: str) -> None:
    """Describe the data set NAME: its files, labels, licence and origin."""
    from svmbench.data.catalogue import entry

    found = entry(name)
    lines = [f"{found.name}: {found.title}", ""]
    lines += [*textwrap.wrap(found.description, 88), ""] if found.description else []
    facts = {
        "features": _count(found.n_features),
        "labels": found.labels,
        "licence": found.licence,
        "citation": found.citation,
        "homepage": found.homepage,
    }
    for role, file in _files(found).items():
        facts[role] = f"{file.file}, {_contents(file)}"
        facts[f"{role} here"] = str(_path(found, file) or "no; see 'svmbench data fetch'")
        facts[f"{role} from"] = ", ".join(file.urls)
        facts[f"{role} sha256"] = file.sha256 or "not known"
    width = max(map(len, facts)) + 2
    for what, text in facts.items():
        if text:
            lines += textwrap.wrap(
                f"{what:<{width}}{text}",
                88,
                subsequent_indent=" " * width,
                break_long_words=False,
                break_on_hyphens=False,
            )
    click.echo("\n".join(lines))


@command.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--offline", is_flag=True, help="Do not look for data on the network.")
def fetch(names: tuple[str, ...], offline: bool) -> None:
    """Find or download each data set NAME, check it and put its rows in the cache.

    NAME is one of "svmbench data list", or a path to a LIBSVM file of your own.
    """
    from svmbench.data.load import load

    for name in names:
        loaded = load(name, offline=offline)
        click.echo(f"{_summary(loaded.train)}; in {loaded.train_path}")
        if loaded.test is not None:
            click.echo(f"{_summary(loaded.test)}; in {loaded.test_path}")


def _row(entry: Entry) -> tuple[str, ...]:
    here = [_path(entry, file) is not None for file in _files(entry).values()]
    files = "here" if all(here) else "some here" if any(here) else "to be fetched"
    test_rows = _count(entry.test.rows) if entry.test else "-"
    return (
        entry.name,
        _count(entry.train.rows),
        test_rows,
        _count(entry.n_features),
        _count(entry.train.nnz),
        files,
        entry.title,
    )


def _files(entry: Entry) -> dict[str, DataFile]:
    return {"train": entry.train} | ({"test": entry.test} if entry.test else {})


def _path(entry: Entry, file: DataFile) -> Path | None:
    """Where a file lies on this machine, if it does."""
    from svmbench.data.fetch import locate
    from svmbench.errors import DataError

    try:
        return locate(entry.name, file, offline=True)
    except DataError:
        return None


def _contents(file: DataFile) -> str:
    counts = {"rows": file.rows, "positive": file.positives, "nonzeros": file.nnz}
    return ", ".join(f"{_count(count)} {what}" for what, count in counts.items())


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _summary(data: Dataset) -> str:
    return (
        f"{data.name}: {data.n_samples:,} rows, {data.n_features:,} features, "
        f"{data.nnz:,} entries stored as {data.storage}"
    )
