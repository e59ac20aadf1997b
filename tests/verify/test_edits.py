"""`svmbench verify` finds every edit: of each column, each field of a trace, and each file."""

import csv
import json
import re

import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, a_trace, make, records_of, write_records

from svmbench.cli import main
from svmbench.harness.supervise import CIRCUMSTANCES
from svmbench.records.columns import OF_ACCURACY, RUNS, TRACES
from svmbench.report.check import stale_files

SMALL = SWEEP | {
    "solvers": ["dcd", {"name": "pegasos", "label": "steps"}],
    "stop": {"accuracy": [0.1, 0.001], "max_epochs": 4, "time_limit": 10.0},
    "repeats": 2,
    "regret": True,
    "plots": ["log-suboptimality"],
}
ACCURACIES = ("0.1", "0.001")
COLUMNS = [column.name for column in RUNS] + [
    f"{column.name}_{at}" for at in ACCURACIES for column in OF_ACCURACY
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with weights, regrets and a report."""
    return make(tmp_path_factory.mktemp("made"), SMALL, report=True)


def table(folder, name="runs.csv"):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write(folder, lines, name="runs.csv"):
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def other(text):
    """Another text of the same kind."""
    if text in ("True", "False"):
        return "False" if text == "True" else "True"
    if re.fullmatch(r"[0-9.]+(e[+-][0-9]+)?", text):
        return repr(float(text) * (1.0 + 1e-12)) if float(text) else "1e-09"
    return text + "x" if text else "1"


def test_nothing_is_wrong_before_an_edit(folder, wrong):
    assert wrong(folder) == {}
    assert list(stale_files(folder)) == []


def test_an_edit_of_any_column_of_runs_is_found(folder, wrong):
    lines = table(folder)
    assert lines[0] == COLUMNS
    unnoticed = []
    for place, column in enumerate(COLUMNS):
        row = 1 + place % (len(lines) - 1)
        changed = [list(line) for line in lines]
        changed[row][place] = other(changed[row][place])
        write(folder, changed)
        if not wrong(folder):
            unnoticed.append(column)
    assert unnoticed == []


@pytest.mark.parametrize("name", ["traces.csv", "regret.csv"])
def test_an_edit_of_any_column_of_the_other_tables_is_found(folder, name, wrong):
    lines = table(folder, name)
    if name == "traces.csv":
        assert lines[0] == [column.name for column in TRACES]
    unnoticed = []
    for place, column in enumerate(lines[0]):
        changed = [list(line) for line in lines]
        row = len(lines) // 2
        changed[row][place] = other(changed[row][place])
        write(folder, changed, name)
        if not wrong(folder):
            unnoticed.append(column)
    assert unnoticed == []


def without_row(lines):
    del lines[1]


def with_a_row_twice(lines):
    lines.append(lines[1])


def with_an_empty_row(lines):
    lines.append([""] * len(lines[0]))


def with_a_short_row(lines):
    lines[1] = lines[1][:-1]


def without_column(lines):
    for line in lines:
        del line[-1]


def with_a_column(lines):
    for line in lines:
        line.append("1")


def with_another_order(lines):
    for line in lines:
        line[-1], line[-2] = line[-2], line[-1]


@pytest.mark.parametrize("name", ["runs.csv", "traces.csv", "regret.csv"])
@pytest.mark.parametrize(
    "edit",
    [
        *(without_row, with_a_row_twice, with_an_empty_row, with_a_short_row),
        *(without_column, with_a_column, with_another_order),
    ],
)
def test_rows_and_columns_that_are_lost_or_added_are_found(folder, name, edit):
    lines = table(folder, name)
    edit(lines)
    write(folder, lines, name)
    result = CliRunner().invoke(main, ["verify", str(folder)])
    assert result.exit_code in (1, 3), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("name", ["traces.csv", "regret.csv"])
def test_a_table_that_is_gone_is_found(folder, name, wrong):
    (folder / name).unlink()
    assert wrong(folder)


@pytest.mark.parametrize("columns", [["label"], ["label", "solver", "step_rows"]])
def test_exchanged_labels_are_found(folder, columns, wrong):
    lines = table(folder)
    place = lines[0].index("label")
    one, two = (next(line for line in lines if line[place] == name) for name in ("dcd", "steps"))
    changed = [list(line) for line in lines]
    for line, sound in zip(changed[1:], lines[1:], strict=True):
        model = two if sound[place] == "dcd" else one
        for column in columns:
            line[lines[0].index(column)] = model[lines[0].index(column)]
    write(folder, changed)
    assert len([name for name in wrong(folder) if name.startswith("tiny")]) == 4


def changed_value(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 1.001 + 1
    if isinstance(value, dict):
        return {key: changed_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [*map(changed_value, value), 1]
    return f"{value}x" if value is not None else 1.0


def test_an_edit_of_any_field_of_a_trace_is_found_although_its_hash_fits(folder, wrong):
    path = a_trace(folder)
    sound = records_of(path)
    unnoticed = []
    last = max(place for place, record in enumerate(sound) if record["kind"] == "point")
    assert last not in (2, len(sound) - 1)
    for place in (0, 2, last, *range(last + 1, len(sound))):
        for field in sound[place]:
            records = [dict(record) for record in sound]
            records[place][field] = changed_value(records[place][field])
            write_records(path, records)
            if field != "sha256" and not wrong(folder):
                kind = "last" if place == last else sound[place]["kind"]
                unnoticed.append((kind, field))
    # None of these enters a table.
    assert set(unnoticed) <= {
        *(("run", "kind"), ("run", "keep_weights"), ("weights", "file")),
        *(("point", "kind"), ("point", "switches"), ("point", "stopped")),
        ("point", "visits"),  # of a point at which no accuracy is reached
        *(("last", "kind"), ("last", "stopped")),
    }
    # Only runs on a cluster name a node.
    assert set(CIRCUMSTANCES) <= {"kind", "node", *sound[0]}


def test_the_environment_of_another_machine_is_found(folder, wrong):
    path = folder / "environment.json"
    path.write_text(path.read_text().replace('"logical_cpus": ', '"logical_cpus": 1'))
    assert "another machine" in wrong(folder)["environment.json"]
    path.unlink()
    assert "cannot be read" in wrong(folder)["environment.json"]


def test_an_edit_of_any_file_of_the_report_is_found(folder):
    files = [*sorted((folder / "tables").iterdir()), folder / "report.html"]
    sound = {path: path.read_bytes() for path in files}
    whole = next((folder / "plots").glob("*.png"))
    for path in files:
        path.write_bytes(sound[path].replace(b"2", b"3"))
    assert {folder / name for name, _ in stale_files(folder)} == {*files}
    for path in files:
        path.write_bytes(sound[path])
    # The page contains the pictures that are there.
    whole.write_bytes(whole.read_bytes() + b"\n")
    assert [name for name, _ in stale_files(folder)] == ["report.html"]
    for path in files[:-1]:
        path.unlink()
    (folder / "tables" / "more.csv").write_text("label\n")
    found = dict(stale_files(folder))
    assert found.pop("tables/more.csv") == "is not a file of this report; remove it"
    assert {folder / name for name in found} == {*files}


def test_the_command_reports_a_changed_table(folder):
    path = folder / "tables" / "time.csv"
    path.write_text(path.read_text() + "\n")
    result = CliRunner().invoke(main, ["verify", str(folder), "--quiet"])
    assert result.exit_code == 1
    assert "does not hold: file tables/time.csv: is not what this version writes" in result.output
    assert "1 file: does not hold, or cannot be read" in result.output
    told = json.loads(CliRunner().invoke(main, ["verify", str(folder), "--json"]).stdout)
    assert [each["name"] for each in told["verified"]] == ["tables/time.csv"]


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    result = CliRunner().invoke(main, ["verify", str(tmp_path / "nothere")])
    assert result.exit_code == 3
    assert "nothere: no such folder; name one that 'svmbench run' has written" in result.output
    (tmp_path / "runs.csv").touch()
    result = CliRunner().invoke(main, ["verify", str(tmp_path / "runs.csv")])
    assert result.exit_code == 3
    assert "runs.csv: a file; name a folder of results" in result.output


def test_a_measured_run_that_is_called_skipped_is_found(folder, wrong):
    lines = table(folder, "runs.csv")
    lines[1][lines[0].index("state")] = "skipped"
    write(folder, lines)
    assert any("is listed as skipped, but was measured" in text for text in wrong(folder).values())
