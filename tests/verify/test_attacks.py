"""Edits of a results folder that are consistent in themselves: `svmbench verify` finds each."""

import csv
import io
import json
import os
import re
import shutil
import struct
import zipfile
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, a_trace, copy_of, make, records_of, write_records

from svmbench.cli import main
from svmbench.config import load_sweep
from svmbench.harness.rows import regret_rows, run_row, trace_rows
from svmbench.harness.trace import read_trace
from svmbench.harness.weights import SUFFIX
from svmbench.verify.folder import Verifier
from svmbench.verify.recorded import Recorded


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    sweep = SWEEP | {"solvers": ["dcd", "pegasos"], "repeats": 2, "plots": ["log-suboptimality"]}
    return make(tmp_path_factory.mktemp("made"), sweep, report=True)


def wrong(folder):
    """What does not hold in a folder, by name."""
    results = Verifier().folder(folder)
    return {each.name: each.reason for each in results if each.verdict != "holds"}


def verified(folder):
    """The end of the command: its exit code and its output, which has no traceback."""
    result = CliRunner().invoke(main, ["verify", str(folder)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "internal error" not in result.output
    return result.exit_code, result.output


def forged(path, edit):
    """Edit the records of a trace; its hash and the tables follow, as a forger's would."""
    records = records_of(path)
    points = [record for record in records if record["kind"] == "point"]
    edit(records, points)
    write_records(path, records)
    tables_again(path.parent.parent)


def tables_again(folder):
    """Write the tables from the traces, whatever these say."""
    lines = list(csv.reader((folder / "runs.csv").open(encoding="utf-8", newline="")))
    names = [line[lines[0].index("id")] for line in lines[1:]]
    rows, points, regrets = [], [], []
    for name in names:
        trace = read_trace(folder / "runs" / f"{name}.jsonl")
        run = Verifier().recorded(trace.header)
        rows.append(run_row(run, trace))
        points += trace_rows(run, trace)
        regrets += regret_rows(run, trace)
    for file, table in (("runs.csv", rows), ("traces.csv", points)):
        with (folder / file).open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {key: "" if value != value else value for key, value in row.items()}
                for row in table
            )


def test_nothing_is_wrong_before(folder):
    forged(a_trace(folder), lambda records, points: None)
    assert wrong(folder) == {}


def reasons(folder, path):
    """All that does not hold of a run."""
    results = Verifier().folder(folder)
    said = [each.reason for each in results if each.name == path.stem and each.reason]
    return "; ".join(said)


# --- lines that another reader understands differently


@pytest.mark.parametrize("number", [0, 3])
def test_a_key_that_a_line_has_twice(folder, number):
    path = a_trace(folder)
    lines = path.read_text().splitlines(keepends=True)
    lines[number] = lines[number].replace("{", '{"kind": "other", ', 1)
    rewritten(path, lines)
    assert read_trace(path) is not None
    assert "is not as a run writes it" in reasons(folder, path)


@pytest.mark.parametrize(
    "other",
    [
        lambda line: line.replace(": ", ":  ", 1),
        lambda line: "\t" + line,
        lambda line: line[:-1] + " \n",
        lambda line: line[:-1] + "\r\n",
        lambda line: line[:-1] + "\r",
        lambda line: re.sub(r"(\d\.\d+)", r"\g<1>0", line, count=1),
        lambda line: line.replace("wall", "\\u0077all", 1),
    ],
)
def test_a_line_written_in_another_way(folder, other):
    path = a_trace(folder)
    lines = path.read_text().splitlines(keepends=True)
    assert other(lines[2]) != lines[2]
    rewritten(path, [*lines[:2], other(lines[2]), *lines[3:]])
    assert "line 3 of its trace is not as a run writes it" in reasons(folder, path)


def rewritten(path, lines):
    """Write these lines, and a last one whose hash fits."""
    end = json.loads(lines[-1])
    del end["sha256"]
    body = [*lines[:-1], json.dumps(end) + "\n"]
    end["sha256"] = sha256("".join(body).encode()).hexdigest()
    with path.open("w", newline="") as file:
        file.write("".join([*lines[:-1], json.dumps(end) + "\n"]))


def test_a_second_line_of_weights_and_lines_in_another_order(folder):
    path = a_trace(folder)
    sound = records_of(path)
    place = next(n for n, record in enumerate(sound) if record["kind"] == "weights")
    write_records(path, [*sound[:place], sound[place], *sound[place:]])
    assert "is not in its place (weights)" in reasons(folder, path)
    write_records(path, [sound[0], sound[place], *sound[1:place], *sound[place + 1 :]])
    assert "is not in its place (point)" in reasons(folder, path)


def test_a_key_that_the_environment_has_twice(folder):
    path = folder / "environment.json"
    path.write_text(path.read_text().replace("{", '{\n  "cpu": "a faster one",', 1))
    assert "a key appears twice" in wrong(folder)["environment.json"]


# --- ends and times that a run could not have recorded


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"refused": True}, "it is refused, and recorded as converged"),
        ({"refused": True, "state": "failed"}, "or without reason"),
        ({"refused": 0}, "0 as refused"),
        ({"refused": "no"}, "'no' as refused"),
    ],
)
def test_a_rival_whose_points_are_said_not_to_count(folder, facts, said):
    path = a_trace(folder)
    forged(path, lambda records, points: records[-1].update(facts))
    assert said in reasons(folder, path)


