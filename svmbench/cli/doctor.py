"""``svmbench doctor``: check whether this machine is fit to measure on."""

from __future__ import annotations

import click


@click.command(name="doctor")
def command() -> int:
    """Check the machine, the installation and the clock.

    It watches the load, times a fixed workload repeatedly, and checks the clock:
    training with evaluations in between must take the same time by the clock as training without.
    The last line says whether the machine is fit to measure on, fit with reservations, or not fit,
    and what to change.

    Exits with code 0 if the machine is fit, also with reservations (warnings), and 1 if it
    is not: something is broken, or disturbs the machine so much that times mean nothing.
    """
    from rich.console import Console
    from rich.text import Text

    from svmbench.harness.doctor import conclusion, examine

    styles = {"ok": "green", "warning": "yellow", "unfit": "red", "fault": "red"}
    console = Console(highlight=False, soft_wrap=True)
    checks = []
    for check in examine():
        checks.append(check)
        line = Text(f"{check.verdict:<8}", styles[check.verdict])
        line.append(f"{check.what}: {check.found}", "default")
        if check.advice:
            line.append(f" ({check.advice})", "dim")
        console.print(line)
    console.print(f"\n{conclusion(checks)}")
    return int(any(check.verdict in ("unfit", "fault") for check in checks))
