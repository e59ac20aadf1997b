"""Every table of docs/findings is what its script prints; the index lists every page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "findings"
INDEX = FOLDER / "README.md"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page != INDEX)
SCRIPTS = ROOT / "scripts" / "findings"
#: Pages whose scripts take seconds.
SHORT = {"mpu-cycle", "shrink-factor"}
ON_REAL_DATA = [page.stem for page in PAGES if "`--real`" in page.read_text(encoding="utf-8")]


def script(page):
    return SCRIPTS / f"{page.stem.replace('-', '_')}.py"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The output of a script, split at empty lines; it recomputes its references."""
    caches = {"SVMBENCH_CACHE": str(tmp_path_factory.mktemp("cache"))}

    @cache
    def run(path, *options):
        done = subprocess.run(
            [sys.executable, "-W", "error", str(path), *options],
            cwd=ROOT,
            env=os.environ | caches,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return [block.strip("\n") for block in done.stdout.split("\n\n") if block.strip()]

    return run


def tables(text):
    """The tables in a page."""
    found, lines = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("| "):
            lines.append(line)
        elif lines:
            found.append("\n".join(lines))
            lines = []
    return found


DECIMAL = re.compile(r"(\d+\.(\d+))(e[+-]\d+)?")


def same(shown, printed):
    """The same words and counts, and decimals within one unit of the last digit.

    Processors add up in different orders, so the last digit shown may round either way.
    """
    if DECIMAL.sub(r"\3", shown) != DECIMAL.sub(r"\3", printed):
        return False
    for ours, theirs in zip(DECIMAL.finditer(shown), DECIMAL.finditer(printed), strict=True):
        unit = 10.0 ** -len(ours[2])
        if len(ours[2]) != len(theirs[2]) or abs(float(ours[1]) - float(theirs[1])) > 1.01 * unit:
            return False
    return True


def shown_in(text, block):
    """The page has the block."""
    if block in text:
        return True
    lines, wanted = text.splitlines(), block.splitlines()
    starts = range(len(lines) - len(wanted) + 1)
    return any(same("\n".join(lines[i : i + len(wanted)]), block) for i in starts)


@pytest.mark.parametrize(
    ("page", "options"),
    # A page's two cases follow each other, so that one process makes both and runs no script twice.
    [
        pytest.param(
            page,
            options,
            id="".join([page.stem, *options]),
            marks=[] if page.stem in SHORT else [pytest.mark.slow],
        )
        for page in PAGES
        for options in ([(), ("--real",)] if page.stem in ON_REAL_DATA else [()])
    ],
)
def test_a_page_shows_what_its_script_prints(page, options, printed, request):
    if options:
        request.getfixturevalue("real_data")
    text = page.read_text(encoding="utf-8")
    blocks = printed(script(page), *options)
    assert blocks
    for block in blocks:
        assert shown_in(text, block), block
    known = [*blocks, *printed(script(page))] if options else blocks
    rest = [table for table in tables(text) if not any(shown_in(table, b) for b in known)]
    assert bool(rest) == (not options and page.stem in ON_REAL_DATA), rest


def test_the_index_lists_every_page():
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): .+", INDEX.read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == [page.name for page in PAGES]
    assert len(listed) == len(set(listed))