def with_a_lower_bound(records, points):
    """The reference still proves the bound, and all accuracies follow from it."""
    lower = records[0]["reference_dual"] * 0.9
    upper = records[0]["reference_primal"]
    records[0] |= {"reference_dual": lower, "reference_gap": (upper - lower) / abs(lower)}
    for point in points:
        point["accuracy"] = (point["primal"] - lower) / lower


def test_a_lower_bound_that_keeps_a_run_from_its_targets(folder):
    path = a_trace(folder)

    def edit(records, points):
        with_a_lower_bound(records, points)
        records[-1]["state"] = "max_steps"

    forged(path, edit)
    assert "recorded as max_steps, and has met no limit" in reasons(folder, path)


def test_a_lower_bound_that_keeps_a_run_from_its_accuracies(folder):
    path = a_trace(folder, "pegasos")
    assert records_of(path)[-1]["state"] == "max_steps"
    forged(path, with_a_lower_bound)
    assert "its bounds are wider than was asked, and than those of" in reasons(folder, path)


def slower(factor):
    def edit(records, points):
        for point in points:
            point["wall"] *= factor
            point["cpu"] *= factor

    return edit


def test_a_rival_whose_times_are_longer_than_its_run(folder):
    path = a_trace(folder, "pegasos")
    forged(path, slower(1e4))
    found = reasons(folder, path)
    assert "it has trained for" in found
    assert "and has taken" in found


def test_times_in_which_nobody_reads_the_rows(folder):
    path = a_trace(folder)

    def edit(records, points):
        slower(1e-6)(records, points)
        points[0]["pass_wall"] = 0.01

    forged(path, edit)
    assert "passes over the rows in" in reasons(folder, path)


@pytest.mark.parametrize("what", ["wall", "presentations", "nonzeros"])
def test_a_run_that_begins_below_zero(folder, what):
    path = a_trace(folder)
    forged(path, lambda records, points: points[0].update({what: -1}))
    assert f"{what} is negative" in reasons(folder, path)


def test_work_in_other_processes_that_is_admitted(folder):
    path = a_trace(folder)
    forged(path, lambda records, points: records[-1].update(background_cpu_seconds=5.0))
    assert "processor time in other threads or processes" in reasons(folder, path)


# --- runs that do not belong together


def moved(folder, path, **facts):
    """Give a run other facts, and the id, the names and the tables that follow from them."""
    records = records_of(path)
    header = records[0] | facts
    run = Verifier().recorded(header)
    assert isinstance(run, Recorded)
    name = replace(run, header=header).id
    kept = path.with_suffix(SUFFIX)
    lines = [header | {"id": name}, *records[1:]]
    for record in lines:
        if record["kind"] == "weights":
            record["file"] = f"{name}{SUFFIX}"
    new = path.with_name(f"{name}.jsonl")
    write_records(new, lines)
    kept.rename(new.with_suffix(SUFFIX))
    path.unlink()
    table = folder / "runs.csv"
    table.write_text(table.read_text().replace(path.stem, name))
    tables_again(folder)
    return new


def test_a_run_of_another_build(folder):
    first, second = sorted((folder / "runs").glob("*-dcd-*.jsonl"))
    build = records_of(second)[0]["build"] | {"source_sha256": "0" * 64}
    new = moved(folder, second, build=build)
    assert "its solver's build differs" in wrong(folder)[new.stem]
    assert first.stem not in wrong(folder)


@pytest.mark.parametrize("facts", [{"contended": True}, {"clock_rules": 1}])
def test_a_run_under_other_conditions(folder, facts):
    path = a_trace(folder, "pegasos")
    new = moved(folder, path, **facts)
    assert any("the conditions of its clock differ" in reason for reason in wrong(folder).values())
    assert new.exists()


def test_a_repeat_that_is_a_copy_of_another(folder):
    first, second = sorted((folder / "runs").glob("*-dcd-*.jsonl"))
    lines = [records_of(second)[0], *records_of(first)[1:]]
    for record in lines:
        if record["kind"] == "weights":
            record["file"] = f"{second.stem}{SUFFIX}"
    shutil.copy(first.with_suffix(SUFFIX), second.with_suffix(SUFFIX))
    write_records(second, lines)
    tables_again(folder)
    assert wrong(folder) == {second.stem: f"it has the times of {first.stem}"}


