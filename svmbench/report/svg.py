"""SVG pictures for a page: with hover titles, and in a form that can be embedded in HTML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

#: Elements that load, run or restyle something, or that only name the picture's generator.
_UNWANTED = frozenset(
    ("metadata", "style", "script", "foreignObject", "image", "a", "animate", "set")
)
#: Numbers in a path use this many units per point (1/72 inch).
_UNITS = 50


def with_titles(
    svg: str, titles: Mapping[str, str], curves: Mapping[str, str] | None = None
) -> str:
    """Give groups a title, which browsers show when the pointer rests on them, and curves a name.

    Parameters
    ----------
    svg : str
        As written by matplotlib.
    titles : mapping of str to str
        By the id of a group; ids that the picture does not have are ignored.
    curves : mapping of str to str, optional
        Name of each curve; it becomes the attribute ``data-curve`` of all groups whose ids are
        its key and one more part. The script of a page hides and shows them by it.
    """

    def titled(opening: re.Match[str]) -> str:
        name = opening.group(1)
        title, curve = titles.get(name), named.get(name.rpartition("-")[0])
        start = opening.group()
        if curve is not None:
            start = f"{start[:-1]} data-curve={quoteattr(curve)}>"
        return start + (f"<title>{escape(title)}</title>" if title else "")

    named = curves or {}

    return re.sub(r'<g id="([^"]*)">', titled, svg)


def inlined(svg: str, prefix: str, label: str) -> str:
    """Prepare a picture for embedding in an HTML page.

    Its ids get a prefix, those that nothing refers to are dropped, long paths
    are shortened, and whatever could load, run or restyle something is removed.

    Parameters
    ----------
    svg : str
        As written by matplotlib.
    prefix : str
        Starts every id; different for each picture of the page.
    label : str
        What the picture shows, for readers who cannot see it.

    Raises
    ------
    xml.etree.ElementTree.ParseError
        If it is not XML.
    """
    root = ET.fromstring(svg)
    _clean(root)
    referred = {name for element in root.iter() for name in _references(element)}
    for element in root.iter():
        _rename(element, prefix, referred)
    width = float(root.get("viewBox", "0 0 720 480").split()[2])
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {
        "role": "img",
        "aria-label": label,
        # A point of the picture is 4/3 pixels, so that its text can be read; a little less where
        # the whole picture then fits the page.
        "style": f"width:{4 / 3 * width:.0f}px;max-width:max(100%,{1.2 * width:.0f}px);"
        "stroke-linejoin:round;stroke-linecap:butt",
    }
    return ET.tostring(root, encoding="unicode")


def _clean(element: ET.Element) -> None:
    """Drop namespaces, unwanted elements and attributes, and indentation."""
    element.tag = _local(element.tag)
    element.attrib = {
        name: _shortened(name, value)
        for name, value in ((_local(name), value) for name, value in element.attrib.items())
        if not name.startswith("on") and (name != "href" or value.startswith("#"))
    }
    if element.tag not in ("text", "tspan", "title"):
        element.text = None
    for child in list(element):
        if _local(child.tag) in _UNWANTED:
            element.remove(child)
            continue
        child.tail = child.tail if element.tag in ("text", "tspan") else None
        _clean(child)


def _local(name: object) -> str:
    """A name without its namespace; comments and the like have a function for a name."""
    return name.rpartition("}")[2] if isinstance(name, str) else "metadata"


def _shortened(name: str, value: str) -> str:
    if name == "style":  # one font family for the whole page, set by its style sheet
        return re.sub(r"font-family:[^;]*;?\s*", "", value)
    if name == "d" and re.fullmatch(r"(M[L\d\s.-]*z?\s*)*", value):
        return "".join(_relative(value))
    return value


def _relative(path: str) -> Iterator[str]:
    """A path of straight lines as steps from point to point, without accumulating error."""
    at: tuple[int, int] | None = None
    for command, *numbers in re.findall(r"([MLz])\s*(?:(-?[\d.]+)\s+(-?[\d.]+))?", path):
        if command == "z":
            yield "z"
            continue
        x, y = (round(float(number) * _UNITS) for number in numbers)
        if command == "M":
            yield f"M{_number(x)} {_number(y)}"
        elif at is not None and (x, y) != at:
            yield f"l{_number(x - at[0])} {_number(y - at[1])}"
        at = x, y


def _number(units: int) -> str:
    text = f"{units / _UNITS:.2f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _references(element: ET.Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name == "href":
            yield value.removeprefix("#")
        yield from re.findall(r"url\(#([^)]*)\)", value)


def _rename(element: ET.Element, prefix: str, referred: set[str]) -> None:
    for name, value in list(element.attrib.items()):
        if name == "id":
            if value in referred:
                element.set("id", f"{prefix}-{value}")
            else:
                del element.attrib["id"]
        elif name == "href":
            element.set("href", f"#{prefix}-{value[1:]}")
        elif "url(#" in value:
            element.set(name, value.replace("url(#", f"url(#{prefix}-"))
