"""When a run counts as disturbed, and when its times are in doubt: for recording and reporting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The clock's wall time may exceed its processor time by this share, or by so many seconds, which
#: the system itself can cause.
WAITED_SHARE, WAITED_FROM = 0.05, 0.005

#: Involuntary switches per second of training: each can cost a time slice of some milliseconds, so
#: that this many are some per cent of the time. Fewer than the second number are an accident,
#: however short the run.
SWITCHES_A_SECOND, SWITCHES_FROM = 20.0, 5

#: Share of a run's duration that a virtual machine's host may take from all processors together,
#: and the least seconds that can be measured: the system counts hundredths.
STOLEN_SHARE, STOLEN_FROM = 0.01, 0.02

#: Processors that other processes may keep busy during a run, and the least seconds of these that
#: can be measured. They share caches, the path to memory and the clock frequency with the run.
OTHERS_SHARE, OTHERS_FROM = 0.25, 0.05

#: Each cause in words.
CAUSES = {
    "waited": "waited for the processor",
    "switched": "lost the processor often",
    "stolen": "had time stolen by the machine's host",
    "others": "ran alongside other processes",
}


def disturbances(run: Mapping[Any, Any]) -> tuple[str, ...]:
    """The `CAUSES` that disturbed a run, from its row of runs.csv; empty if nothing is known."""
    wall, cpu, elapsed = (run[f"{name}_seconds"] for name in ("train", "train_cpu", "elapsed"))
    switches, stolen = run["involuntary_switches"], run["stolen_seconds"]
    others = run["others_cpu_seconds"]
    # Comparisons with nan are false, so unknown numbers are no disturbance.
    held = {
        "waited": run["threads"] == 1
        and wall > (1.0 + WAITED_SHARE) * cpu
        and wall - cpu > WAITED_FROM,
        "switched": switches >= SWITCHES_FROM and switches > SWITCHES_A_SECOND * wall,
        "stolen": stolen >= STOLEN_FROM and stolen > STOLEN_SHARE * elapsed,
        "others": others >= OTHERS_FROM and others > OTHERS_SHARE * elapsed,
    }
    return tuple(cause for cause in CAUSES if held[cause])


# --- much happened off the clock ---------------------------------------------------

#: Time of a run that is neither training, conversion, reading, evaluating nor recording: it may be
#: this share of training, or so many seconds if that is more.
UNACCOUNTED_SHARE, UNACCOUNTED_FROM = 0.1, 0.25

#: Conversion may take as long as so many evaluations of P, or so many seconds if that is more.
CONVERSION_EVALUATIONS, CONVERSION_FROM = 50.0, 0.1

#: Processor seconds that importing a solver and its programs may take.
LOADING_FROM = 5.0

#: Each cause in words.
OFF_CLOCK_CAUSES = {
    "read": "took long to read, which was added to the training time",
    "unaccounted": "spent time on neither training, conversion nor evaluation",
    "conversion": "spent more time on conversion than on training",
    "loading": "spent more time on loading than on training",
}


def off_clock(run: Mapping[Any, Any]) -> tuple[str, ...]:
    """The `OFF_CLOCK_CAUSES` that put a run's times in doubt; empty if nothing is known."""
    train, conversion = run["train_seconds"], run["conversion_seconds"]
    unaccounted, loading = run["unaccounted_seconds"], run["load_cpu_seconds"]
    # Comparisons with nan are false, so unknown numbers raise no doubt.
    held = {
        "read": run["charged_seconds"] > 0,
        "unaccounted": unaccounted > UNACCOUNTED_FROM and unaccounted > UNACCOUNTED_SHARE * train,
        "conversion": conversion > CONVERSION_FROM
        and conversion > CONVERSION_EVALUATIONS * run["evaluation_seconds"]
        and conversion > train,
        "loading": loading > LOADING_FROM and loading > train,
    }
    return tuple(cause for cause in OFF_CLOCK_CAUSES if held[cause])
