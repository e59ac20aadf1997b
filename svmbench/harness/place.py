"""Where runs are carried out: on this machine, or on the nodes of a cluster."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.errors import SvmbenchError
from svmbench.harness.environment import environment, fingerprint
from svmbench.harness.processes import Worker, hired

if TYPE_CHECKING:
    from svmbench.harness.assignment import Assignment
    from svmbench.harness.plan import Instance
    from svmbench.harness.trace import Trace


class NodeLostError(SvmbenchError):
    """A node has ended, cannot be reached or has answered what cannot be used."""


class Node(ABC):
    """Another machine, which carries out one run at a time."""

    name: str  # its name in traces and tables

    @abstractmethod
    def prepare(self, instance: Instance, stop: threading.Event, end: float) -> None:
        """Have the rows of an instance on the node, unless it is to stop before, or to end."""

    @abstractmethod
    def carry_out(
        self, assignment: Assignment, path: Path, stop: threading.Event, end: float
    ) -> Trace | None:
        """Carry out a run there as `supervise.carry_out` does here; None also if interrupted."""


#: Carries out one run at a time, while its context is open.
Seat = Callable[[], AbstractContextManager[Worker | Node]]


class Place:
    """Where the runs of a sweep are carried out: on this machine, unless a subclass says otherwise.

    - ``jobs``: runs at a time.
    """

    def __init__(self, jobs: int = 1) -> None:
        self._jobs = jobs

    @property
    def machine(self) -> str:
        """Fingerprint of its machines, which is part of every run's identity."""
        return fingerprint()

    @property
    def contended(self) -> bool:
        """Whether several runs share a machine."""
        return self._jobs > 1

    @property
    def nodes(self) -> Collection[str] | None:
        """Names of the nodes, each of which carries out whole blocks; None for this machine."""
        return None

    def environment(self) -> dict[str, Any]:
        """What is recorded about the machine."""
        return environment()

    def seats(self) -> Sequence[Seat]:
        """One for each run that can be in progress at a time."""
        return [hired] * self._jobs
