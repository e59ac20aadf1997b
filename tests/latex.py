"""Compiles tables in LaTeX, where pdflatex is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

needs_pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="pdflatex is not installed"
)


def assert_compiles(tables, folder):
    """Compile a document of these tables in a folder."""
    body = "\n\\clearpage\n".join(tables)
    (folder / "all.tex").write_text(
        f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}{body}\\end{{document}}"
    )
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout.decode(errors="replace")[-2000:]
