"""``svmbench solvers``."""

import json
from typing import get_args

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.solvers.registry import solvers


def output(*args):
    result = CliRunner().invoke(main, ["solvers", *args])
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_listing_has_a_line_for_each_in_columns():
    header, *lines = output().splitlines()
    assert [line.split()[0] for line in lines] == list(solvers())
    for line, solver in zip(lines, solvers().values(), strict=True):
        assert line[header.index("summary") :] == solver.summary
        assert line[header.index("losses") :].startswith(", ".join(solver.losses))
        assert line[header.index("horizon") :].startswith(solver.horizon)
        precisions = get_args(solver.schema.model_fields["precision"].annotation)
        assert line[header.index("precision") :].split("  ")[0] == " | ".join(precisions)


@pytest.mark.parametrize("name", solvers())
def test_page_tells_every_parameter(name):
    words = " ".join(output(name).split())
    solver = solvers()[name]
    assert solver.source in words
    for key, field in solver.schema.model_fields.items():
        extra = field.json_schema_extra
        assert f" {key}: " in words
        assert f"{field.description} (default: {extra['source']})" in words


def test_page_tells_type_range_unit_and_default():
    page = output("dcd")
    assert "\n  tolerance: number, > 0; default 0.1\n" in page
    assert "\n  shrinking: boolean; default true\n" in page
    assert "\n  restore_after: number, > 0 epochs; default 20.0 epochs\n" in page
    assert "\n  precision: float64 | float32; default float64\n" in page
    assert "\n  epsilon: number | null, > 0; default null\n" in output("sgd-s")


def test_json_says_the_same():
    every = json.loads(output("--json"))
    assert [facts["name"] for facts in every] == list(solvers())
    assert json.loads(output("sgd-m", "--json")) == every[list(solvers()).index("sgd-m")]
    schedule = json.loads(output("sgd-m", "--json"))["parameters"]["schedule"]
    assert (schedule["type"], schedule["default"]) == ("5/9 | blocks", "5/9")
