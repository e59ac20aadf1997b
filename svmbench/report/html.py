"""The report as one self-contained page, report.html."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from svmbench.data.dataset import scale_in
from svmbench.errors import DataError
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.groups import heading
from svmbench.records.read import Results
from svmbench.records.spelling import as_written, place_words, regularisation, short
from svmbench.report.curves import Curve, CurveTable, remarks
from svmbench.report.notices import notices, reference_gap_asked
from svmbench.report.plots import PLOT_KINDS, plot_name
from svmbench.report.profiles import CAPTION, LOOK, PROFILE
from svmbench.report.single import ordinate
from svmbench.report.style import DPI, looks
from svmbench.report.table import Table
from svmbench.report.tables.words import header
from svmbench.report.verdict import Leads, answer, conclusion, verdicts

TEMPLATES = Path(__file__).parent / "templates"

#: Verdicts of claims in the order in which they are counted, with a sign that needs no colour.
SIGNS = {
    "holds": "✓",
    "holds in k of n": "◐",
    "does not hold": "✗",
    "open": "?",
    "not run": "○",
    "not shown there": "∅",
    "not testable": "–",
}

#: Keys of environment.json and their names on the page, in this order.
_ENVIRONMENT = {
    "recorded": "Recorded",
    "cpu": "Processor",
    "logical_cpus": "Logical processors",
    "architecture": "Architecture",
    "caches": "Caches",
    "memory_gib": "Memory, GiB",
    "governor": "Frequency governor",
    "load_average": "Load average at the start (1, 5, 15 minutes)",
    "system": "System",
    "kernel": "System kernel",
    "compiler": "Compiler of the kernels",
    "flags": "Build flags of the kernels",
    "svmbench": "svmbench",
    "git": "Commit (+: changed since)",
    "python": "Python",
    "packages": "Packages",
}


@dataclass(frozen=True)
class Figure:
    name: str  # name of its file, without suffix
    caption: str
    element: Markup  # the picture, safe to embed in the page
    look: str = ""  # what to look at, in a sentence


def to_html(
    results: Results, tables: Sequence[Table], curves: CurveTable, pictures: Sequence[Path]
) -> str:
    known, standings = notices(results), verdicts(results)
    return render(
        "report.html",
        ["report.css", "uPlot.min.css"],
        ["uPlot.iife.min.js", "report.js", "curves.js"],
        name=results.name,
        header=header(results),
        answer=dict(zip(("header", "lines"), answer(standings), strict=True)),
        conclusion=conclusion(standings),
        joined=[g.label for gs in results.groups.values() for g in gs if g.separate_runs],
        missing=_missing(standings),
        curves=page_curves(results, curves),
        warnings=[notice for notice in known if not notice.informs],
        information=[notice for notice in known if notice.informs],
        tables=tables,
        lines_of={label: look.background for label, look in looks(results).items()},
        figures=list(_figures(results, pictures)),
        certificates=_certificates(results),
        data=_data(results),
        environment=list(environment_facts(results.environment)),
        solvers=_solvers(results),
        notes=list(dict.fromkeys(note for table in tables for note in table.notes)),
        commands="\n".join(_commands(results)),
        config=results.config_text,
    )


def render(template: str, styles: Sequence[str], scripts: Sequence[str], /, **values: Any) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    code = "\n".join(map(_text, scripts))
    return environment.get_template(template).render(
        style=Markup("".join(map(_text, styles))),
        script=Markup(code),
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        **values,
    )


def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _missing(standings: Sequence[Leads]) -> list[str]:
    """Who does not reach an accuracy in the median, and whose runs were disturbed."""
    found = []
    for problem in standings:
        place = f"{problem.heading}, {place_words(problem.lam)}"
        found += [f"{place}: {line}" for line in problem.missing]
        if problem.disturbed:
            found.append(f"{place}: disturbed runs of {problem.disturbed}")
    return found


# ---------------------------------------------------------------- curves

#: The axes that a reader chooses from.
_X = ("seconds", "epochs", "steps")
_Y = ("suboptimality", "primal", "test-error", "train-error")

#: Digits of the places on an axis, of which a screen shows fewer.
_DIGITS = 4


def page_curves(results: Results, known: CurveTable) -> Markup:
    """All curves as JSON, safe to stand in a page.

    An object with ``looks`` by label, ``x`` and ``y`` (words of the axes), and ``problems``: one
    for each data set and λ, with ``curves`` by x, y and label as two lists of numbers. A problem of
    which no run has a trace has none.
    """
    measures = {y: ordinate(results, y) for y in _Y}
    problems = []
    for (dataset, stand_in), groups in results.groups.items():
        for lam in dict.fromkeys(group.lam for group in groups):
            members = [group for group in groups if group.lam == lam]
            curves: dict[str, dict[str, dict[str, list[list[float]]]]] = {x: {} for x in _X}
            for x, (y, measure) in product(_X, measures.items()):
                drawn = known.of(members, x, measure)
                curves[x][y] = {label: _steps(curve) for label, curve in drawn.items()}
            place = {"set": heading(dataset, stand_in), "lambda": members[0].written_lambda}
            problems.append({**place, "curves": curves})
    found = {
        "looks": {
            label: [look.colour, _dashes(look.dash)] for label, look in looks(results).items()
        },
        "x": {x: ABSCISSAE[x].words for x in _X},
        "y": {y: measure.heading for y, measure in measures.items()},
        "accuracies": list(results.accuracies),
        "problems": problems,
    }
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def _dashes(dash: Any) -> list[float]:
    return [] if dash == "solid" else [2.0 * length for length in dash[1]]


def _steps(curve: Curve) -> list[list[float]]:
    """A curve's corners: its first and last point, and those at which it changes."""
    visible = np.rint(np.log(curve.middle) * 10.0**_DIGITS)
    changes = np.append(True, visible[1:] != visible[:-1])
    changes[-1] = True
    return [
        [_rounded(value) for value in each[changes].tolist()] for each in (curve.x, curve.middle)
    ]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else 0.0


