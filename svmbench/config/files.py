"""Configurations on disk: found, read, and written as resolved."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from svmbench.bundled import bundled
from svmbench.config.reading import keys_at, read_model
from svmbench.config.sweep import Sweep
from svmbench.document import Dumper
from svmbench.errors import ConfigError
from svmbench.solvers.checked import as_plain
from svmbench.solvers.registry import add_file


def load_sweep(path: Path, load_plugins: bool = True) -> Sweep:
    """Read a configuration, as `find_config` finds it."""
    return read_model(find_config(path), Sweep, load_plugins)


def find_config(path: Path) -> Path:
    """The file itself, or the one of that name that comes with svmbench."""
    try:
        if path.is_file():
            return path
        exists = path.exists()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name another") from None
    folder = bundled("configs")
    # Not those in papers/: they are not sweeps; 'svmbench papers' reads them.
    known = {found.name: found for found in sorted(folder.glob("*.yaml"))}
    wanted = path.as_posix().removeprefix("configs/")
    for name in (wanted, f"{wanted}.yaml"):
        if name in known:
            return known[name]
    if exists:
        raise ConfigError(f"{path}: not a file; name a configuration such as adult.yaml")
    # By their stems: the common suffix would make all of them alike.
    meant = {Path(name).stem: name if path.suffix else Path(name).stem for name in known}
    meant |= {other.stem: other.name for other in sorted(path.parent.glob("*.y*ml"))}
    near = difflib.get_close_matches(path.stem if path.suffix else path.name, meant, n=1)
    hint = f"did you mean {meant[near[0]]!r}?" if near else f"those of svmbench: {', '.join(known)}"
    text = str(path)
    shown = text if text.isprintable() else repr(text)
    raise ConfigError(f"{shown}: no such configuration; {hint}")


def dump_sweep(sweep: Sweep) -> str:
    """The sweep as YAML with every default written out; `load_sweep` reads it back."""
    plain = sweep.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"solvers"})
    if not sweep.plugins:
        del plain["plugins"]
    plain["datasets"] = [_shortest(spec) for spec in plain["datasets"]]
    plain["loss"] = _shortest(plain["loss"])
    plain["solvers"] = [
        {"name": spec.name, "label": spec.label, **as_plain(spec.parameters)}
        for spec in sweep.solvers
    ]
    ordered = {key: plain[key] for key in keys_at(Sweep) if key in plain}
    return yaml.dump(
        ordered, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None
    )


def _shortest(spec: dict[str, Any]) -> Any:
    spec = {key: value for key, value in spec.items() if value != []}
    return spec["name"] if set(spec) == {"name"} else spec


def with_plugins(sweep: Sweep, files: Sequence[Path]) -> Sweep:
    """The sweep with the solvers of these files, with default parameters where it has none."""
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
