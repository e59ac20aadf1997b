"""Checks of whether svmbench works and whether this machine is fit to measure on."""

from __future__ import annotations

import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from svmbench.config.stop import Stop
from svmbench.data.cache import cache_dir
from svmbench.data.dataset import Dataset, Provenance
from svmbench.evidence.forecast import least_factor
from svmbench.evidence.page import LEVEL
from svmbench.harness import system
from svmbench.harness.environment import environment
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.trace import TraceWriter
from svmbench.problem import Problem
from svmbench.solvers.stochastic.sgd_s import SgdS

#: Largest share by which evaluations between advances may disturb the clock.
CLOCK_TOLERANCE = 0.02

UNKNOWN = "not reported by the system"
CLOSE = "end other programs; they make timings scatter"

#: Seconds for which the machine is observed, and the share of a processor that other processes
#: may use in that time.
OBSERVED, CALM = 1.0, 0.1

#: Share of processor time that a virtual machine's host may take before a warning, and before
#: the machine is unfit.
STOLEN_WARNING, STOLEN_UNFIT = 0.01, 0.1

#: Load average that needs no warning where the system reports nothing else.
CALM_LOAD = 0.5

#: Random rows on which sgd-s is timed, their features, and the nonzeros of each.
ROWS, FEATURES, NONZEROS = 20_000, 500, 20

#: Epochs of sgd-s on these, and their repetitions, whose scatter is the machine's noise; the
#: pairs of runs that are to show a ratio; the ratio that needs no warning, and the one above which
#: the machine is unfit.
WORK_EPOCHS, REPETITIONS, PAIRS, FINE, COARSE = 10, 41, 12, 1.05, 1.5


@dataclass(frozen=True)
class Check:
    what: str  # the subject of the check
    # warning: timings may be less precise. unfit: timings mean nothing. fault: svmbench does not
    # work.
    verdict: Literal["ok", "warning", "unfit", "fault"]
    found: str
    advice: str = ""  # what to do, if anything


def examine() -> Iterator[Check]:
    """Run all checks, the quick ones first."""
    facts = environment()
    for check in (_machine, _build):
        yield check(facts)
    examiners: tuple[Callable[[], Check], ...] = (
        *(_governor, _boost, _processors, _cache),
        *(_others, _steal, _noise, _clock),
    )
    for examiner in examiners:
        yield examiner()


def conclusion(checks: Sequence[Check]) -> str:
    """The verdict on the machine in one line: fit, fit with reservations, or not fit."""
    bad = [check for check in checks if check.verdict in ("unfit", "fault")]
    doubtful = [check for check in checks if check.verdict == "warning"]
    if not (bad or doubtful):
        return "fit to measure on"
    causes = "; ".join(f"{f.what} ({f.advice})" if f.advice else f.what for f in bad or doubtful)
    return f"{'not fit' if bad else 'fit with reservations'}: {causes}"


def _machine(facts: dict[str, Any]) -> Check:
    found = f"{facts['cpu']}, {facts['logical_cpus']} logical, {facts['memory_gib']} GiB"
    return Check("machine", "ok", found)


def _build(facts: dict[str, Any]) -> Check:
    found = f"{facts['compiler']}: {facts['flags']}"
    if "-march=native" in facts["flags"]:
        return Check("kernels", "ok", found)
    advice = "portable build; install with SVMBENCH_NATIVE=1 to tune it to this machine"
    return Check("kernels", "ok", found, advice)


def _governor() -> Check:
    what, governors = "frequency governor", system.governors()
    if not governors:
        return Check(what, "ok", UNKNOWN)
    if governors == ["performance"]:
        return Check(what, "ok", governors[0])
    advice = "the processor changes its speed: cpupower frequency-set --governor performance"
    return Check(what, "warning", ", ".join(governors), advice)


def _boost() -> Check:
    what, boost = "turbo", system.boost()
    if boost is None:
        return Check(what, "ok", UNKNOWN)
    on, path = boost
    if not on:
        return Check(what, "ok", "off")
    value = 1 if path.name == "no_turbo" else 0
    advice = f"speed depends on heat and on other cores: write {value} to {path}"
    return Check(what, "warning", "on", advice)


def _processors() -> Check:
    """Usable processors: online, allowed by the affinity mask, granted by the quota."""
    online, allowed, quota = os.cpu_count(), system.allowed_processors(), system.quota()
    found = f"{online} online"
    if allowed is not None and allowed != online:
        found += f", {allowed} allowed by the affinity mask"
    found += "" if quota is None else f", quota of {quota:g}"
    threads = system.hyper_threads()
    found += {None: "", True: ", hyper-threads on", False: ", hyper-threads off"}[threads]
    if quota is not None and quota < 1.0:
        advice = "the control group pauses runs: raise its limit (cpu.max)"
        return Check("processors", "unfit", found, advice)
    if threads:
        advice = "two threads share a core: write off to /sys/devices/system/cpu/smt/control"
        return Check("processors", "warning", found, advice)
    if (allowed or online) == 1:
        advice = "svmbench itself and all other programs share the solver's only processor"
        return Check("processors", "warning", found, advice)
    return Check("processors", "ok", found)


