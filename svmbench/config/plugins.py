"""Solvers of single files that the command line adds to a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from svmbench.config.sweep import Sweep
from svmbench.errors import ConfigError
from svmbench.solvers.registry import add_file


def with_plugins(sweep: Sweep, files: Sequence[Path]) -> Sweep:
    """The sweep with the solvers of these files.

    Those that it does not name yet are added with their default parameters.

    Raises ConfigError if a file cannot be loaded, or a solver cannot train the sweep's problems.
    """
    if not files:
        return sweep
    paths = list(dict.fromkeys([*sweep.plugins, *(file.absolute() for file in files)]))
    fields = type(sweep).model_fields.items()
    plain = {field.alias or name: getattr(sweep, name) for name, field in fields}
    plain |= {"plugins": paths, "solvers": [*sweep.solvers, *unnamed(sweep, files)]}
    try:
        return Sweep.model_validate(plain)
    except ValidationError as error:
        message = " ".join(error.errors()[0]["msg"].split())
        raise ConfigError(f"--plugin {files[0]}: {message}") from None


def unnamed(sweep: Sweep, files: Sequence[Path]) -> list[str]:
    """Names of the files' solvers that no entry of the sweep names."""
    named = {spec.name for spec in sweep.solvers}
    found = [solver.name for file in files for solver in add_file(file)]
    return [name for name in dict.fromkeys(found) if name not in named]
