"""Published numbers in a table of tab-separated text beside a paper's file."""

from __future__ import annotations

import pytest
from small_paper import TABLE, write_small_paper

from svmbench.errors import ConfigError
from svmbench.papers.model import read_paper

ITEM = """\
sweeps:
  dense:
    datasets: [tiny-dense]
    C: [0.1, 1]
    solvers: [dcd, sgd-s]
    stop: {accuracy: 1e-2, max_epochs: 200, time_limit: 20s}
tables:
  - rows: [dataset]
    columns: [solver]
    measures: [{seconds: 1e-2}]
"""
PUBLISHED = """\
published:
  - source: Table 9
    mark: read
    values:
      - {dataset: tiny-dense, solver: smo, measure: J, value: 3}
    file:
      name: table-9.tsv
      where: {C: 1}
      measures: {passes: {data_passes: 1e-2}, seconds: {seconds: 1e-2}}
"""
ROWS = """\
C\tdataset\tsolver\tinput\tpasses\tseconds
0.1\ttiny-dense\tdcd\t2.8\t10\t0.5
1\ttiny-dense\tdcd\t2.9\t\t4
1\ttiny-dense\tsgd-s\t0.1\t41\tfailed
"""


def paper(tmp_path, rows=ROWS, published=PUBLISHED):
    root = write_small_paper(tmp_path / "papers", table_1=TABLE + ITEM + published)
    (root / "small" / "table-9.tsv").write_text(rows, encoding="utf-8")
    return read_paper(root / "small")


def test_every_number_of_the_chosen_rows_has_its_place_and_its_measure(tmp_path):
    (published,) = paper(tmp_path).items["table-1"].published
    found = [
        (each.C, each.dataset, each.solver, each.measure.column, each.value)
        for each in published.values
    ]
    assert found == [
        (None, "tiny-dense", "smo", "J", 3.0),
        (1.0, "tiny-dense", "dcd", "seconds_to_0.01", 4.0),
        (1.0, "tiny-dense", "sgd-s", "data_passes_to_0.01", 41.0),
        (1.0, "tiny-dense", "sgd-s", "seconds_to_0.01", "failed"),
    ]


def test_without_a_place_all_rows_count(tmp_path):
    everywhere = PUBLISHED.replace("      where: {C: 1}\n", "")
    (published,) = paper(tmp_path, published=everywhere).items["table-1"].published
    assert [each.C for each in published.values] == [None, 0.1, 0.1, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": ""}, "table-9.tsv:1: there is no column 'passes'"),
        (
            {"rows": ROWS.replace("passes", "times")},
            "table-9.tsv:1: there is no column 'passes'",
        ),
        ({"rows": ROWS.replace("input", "passes")}, "table-9.tsv:1: a column is named twice"),
        ({"rows": ROWS + "1\tadult\n"}, "table-9.tsv:5: 2 columns instead of 6"),
        (
            {"rows": ROWS.replace("0.1\ttiny", "few\ttiny")},
            "table-9.tsv:2: C 'few' is not a number",
        ),
        (
            {"published": PUBLISHED.replace("C: 1}", "C: 7}")},
            "no row of table-9.tsv has this place",
        ),
        ({"published": PUBLISHED.replace("table-9", "table-8")}, "cannot read table-8.tsv"),
        ({"published": PUBLISHED.replace("table-9.tsv", "../a.tsv")}, "name"),
        ({"published": PUBLISHED.replace("passes: {data", "passes: {deta")}, "unknown measure"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(tmp_path, change, said):
    with pytest.raises(ConfigError, match=r"table-1\.yaml:\d+:\d+: ") as raised:
        paper(tmp_path, **change)
    assert said in str(raised.value)
