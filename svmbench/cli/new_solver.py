"""``svmbench new-solver``: a Python file with a solver that runs, to be changed into one's own."""

from __future__ import annotations

import keyword
import os
import re
from pathlib import Path

import click

from svmbench.cli import options


@click.command(
    "new-solver",
    epilog=options.examples("svmbench new-solver my-method", "svmbench new-solver svrg -o s.py"),
)
@click.argument("name")
@options.out_file("out", "File to write.  [default: NAME.py, in this folder]")
@options.quiet
def command(name: str, out: Path | None, quiet: bool) -> None:
    """Write a Python file with a solver that runs, called NAME.

    It is subgradient descent with all that a solver needs: parameters, start, advance and w. Put
    your method in their place. No file is replaced.
    """
    from svmbench.bundled import bundled
    from svmbench.durable import write_text
    from svmbench.errors import ConfigError
    from svmbench.solvers.registry import solvers

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ConfigError(
            f"{name!r}: a solver's name has small letters, digits and hyphens between them, and "
            "begins with a letter"
        )
    path = out or Path(f"{name.replace('-', '_')}.py")
    if os.path.lexists(path):
        raise ConfigError(f"{path}: exists and is not replaced; choose another name with -o")
    text = (bundled("template") / "__init__.py").read_text(encoding="utf-8")
    as_class = "".join(part.capitalize() for part in name.split("-"))
    taken = keyword.iskeyword(as_class) or re.search(rf"\b{as_class}\b", text)
    if name in solvers() or taken:
        raise ConfigError(f"{name!r}: is taken; choose another name")
    text = text.replace("Subgradient", as_class).replace('"subgradient"', f'"{name}"')
    write_text(path, text.replace("Parameters of subgradient", f"Parameters of {name}"))
    if not quiet:
        click.echo(f"{path}; try it:")
        click.echo(f"  svmbench solvers {name} --check --plugin {path}")
        click.echo(f"  svmbench run smoke --plugin {path}")