# --- folders that have lost a part


@pytest.mark.parametrize("gone", ["runs", "runs.csv"])
def test_a_folder_that_has_lost_a_part_is_not_left_out(made, tmp_path, monkeypatch, gone):
    root = copy_of(made, tmp_path, monkeypatch) / "results"
    other = root.parent / "all" / "one"
    other.parent.mkdir()
    shutil.copytree(root, other.parent / "two")
    root.rename(other)
    assert verified(other.parent)[0] == 0
    place = other / gone
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    code, output = verified(other.parent)
    assert code == (3 if gone == "runs" else 1)  # without runs.csv no page can be written
    assert str(other) in output
    assert "missing" in output


def test_a_link_to_a_folder_of_results_is_not_left_out(folder):
    elsewhere = folder.parent / "elsewhere"
    shutil.copytree(folder, elsewhere)
    (elsewhere / "runs.csv").write_text("name\n")
    (folder.parent / "all").mkdir()
    (folder.parent / "all" / "sound").symlink_to(folder)
    assert verified(folder.parent / "all")[0] == 0
    (folder.parent / "all" / "more").symlink_to(elsewhere)
    (folder.parent / "all" / "ring").symlink_to(folder.parent / "all")
    code, output = verified(folder.parent / "all")
    assert code == 3
    assert "not a table of runs" in output


@pytest.mark.parametrize(
    "name", ["x" * 5000, "a\0b", "../../etc/passwd", "", "\u00e9", "/dev/zero"]
)
def test_a_run_whose_name_is_none(folder, name):
    path = folder / "runs.csv"
    path.write_text(path.read_text().replace(a_trace(folder).stem, name), encoding="utf-8")
    code, output = verified(folder)
    assert code in (1, 3)
    assert max(map(len, output.splitlines())) < 1000


def test_many_rows_take_time_in_proportion(folder):
    """Counted: comparisons with the rows before would be half a billion."""
    path = folder / "runs.csv"
    header, first, *rest = path.read_text().splitlines(keepends=True)
    name = a_trace(folder).stem
    line = next(line for line in [first, *rest] if name in line)
    many = (line.replace(name, f"run-{number}") for number in range(30_000))
    path.write_text("".join([header, first, *rest, *many]))
    found = wrong(folder)
    assert len([name for name in found if name.startswith("run-")]) == 30_000


# --- weights that are none


def packed(w, bias, compressed=False, **more):
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, w=w, bias=bias, **more)
    return buffer.getvalue()


def a_bomb(d):
    """Weights whose header announces a million million numbers."""
    buffer = io.BytesIO()
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("w.npy", head.getvalue() + bytes(8 * d))
        bias = io.BytesIO()
        np.save(bias, np.float64(0.0))
        archive.writestr("bias.npy", bias.getvalue())
    return buffer.getvalue()


def twice(w):
    """Two arrays of a name: the first is found by some readers, the last by others."""
    buffer, one = io.BytesIO(packed(np.zeros_like(w), 0.0)), io.BytesIO()
    np.save(one, w)
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("w.npy", one.getvalue())
    return buffer.getvalue()


