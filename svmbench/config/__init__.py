"""Configurations: a YAML file becomes a typed, frozen `Sweep`, or one line saying why not."""

from svmbench.config.files import dump_sweep, find_config, load_sweep
from svmbench.config.plugins import with_plugins
from svmbench.config.schema import sweep_schema
from svmbench.config.sweep import (
    DatasetSpec,
    LossName,
    LossSpec,
    SolverSpec,
    Stop,
    Sweep,
    SweepReference,
)

__all__ = [
    "DatasetSpec",
    "LossName",
    "LossSpec",
    "SolverSpec",
    "Stop",
    "Sweep",
    "SweepReference",
    "dump_sweep",
    "find_config",
    "load_sweep",
    "sweep_schema",
    "with_plugins",
]
