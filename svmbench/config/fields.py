"""The types of a configuration's values: their ranges, and what else they can be written as."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    StringConstraints,
    ValidationInfo,
)

from svmbench.config.reading import refuse
from svmbench.document import short
from svmbench.errors import ConfigError
from svmbench.solvers.registry import add_file


def second(values: Iterable[Hashable]) -> int | None:
    """Place of the first value that occurred before; None if all differ."""
    seen: set[Hashable] = set()
    for i, value in enumerate(values):
        if value in seen:
            return i
        seen.add(value)
    return None


def look_of(text: str) -> str:
    """A text in which letters of other alphabets are the Latin letters that look the same."""
    return unicodedata.normalize("NFKC", text).translate(_LATIN)


def distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse values of which two are the same."""
    i = second(values)
    if i is not None:
        refuse(f"{short(values[i])} appears twice; keep one of them", i, value=values[i])
    return values


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip() or not text:
        refuse("Input should be one line of printable text without spaces around it", value=text)
    return text


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value)
    if match is None:
        refuse("Input should be seconds, or a duration such as 500ms, 2m or 1h", value=value)
    return float(match["number"]) * _UNITS[match["unit"]]


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        refuse("Input should be bytes, or a size such as 500MiB or 4GiB", value=value)
    return round(float(match["number"]) * _MULTIPLES[match["unit"]])


def _whole(value: Any) -> Any:
    # Literal[1] alone accepts true and 1.0 as 1.
    if type(value) is not int or value != 1:
        refuse("Input should be 1", value=value)
    return value


# Nine digits: 2^63 bytes are almost ten billion GiB.
_NUMBER = r"[0-9]{1,9}(\.[0-9]{0,15})?|\.[0-9]{1,15}"
_MULTIPLES = {"kiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(rf"(?P<number>{_NUMBER}) ?(?P<unit>kiB|MiB|GiB)")
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(rf"(?P<number>{_NUMBER}) ?(?P<unit>ms|s|m|h)")

#: Cyrillic and Greek letters that most fonts draw as Latin ones (the commonest of Unicode's
#: technical standard 39).
_LATIN = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
    "\u03bd\u2010\u2011\u2012\u2013\u2212",
    "ABESIJKMHOPCTYXaeopcyxijshdqwABEZHIKMNOPTYXov-----",
)

Whole = Annotated[int, Strict()]
Real = Annotated[float, Strict(), Field(allow_inf_nan=False)]
PositiveReal = Annotated[Real, Field(gt=0.0)]
Text = Annotated[str, AfterValidator(_printable)]
Flag = Annotated[bool, Strict()]
One = Annotated[Literal[1], BeforeValidator(_whole)]
# A billion passes over 2^31 rows are as many presentations as a 64-bit integer counts.
Passes = Annotated[PositiveReal, Field(le=1e9)]
# Bounds that keep lambda = 1/(C m) from overflowing and from vanishing.
Weight = Annotated[Real, Field(ge=1e-100, le=1e100)]
# Double precision cannot show a finer relative accuracy.
Accuracy = Annotated[Real, Field(ge=1e-15)]
_Bytes = Annotated[int, Strict(), Field(ge=1 << 20, lt=1 << 63)]
Size = Annotated[_Bytes, BeforeValidator(_bytes)]
# The plan of a sweep lists every repeat of every cell.
Repetitions = Annotated[Whole, Field(ge=1, le=100_000)]
Duration = Annotated[PositiveReal, BeforeValidator(_seconds)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)]
Title = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]


def beside(value: Any, info: ValidationInfo) -> Any:
    """A file's name, which is relative to the folder of the configuration."""
    if isinstance(value, str):
        if not value or not value.isprintable():
            refuse("Input should be the name of a file", value=value)
        return Path((info.context or {}).get("folder", "."), value).absolute()
    return value


def _added(path: Path, info: ValidationInfo) -> Path:
    """Load a plug-in, unless the configuration is that of somebody's results."""
    context = info.context or {}
    if context.get("load_plugins", True):
        try:
            add_file(path)
        except ConfigError as error:
            refuse(str(error))
    else:
        context.setdefault("not_loaded", []).append(path)
    return path


#: Python files that define solvers; their code is executed when the configuration is read.
Plugins = Annotated[
    tuple[Annotated[Path, BeforeValidator(beside), AfterValidator(_added)], ...],
    AfterValidator(distinct),
]


def as_list(value: Any) -> Any:
    """A single number as a list."""
    return [value] if isinstance(value, (int, float)) else value


def as_named(value: Any) -> Any:
    """A name alone as the mapping that has it."""
    return {"name": value} if isinstance(value, str) else value
