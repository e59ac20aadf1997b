"""``svmbench doctor``: is this machine fit to measure on."""

from __future__ import annotations

import click


@click.command(name="doctor")
def command() -> int:
    """Check the machine, the installation and the clock, in some seconds.

    The last check runs the clock against itself: training with evaluations in between
    must take, by the clock, what it takes in one piece. Exits 1 when something is broken.
    """
    from rich.console import Console
    from rich.text import Text

    from svmbench.harness.doctor import examine

    styles = {"ok": "green", "warning": "yellow", "fault": "red"}
    console = Console(highlight=False, soft_wrap=True)
    broken = False
    for finding in examine():
        line = Text(f"{finding.verdict:<8}", styles[finding.verdict])
        line.append(f"{finding.what}: {finding.found}", "default")
        if finding.advice:
            line.append(f" ({finding.advice})", "dim")
        console.print(line)
        broken |= finding.verdict == "fault"
    return int(broken)
