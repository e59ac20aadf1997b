"""The catalogue of data sets, one YAML file each, and data sets of a user's own files."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from svmbench.bundled import bundled
from svmbench.data.libsvm import plain_name
from svmbench.data.shape import CalibrationTarget, CatalogueModel, Shape
from svmbench.data.text_files import COMPRESSED
from svmbench.document import one_or_several, parse_document
from svmbench.errors import ConfigError, DataError, nearest

Label = Annotated[float, Field(allow_inf_nan=False)]
PositiveLabels = Annotated[tuple[Label, ...], Field(min_length=1), BeforeValidator(one_or_several)]
CsvColumn = Annotated[int, Field(ge=1)] | str
Role = Literal["train", "test"]
Format = Literal["libsvm", "multilabel", "idx", "csv"]


def url_name(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).name


def known_names(file: str) -> list[str]:
    """Names that a file may have in a folder: plain, then compressed."""
    return [file, *(file + suffix for suffix in COMPRESSED)]


class Conversion(CatalogueModel):
    """How `svmbench.data.fetch.convert` makes LIBSVM text of delimited text with a header."""

    source: DataFile
    label: str
    positive: Label
    ranges: dict[str, tuple[int, int]] = Field(default_factory=dict)


class DataFile(CatalogueModel):
    """One file of a data set, and the file of its labels if they are separate."""

    file: str = Field(pattern=r"^[^/\\]+$")
    path: str | None = None
    urls: tuple[str, ...] = ()
    obtain: str | None = None
    converted: Conversion | None = None
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    bytes: int | None = Field(default=None, gt=0)
    rows: int | None = Field(default=None, gt=0)
    positives: int | None = Field(default=None, ge=0)
    nnz: int | None = Field(default=None, ge=0)
    label_file: DataFile | None = None

    @model_validator(mode="after")
    def _addresses_serve_the_file(self) -> Self:
        for url in self.urls:
            if url_name(url) not in known_names(self.file):
                raise ValueError(f"{url} does not end in {' or '.join(known_names(self.file))}")
        return self

    @property
    def parts(self) -> tuple[DataFile, ...]:
        """The file itself and, if there is one, the file of its labels."""
        return (self,) if self.label_file is None else (self, self.label_file)


class Csv(CatalogueModel):
    """The layout of delimited text."""

    separator: Literal["comma", "semicolon", "tab", "blanks"] = "comma"
    header: bool = True
    label: CsvColumn | None = None
    drop: tuple[CsvColumn, ...] = ()


class Recipe(CatalogueModel):
    """How an author drew a simulated set; `svmbench.data.synthetic` draws the same numbers.

    Rows are standard normal, and so is a vector beta; a row's label is the sign of its product
    with beta plus noise. All columns are then standardised, and some rows are set apart.
    """

    law: Literal["gaussian-hyperplane"]
    m: int = Field(ge=2)
    d: int = Field(gt=0, lt=1 << 31)
    noise: float = Field(ge=0, allow_inf_nan=False)
    seed: int = Field(ge=0, lt=1 << 32)
    test: float = Field(gt=0, lt=1)
    split_seed: int = Field(ge=0, lt=1 << 32)


class Entry(CatalogueModel):
    """A data set: its files, the meaning of its labels and its source (datasets/README.md)."""

    name: str
    title: str
    description: str = ""
    train: DataFile
    test: DataFile | None = None
    format: Format = "libsvm"
    csv: Csv | None = None
    scale: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    zero_based: bool = False
    n_features: int | None = Field(default=None, gt=0, lt=1 << 31)
    positive: PositiveLabels | None = None
    # whether ``positive`` is the user's own choice, which is recorded with the rows
    positive_chosen: bool = False
    labels: str = ""
    licence: str = "unknown"
    citation: str = ""
    homepage: str = ""
    checked: str = ""
    stand_in: Shape | None = None
    targets: tuple[CalibrationTarget, ...] = ()
    unlike: str = ""  # in what the stand-in is known not to be like the set, though it meets them
    recipe: Recipe | None = None

    @model_validator(mode="after")
    def _drawn_or_read(self) -> Self:
        if self.recipe is not None and self.stand_in is not None:
            raise ValueError("a set with a recipe is drawn itself; drop its 'stand_in'")
        if self.recipe is not None and (self.train.urls or self.train.path):
            raise ValueError("a set with a recipe has no files; drop 'urls' and 'path'")
        return self

    @model_validator(mode="after")
    def _fields_belong_to_the_format(self) -> Self:
        if (self.csv is not None) != (self.format == "csv"):
            raise ValueError("'csv' is the layout of format csv, and needed there")
        if self.scale is not None and self.format != "idx":
            raise ValueError("'scale' belongs to format idx")
        if self.zero_based and self.format not in ("libsvm", "multilabel"):
            raise ValueError("'zero_based' belongs to formats libsvm and multilabel")
        for file in self.files.values():
            apart = self.format == "idx" or (self.csv is not None and self.csv.label is None)
            if (file.label_file is not None) != apart:
                wanted = "needs" if apart else "has no use for"
                raise ValueError(f"{file.file} {wanted} a label_file")
        return self

    @property
    def files(self) -> dict[Role, DataFile]:
        """Its files by role; without 'test' if there is no test file, none for a recipe."""
        if self.recipe is not None:
            return {}
        found: dict[Role, DataFile] = {"train": self.train}
        if self.test is not None:
            found["test"] = self.test
        return found

    @property
    def without_test(self) -> Entry | None:
        """The same set without its test file; None if it has none or cannot do without.

        Both files may decide its columns or labels, and a user's own test file is never left out.
        """
        if self.test is None or self.test.path is not None:
            return None
        if self.n_features is None or self.positive is None:
            return None
        return self.model_copy(update={"test": None})


class OwnFiles(CatalogueModel):
    """A user's own files as a data set."""

    path: Path
    test: Path | None = None
    zero_based: bool = False
    n_features: int | None = None
    positive: PositiveLabels | None = None
    name: str | None = None


