"""``svmbench config``: check a configuration, and show it in full."""

from __future__ import annotations

import math
from pathlib import Path

import click

from svmbench.records.spelling import counted


@click.group(name="config", no_args_is_help=False)
def command() -> None:
    """Check configurations and show what they mean."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Say whether FILE can be run, or list what is wrong with it.

    FILE is the YAML file of a sweep, or the name of one that comes with svmbench, such as demo
    or adult.
    """
    from svmbench.config import find_config, load_sweep
    from svmbench.config.reading import InvalidFileError
    from svmbench.errors import ConfigError
    from svmbench.harness.plan import for_each_horizon

    try:
        sweep = load_sweep(file)
    except InvalidFileError as error:
        *others, last = error.lines
        for line in others:
            click.echo(f"svmbench: {line}", err=True)
        raise ConfigError(last) from None
    runs_of = [len(for_each_horizon(spec, sweep.stop)) for spec in sweep.solvers]
    counts = {
        "data set": len(sweep.datasets),
        "lambda" if sweep.lambdas else "C": len(sweep.lambdas or sweep.C or ()),
        "solver" if sum(runs_of) == len(runs_of) else "solver setting": sum(runs_of),
        "repeat": sweep.at_least,
    }
    product = " x ".join(f"{count} {what}{'s'[: count - 1]}" for what, count in counts.items())
    runs = math.prod(counts.values())
    text = f"{find_config(file)}: valid; {product} = {counted(runs, 'run')}"
    if sweep.until_decided:
        most = runs // sweep.at_least * sweep.at_most
        text += f"; {most} at most, with {sweep.at_most} repeats if questions stay open"
    click.echo(text)


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
def show(file: Path) -> None:
    """Print FILE with every default written out.

    FILE is the YAML file of a sweep, or the name of one that comes with svmbench, such as demo
    or adult.
    """
    from svmbench.config import dump_sweep, load_sweep

    click.echo(dump_sweep(load_sweep(file)), nl=False)
