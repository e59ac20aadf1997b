"""Compare a report with the one that the files of its folder give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from svmbench.errors import DataError
from svmbench.records.read import read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import pictures_of
from svmbench.report.write import write_numbers
from svmbench.verify.folder import foreign_entries

STRANGER = "is not a file of this report; remove it"
REMEDY = "'svmbench report' writes it again"


def stale_files(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of a report that differ from what its folder's other files give, and why."""
    if not any((folder / name).exists() for name in ("report.html", "tables", "plots")):
        return
    if foreign_entries(folder):  # `svmbench verify` names them
        return
    try:
        with TemporaryDirectory() as temporary:
            again, results = Path(temporary), read_results(folder)
            copied = replace(results, folder=again)
            write_numbers(copied, CurveTable(copied), _plots(folder))
            for path in _plots(folder):
                if path.stem not in pictures_of(results) or path.suffix != ".png":
                    yield f"plots/{path.name}", STRANGER
            yield from _differences(folder, again)
    except DataError as error:
        yield "report.html", str(error)


def _plots(folder: Path) -> list[Path]:
    return sorted((folder / "plots").glob("[!.]*"))


def _differences(folder: Path, again: Path) -> Iterator[tuple[str, str]]:
    wanted, found = _contents(again), _contents(folder)
    for name in sorted(wanted | found):
        if name not in found:
            yield name, f"is missing; {REMEDY}"
        elif name not in wanted:
            yield name, STRANGER
        elif (folder / name).read_bytes() != (again / name).read_bytes():
            yield name, f"is not what this version writes from the other files; {REMEDY}"


def _contents(folder: Path) -> set[str]:
    """The files of a report, without the temporary ones of another process."""
    own = list((folder / "tables").glob("[!.]*"))
    own += [path for path in [folder / "report.html"] if path.exists()]
    return {path.relative_to(folder).as_posix() for path in own}
