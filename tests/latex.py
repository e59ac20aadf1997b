"""Compiles tables in LaTeX, where that is possible."""

from __future__ import annotations

import subprocess

import pytest


def _compiled(body, folder, options=""):
    """Two columns are 3.4 inches wide each."""
    (folder / "all.tex").write_text(
        f"\\documentclass[{options}]{{article}}\\usepackage{{booktabs,graphicx}}"
        "\\setlength{\\textwidth}{7in}\\setlength{\\columnsep}{.2in}"
        f"\\begin{{document}}{body}\\end{{document}}"
    )
    return subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )


@pytest.fixture(scope="session")
def assert_compiles(tmp_path_factory):
    """Compiles a document of tables in a folder; skips where not even a small table compiles."""
    small = "\\begin{tabular}{l}\\toprule a\\\\\\bottomrule\\end{tabular}"
    try:
        works = _compiled(small, tmp_path_factory.mktemp("latex")).returncode == 0
    except FileNotFoundError:
        works = False
    if not works:
        pytest.skip("no LaTeX with booktabs is installed")

    def compiles(tables, folder, options=""):
        made = _compiled("\n\\clearpage\n".join(tables), folder, options)
        said = made.stdout.decode(errors="replace")
        assert made.returncode == 0, said[-2000:]
        return said

    return compiles
