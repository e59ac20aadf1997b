"""Runs the notebooks of examples/ and keeps what their cells print, return and draw.

python scripts/notebooks.py examples/*.ipynb
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.figure

#: Dots per inch of the figures that are kept.
DPI = 80


def executed(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """The outputs of a cell: its text, its figures, and the value of its last line."""
    from matplotlib import pyplot as plt

    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    said, value = io.StringIO(), None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    found: list[dict[str, Any]] = []
    if said.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": lines(said.getvalue())})
    for figure in map(plt.figure, plt.get_fignums()):
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=DPI, bbox_inches="tight")
        plt.close(figure)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    if isinstance(value, mpl.figure.Figure):  # it is drawn above
        value = None
    if value is not None and not source.rstrip().endswith(";"):
        shown = {"text/plain": lines(repr(value))}
        for name, kind in (("_repr_html_", "text/html"), ("_repr_svg_", "image/svg+xml")):
            if hasattr(value, name):
                shown[kind] = lines(getattr(value, name)())
        found.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}}
            | {"data": shown}
        )
    return found


def lines(text: str) -> list[str]:
    """A text as notebooks store it."""
    return text.splitlines(keepends=True)


def run(path: Path) -> dict[str, Any]:
    """Execute all cells of a notebook; returns it with their outputs."""
    mpl.use("agg")
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, start=1):
        cell["outputs"] = executed("".join(cell["source"]), names, number)
        cell["execution_count"] = number
    return notebook


def main() -> None:
    """Run the notebooks and write them again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    for path in parser.parse_args().notebooks:
        text = json.dumps(run(path), indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
