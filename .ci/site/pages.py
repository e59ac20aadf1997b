"""Pages of the site that are made from other sources, and links that leave docs/.

The pages of the solvers come from their classes, the commands from click, the gallery from
results/snapshots. Markdown files of the repository's other folders become pages; every other file
that a page links is copied below ``repository/``.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]

#: Pages that lie outside docs/, by their place in the site.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "configs/README.md": "configs.md",
    "datasets/README.md": "datasets.md",
    "results/README.md": "results-folders.md",
}

#: Titles of pictures in the gallery, where the name of the file is none.
TITLES = {
    "epochs": "Time of an epoch",
    "peers": "All peers against auto",
    "profile-data": "Passes over the data (data profile)",
    "profile-performance": "Seconds over the least (performance profile)",
    "ratios": "LIBLINEAR against auto",
}

_LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(#[^)\s]*)?(?=\))")
_PICTURE = re.compile(r"(?<!\[)!\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(```[\s\S]*?^```|(?: {4}.*\n)+)", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the page of every solver to the navigation, by family."""
    from svmbench.cli.solvers import FAMILIES

    facts = _all_facts()
    assert config.nav is not None
    (reference,) = (entry["Reference"] for entry in config.nav if "Reference" in entry)
    (solvers,) = (entry["Solvers"] for entry in reference if "Solvers" in entry)
    for family in FAMILIES:
        pages = [f"solvers/{each['name']}.md" for each in facts if each["family"] == family]
        if pages:
            solvers.append({family: pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and lead every link to its place in the site."""
    added = Site(files, config)
    style = Path(__file__).with_name("site.css")
    files.append(File.generated(config, style.name, abs_src_path=str(style)))
    for file in list(files.documentation_pages()):
        assert file.abs_src_path is not None
        added.page(Path(file.abs_src_path).relative_to(ROOT).as_posix(), file.src_uri)
    for path, place in OUTSIDE.items():
        added.page(path, place)
    for readme in sorted(ROOT.glob("results/snapshots/*/README.md")):
        added.page(readme.relative_to(ROOT).as_posix(), snapshot_page(readme.parent.name))
    for place, text in {**solver_pages(), "commands.md": commands_page()}.items():
        added.text(place, text)
    added.text("gallery.md", added.gallery())
    return files


def snapshot_page(name: str) -> str:
    """The place of a snapshot's README."""
    return f"snapshots/{name}.md"


class Site:
    """The files of the site, with those that are added.

    Parameters
    ----------
    files : Files
    config : MkDocsConfig
    """

    def __init__(self, files: Files, config: MkDocsConfig) -> None:
        self.files, self.config = files, config

    def text(self, place: str, text: str) -> None:
        """Add a page or replace one. A picture leads to itself at its full size."""
        old = self.files.get_file_from_path(place)
        if old is not None:
            self.files.remove(old)
        text = _outside_code(text, lambda picture: f"[{picture[0]}]({picture[1]})", _PICTURE)
        self.files.append(File.generated(self.config, place, content=text))

    def page(self, path: str, place: str) -> None:
        """Add a Markdown file of the repository as the page ``place``."""
        text = (ROOT / path).read_text(encoding="utf-8")

        def led(link: re.Match[str]) -> str:
            target = (ROOT / path).parent.joinpath(link[1]).resolve()
            if not target.is_relative_to(ROOT) or not target.exists():
                return link[0]  # mkdocs reports it
            return _relative(self.place_of(target), place) + (link[2] or "")

        self.text(place, _outside_code(text, led, _LINK))

    def place_of(self, target: Path) -> str:
        """Where the site has a file or folder of the repository; files are copied as needed."""
        if target.is_dir():
            target = target / "README.md"
        path = target.relative_to(ROOT).as_posix()
        if path in OUTSIDE:
            return OUTSIDE[path]
        if path.startswith("results/snapshots/") and target.name == "README.md":
            return snapshot_page(target.parent.name)
        inside = path.removeprefix("docs/")
        if path != inside and self.files.get_file_from_path(inside) is not None:
            return inside
        place = f"repository/{path}"
        if self.files.get_file_from_path(place) is None:
            # Markdown would become a page, whose own links lead elsewhere.
            place += ".txt" if target.suffix == ".md" else ""
            self.files.append(File.generated(self.config, place, abs_src_path=str(target)))
        return place

    def gallery(self) -> str:
        """Every page of the snapshots, and its pictures."""
        lines = ["# Gallery", "", "Pages and pictures of the results that come with svmbench."]
        for folder in sorted((ROOT / "results" / "snapshots").iterdir()):
            page = self.place_of(folder / "index.html")
            title = (folder / "README.md").read_text(encoding="utf-8").partition("\n")[0]
            lines += ["", f"## {title.removeprefix('# ')}", ""]
            lines += [
                f"[The page]({page}), and [how it was made]({snapshot_page(folder.name)}).",
                "",
            ]
            for picture in sorted(folder.rglob("*.png")):
                place = self.place_of(picture)  # the page needs all of them
                parts = picture.relative_to(folder).with_suffix("").parts
                if len(parts) <= 2:  # not those of single tables and figures
                    words = " ".join(part for part in parts if part != "plots")
                    title = TITLES.get(words, words)
                    lines += [f"### {title}", "", f"![{title}]({place})", ""]
        return "\n".join(lines)


def _outside_code(text: str, changed: Any, pattern: re.Pattern[str]) -> str:
    """Change what a pattern finds in a page, except in its code."""
    parts = _CODE.split(text)
    return "".join(part if at % 2 else pattern.sub(changed, part) for at, part in enumerate(parts))


def _relative(target: str, page: str) -> str:
    return PurePosixPath(os.path.relpath(target, PurePosixPath(page).parent)).as_posix()


# ---------------------------------------------------------------- solvers


def solver_pages() -> dict[str, str]:
    """A page per solver, from its class, and their list."""
    from svmbench.cli.solvers import FAMILIES, heading_of

    found = _all_facts()
    lines = ["# Solvers", "", "Each page is made from the solver's class.", ""]
    for family in FAMILIES:
        members = [facts for facts in found if facts["family"] == family]
        lines += ["", f"## {family}", "", heading_of(family).partition(": ")[2], ""]
        lines += ["| solver | what it is | losses |", "|---|---|---|"]
        lines += [
            f"| [{facts['name']}]({facts['name']}.md) | {_cell(facts['summary'])} "
            f"| {', '.join(facts['losses'])} |"
            for facts in members
        ]
    pages = {f"solvers/{facts['name']}.md": _solver(facts) for facts in found}
    return {"solvers/index.md": "\n".join(lines), **pages}


def _all_facts() -> list[dict[str, Any]]:
    from svmbench.cli.solvers import describe
    from svmbench.solvers.registry import solvers

    return [describe(solver) for solver in solvers().values()]


def _solver(facts: dict[str, Any]) -> str:
    from svmbench.cli.solvers import NOTATION, facts_of

    paragraphs = facts["description"].split("\n\n")
    lines = [f"# {facts['name']}", "", _plain(facts["summary"]), ""]
    lines += [_plain(" ".join(each.split())) + "\n" for each in paragraphs]
    if facts["mathematics"]:
        lines += ["## Mathematics", "", _code(facts["mathematics"]), f"Notation: {NOTATION}", ""]
    lines += ["## Facts", "", "| fact | value |", "|---|---|"]
    lines += [f"| {what} | {_cell(text)} |" for what, text in facts_of(facts).items()]
    lines += ["", "## Parameters", "", "| name | type | range | default | what it is |"]
    lines += ["|---|---|---|---|---|"]
    for name, parameter in facts["parameters"].items():
        what = f"{parameter['description']} (default: {parameter['source']})"
        shown = (parameter["type"], parameter["range"], str(parameter["default"]), what)
        lines.append(f"| `{name}` | {' | '.join(map(_cell, shown))} |")
    for title, what in (
        ("Reconstructed", "reconstructed"),
        ("Left open by the sources", "unstated"),
    ):
        if facts[what]:
            lines += ["", f"## {title}", "", *(f"- {_plain(each)}" for each in facts[what])]
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"```text\n{text}\n```\n"


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", text)


def _cell(text: str) -> str:
    return _plain(" ".join(text.split())).replace("|", "\\|")


# ---------------------------------------------------------------- commands


def commands_page() -> str:
    """The help of every command."""
    from svmbench.cli import main

    lines = ["# Commands", "", "What `--help` says of each command.", ""]
    context = click.Context(
        main, info_name="svmbench", max_content_width=80, **main.context_settings
    )
    for name, text in _helps(context):
        lines += [f"{'#' * min(1 + len(name.split()), 3)} {name}", "", _code(text)]
    return "\n".join(lines)


def _helps(context: click.Context) -> Iterator[tuple[str, str]]:
    command = context.command
    yield context.command_path, inspect.cleandoc(command.get_help(context))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _helps(click.Context(below, parent=context, info_name=name))
