"""Copies what a snapshot keeps of a page: tables as CSV, packed runs, and small pictures."""

import base64
import gzip
import re
import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

#: A picture in a page.
PICTURE = re.compile(r'src="data:image/png;base64,([^"]*)"')

#: Colours of a small picture; lines and their bands need no more.
COLOURS = 64

KEPT = ("table-*.csv", "tables/*.csv", "environment.json")


def main(source: Path, target: Path) -> None:
    """Copy the files, and take the pictures out of the page."""
    for pattern in KEPT:
        for path in source.rglob(pattern):
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    for path in source.rglob("runs.csv"):
        packed = gzip.compress(path.read_bytes(), mtime=0)
        (target / path.relative_to(source)).with_suffix(".csv.gz").write_bytes(packed)
    pictures = target / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    count = 0

    def linked(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        opaque = Image.open(BytesIO(base64.b64decode(found[1]))).convert("RGB")
        name = f"{count:02}.png"
        opaque.quantize(COLOURS, dither=Image.Dither.NONE).save(pictures / name, optimize=True)
        return f'src="pictures/{name}"'

    page = PICTURE.sub(linked, (source / "index.html").read_text(encoding="utf-8"))
    page = page.replace("img-src data:", "img-src 'self' file:")
    (target / "index.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
