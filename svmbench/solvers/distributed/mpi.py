"""Shards on the processes of an MPI job: the first one is the caller, and all others have shards.

Every process executes the same program, as MPI wants it:

    with ranks() as on_ranks:
        if on_ranks is not None:  # the first process
            solver.executor = on_ranks
            ...

Messages are pickled. If a process ends, MPI ends the whole job.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from svmbench.errors import ConfigError
from svmbench.solvers.distributed.executor import (
    Executor,
    MakeShard,
    ShardError,
    memory_to_send,
    require_room_to_send,
)
from svmbench.solvers.installed import build


class OnRanks(Executor):
    """An executor on the other processes of a job; each calls its shards one after another.

    Parameters
    ----------
    makers : sequence of callable
    comm : mpi4py.MPI.Comm

    Raises
    ------
    ShardError
        If a shard cannot be made.
    DataError
        If this process has no memory to send shards.
    """

    def __init__(self, makers: Sequence[MakeShard], comm: Any) -> None:
        super().__init__(makers)
        self._comm = comm
        others = range(1, comm.Get_size())
        self._numbers = {rank: range(rank - 1, self.n_shards, len(others)) for rank in others}
        for rank, numbers in self._numbers.items():
            sent = [makers[number] for number in numbers]
            require_room_to_send(memory_to_send(sent))
            comm.send(sent, dest=rank)
        self._answers()

    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        for rank, numbers in self._numbers.items():
            self._comm.send((method, [arguments[number] for number in numbers]), dest=rank)
        return self._answers()

    def _answers(self) -> list[Any]:
        found: list[Any] = [None] * self.n_shards
        failed = []
        for rank, numbers in self._numbers.items():
            answer = self._comm.recv(source=rank)
            if isinstance(answer, str):
                failed.append(f"process {rank}: {answer}")
            else:
                found[numbers.start :: numbers.step] = answer
        if failed:
            raise ShardError(failed[0])
        return found


def serve(comm: Any) -> None:
    """Make shards and call them, until the first process sends None."""
    shards: list[Any] = []
    answer: list[Any] | str
    while True:
        try:
            asked = comm.recv(source=0)  # unpacking it may need more memory than there is
            if asked is None:
                return
            if isinstance(asked, list):
                shards, answer = [make() for make in asked], [None] * len(asked)
            else:
                method, given = asked
                answer = [getattr(s, method)(*a) for s, a in zip(shards, given, strict=True)]
        except Exception as error:  # it may be one that cannot travel
            answer = f"{type(error).__name__}: {error}"
        comm.send(answer, dest=0)


_ANOTHER_BUILD = (
    "not all processes of the MPI job have the first one's build of svmbench, Python and libraries"
)


class Ranks:
    """Makes executors on the other processes of a job.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm

    Attributes
    ----------
    nodes : int
        How many they are.
    """

    def __init__(self, comm: Any) -> None:
        self._comm, self.nodes = comm, comm.Get_size() - 1

    def __call__(self, makers: Sequence[MakeShard]) -> OnRanks:
        """An executor; the shards of the last one are forgotten."""
        return OnRanks(makers, self._comm)

    def require_build(self) -> None:
        """Refuse processes that have another build than this one.

        Raises
        ------
        ConfigError
        """
        try:
            found = self([build] * self.nodes).call("__str__")
        except ShardError as error:  # an older one cannot say what it is
            raise ConfigError(f"{_ANOTHER_BUILD} ({error})") from None
        ours = build()
        others = [rank for rank, theirs in enumerate(found, start=1) if theirs != ours]
        if others:
            numbers = ", ".join(map(str, others))
            raise ConfigError(f"{_ANOTHER_BUILD} (process {numbers})")


def _finalize(library: Any) -> None:
    if not library.Is_finalized():
        library.Finalize()


@contextmanager
def ranks(comm: Any = None) -> Iterator[Ranks | None]:
    """What makes executors, in the first process of a job; None in the others, after their work.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        All processes of the job unless it is given.

    Raises
    ------
    ConfigError
        If mpi4py is not installed, there is no other process, or one has another build.
    """
    if comm is None:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:  # without mpi4py; without a library of MPI
            said = str(error).partition("\n")[0]
            raise ConfigError(
                f"no MPI ({said}); install one, and then: pip install mpi4py"
            ) from None
        # The command line ends before what mpi4py does itself, and MPI would call that improper.
        atexit.register(_finalize, MPI)
        comm = MPI.COMM_WORLD
    if comm.Get_size() < 2:
        raise ConfigError("an MPI job of one process has no process for shards; use mpiexec -n 3")
    if comm.Get_rank() > 0:
        serve(comm)
        yield None
        return
    try:
        on_ranks = Ranks(comm)
        on_ranks.require_build()
        yield on_ranks
    finally:
        for rank in range(1, comm.Get_size()):
            comm.send(None, dest=rank)
