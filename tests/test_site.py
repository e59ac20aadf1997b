"""The documentation as a site: it builds without a warning, and has every solver and command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from svmbench.cli import main
from svmbench.solvers.checked import names_of
from svmbench.solvers.registry import solvers

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_site_has_every_solver_command_and_picture(tmp_path):
    pytest.importorskip("material", reason="the extra 'docs' is not installed")
    config = ROOT / ".ci" / "site" / "mkdocs.yml"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"),
            *("--config-file", str(config), "--site-dir", str(tmp_path)),
        ],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    def page(name):
        return (tmp_path / name).read_text(encoding="utf-8")

    own = [solver for solver in solvers().values() if solver.__module__.startswith("svmbench.")]
    assert len(own) > 20
    for solver in own:
        for parameter in names_of(solver.schema):
            found = f"<code>{parameter}</code>" in page(f"solvers/{solver.name}.html")
            assert found, (solver.name, parameter)
        link = f'href="{solver.name}.html" class="md-nav__link"'
        assert link in page("solvers/index.html"), solver.name

    # A picture leads to its full size.
    assert re.search(r'<a href="adult.png"><img [^>]*src="adult.png"', page("index.html"))
    assert '<link rel="stylesheet" href="site.css">' in page("index.html")
    assert page("site.css") == (ROOT / ".ci/site/site.css").read_text()

    commands = main.list_commands(None)
    for name in commands:
        assert f"Usage: svmbench {name} " in page("commands.html")
    assert len(re.findall("-h, --help", page("commands.html"))) > len(commands)

    for folder in (ROOT / "results" / "snapshots").iterdir():
        assert f"repository/results/snapshots/{folder.name}/index.html" in page("gallery.html")
        assert f'src="repository/results/snapshots/{folder.name}/' in page("gallery.html")
