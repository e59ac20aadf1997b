"""Solvers that end their process or others, use up what there is, or do not come back."""

from __future__ import annotations

import atexit
import os
import resource
import signal
import threading
import time

import numpy as np

from zoo.specimen import (
    Specimen,
    work,
)


class RaisesExit(Specimen):
    name = "raises-exit"

    def advance(self, steps):
        raise SystemExit(0)


class RaisesInterrupt(Specimen):
    name = "raises-interrupt"

    def advance(self, steps):
        raise KeyboardInterrupt


class RaisesBase(Specimen):
    name = "raises-base"

    def advance(self, steps):
        raise BaseException("neither an error nor an exit")


class Prints(Specimen):
    name = "prints"

    def advance(self, steps):
        for _ in range(300):
            os.write(2, b"x" * 1_000_000)
        os.write(2, b"\n")
        raise ValueError("out of paper")


class Allocates(Specimen):
    name = "allocates"

    def advance(self, steps):
        taken = []
        while True:
            taken.append(np.ones(1 << 23))


class Stays(Specimen):
    """Ignores SIGTERM and does not come back."""

    name = "stays"

    def advance(self, steps):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            work(1.0)


class Leaves(Specimen):
    name = "leaves"

    def advance(self, steps):
        os._exit(0)


class ClosesFiles(Specimen):
    """Closes all files, the harness's among them, and lives on."""

    name = "closes-files"

    def advance(self, steps):
        os.closerange(0, 1024)
        time.sleep(60.0)


class KillsParent(Specimen):
    name = "kills-its-parent"

    def advance(self, steps):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60.0)


class Complains(Specimen):
    name = "complains-at-length"

    def advance(self, steps):
        raise MemoryError("no room " + "x" * 50_000_000)


class BecomesAnother(Specimen):
    """Has its process execute another program, which succeeds."""

    name = "becomes-another"

    def advance(self, steps):
        os.execv("/bin/true", ["true"])


class HobblesItsLauncher(Specimen):
    """Takes priority, processors and open files from the process that starts the next runs."""

    name = "hobbles-its-launcher"

    def start(self, problem, seed):
        super().start(problem, seed)
        launcher = os.getppid()
        os.setpriority(os.PRIO_PROCESS, launcher, 19)
        os.sched_setaffinity(launcher, {max(os.sched_getaffinity(launcher))})
        hard = resource.prlimit(launcher, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(launcher, resource.RLIMIT_NOFILE, (60, hard))


class ShowsItsStanding(Specimen):
    """Says what its process has inherited; it is no part of the zoo."""

    name = "shows-its-standing"

    @property
    def remark(self):
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        processors = sorted(os.sched_getaffinity(0))
        return f"{os.getpriority(os.PRIO_PROCESS, 0)} {processors} {files}"


class StopsItsLauncher(Specimen):
    """Freezes the process that would report its end."""

    name = "stops-its-launcher"

    def start(self, problem, seed):
        super().start(problem, seed)
        os.kill(os.getppid(), signal.SIGSTOP)


class RaisesByAlarm(Specimen):
    """Has an alarm raise an exception wherever the process is."""

    name = "raises-by-alarm"

    def start(self, problem, seed):
        super().start(problem, seed)
        signal.signal(signal.SIGALRM, self.rung)
        signal.setitimer(signal.ITIMER_REAL, 0.001)

    def rung(self, *_):
        raise TimeoutError("too late")

    def advance(self, steps):
        super().advance(steps)
        work(0.002)


class HangsAtExit(Specimen):
    """Does not let its process end."""

    name = "hangs-at-exit"

    def start(self, problem, seed):
        super().start(problem, seed)
        atexit.register(time.sleep, 3600.0)
        threading.Thread(target=time.sleep, args=(3600.0,)).start()


class LimitsItself(Specimen):
    """Has the system end it after a second of work."""

    name = "limits-itself"

    def advance(self, steps):
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        work(60.0)


class OpensEverything(Specimen):
    """Takes all the files that its process may open."""

    name = "opens-everything"

    def start(self, problem, seed):
        super().start(problem, seed)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
        self.taken = []
        while len(self.taken) < 256:
            try:
                self.taken.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                return


class RaisesInRemark(Specimen):
    name = "raises-in-remark"

    @property
    def remark(self):
        raise ValueError("no words left")


class RaisesInT0(Specimen):
    name = "raises-in-t0"

    @property
    def t0(self):
        raise ValueError("no offset")


class HangsInRemark(Specimen):
    name = "hangs-in-remark"

    @property
    def remark(self):
        time.sleep(3600.0)
