"""`svmbench papers`: the plan, the files it leaves, what it says, and exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil

import pytest
from click.testing import CliRunner
from small_paper import TABLE as HEAD
from small_paper import write_small_paper

from svmbench.cli import main
from svmbench.harness import series
from svmbench.harness.sweeps import Outcome

TABLE = (
    HEAD
    + """\
sweeps:
  dense:
    datasets: [tiny-dense, {name: heart_scale, label: heart}]
    lambda: 1e-2
    solvers: [dcd, sgd-s]
    stop: {accuracy: 1e-2, max_epochs: 200, time_limit: 30s}
    repeats: 1
tables:
  - rows: [dataset]
    columns: [solver]
    measures: [{seconds: 1e-2}]
claims:
  - text: Both come within 1 %.
    source: Table 1
    kind: reaches
    solvers: [dcd, sgd-s]
    measure: {seconds: 1e-2}
  - {text: It is about people., source: Table 1, kind: untestable, why: no people here}
"""
)


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """Call ``svmbench papers`` on a folder with one small paper; returns its result."""
    write_small_paper(tmp_path / "papers", table_1=TABLE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    # The profiles over all papers take seconds to draw and are not what is looked at here.

    def call(*arguments):
        return CliRunner().invoke(main, ["papers", "--from", "papers", *arguments])

    return call


@pytest.mark.parametrize("arguments", [("--list",), ("--report-only",), ()])
def test_a_folder_without_papers_is_refused(papers, tmp_path, arguments):
    (tmp_path / "papers" / "small" / "paper.yaml").unlink()
    result = papers(*arguments)
    assert result.exit_code == 2
    assert "papers: no papers in it" in result.stderr
    assert not (tmp_path / "results").exists()


def test_a_pipe_in_place_of_a_paper_is_refused(papers, tmp_path):
    paper = tmp_path / "papers" / "small" / "paper.yaml"
    paper.unlink()
    os.mkfifo(paper)  # whoever opens it waits
    result = papers("--list")
    assert result.exit_code == 2
    assert "paper.yaml: a device or a pipe" in result.stderr


def test_from_nothing_to_the_page_and_again(papers, tmp_path):
    first = papers()
    assert first.exit_code == 0, first.output
    assert "Table 1 (table-1): 4 cells, 4 runs: 4 missing, 0 reused" in first.stdout
    assert "heart: stand-in, SCALE 1" in first.stdout
    assert "tiny-dense: " not in first.stdout
    assert "4 new runs, 0 reused" in first.stdout
    assert re.search(r"^in all +0 +0 +0 +1 +0 +1$", first.stdout, re.M)
    root = tmp_path / "results" / "papers"
    assert (root / "index.html").exists()
    table = root / "small" / "table-1" / "table-1.md"
    assert "dcd" in table.read_text()
    assert "lost files" not in first.stdout
    runs = sorted((root / "small" / "table-1" / "dense" / "runs").iterdir())
    runs[0].unlink()
    runs[1].write_text("{}\n")
    second = papers()
    assert "2 new runs, 2 reused" in second.stdout
    assert "reran runs with lost files: 1 damaged, 1 missing" in second.stdout
    third = papers("--quiet")
    assert (third.exit_code, third.output) == (0, "")


def test_a_single_data_set_is_run_and_its_row_printed(papers, tmp_path):
    result = papers("small/table-1", "--only", "heart")
    assert result.exit_code == 0, result.output
    row = r"^heart \(STAND-IN, unlike\): Times\n +measured\ndcd +\S+\nsgd-s +\S+$"
    assert re.search(row, result.stdout, re.M), result.stdout
    assert re.search(r"^– not testable +Both come within 1 %. +heart", result.stdout, re.M)
    runs = list((tmp_path / "results/papers/small/table-1/dense/runs").glob("*.jsonl"))
    assert {path.name.split("-")[0] for path in runs} == {"heart"}
    assert (
        "in all: 2 cells, 2 runs" in papers("small/table-1", "--only", "heart", "--dry-run").stdout
    )
    assert "2 reused" in papers("small/table-1", "--dry-run").stdout
    told = json.loads(papers("small/table-1", "--only", "heart", "--json").stdout)
    assert {(row["dataset"], row["runs"]) for row in told["rows"]} == {("heart", 1)}
    assert told["claims"][0]["item"] == "small/table-1"
    (item,) = json.loads(papers("--list", "--json").stdout)["items"]
    assert item["name"] == "small/table-1"
    unknown = papers("--only", "hart")
    assert (unknown.exit_code, unknown.stderr.count("\n")) == (2, 1)
    assert "--only hart: no such data set here; did you mean 'heart'?" in unknown.stderr


def test_what_was_not_asked_for_is_named_and_does_not_count(papers, tmp_path):
    folder = tmp_path / "papers"
    shutil.copytree(folder / "small", folder / "other")
    (folder / "small" / "table-2.yaml").write_text(TABLE.replace("order: 1", "order: 2"))
    page = tmp_path / "results" / "papers" / "index.html"

    def counted(*arguments):
        said = papers(*arguments)
        assert said.exit_code == 0, said.output
        (row,) = re.findall(r'<ul class="counts">(.*?)</ul>', page.read_text(), re.S)
        return sum(map(int, re.findall(r"<b>(\d+)</b>", row))), said.stdout.splitlines()[-1]

    assert counted("small/table-1") == (2, "not asked for, and left out: other, small/table-2")
    assert "neither asked for nor run: other, small/table-2<" in page.read_text()
    # What an earlier call has run remains on the page, which claims are counted or not.
    assert counted("other/table-1") == (4, "not asked for, and left out: small")
    assert "neither asked for nor run: small/table-2<" in page.read_text()
    claims, last = counted("--report-only")
    assert (claims, last.split()[:2]) == (6, ["in", "all"])
    assert "nor run" not in page.read_text()


def test_tables_follow_their_description(papers, tmp_path):
    papers("--quiet")
    table = tmp_path / "results" / "papers" / "small" / "table-1" / "table-1.md"
    written = table.stat().st_mtime_ns
    papers("--quiet")
    assert table.stat().st_mtime_ns == written
    papers("--quiet", "--report-only")
    assert table.stat().st_mtime_ns > written
    table.unlink()
    papers("--quiet")
    assert table.exists()
    description = tmp_path / "papers" / "small" / "table-1.yaml"
    before = table.read_text()
    description.write_text(TABLE.replace("[{seconds: 1e-2}]", "[test_error]"))
    papers("--quiet")
    assert table.read_text() != before


def test_report_only_makes_no_runs(papers, tmp_path):
    assert papers("--report-only").exit_code == 0
    assert (tmp_path / "results" / "papers" / "index.html").exists()
    assert not (tmp_path / "results" / "papers" / "small" / "table-1" / "dense").exists()


def test_the_full_size_has_a_folder_of_its_own_and_a_budget_where_asked(papers, tmp_path):
    assert "no time budget" in papers("--full", "--dry-run").stdout
    limited = papers("--full", "--dry-run", "--budget", "1s").stdout
    assert "the budget ends it after 1 s" in limited
    # It ends the runs, and leaves the stand-ins their size.
    assert "heart: stand-in, SCALE 1\n" in limited
    assert papers("--full", "--report-only").exit_code == 0
    assert (tmp_path / "results" / "papers-full" / "index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["smal"], "unknown paper 'smal'; did you mean 'small'?"),
        (["small/tabel-1"], "small has no item 'tabel-1'; did you mean 'table-1'?"),
        (
            ["--budget", "soon"],
            "--budget 'soon': write seconds, or a duration such as 90s, 30m or 2h",
        ),
        (["--dry-run", "--json"], "--dry-run prints text; leave --json out"),
        (["--only", "?"], "--only ?: no such data set here; known: "),
        (["--budget", "0"], "--budget '0': write seconds, or a duration such as 90s, 30m or 2h"),
    ],
)
def test_what_cannot_be_done_is_one_line(papers, arguments, said):
    result = papers(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"states": {"failed": 1}}, 1, "--retry-failed"),
        ({"left": 3}, 0, "out of time with 3 runs left"),
        ({"interrupted": True}, 130, "interrupted"),
    ],
)
def test_exit_codes(papers, monkeypatch, change, code, said):
    class Pretended:
        """A sweep that is open and makes no runs."""

        preparing = 0.0
        cells = ()

        def __init__(self, sweep, folder, reporter, options):
            self.sweep = sweep
            self.outcome = Outcome(folder, left=change.get("left", 0))
            self.outcome.states.update(change.get("states", {}))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def lacking(self, options):
            return 0

        def announce(self, options):
            return 0

        def make(self, options):
            if change.get("interrupted"):
                raise KeyboardInterrupt

        def publish(self):
            pass

    monkeypatch.setattr(series, "OpenSweep", Pretended)
    result = papers()
    assert result.exit_code == code, result.output
    assert said in result.output
    assert papers("--json").exit_code == code


def test_data_that_cannot_be_read_are_exit_code_3_after_all_else(papers, tmp_path):
    description = tmp_path / "papers" / "small" / "table-1.yaml"
    (tmp_path / "papers" / "small" / "mine.libsvm").write_text("1 1:one\n")
    description.write_text(
        TABLE.replace("[tiny-dense, {name: heart_scale, label: heart}]", "[{path: mine.libsvm}]")
    )
    result = papers()
    assert result.exit_code == 3
    assert "small/table-1, dense: " in result.stderr
    assert (tmp_path / "results" / "papers" / "index.html").exists()