class Chosen(CatalogueModel):
    """A data set of the catalogue with another choice of positive labels."""

    name: str
    positive: PositiveLabels | None = None


def names() -> list[str]:
    """Names of all data sets in the catalogue, sorted."""
    # A glob would be empty where the folder cannot be read.
    files = bundled("datasets").iterdir()
    return sorted(path.stem for path in files if path.suffix == ".yaml")


def entry(name: str) -> Entry:
    """Read the description of a data set."""
    known = names()
    if name not in known:
        hint = nearest(name, known, "svmbench data list")
        raise DataError(f"no data set '{name}'; {hint} (a file of your own: ./{name})")
    return read_entry(bundled("datasets") / f"{name}.yaml")


def read_entry(path: Path) -> Entry:
    try:
        content = parse_document(path).value
    except ConfigError as error:
        raise DataError(str(error)) from None
    try:
        found = Entry.model_validate(content)
    except ValidationError as error:
        raise DataError(f"{path}: {_first_problem(error)}") from None
    if found.name != path.stem:
        raise DataError(f"{path}: describes {found.name!r:.80}; name and file must agree")
    return found


def resolve(spec: str | Chosen | OwnFiles | Entry) -> Entry:
    """Find the entry that ``spec`` means; a text is a catalogue name or a path.

    It is a path with a slash in it, or of a file that exists.
    """
    if isinstance(spec, str):
        if spec not in names() and ("/" in spec or "\\" in spec or not _not_a_file(Path(spec))):
            return _own_entry(OwnFiles(path=Path(spec)))
        return entry(spec)
    if isinstance(spec, Entry):
        return spec
    return _chosen_entry(spec) if isinstance(spec, Chosen) else _own_entry(spec)


def _chosen_entry(chosen: Chosen) -> Entry:
    found = entry(chosen.name)
    if chosen.positive is None or chosen.positive == found.positive:
        return found
    # The stated counts of positives hold for the catalogue's own choice only.
    change: dict[str, Any] = {"positive": chosen.positive, "positive_chosen": True}
    for role, file in found.files.items():
        change[role] = file.model_copy(update={"positives": None})
    return found.model_copy(update=change)


def _own_entry(own: OwnFiles) -> Entry:
    try:
        train, test = _own_file(own.path), _own_file(own.test) if own.test else None
        return Entry(
            name=own.name or plain_name(own.path).removesuffix(".libsvm") or own.path.name,
            title=str(own.path),
            train=train,
            test=test,
            zero_based=own.zero_based,
            n_features=own.n_features,
            positive=own.positive,
            positive_chosen=own.positive is not None,
        )
    except ValidationError as error:
        raise ConfigError(f"data set {own.path}: {_first_problem(error)}") from None


def _own_file(path: Path) -> DataFile:
    what = _not_a_file(path)
    if what:
        raise DataError(f"{path}: {what}; check the path")
    place = str(path.resolve())
    try:
        place.encode()
    except UnicodeEncodeError:
        what = "the name of this file or of a folder above it is not UTF-8; rename it"
        raise DataError(f"{path}: {what}") from None
    return DataFile(file=path.name, path=place)


def _not_a_file(path: Path) -> str:
    """What a path leads to that is no file; empty if it is one."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # also a name too long, or one with a NUL
        return "no such file"
    if stat.S_ISDIR(mode):
        return "a folder, not a file"
    return "" if stat.S_ISREG(mode) else "a device or a pipe, not a file"


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}; see datasets/README.md"