# ---------------------------------------------------------------- plots


def pictures_of(results: Results) -> dict[str, tuple[str, str]]:
    """Captions of all plots, and what to look at."""
    shown = {PROFILE: (CAPTION, LOOK)}
    for (dataset, stand_in), groups in results.groups.items():
        for kind in results.plots:
            words = PLOT_KINDS[kind]
            said = " ".join(filter(None, remarks(groups, words.grey)))
            caption = f"{heading(dataset, stand_in)}: {words.caption}. {said.rstrip('.')}"
            shown[plot_name(dataset, stand_in, kind)] = caption, words.look
    return shown


def _figures(results: Results, pictures: Sequence[Path]) -> Iterator[Figure]:
    paths = {path.stem: path for path in pictures if path.suffix == ".png"}
    for name, (caption, look) in pictures_of(results).items():
        if name in paths:
            yield figure_of(paths[name], caption, look)


def figure_of(path: Path, caption: str, look: str = "") -> Figure:
    """Show a PNG that was written before, in the page itself."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            # A browser shows 96 pixels per inch: the picture is as large as in print.
            width, height = (round(side * 96 / DPI) for side in picture.size)
        content = base64.b64encode(path.read_bytes()).decode()
    except (OSError, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: not the picture that was written ({error})") from error
    element = Markup('<img src="data:image/png;base64,{}" width="{}" height="{}" alt="{}">')
    return Figure(path.stem, caption, element.format(content, width, height, caption), look)


# ---------------------------------------------------------------- facts


def _certificates(results: Results) -> list[dict[str, str]]:
    """The certified interval of each problem's optimum."""
    asked = reference_gap_asked(results)
    problems = results.runs.drop_duplicates(["dataset", "stand_in", "lambda"])
    found = []
    for key in results.groups:
        rows = problems[(problems["dataset"] == key[0]) & (problems["stand_in"] == key[1])]
        for row in rows.sort_values("lambda", ascending=False).to_dict("records"):
            gap = row["reference_gap"]
            kept = "" if asked is None or gap <= asked else " (not kept)"
            found.append(
                {
                    "data set": heading(*key),
                    "λ": regularisation(row["lambda"], row["C"], results.by_c),
                    "D_ref": repr(row["reference_dual"]),
                    "P_ref": _known(row["reference_primal"]),
                    "relative gap": (f"{gap:.2e}" if gap == gap else "–") + kept,
                    "asked for": short(asked) if asked is not None else "–",
                }
            )
    return found


def _known(number: float) -> str:
    return repr(number) if number == number else "–"


def _data(results: Results) -> list[dict[str, str]]:
    """What each data set is and where it came from, as far as the files say."""
    asked = results.entries("datasets")
    found = []
    for (dataset, stand_in), groups in results.groups.items():
        first = groups[0].runs.iloc[0]
        entry = {
            key: value
            for key, value in asked.get(dataset, {}).items()
            if key not in ("name", "label")
        }
        found.append(
            {
                "data set": heading(dataset, stand_in),
                "rows m": f"{first['m']:,.0f}",
                "features d": f"{first['d']:,.0f}",
                "nonzeros": f"{first['nnz']:,.0f}",
                "nonzeros per row": f"{first['nnz'] / first['m']:.3g}" if first["m"] else "–",
                "source": str(first["data_source"]) or "–",
                "sha256 of the source": str(first["data_sha256"]) or "–",
                "changed by": str(first["data_transforms"]) or (_flow(entry) if entry else "–"),
            }
        )
    return found


def _flow(value: object) -> str:
    """YAML in one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True
    )
    return text.removesuffix("...\n").strip().strip("{}")


def environment_facts(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = [key for key in _ENVIRONMENT if key in environment]
    others = [key for key in environment if key not in _ENVIRONMENT and key != "schema_version"]
    for key in [*known, *others]:
        yield _ENVIRONMENT.get(key, key), _in_words(environment[key])


def _in_words(value: object) -> str:
    if value is None:
        return "not known"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    if isinstance(value, float):
        return short(value, 3)
    return as_written(value)


def _solvers(results: Results) -> list[dict[str, str]]:
    asked = results.entries("solvers")
    runs = results.runs.drop_duplicates("label").set_index("label")
    found = []
    for label in looks(results):
        entry = asked.get(label, {})
        parameters = {key: entry[key] for key in entry if key not in ("name", "label", "precision")}
        found.append(
            {
                "row": label,
                "solver": str(runs.loc[label, "solver"]),
                "precision": str(runs.loc[label, "precision"]),
                "parameters": _flow(parameters) if parameters else "defaults",
            }
        )
    return found


def _commands(results: Results) -> Iterator[str]:
    environment = results.environment
    commit = str(environment.get("git") or "")
    if commit:
        changed = "   # and changes that were not committed" if commit.endswith("+") else ""
        yield f"git checkout {commit.removesuffix('+')}{changed}"
    native = "1" if "-march=native" in str(environment.get("flags")) else "0"
    yield f"SVMBENCH_NATIVE={native} make .venv/.installed"
    stand_in = ""
    if results.runs["stand_in"].all():
        sources = results.runs.get("data_source", [""])
        scales = {repr(scale_in(str(source))) for source in sources} - {"nan"}
        stand_in = f" --stand-in --scale {scales.pop() if len(scales) == 1 else 'SCALE'}"
    yield f".venv/bin/svmbench run config.yaml --out again{stand_in}"
