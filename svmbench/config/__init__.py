"""Configurations: a YAML file becomes a typed, frozen `Sweep`, or one line saying why not."""

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.config.files import dump_sweep, find_config, load_sweep, with_plugins
from svmbench.config.stop import Stop, SweepReference
from svmbench.config.sweep import LossSpec, SolverSpec, Sweep

__all__ = [
    "DatasetSpec",
    "LossSpec",
    "SolverSpec",
    "Stop",
    "Sweep",
    "SweepReference",
    "dump_sweep",
    "find_config",
    "load_sweep",
    "with_plugins",
]
