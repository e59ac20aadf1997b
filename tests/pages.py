"""Pages as a browser reads them."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Reads a page: elements with their attributes and text, tags checked for balance."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[dict] = []
        self._open: list[dict] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), f"{tag}: an attribute twice"
        element = {
            "tag": tag,
            "attributes": dict(attrs),
            "text": "",
            "within": [e["tag"] for e in self._open],
            "parents": list(self._open),
        }
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def all(self, *tags: str) -> list[dict]:
        return [element for element in self.elements if element["tag"] in tags]

    def section(self, name: str) -> dict:
        (found,) = (e for e in self.all("section") if e["attributes"].get("id") == name)
        return found

    def rows(self, caption: str) -> list[dict[str, str]]:
        """A table by its caption: its rows by the heads of its columns, in body and head."""
        (title,) = (e for e in self.all("caption") if e["text"] == caption)
        head, *body = self.grid(title["parents"][-1])
        return [dict(zip(head, row, strict=True)) for row in body]

    def grid(self, table: dict) -> list[list[str]]:
        """The rows of a table, with the text of their cells."""
        rows: dict[int, list[str]] = {}
        for cell in self.all("th", "td"):
            if table in cell["parents"]:
                rows.setdefault(id(cell["parents"][-1]), []).append(cell["text"].strip())
        return list(rows.values())

    def given(self, *names: str) -> list[str]:
        """The values of these attributes."""
        attributes = [e["attributes"] for e in self.elements]
        return [each[name] for each in attributes for name in names if name in each]