def with_gap(content):
    """An archive with bytes between its two arrays."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        middle, start = archive.infolist()[1].header_offset, archive.start_dir
    moved = struct.pack("<I", middle + 5)
    new = content[:middle] + b"bytes" + content[middle:start]
    directory = content[start:].replace(struct.pack("<I", middle), moved)
    return new + directory.replace(struct.pack("<I", start), struct.pack("<I", start + 5))


def with_comment(content):
    """An archive whose end announces five more bytes."""
    return content[:-2] + struct.pack("<H", 5) + b"bytes"


def with_longer_extra(content):
    """An archive whose first array has bytes after its name."""
    name, extra = struct.unpack("<HH", content[26:30])
    first = 30 + name + extra
    head = content[:28] + struct.pack("<H", extra + 5) + content[30:first] + b"bytes"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        middle, start = archive.infolist()[1].header_offset, archive.start_dir
    directory = content[start:]
    for before in (middle, start):
        directory = directory.replace(struct.pack("<I", before), struct.pack("<I", before + 5))
    return head + content[first:start] + directory


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content + b"bytes",
        lambda content: content + bytes(22),
        lambda content: b"PK\3\4" + content,
        with_gap,
        with_comment,
        with_longer_extra,
    ],
)
def test_weights_with_bytes_that_no_reader_shows(folder, change):
    file = a_trace(folder).with_suffix(SUFFIX)
    new = change(file.read_bytes())
    with np.load(io.BytesIO(new)) as stored, np.load(file) as before:
        assert all(np.array_equal(stored[name], before[name]) for name in ("w", "bias"))
    assert "no weights in it (it has bytes that belong to no array)" in with_weights(folder, new)


def test_weights_with_an_array_that_is_none_of_them(folder):
    with np.load(a_trace(folder).with_suffix(SUFFIX)) as stored:
        new = packed(stored["w"], stored["bias"], more=np.zeros(2))
    assert "no weights in it (other arrays)" in with_weights(folder, new)


def with_weights(folder, content):
    """What `verify` says of a folder in which a run has other weights, with their hash."""
    path = a_trace(folder)
    path.with_suffix(SUFFIX).write_bytes(content)
    records = records_of(path)
    for record in records:
        if record["kind"] == "weights":
            record["sha256"] = sha256(content).hexdigest()
    write_records(path, records)
    code, output = verified(folder)
    assert code == 3
    return output


@pytest.mark.parametrize(
    "content",
    [
        twice,
        lambda w: packed(w[:, None], 0.0),
        lambda w: packed(w + 0j, 0.0),
        lambda w: packed(w.astype("S24"), 0.0),
        lambda w: packed(w.astype(np.longdouble), 0.0),
        lambda w: packed(w.astype([("x", "f8")]), 0.0),
        lambda w: packed(np.float64(1.0), 0.0),
        lambda w: packed(w, np.zeros(2)),
        lambda w: packed(w, 1j),
        lambda w: packed(w, "0"),
        lambda w: packed(np.zeros(10**6), 0.0, compressed=True),
        lambda w: packed(w, 0.0)[:-30],
        lambda w: a_bomb(len(w)),
        lambda w: b"",
    ],
)
def test_weights_of_another_form(folder, content):
    with np.load(a_trace(folder).with_suffix(SUFFIX)) as stored:
        new = content(stored["w"])
    assert "no weights in it" in with_weights(folder, new)


def test_a_bias_of_a_problem_without_one(folder):
    path = a_trace(folder)
    file = path.with_suffix(SUFFIX)
    with np.load(file) as stored:
        new = packed(stored["w"], 1e-9)
    file.write_bytes(new)
    records = records_of(path)
    for record in records:
        if record["kind"] == "weights":
            record["sha256"] = sha256(new).hexdigest()
    write_records(path, records)
    assert "its bias is 1e-09, and its problem has none" in reasons(folder, path)


# --- pictures


def test_a_picture_without_its_page_is_found(folder):
    (folder / "report.html").unlink()
    shutil.rmtree(folder / "tables")
    code, output = verified(folder)
    assert code == 1
    assert "report.html: is missing" in output


def test_a_picture_and_the_page_that_shows_it_are_found_if_they_are_drawn_again(folder):
    from svmbench.records.read import read_results
    from svmbench.report.curves import CurveTable
    from svmbench.report.html import to_html
    from svmbench.report.interactive import page_curves
    from svmbench.report.tables import build_tables

    picture = min((folder / "plots").glob("*.png"))
    picture.write_bytes(picture.read_bytes() + b"\n")
    results, pictures = read_results(folder), sorted((folder / "plots").glob("*.png"))
    curves = page_curves(results, CurveTable(results))
    page = to_html(results, build_tables(results), curves, pictures)
    (folder / "report.html").write_text(page, encoding="utf-8", newline="\n")
    assert wrong(folder) == {}
    result = CliRunner().invoke(main, ["verify", str(folder), "--plots"])
    assert result.exit_code == 1
    assert picture.name in result.output


# --- labels


def test_labels_that_look_alike_are_refused(folder):
    path = folder / "config.yaml"
    assert load_sweep(path, load_plugins=False)
    path.write_text(path.read_text().replace("label: pegasos", "label: d\u0441d"), encoding="utf-8")
    assert "looks like a label before it" in wrong(folder)["config.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read all folders")
def test_a_folder_that_cannot_be_read_is_not_left_out(folder):
    (folder / "runs").chmod(0)
    assert verified(folder.parent)[0] == 3
    (folder / "runs").chmod(0o755)


def test_tables_that_were_published_without_their_runs_are_one_line(folder, tmp_path):
    root = tmp_path / "several"
    shutil.copytree(folder, root / "whole")
    for name in ("a", "b"):
        (root / name).mkdir()
        shutil.copy(folder / "runs.csv", root / name / "runs.csv")
    result = CliRunner().invoke(main, ["verify", str(root)])
    assert result.exit_code == 0, result.output
    assert "2 folders without runs and configuration: not verified" in result.output
    # Asked for by its own name, such a folder is not passed over.
    assert CliRunner().invoke(main, ["verify", str(root / "a")]).exit_code == 3
