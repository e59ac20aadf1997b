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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="the extra 'docs' is not installed")
    folder = tmp_path_factory.mktemp("site")
    config = ROOT / ".ci" / "site" / "mkdocs.yml"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"),
            *("--config-file", str(config), "--site-dir", str(folder)),
        ],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_solver_has_a_page_made_from_its_class(site):
    own = [solver for solver in solvers().values() if solver.__module__.startswith("svmbench.")]
    assert len(own) > 20
    for solver in own:
        page = (site / "solvers" / f"{solver.name}.html").read_text(encoding="utf-8")
        for parameter in names_of(solver.schema):
            assert f"<code>{parameter}</code>" in page, (solver.name, parameter)


def test_the_navigation_leads_to_every_solver(site):
    page = (site / "solvers" / "index.html").read_text(encoding="utf-8")
    for solver in solvers().values():
        if solver.__module__.startswith("svmbench."):
            assert f'href="{solver.name}.html" class="md-nav__link"' in page, solver.name


def test_a_picture_leads_to_its_full_size_and_the_style_is_there(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<a href="adult.png"><img [^>]*src="adult.png"', page)
    assert '<link rel="stylesheet" href="site.css">' in page
    assert (site / "site.css").read_text() == (ROOT / ".ci/site/site.css").read_text()


def test_every_command_shows_its_help(site):
    page = (site / "commands.html").read_text(encoding="utf-8")
    for name in main.list_commands(None):
        assert f"Usage: svmbench {name} " in page
    assert len(re.findall("-h, --help", page)) > len(main.list_commands(None))


def test_the_gallery_shows_pages_and_pictures_of_every_snapshot(site):
    page = (site / "gallery.html").read_text(encoding="utf-8")
    for folder in (ROOT / "results" / "snapshots").iterdir():
        assert f"repository/results/snapshots/{folder.name}/index.html" in page
        assert f'src="repository/results/snapshots/{folder.name}/' in page
