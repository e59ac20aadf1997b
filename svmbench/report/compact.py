"""One small table of a sweep, solvers by data sets, that fits the column of a paper."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from svmbench.errors import ConfigError, nearest
from svmbench.records.groups import heading
from svmbench.records.read import Results
from svmbench.records.spelling import counted, place_words, short
from svmbench.records.states import in_words
from svmbench.report.markup import latex_grid, latex_table, markdown_grid
from svmbench.report.numbers import number_text, or_null
from svmbench.report.single import inches
from svmbench.report.table import Row, Section, TableCell
from svmbench.report.tables.accuracy import summarise


def compact_table(
    results: Results,
    accuracy: float | None = None,
    solvers: Sequence[str] = (),
    datasets: Sequence[str] = (),
) -> Section:
    """Median seconds to one accuracy: a row for each label, a column for each problem."""
    if not results.accuracies:
        raise ConfigError(f"{results.folder}: no accuracy was asked for; there is no time to one")
    wanted = min(results.accuracies) if accuracy is None else accuracy
    at = [short(each) for each in results.accuracies]
    if short(wanted) not in at:
        raise ConfigError(f"{results.folder}: no ε = {short(wanted)}; there are {', '.join(at)}")
    column = at.index(short(wanted))
    found: dict[tuple[str, float], dict[str, TableCell]] = {}
    titles: dict[tuple[str, float], tuple[str, str]] = {}
    for (dataset, stand_in), members in summarise(results, "time").items():
        for group, row in members:
            key = dataset, group.lam
            titles[key] = heading(dataset, stand_in), place_words(group.written_lambda)
            summary, reached = row[column], math.isfinite(row[column].median)
            text = number_text(summary.median) if reached else "not reached"
            if not summary.samples:
                text = in_words(str(group.runs["state"].iloc[0]))
            cell = TableCell(text, summary.best and reached, summary.median)
            found.setdefault(key, {})[group.label] = cell
    labels = _chosen(results, "solver", {name for row in found.values() for name in row}, solvers)
    sets = _chosen(results, "data set", {dataset for dataset, _ in found}, datasets)
    problems = sorted((key for key in found if key[0] in sets), key=lambda k: sets.index(k[0]))
    several = len({lam for _, lam in problems}) > 1
    names = [", ".join(titles[key]) if several else titles[key][0] for key in problems]
    where = "" if several else f", {titles[problems[0]][1]}"
    not_run = TableCell("not run")
    repeats = counted(max(len(g.repeats) for gs in results.groups.values() for g in gs), "repeat")
    return Section(
        f"Seconds by the wall clock to a {results.distance} accuracy of {short(wanted)}{where}: "
        f"medians of up to {repeats}; bold: the least, and those that may take as little, where "
        "another was shown to take more (by processor time where other programs kept runs waiting)",
        "",
        ("solver", *names),
        tuple(
            Row((TableCell(label), *(found[key].get(label, not_run) for key in problems)))
            for label in labels
        ),
        texts=1,
    )


def _chosen(results: Results, what: str, known: set[str], asked: Sequence[str]) -> list[str]:
    for name in asked:
        if name not in known:
            raise ConfigError(f"{results.folder}: no {what} {name!r}; {nearest(name, known)}")
    if asked:
        return list(dict.fromkeys(asked))
    groups = [group for members in results.groups.values() for group in members]
    order = [group.dataset if what == "data set" else group.label for group in groups]
    return [name for name in dict.fromkeys(order) if name in known]


def as_markdown(table: Section) -> str:
    grid = markdown_grid(table.columns, table.rows, table.texts)
    return f"{grid}\n\n{table.heading}.\n"


def as_latex(table: Section, width: str | float | None = None) -> str:
    """The table as LaTeX, not wider than ``width`` or a column; it needs booktabs and graphicx."""
    most = r"\columnwidth" if width is None else f"{72.0 * inches(width):.1f}bp"
    grid = latex_grid(("", *table.columns[1:]), table.rows, table.texts, most)
    head = r"% \usepackage{booktabs, graphicx}"
    return "\n".join([head, *latex_table(table.heading, grid), ""])


def as_json(table: Section) -> str:
    """The table as JSON: the seconds by solver and problem, null where they are not known."""
    rows = {}
    for row in table.rows:
        label, *cells = row.cells
        known = [or_null(cell.value) for cell in cells]
        rows[label.text] = dict(zip(table.columns[1:], known, strict=True))
    return json.dumps({"caption": table.heading, "seconds": rows}, indent=2, ensure_ascii=False)
