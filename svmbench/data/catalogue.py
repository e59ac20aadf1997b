"""The catalogue: one YAML file a data set, and a user's own files beside it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from svmbench.bundled import bundled
from svmbench.data.libsvm import COMPRESSED, plain_name
from svmbench.errors import ConfigError, DataError


def _one_or_several(given: Any) -> Any:
    return given if given is None or isinstance(given, list | tuple) else (given,)


Label = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[tuple[Label, ...], Field(min_length=1), BeforeValidator(_one_or_several)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def url_name(url: str) -> str:
    """Name of the file that a URL serves."""
    return PurePosixPath(urlsplit(url).path).name


def known_names(file: str) -> list[str]:
    """Names under which a file may lie in a folder: plain, then compressed."""
    return [file, *(file + suffix for suffix in COMPRESSED)]


class DataFile(_Model):
    """One file of LIBSVM text.

    Parameters
    ----------
    file : str
        Its name, without a compression suffix.
    path : str, optional
        Where it lies, relative to the folder of the descriptions, when svmbench brings it.
    urls : tuple of str
        Where it can be had, to be tried in turn; their last part is the name, and may
        bear a compression suffix.
    sha256 : str, optional
        Of the uncompressed text; None where it is not known.
    rows, positives, nnz : int, optional
        Rows, rows labelled +1 and entries that are not zero.
    """

    file: str = Field(pattern=r"^[^/\\]+$")
    path: str | None = None
    urls: tuple[str, ...] = ()
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    rows: int | None = Field(default=None, gt=0)
    positives: int | None = Field(default=None, ge=0)
    nnz: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _addresses_serve_the_file(self) -> Self:
        for url in self.urls:
            if url_name(url) not in known_names(self.file):
                raise ValueError(f"{url} does not end in {' or '.join(known_names(self.file))}")
        return self


class Entry(_Model):
    """A data set: its files, what its labels mean and where it comes from.

    Parameters
    ----------
    name : str
        That of its YAML file.
    title, description : str
    train : DataFile
    test : DataFile, optional
    n_features : int, optional
        d; by default the largest index in either file.
    positive : tuple of float, optional
        The labels that become +1, a single one may stand alone; all others become -1. By
        default the larger of exactly two.
    labels : str
        What the labels in the text mean.
    licence, citation, homepage : str
    """

    name: str
    title: str
    description: str = ""
    train: DataFile
    test: DataFile | None = None
    n_features: int | None = Field(default=None, gt=0, lt=1 << 31)
    positive: Positive | None = None
    labels: str = ""
    licence: str = "unknown"
    citation: str = ""
    homepage: str = ""


class OwnFiles(_Model):
    """A user's own files as a data set.

    Parameters
    ----------
    path : Path
        LIBSVM text, plain or .xz, .bz2, .gz.
    test : Path, optional
    n_features, positive
        As in `Entry`.
    name : str, optional
        By default the file's, without suffixes.
    """

    path: Path
    test: Path | None = None
    n_features: int | None = None
    positive: Positive | None = None
    name: str | None = None


def names() -> list[str]:
    """Names of all data sets in the catalogue, sorted."""
    return sorted(path.stem for path in bundled("datasets").glob("*.yaml"))


def entry(name: str) -> Entry:
    """Read the description of a data set.

    Raises
    ------
    DataError
        When the catalogue has no such name or its file is not a valid description.
    """
    known = names()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
        raise DataError(f"no data set '{name}'; {hint} (a file of your own: ./{name})")
    return read_entry(bundled("datasets") / f"{name}.yaml")


def read_entry(path: Path) -> Entry:
    """Read one description file; errors as `entry`."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; make it a readable file") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text; save it as such") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise DataError(f"{where}: {error.problem}; correct the YAML") from None
    except yaml.YAMLError as error:
        raise DataError(f"{path}: {' '.join(str(error).split())}; correct the YAML") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: not a description; see datasets/README.md")
    try:
        found = Entry.model_validate(content)
    except ValidationError as error:
        raise DataError(f"{path}: {_first_problem(error)}") from None
    if found.name != path.stem:
        raise DataError(f"{path}: describes '{found.name}'; name and file must agree")
    return found


def resolve(spec: str | Mapping[str, Any] | OwnFiles | Entry) -> Entry:
    """Find the entry that ``spec`` means.

    Parameters
    ----------
    spec : str, mapping, OwnFiles or Entry
        A catalogue name; a path (with a slash in it, or of a file that exists); a mapping
        ``{path: FILE, test: FILE, positive: ..., n_features: ..., name: ...}``, as in
        `OwnFiles`.

    Raises
    ------
    ConfigError
        When the mapping is not of that form.
    DataError
        When there is no such data set.
    """
    if isinstance(spec, Entry):
        return spec
    if isinstance(spec, str):
        if spec not in names() and ("/" in spec or "\\" in spec or Path(spec).is_file()):
            return _own_entry(OwnFiles(path=Path(spec)))
        return entry(spec)
    if isinstance(spec, Mapping):
        try:
            spec = OwnFiles.model_validate(dict(spec))
        except ValidationError as error:
            raise ConfigError(f"data set: {_first_problem(error)}") from None
    return _own_entry(spec)


def _own_entry(own: OwnFiles) -> Entry:
    try:
        return Entry(
            name=own.name or plain_name(own.path).removesuffix(".libsvm") or own.path.name,
            title=str(own.path),
            train=_own_file(own.path),
            test=_own_file(own.test) if own.test else None,
            n_features=own.n_features,
            positive=own.positive,
        )
    except ValidationError as error:
        raise ConfigError(f"data set {own.path}: {_first_problem(error)}") from None


def _own_file(path: Path) -> DataFile:
    if not path.is_file():
        raise DataError(f"{path}: no such file; check the path")
    return DataFile(file=path.name, path=str(path.resolve()))


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}; see datasets/README.md"
