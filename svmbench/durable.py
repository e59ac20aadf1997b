"""Files that are either the old one or the whole new one, whatever happens meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from svmbench.errors import ConfigError


@contextmanager
def replacing(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file that becomes ``path`` once the block ends without an error.

    Parameters
    ----------
    path : Path
        Its folder is made if there is none.
    mode : {'w', 'wb'}
        Text is UTF-8 with plain line feeds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    binary = "b" in mode
    file = NamedTemporaryFile(  # noqa: SIM115 (it outlives the with: renamed once closed)
        mode,
        encoding=None if binary else "utf-8",
        newline=None if binary else "\n",
        dir=path.parent,
        prefix=f".{path.name}.",
        suffix=".tmp",
        delete=False,
    )
    temporary = Path(file.name)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def require_own(folder: Path) -> None:
    """Refuse a link in the place of a folder of results: what it points at may be anybody's.

    Raises
    ------
    ConfigError
        When the folder is a symbolic link.
    """
    if folder.is_symlink():
        raise ConfigError(
            f"{folder}: a symbolic link, which is not followed; remove it, or have"
            f" {folder.parent} as a whole lie elsewhere"
        )


def write_text(path: Path, text: str) -> None:
    """Write a whole text file durably."""
    with replacing(path) as file:
        file.write(text)


def _umask() -> int:
    """The mask new files get; a temporary file is private until it takes its name."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
