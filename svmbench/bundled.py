"""Location of the configurations, data descriptions and template that come with svmbench."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

#: Where a checkout has a folder that is not next to the package.
_ELSEWHERE = {"template": "docs/plugin-template/src/svmbench_subgradient"}


def bundled(folder: str) -> Path:
    """Path of ``configs``, ``datasets`` or ``template``, that of a new solver.

    An installed package contains them; in a checkout they lie next to the package.
    """
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / _ELSEWHERE.get(folder, folder)