def _others() -> Check:
    """Other processes' use of the processors, now and in the last minute."""
    what = "other processes"
    begun = system.now()
    if begun is None:
        average = os.getloadavg()[0]
        if average <= CALM_LOAD:
            return Check(what, "ok", f"load {average:.2f}")
        return Check(what, "warning", f"load {average:.2f}", CLOSE)
    time.sleep(OBSERVED)
    activity = system.since(begun)
    busy = activity["others_cpu_seconds"] / activity["elapsed_seconds"]
    load = f"load {os.getloadavg()[0]:.2f}"
    if busy <= CALM:
        return Check(what, "ok", f"{load}, {100 * busy:.0f} % of a processor now")
    found = f"{load}, {busy:.1f} processors busy now"
    free = (system.allowed_processors() or 1) - busy
    return Check(what, "warning" if free >= 0.75 else "unfit", found, CLOSE)


def _steal() -> Check:
    """Time that the host of a virtual machine took, during a short test and since it started."""
    what = "stolen time"
    begun = system.now()
    if begun is None:
        return Check(what, "ok", UNKNOWN)
    _burn(OBSERVED / 2)  # no time can be stolen from an idle processor
    stolen = system.since(begun)["stolen_seconds"] / (OBSERVED / 2)
    always = begun.stolen / max(1.0, begun.busy + begun.stolen)
    kind = "virtual machine" if system.is_virtual() else "not known to be virtual"
    found = f"{kind}, {100 * stolen:.0f} % now, {100 * always:.1f} % of the work since it started"
    if stolen <= STOLEN_WARNING and always <= STOLEN_WARNING:
        return Check(what, "ok", found)
    advice = "the host takes processors away: measure at another time, or on another machine"
    return Check(what, "unfit" if stolen > STOLEN_UNFIT else "warning", found, advice)


def _burn(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def _noise() -> Check:
    """The scatter of a repeated workload, and the differences that it hides."""
    wall, cpu = repeated_work()
    # Both runs of a pair scatter.
    logs = [[math.log(sample) for sample in samples] for samples in (wall, cpu)]
    scatters = [math.sqrt(2.0) * statistics.stdev(each) for each in logs]
    least = [least_factor(scatter, PAIRS, 2 / LEVEL) for scatter in scatters]
    seen = [100 * (factor - 1) for factor in least]
    found = (
        f"differences below {seen[0]:.1f} % in seconds, {seen[1]:.1f} % in processor seconds, "
        f"are not likely to be shown by {PAIRS} repeats"
    )
    if least[0] <= FINE:
        return Check("noise", "ok", found)
    advice = "use more repeats"
    if seen[1] < 0.7 * seen[0]:
        advice += ", and compare processor seconds by svmbench compare --metric cpu_seconds"
    return Check("noise", "unfit" if min(least) > COARSE else "warning", found, advice)


def repeated_work() -> tuple[list[float], list[float]]:
    """Wall and processor seconds of repeated identical training, without the first one."""
    problem = _random_problem()
    wall, cpu = [], []
    for number in range(REPETITIONS + 1):
        solver = SgdS()
        begun = time.perf_counter(), time.process_time()
        solver.start(problem, 1)
        solver.advance(WORK_EPOCHS * problem.data.n_samples)
        if number:
            wall.append(time.perf_counter() - begun[0])
            cpu.append(time.process_time() - begun[1])
    return wall, cpu


def _cache() -> Check:
    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        advice = "set SVMBENCH_CACHE to a folder that can be written to"
        return Check("cache", "fault", f"{folder}: {error.strerror}", advice)
    free = shutil.disk_usage(folder).free / 2**30
    if free < 1.0:
        advice = "large data sets need more; set SVMBENCH_CACHE to another disk"
        return Check("cache", "warning", f"{folder}, {free:.1f} GiB free", advice)
    return Check("cache", "ok", f"{folder}, {free:.1f} GiB free")


def _clock() -> Check:
    ratio = clock_ratio()
    found = f"training with evaluations takes {ratio:.3f} times as long as without"
    if abs(ratio - 1.0) <= CLOCK_TOLERANCE:
        return Check("clock", "ok", found)
    advice = "evaluations disturb the timed training, or the machine is too noisy to decide"
    return Check("clock", "warning", found, advice)


def clock_ratio(times: int = 9, epochs: int = 60) -> float:
    """Clocked training time over that of a single call, as the ratio of medians."""
    problem = _random_problem()
    clocked, single = [], []
    for _ in range(times):
        clocked.append(_clocked(problem, epochs))
        single.append(_uninterrupted(problem, epochs))
    return statistics.median(clocked) / statistics.median(single)


def _clocked(problem: Problem, epochs: int) -> float:
    stop = Stop(max_epochs=epochs, time_limit=3600.0).model_dump(mode="json")
    measurement = Measurement(SgdS(), Terms(problem, None, stop, 0.0, float("inf")))
    with (
        tempfile.TemporaryDirectory() as folder,
        TraceWriter(Path(folder) / "trace", {}) as trace,
    ):
        measurement.run(1, trace)
    return measurement.clock.wall / 1e9


def _uninterrupted(problem: Problem, epochs: int) -> float:
    solver = SgdS()
    begun = time.perf_counter()
    solver.start(problem, 1)
    solver.advance(epochs * problem.data.n_samples)
    return time.perf_counter() - begun


def _random_problem() -> Problem:
    rng, m, d, nonzeros = np.random.default_rng(0), ROWS, FEATURES, NONZEROS
    steps = rng.integers(1, d // nonzeros + 1, size=(m, nonzeros))
    indices = (np.cumsum(steps, axis=1) - 1).astype(np.uint16)
    labels = np.where(rng.random(m) < 0.5, -1, 1).astype(np.int8)
    indptr = np.arange(0, m * nonzeros + 1, nonzeros, dtype=np.int64)
    origin = Provenance("doctor", "")
    data = Dataset("random", d, indptr, indices.ravel(), None, labels, origin)
    return Problem(data, 1e-4)
