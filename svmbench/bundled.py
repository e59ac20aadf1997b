"""Location of the configurations and data descriptions that come with svmbench."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def bundled(folder: str) -> Path:
    """Path of ``configs`` or ``datasets``.

    An installed package contains them; in a checkout they lie next to the package.
    """
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder
