"""A results folder is read whole, or refused in one line that names the place."""

from __future__ import annotations

import csv
import math
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from svmbench.errors import DataError
from svmbench.records.read import read_regret, read_results


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "mixture"))


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_numbers_survive_to_the_last_bit(folder):
    results = read_results(folder)
    with (folder / "runs.csv").open(newline="") as file:
        raw = list(csv.DictReader(file))
    for column in ("lambda", "seconds_to_0.001", "accuracy", "reference_dual"):
        ours = [None if math.isnan(value) else value for value in results.runs[column]]
        assert ours == [float(row[column]) if row[column] else None for row in raw]
    assert results.accuracies == (0.1, 0.01, 0.001)
    assert results.runs["stand_in"].dtype == bool


def test_regret_is_read_and_may_be_missing(copied):
    assert read_regret(copied).empty
    (copied / "regret.csv").write_text(
        "id,dataset,solver,label,lambda,repeat,presentations,online_cost,regret_low,regret_high,"
        "regret_bound\na,adult,pegasos,pegasos,0.1,0,4,2.5,-0.25,0.5,\n"
    )
    row = read_regret(copied).iloc[0]
    assert (row["label"], row["presentations"], row["regret_low"]) == ("pegasos", 4.0, -0.25)
    assert math.isnan(row["regret_bound"])
    edit(copied / "regret.csv", "2.5", "much")
    with pytest.raises(DataError, match=r"regret.csv:2: column 'online_cost': 'much' is not"):
        read_regret(copied)


def test_what_the_configuration_does_not_name_follows_sorted(copied):
    (copied / "config.yaml").write_text("name: mixture\nsolvers: [ocas]\nrepeats: 7\n")
    results = read_results(copied)
    assert results.solvers[0] == "ocas"
    assert list(results.solvers[1:]) == sorted(results.solvers[1:])
    assert results.tables == ("time", "epochs", "objective")
    assert results.plots == ("log-primal", "log-suboptimality")


@pytest.mark.parametrize("written", ["true", "-3", "0", "9" * 30, "soon"])
def test_repeats_that_no_sweep_asks_for_are_those_that_are_there(copied, written):
    (copied / "config.yaml").write_text(f"name: mixture\nrepeats: {written}\n")
    results = read_results(copied)
    assert results.repeats == results.runs["repeat"].max() + 1


@pytest.mark.parametrize("name", ["config.yaml", "runs.csv", "traces.csv"])
def test_missing_file(copied, name):
    (copied / name).unlink()
    with pytest.raises(DataError, match=rf"{name}: missing; 'svmbench run' writes it"):
        read_results(copied)


def test_missing_folder(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        read_results(tmp_path / "nowhere")


def test_environment_may_be_missing_but_not_broken(copied):
    (copied / "environment.json").unlink()
    assert read_results(copied).environment == {}
    (copied / "environment.json").write_text("{")
    with pytest.raises(DataError, match=r"environment\.json: not JSON"):
        read_results(copied)


def test_foreign_schema_version(copied):
    table = pd.read_csv(copied / "runs.csv", dtype=str, keep_default_na=False)
    table.loc[2, "schema_version"] = "7"
    table.to_csv(copied / "runs.csv", index=False)
    with pytest.raises(DataError, match=r"runs\.csv:4: schema version 7, but this svmbench reads"):
        read_results(copied)
    table.drop(columns="schema_version").to_csv(copied / "runs.csv", index=False)
    with pytest.raises(DataError, match="schema version none"):
        read_results(copied)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("epochs", "many", r"runs\.csv:3: column 'epochs': 'many' is not a finite number"),
        ("primal", "inf", r"runs\.csv:3: column 'primal': 'inf' is not a finite number"),
        ("stand_in", "maybe", r"runs\.csv:3: column 'stand_in': 'maybe' is not true or false"),
        ("lambda", "", r"runs\.csv:3: column 'lambda' is empty"),
        ("lambda", "0", r"runs\.csv:3: column 'lambda': 0 is not above 0"),
        ("m", "-1", r"runs\.csv:3: column 'm': -1 is not above 0"),
        ("repeat", "-1", r"runs\.csv:3: column 'repeat': -1 is not a whole number from 0 to 9999"),
        ("repeat", "1e300", r"runs\.csv:3: column 'repeat': 1e\+300 is not a whole number from"),
        ("repeat", "0.5", r"runs\.csv:3: column 'repeat': 0\.5 is not a whole number"),
    ],
)
def test_bad_field_is_named_with_its_line(copied, column, value, message):
    table = pd.read_csv(copied / "runs.csv", dtype=str, keep_default_na=False)
    table.loc[1, column] = value
    table.to_csv(copied / "runs.csv", index=False)
    with pytest.raises(DataError, match=message):
        read_results(copied)


def test_missing_column(copied):
    edit(copied / "runs.csv", "epochs_to_0.01,", "something_else,")
    with pytest.raises(DataError, match=r"no column 'epochs_to_0\.01'"):
        read_results(copied)


@pytest.mark.parametrize("text", ["0..01", "0.010", "0.0", "1e+999", "soon"])
def test_a_column_of_what_is_no_accuracy(copied, text):
    header, rows = (copied / "runs.csv").read_text().split("\n", 1)
    header = header.replace("_0.01,", f"_{text},")
    (copied / "runs.csv").write_text(f"{header}\n{rows}")
    with pytest.raises(DataError, match=rf"column 'seconds_to_{re.escape(text)}' names no accur"):
        read_results(copied)


@pytest.mark.parametrize("name", ["runs.csv", "traces.csv"])
def test_lines_of_more_fields_than_the_header(copied, name):
    header, *lines = (copied / name).read_text().splitlines()
    (copied / name).write_text("".join([f"{header}\n", *(f"{line},\n" for line in lines)]))
    with pytest.raises(DataError, match=rf"{re.escape(name)}: its lines have more fields than"):
        read_results(copied)


def test_a_run_or_a_repeat_listed_twice(copied):
    table = pd.read_csv(copied / "runs.csv", dtype=str, keep_default_na=False)
    pd.concat([table, table.iloc[:1]]).to_csv(copied / "runs.csv", index=False)
    with pytest.raises(DataError, match="listed twice"):
        read_results(copied)
    label = table.loc[0, ["dataset", "lambda", "label"]]
    same = (table[["dataset", "lambda", "label"]] == label).all(axis=1)
    table.loc[same, "repeat"] = "0"
    table.to_csv(copied / "runs.csv", index=False)
    with pytest.raises(DataError, match="listed twice"):
        read_results(copied)


def test_a_point_of_another_repeat_than_its_run(copied):
    table = pd.read_csv(copied / "traces.csv", dtype=str, keep_default_na=False)
    table.loc[1, "repeat"] = "99"
    table.to_csv(copied / "traces.csv", index=False)
    with pytest.raises(DataError, match=r"traces\.csv:3: column 'repeat': 99 is not the repeat of"):
        read_results(copied)


def test_older_results_have_no_header_of_points_where_there_are_none(copied):
    (copied / "traces.csv").write_text("\n")
    assert read_results(copied).traces.empty


@pytest.mark.parametrize("text", ["\n", "schema_version,id\n"])
def test_no_runs(copied, text):
    (copied / "runs.csv").write_text(text)
    with pytest.raises(DataError, match=r"holds no runs|No columns"):
        read_results(copied)


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "name: x\ntables: [pie]\n"])
def test_configuration_that_is_none(copied, text):
    (copied / "config.yaml").write_text(text)
    with pytest.raises(DataError, match=r"config\.yaml.*run the sweep again"):
        read_results(copied)
