"""Where the time of a run goes besides training, so that no work is hidden from the clock.

Between training steps the harness reads the solver's weights, counts and lower bound, and evaluates
P. A solver may compute what it shows only when it is read, or leave threads and processes at work.
This module holds such time against the clock.
"""

from __future__ import annotations

from svmbench.harness.child import children, processor_seconds
from svmbench.harness.clock import Clock, Stopwatch, now

#: Version of the rules by which time is counted, added to the clock, or refused. It is part of a
#: run's identity. Raise it whenever a rule changes, so that no pair mixes two sets of rules.
CLOCK_RULES = 8

#: Reads may take this multiple of the time of the evaluations of P, which also copy the weights,
#: and this share of training in addition.
OF_EVALUATIONS, OF_TRAINING = 2.0, 0.02

#: Seconds that reads may take in addition: each read, for calls in Python, and all of a run.
A_READ, READS_FROM = 30e-6, 0.002

#: The second of these for wall time, which includes waiting for the processor.
READS_WALL_FROM = 0.25

#: Processor time that other threads and processes may use: a share of training, or so many seconds
#: if that is more.
BACKGROUND_SHARE, BACKGROUND_FROM = 0.1, 0.05


class Accounts:
    """The times of one run besides training.

    - ``reading, evaluating, recording``: reads of the solver; evaluations of P; and the test error,
      checks and writing the trace. All of them are off the clock.
    - ``charged``: nanoseconds of reading that were added to the clock.
    """

    def __init__(self) -> None:
        self.reading, self.evaluating, self.recording = Stopwatch(), Stopwatch(), Stopwatch()
        self.charged = 0
        self._begun = now()
        self._kept = {pid: processor_seconds(pid) or 0.0 for pid in children()}
        self._aside, self._aside_cpu = 0, 0

    def charge(self, clock: Clock) -> None:
        """Add to the clock what the reads so far took beyond their allowance."""
        trained = clock.wall - self.charged
        allowed = OF_TRAINING * trained + A_READ * 1e9 * self.reading.count
        thread = OF_EVALUATIONS * self.evaluating.thread + allowed + READS_FROM * 1e9
        wall = OF_EVALUATIONS * self.evaluating.wall + allowed + READS_WALL_FROM * 1e9
        beyond = max(self.reading.thread - thread, self.reading.wall - wall)
        due = max(0, int(beyond) - self.charged)
        self.charged += due
        clock.wall += due
        clock.cpu += due

    def except_for(self, wall: int, cpu: int) -> None:
        """Let nanoseconds known to be a program's own start, reading and output not count."""
        self._aside += wall
        self._aside_cpu += cpu

    def close(self, clock: Clock, converting: Clock, threads: int) -> dict[str, float]:
        """The times of the whole run in seconds, as its last line has them."""
        end, begun = now(), self._begun
        elapsed = end.wall - begun.wall
        trained = clock.wall - self.charged
        own = trained + converting.wall
        off = self.reading.wall + self.evaluating.wall + self.recording.wall
        # Starting and stopping the watches takes time itself.
        unaccounted = elapsed - own - self._aside - off - A_READ * 1e9 * self.reading.count
        unaccounted = max(0.0, unaccounted)
        harness = end.thread - begun.thread - clock.thread - converting.thread
        used = end.process - begun.process + end.children - begun.children + self._of_kept()
        # Off the clock only the harness's own thread has anything to do, but the threads of OpenMP
        # spin for a while after they have worked.
        background = used - harness - threads * own - (threads - 1) * off - self._aside_cpu
        return {
            "elapsed_seconds": elapsed / 1e9,
            "read_seconds": self.reading.wall / 1e9,
            "charged_seconds": self.charged / 1e9,
            "unaccounted_seconds": unaccounted / 1e9,
            "background_cpu_seconds": max(0.0, background) / 1e9,
            "process_cpu_seconds": used / 1e9,
        }

    def _of_kept(self) -> float:
        """Nanoseconds that processes have used which had been started with the solver's program."""
        # Of one that has ended, the times of ended children hold what it had used before, too.
        return 1e9 * sum((processor_seconds(pid) or 0.0) - at for pid, at in self._kept.items())


def hidden_work(times: dict[str, float], trained: float) -> str:
    """Why a run with these times is refused; empty if it is not."""
    background = times["background_cpu_seconds"]
    if background > max(BACKGROUND_FROM, BACKGROUND_SHARE * trained):
        return (
            f"used {background:.2g} s of processor time in other threads or processes, beside the "
            f"{trained:.2g} s on the clock"
        )
    return ""
