"""``svmbench doctor``: check whether this machine is fit to measure on."""

from __future__ import annotations

import click

from svmbench.cli import options


@click.command(name="doctor")
@options.as_json
def command(as_json: bool) -> int:
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

    from svmbench.cli.json_rows import json_of, plain_rows
    from svmbench.harness.doctor import conclusion, examine

    styles = {"ok": "green", "warning": "yellow", "unfit": "red", "fault": "red"}
    console = Console(highlight=False, soft_wrap=True)
    checks = []
    for check in examine():
        checks.append(check)
        if as_json:
            continue
        line = Text(f"{check.verdict:<8}", styles[check.verdict])
        line.append(f"{check.what}: {check.found}", "default")
        if check.advice:
            line.append(f" ({check.advice})", "dim")
        console.print(line)
    if as_json:
        click.echo(json_of(checks=plain_rows(checks), conclusion=conclusion(checks)))
    else:
        console.print(f"\n{conclusion(checks)}")
    return int(any(check.verdict in ("unfit", "fault") for check in checks))
