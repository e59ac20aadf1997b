"""A YAML 1.2 reader that records the position of every key and list entry.

``1e-4`` is a number here and ``no`` a word. Positions are kept until the types have been
checked, so that every message can name the line and the column it refers to.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer

from svmbench.errors import ConfigError, is_endless

Loc = tuple[str | int, ...]

LARGEST = 1 << 20
"""Size limit of a file in bytes: the parser takes a second or two for a file this large."""


@dataclass(frozen=True)
class Document:
    """Plain values of a YAML file, and the position of each key and each list entry."""

    path: Path
    value: Any
    marks: dict[Loc, yaml.Mark]

    def shown(self, loc: Loc) -> Loc:
        """The longest prefix of a location that occurs in the file."""
        while loc not in self.marks:
            loc = loc[:-1]
        return loc

    def mark(self, loc: Loc) -> yaml.Mark:
        return self.marks[self.shown(loc)]


class Loader(yaml.SafeLoader):
    """SafeLoader that resolves plain scalars as YAML 1.2 does."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML prescribes the name and the type


if hasattr(yaml, "CSafeLoader"):

    class _QuickLoader(Composer, yaml.CSafeLoader):
        """`Loader` with libyaml's scanner and parser, which take a tenth of the time.

        Nodes are composed in Python, whose recursion ends with an error where C's would crash.
        """

        yaml_implicit_resolvers = Loader.yaml_implicit_resolvers

        def __init__(self, text: str) -> None:
            yaml.CSafeLoader.__init__(self, text)
            Composer.__init__(self)


class Dumper(yaml.SafeDumper):
    """SafeDumper that quotes every string that YAML 1.1 or 1.2 would misread."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value in full, even if it occurs twice."""
        return True


_TAG = "tag:yaml.org,2002:"
_PLAIN = {
    "null": (r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    "bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    "int": (r"^[-+]?[0-9]+$", list("-+0123456789")),
    "float": (
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        list("-+.0123456789"),
    ),
}
for _kind, (_pattern, _initials) in _PLAIN.items():
    for _reader in (Loader, Dumper):
        _reader.add_implicit_resolver(_TAG + _kind, re.compile(_pattern), _initials)


#: What libyaml may take for what PyYAML, in agreement with YAML 1.2, does not.
_TAKEN_AMISS = re.compile(r"\t|[|>][-+0-9]*#")


def parse_document(path: Path) -> Document:
    """Read a YAML file whose top level is a mapping."""
    root = _compose(path, _text(path))
    if not isinstance(root, yaml.MappingNode):
        where = "1:1" if root is None else colon(root.start_mark)
        what = "empty" if root is None else "not a mapping"
        raise ConfigError(f"{path}:{where}: {what}; a configuration holds 'key: value' lines")
    marks: dict[Loc, yaml.Mark] = {(): root.start_mark}
    try:
        return Document(path, _Reader(path, marks).value(root, ()), marks)
    except RecursionError:
        raise _too_deep(path) from None


def _too_deep(path: Path) -> ConfigError:
    return ConfigError(f"{path}:1:1: nested too deeply; flatten it")


def _text(path: Path) -> str:
    if is_endless(path):
        raise ConfigError(f"{path}: a device or a pipe, not a file; name another")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ConfigError(f"{path}:1:1: larger than {LARGEST >> 20} MiB; name a configuration")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name another") from None
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8-sig")
        raise _unreadable(path, before, "not UTF-8 text; save it as such") from None


def _compose(path: Path, text: str) -> yaml.Node | None:
    # libyaml takes some tabs for spaces, and what follows >-# for a comment. It has other words for
    # what is wrong.
    if hasattr(yaml, "CSafeLoader") and not _TAKEN_AMISS.search(text):
        with suppress(yaml.YAMLError, RecursionError):
            return yaml.compose(text, Loader=_QuickLoader)
    try:
        return yaml.compose(text, Loader=Loader)
    except yaml.reader.ReaderError as error:
        what = f"character U+{ord(text[error.position]):04X} is not allowed; remove it"
        raise _unreadable(path, text[: error.position], what) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "1:1" if mark is None else colon(mark)
        what = " ".join(str(error.problem or error.context).split())
        do = "use spaces" if "\\t" in what else "check indentation, brackets and quotes"
        raise ConfigError(f"{path}:{where}: not valid YAML ({what}); {do}") from None
    except RecursionError:
        raise _too_deep(path) from None


def _unreadable(path: Path, before: str, message: str) -> ConfigError:
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return ConfigError(f"{path}:{line}:{column}: {message}")


def colon(mark: yaml.Mark) -> str:
    """A position as ``line:column``, both counted from 1."""
    return f"{mark.line + 1}:{mark.column + 1}"


def _bangs(node: yaml.Node) -> str:
    return repr(node.tag.replace(_TAG, "!!"))


class _Reader:
    """Turns YAML nodes into plain values and records their positions."""

    def __init__(self, path: Path, marks: dict[Loc, yaml.Mark]) -> None:
        self._path = path
        self._marks = marks
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, loc: Loc) -> Any:
        """Plain value of a node and of all nodes below it."""
        # An alias is its anchor's node again: it may contain itself, or grow without bound.
        if id(node) in self._seen:
            raise self._error(
                node, "this anchor is referred to by an alias (*); write it out there"
            )
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            for i, item in enumerate(node.value):
                self._marks[*loc, i] = item.start_mark
            return [self.value(item, (*loc, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        raise self._error(node, f"tag {_bangs(node)} is not for configurations; remove it")

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(key_node, "a key should be a word; write 'key: value'")
            key = self._text(key_node)
            if key in found:
                line = self._marks[*loc, key].line + 1
                raise self._error(
                    key_node, f"key {key!r} again, after line {line}; keep one of them"
                )
            self._marks[*loc, key] = key_node.start_mark
            found[key] = self.value(value_node, (*loc, key))
        return found

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = self._text(node)
        kind = node.tag.removeprefix(_TAG)
        if kind == "str":
            return text
        pattern = _PLAIN.get(kind)
        if pattern is None or not re.match(pattern[0], text):
            raise self._error(node, f"tag {_bangs(node)} is not for {short(text)}; remove it")
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            if len(text) > 1000:
                raise self._error(node, "an integer of too many digits; write a smaller one")
            return int(text)
        special = text.lower().lstrip("+-") in (".inf", ".nan")
        return float(text.replace(".", "") if special else text)

    def _text(self, node: yaml.ScalarNode) -> str:
        text: str = node.value
        try:
            text.encode()
        except UnicodeEncodeError:
            what = "half of a surrogate pair; write the character itself"
            raise self._error(node, what) from None
        return text

    def _error(self, node: yaml.Node, message: str) -> ConfigError:
        return ConfigError(f"{self._path}:{colon(node.start_mark)}: {message}")


def one_or_several(value: Any) -> Any:
    """Take a single value for a list of one."""
    return value if isinstance(value, list | tuple | None) else [value]


def is_number(text: str) -> bool:
    """Whether the text, without quotes, would be read as a number."""
    return any(re.match(_PLAIN[kind][0], text) for kind in ("int", "float"))


def short(value: Any) -> str:
    """A value as messages show it, cut to fit a line."""
    # Booleans and null as YAML spells them.
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:56]}..."
