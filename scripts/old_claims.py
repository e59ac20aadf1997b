"""Write the present verdicts of the claims of 20 November into docs/papers-claims.md.

The verdicts come from pages that `svmbench papers` has written: those of the quick form, and with
``--full`` those of the full form, which have a column of their own. A claim is found by its item
and its text, so that the table says so if a claim has been reworded or removed.
"""

from __future__ import annotations

import argparse
import html
import re
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).parents[1] / "docs" / "papers-claims.md"

#: A claim in the table: its item, its text and its verdict.
_CLAIM = re.compile(r"`(?P<item>[\w.-]+/[\w.-]+)` (?P<text>.+?) \*\*(?P<verdict>[^*]+)\*\*")

#: A row of the page's table of all claims.
_ROW = re.compile(
    r'<td><span class="verdict [\w-]+">(?P<verdict>[^<]+)</span>.*?'
    r'</td>\s*<td[^>]*>(?P<text>[^<]+).*?<a href="#(?P<link>[^"]+)">',
    re.DOTALL,
)

#: A row of the table: all columns but the last, which has the verdicts of the full form.
_FULL = re.compile(r"^(?P<claims>\| \d+ \|.*) \| (?P<full>[^|]*) \|$", re.MULTILINE)

_COUNT = re.compile(r"^Of the 69, .*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def verdicts_of(page: str) -> dict[tuple[str, str], str]:
    """Verdicts of a page's claims by item (`PAPER-ITEM`, as the page links it) and text."""
    return {
        (row["link"], html.unescape(row["text"]).strip()): row["verdict"].split(maxsplit=1)[1]
        for row in _ROW.finditer(page)
    }


def updated(table: str, verdicts: dict[tuple[str, str], str]) -> str:
    """The table with these verdicts, and with their count.

    Raises
    ------
    SystemExit
        If the page has no such claim.
    """

    def replaced(claim: re.Match[str]) -> str:
        verdict = _verdict(claim, verdicts)
        return f"`{claim['item']}` {claim['text']} **{verdict}**"

    table = _CLAIM.sub(replaced, table)
    return _COUNT.sub(count(table), table)


def with_full(table: str, verdicts: dict[tuple[str, str], str]) -> str:
    """The table with the verdicts of the full form in its last column.

    Raises
    ------
    SystemExit
        If the page has no such claim.
    """

    def replaced(row: re.Match[str]) -> str:
        found = [_verdict(claim, verdicts) for claim in _CLAIM.finditer(row["claims"])]
        return f"{row['claims']} | {'<br>'.join(found) or '–'} |"

    return _FULL.sub(replaced, table)


def _verdict(claim: re.Match[str], verdicts: dict[tuple[str, str], str]) -> str:
    item, text = claim["item"], claim["text"]
    key = (item.replace("/", "-"), text)
    if key not in verdicts:
        raise SystemExit(f"{item}: the page has no claim {text!r}; correct {TABLE.name}")
    return verdicts[key]


def count(table: str) -> str:
    """How many of the old claims are decided, in a sentence."""
    of_row: Counter[str] = Counter()
    for row in _FULL.finditer(table):
        found = [claim["verdict"] for claim in _CLAIM.finditer(row["claims"])]
        if not found:
            of_row["removed"] += 1
        elif "open" in found:
            of_row["open"] += 1
        elif set(found) == {"not testable"}:
            of_row["not testable"] += 1
        else:
            of_row["decided"] += 1
    return (
        f"Of the 69, {of_row['decided']} are decided now: every claim in their place that can be "
        f"tested has a verdict. {of_row['open']} are open, because\nat least one claim in their "
        f"place is. {of_row['not testable']} cannot be tested, and {of_row['removed']} were "
        "removed, because no paper makes them."
    )


def main() -> None:
    """Rewrite the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("page", type=Path, help="index.html of the papers' results")
    parser.add_argument("--full", type=Path, help="index.html of the results of the full form")
    given = parser.parse_args()
    page = verdicts_of(given.page.read_text(encoding="utf-8"))
    written = updated(TABLE.read_text(encoding="utf-8"), page)
    if given.full:
        written = with_full(written, verdicts_of(given.full.read_text(encoding="utf-8")))
    TABLE.write_text(written, encoding="utf-8")
    found = _COUNT.search(written)
    print(found.group().replace("\n", " ") if found else "")


if __name__ == "__main__":
    main()
