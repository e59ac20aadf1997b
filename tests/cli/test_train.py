"""``svmbench train`` and ``svmbench predict``."""

import csv
import hashlib
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from svmbench.bundled import bundled
from svmbench.cli import main
from svmbench.data.liblinear_model import read_liblinear

TINY = bundled("datasets") / "tiny"
SPARSE = TINY / "tiny-sparse.libsvm"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args], prog_name="svmbench")


def test_a_model_and_its_certificate(folder):
    result = invoke("train", SPARSE, "--tol", "1e-6")
    assert result.exit_code == 0, result.stderr
    assert "hinge, no bias, C = 1, λ = " in result.stdout
    model = folder / "tiny-sparse.libsvm.model"
    facts = json.loads((folder / "tiny-sparse.libsvm.model.json").read_text())
    assert facts["model_sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert facts["data"]["sha256"] == hashlib.sha256(SPARSE.read_bytes()).hexdigest()
    (fit,) = facts["fits"]
    assert 0.0 <= fit["relative_gap"] <= 1e-6
    assert fit["D"] <= fit["P"]
    test = invoke("predict", model, TINY / "tiny-sparse.t.libsvm", "--json")
    assert test.exit_code == 0


def test_a_stated_gap_holds_for_the_numbers_of_the_text(folder):
    rng = np.random.default_rng(3)
    y = np.where(rng.random(60) < 0.4, 1, -1)
    x = np.array([f"{v:.6g}" for v in (rng.normal(size=(60, 5)) + 0.3 * y[:, None]).flat])
    x = x.reshape(60, 5)
    lines = (
        f"{label} " + " ".join(f"{k}:{v}" for k, v in enumerate(row, 1))
        for label, row in zip(y, x, strict=True)
    )
    Path("rows").write_text("\n".join(lines))
    products = y[:, None] * x.astype(np.longdouble)
    stated = set()
    for C in (0.01, 1.0, 1000.0):
        found = []
        for tolerance in (1e-10, 1e-8, 1e-6, 1e-5, 1e-4):
            result = invoke("train", "rows", "-C", C, "--tol", tolerance, "-o", "m")
            assert result.exit_code == 0
            facts = json.loads(Path("m.json").read_text())
            (fit,) = facts["fits"]
            assert (" of the rows as stored; " in result.stdout) == (fit["of"] != "the text")
            assert facts["data"]["rounded"] == (tolerance >= 1e-5)
            w = read_liblinear(Path("m")).weights[0].astype(np.longdouble)
            lam = np.longdouble(1.0) / (np.longdouble(C) * 60)
            losses = np.maximum(0.0, 1.0 - products @ w)
            found.append((lam / 2 * (w @ w) + losses.mean(), fit))
            stated.add(fit["of"])
        least = min(P for P, _ in found)
        for P, fit in found:
            if fit["of"] == "the text":
                assert P / least - 1 <= 1.1 * fit["relative_gap"] + 1e-12
                assert abs(P / np.longdouble(fit["P"]) - 1) <= 0.1 * fit["relative_gap"] + 1e-12
    assert stated == {"the text", "the rows as stored"}


def test_indices_that_count_from_0(folder):
    Path("zero").write_text("1 0:1 1:.5\n-1 0:-1 2:.5\n")
    Path("one").write_text("1 1:1 2:.5\n-1 1:-1 3:.5\n")
    assert "--zero-based" in invoke("train", "zero").stderr
    for name, flags in (("zero", ["--zero-based"]), ("one", [])):
        assert invoke("train", name, *flags).exit_code == 0
        assert (
            invoke("predict", f"{name}.model", name, "-o", f"{name}.txt", "--values").exit_code == 0
        )
    assert Path("zero.model").read_bytes() == Path("one.model").read_bytes()
    assert Path("zero.txt").read_bytes() == Path("one.txt").read_bytes()
    mixed = invoke("predict", "one.model", "zero", "--zero-based")
    assert mixed.exit_code == 2
    assert "trained on indices from 1" in mixed.stderr
    # Without its certificate, or as LIBLINEAR's, a model does not know.
    Path("zero.model.json").unlink()
    assert invoke("predict", "zero.model", "zero").exit_code == 3
    assert invoke("predict", "zero.model", "zero", "--zero-based").exit_code == 0
    invoke("train", "zero", "--zero-based", "--scale", "-o", "scaled")
    facts = json.loads(Path("scaled.json").read_text())
    right = json.loads(invoke("predict", "scaled", "zero", "--json").stdout)["accuracy"]
    assert right == 1.0 - facts["training_error"]
    assert facts["data"]["zero_based"]
    assert "3 of them" in invoke("data", "info", "./zero", "--zero-based").stdout


@pytest.mark.parametrize("flags", [[], ["--scale"], ["--path"], ["--cv", "2"]])
def test_rows_without_features(folder, flags):
    Path("bare").write_text("1\n-1\n1\n-1\n")
    assert invoke("train", "bare", *flags).exit_code == 0


def test_the_training_errors_are_those_of_the_predictions():
    # Without rows whose decision value is 0: they count as errors, whatever is predicted.
    rows = TINY / "tiny-dense.libsvm"
    (fit,) = json.loads(invoke("train", rows, "-o", "m", "--json").stdout)["fits"]
    found = json.loads(invoke("predict", "m", rows, "--json").stdout)
    assert found["correct"] == found["rows"] - fit["training_errors"]


def test_lambda_and_c_name_the_same_problem():
    first = json.loads(invoke("train", SPARSE, "-C", "0.5", "--json").stdout)
    lam = repr(first["lambda"])
    second = json.loads(invoke("train", SPARSE, "--lambda", lam, "--json").stdout)
    assert second["C"] == pytest.approx(0.5)
    assert second["fits"][0]["P"] == pytest.approx(first["fits"][0]["P"], rel=1e-9)


def test_three_classes(folder):
    text = folder / "three.libsvm"
    text.write_text("".join(f"{k} {k}:1 4:{k / 10}\n" for k in (1, 2, 3) for _ in range(4)))
    result = invoke("train", text, "-C", "10", "-o", "m", "--threads", "2")
    assert result.exit_code == 0, result.stderr
    assert [line[:8] for line in result.stdout.splitlines() if line.startswith("class ")] == [
        "class 1:", "class 2:", "class 3:",
    ]  # fmt: skip
    assert invoke("predict", "m", text).stdout == "100.0000% right: 12 of 12 rows\n"
    assert invoke("predict", "m", text, "-o", "out", "--values").exit_code == 0
    lines = (folder / "out").read_text().splitlines()
    assert lines[0] == "labels 1 2 3"
    assert [len(line.split()) for line in lines[1:]] == [4] * 12


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["missing.libsvm"], 3, "missing.libsvm"),
        ([""], 2, "'DATA': is empty; name a file"),
        (["-"], 2, "- stands for no file here; name a file"),
        ([SPARSE, "-C", "0"], 2, "C must be positive"),
        ([SPARSE, "-C", "nan"], 2, "nan is not a number"),
        ([SPARSE, "--cv", "2.5"], 2, "'2.5' is not a valid whole number"),
        ([SPARSE, "--tol", "x"], 2, "'x' is not a valid number;"),
        ([SPARSE, "--time-limit", "1_0"], 2, "--time-limit '1_0'"),
        ([SPARSE, "--weight", "1_0=2"], 2, "a weight for class 1_0, which has no rows"),
        ([SPARSE, "--weight", "1=2_0"], 2, "--weight 1=2_0: write CLASS=W"),
        ([SPARSE, "-C", "1e308"], 2, "out of range"),
        ([SPARSE, "--lambda", "-1"], 2, "lambda must be positive"),
        ([SPARSE, "-C", "1", "--lambda", "1"], 2, "keep one of them"),
        ([SPARSE, "--tol", "0"], 2, "--tol"),
        ([SPARSE, "--tol", "inf"], 2, "--tol"),
        ([SPARSE, "--tol", "nan"], 2, "nan is not a number"),
        ([SPARSE, "--lambda", "1e308"], 2, "lambda = 1e+308 is out of range"),
        ([SPARSE, "-o", "/dev/null"], 2, "/dev/null: not a file, and not replaced"),
        ([SPARSE, "-o", ""], 2, "'--out': is empty; name a file"),
        ([SPARSE, "-o", "-"], 2, "- stands for no file here"),
        ([SPARSE, "-o", "/dev/full"], 2, "/dev/full: not a file, and not replaced"),
        ([SPARSE, "-o", "."], 2, "'.' is a directory"),
        ([SPARSE, "--time-limit", "soon"], 2, "--time-limit 'soon'"),
        ([SPARSE, "-o", "/proc/model"], 2, "/proc/model: cannot be written"),
        ([SPARSE, "-o", "/dev/null/model"], 2, "/dev/null/model: cannot be written"),
    ],
)
def test_bad_input_is_one_line(args, code, message):
    result = invoke("train", *args)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("given", [{}, {"OPENBLAS_NUM_THREADS": "2"}])
def test_blas_has_one_thread_unless_the_user_has_set_more(given):
    code = (
        "import os, sys\n"
        "from threadpoolctl import threadpool_info\n"
        "from svmbench.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"
        "    found = [each['num_threads'] for each in threadpool_info()]\n"
        "    print(os.environ['OPENBLAS_NUM_THREADS'], *found, file=sys.stderr)"
    )
    kept = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    command = [sys.executable, "-P", "-c", code, "train", str(SPARSE), "-o", "m"]
    done = subprocess.run(command, env=kept | given, capture_output=True, text=True, check=True)
    asked, *found = done.stderr.splitlines()[-1].split()
    assert asked == given.get("OPENBLAS_NUM_THREADS", "1")
    assert given or set(found) <= {"1"}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_is_named_as_such(folder, encoding):
    (folder / "wide.libsvm").write_bytes(("\ufeff" + SPARSE.read_text()).encode(encoding))
    result = invoke("train", "wide.libsvm")
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)
    assert "wide.libsvm: it is in UTF-16; save it as UTF-8" in result.stderr


def test_a_byte_order_mark_is_no_part_of_the_first_label(folder):
    text = SPARSE.read_bytes()
    (folder / "marked.libsvm").write_bytes(b"\xef\xbb\xbf" + text)
    (folder / "plain.libsvm").write_bytes(text)
    models = []
    for name in ("marked", "plain"):
        assert invoke("train", f"{name}.libsvm", "-o", name).exit_code == 0
        models.append((folder / name).read_bytes())
    assert models[0] == models[1]
    (folder / "marked.libsvm").write_bytes(b"\xef\xbb\xbf")
    assert "no rows" in invoke("train", "marked.libsvm").stderr
    (folder / "marked.libsvm").write_bytes(b"\xef\xbb\xbfx 1:1")
    assert "marked.libsvm:1:1: label 'x'" in invoke("train", "marked.libsvm").stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:1\n1 2:1\n", "all rows have the label 1"),
        ("1 1:1\n1.5 2:1\n", "row 2: label 1.5: classes are whole numbers; a regression set"),
        ("1 1:x\n", ":1:"),
        (
            "3000000000 1:1\n-1 2:1\n",
            "row 1: label 3e+09: classes are whole numbers up to 2147483647",
        ),
        ("1e300 1:1\n-1 2:1\n", "label 1e+300: classes are whole numbers up to"),
        ("1 1:1\n-1 1:1e200\n", "row 2: ||x||^2 = inf is too large"),
        ("", "no rows"),
    ],
)
def test_labels_that_are_no_classes(folder, text, message):
    (folder / "bad.libsvm").write_text(text)
    result = invoke("train", "bad.libsvm")
    assert result.exit_code == 3
    assert message in result.stderr


def test_a_fit_that_is_given_up_says_so(folder):
    result = invoke("train", SPARSE, "--lambda", "1e-12", "--tol", "1e-15", "--time-limit", "0.001")
    assert result.exit_code == 1
    assert "not proven to 1e-15" in result.stderr
    assert (folder / "tiny-sparse.libsvm.model").exists()


def test_features_that_the_model_does_not_know_count_nothing(folder):
    (folder / "a").write_text("1 1:1\n-1 1:-1\n")
    (folder / "b").write_text("1 1:1 9:-5\n-1 1:-1 9:5\n")
    assert invoke("train", "a", "-o", "m").exit_code == 0
    assert invoke("predict", "m", "b").stdout == "100.0000% right: 2 of 2 rows\n"


def test_rows_may_lack_features_or_have_none(folder):
    (folder / "a").write_text("1 1:1 2:0.5\n-1 1:-1\n")
    (folder / "b").write_text("1 2:1\n-1\n")
    assert invoke("train", "a", "-o", "m", "--bias", "regularised").exit_code == 0
    assert invoke("predict", "m", "b", "-o", "out", "--values").exit_code == 0
    weights = [float(line) for line in (folder / "m").read_text().splitlines()[6:]]
    values = [float(line.split()[1]) for line in (folder / "out").read_text().splitlines()[1:]]
    assert values == [weights[1] + weights[2], weights[2]]


@pytest.mark.parametrize("change", ["weight", "certificate"])
def test_a_certificate_of_another_model_is_said(folder, change):
    assert invoke("train", SPARSE, "-o", "m").exit_code == 0
    assert invoke("predict", "m", SPARSE).stderr == ""
    if change == "weight":
        head, _, last = (folder / "m").read_text().rstrip().rpartition("\n")
        (folder / "m").write_text(f"{head}\n{last[:4]} \n")
    else:
        assert invoke("train", SPARSE, "-C", "2", "-o", "n").exit_code == 0
        (folder / "n.json").replace(folder / "m.json")
    result = invoke("predict", "m", SPARSE)
    assert result.exit_code == 0
    assert result.stderr == "m.json is the certificate of another model\n"
    assert invoke("predict", "m", SPARSE, "--quiet").stderr == ""


def test_decision_values_that_are_no_numbers_are_refused(folder):
    (folder / "rows").write_text("1 1:1 2:1\n-1 1:-1\n")
    assert invoke("train", "rows", "-o", "m").exit_code == 0
    (folder / "far").write_text("1 1:1\n1 1:1e308 2:-1e308\n")
    head = (folder / "m").read_text().partition("w\n")[0]
    (folder / "m").write_text(f"{head}w\n1e10 \n1e10 \n")
    result = invoke("predict", "m", "far", "-o", "out", "--quiet")
    assert (result.exit_code, "far: row 2: its decision value leaves" in result.stderr) == (3, True)
    assert not (folder / "out").exists()


def test_the_certificate_of_the_model_is_not_replaced_by_predictions(folder):
    assert invoke("train", SPARSE, "-o", "m").exit_code == 0
    before = (folder / "m.json").read_text()
    result = invoke("predict", "m", SPARSE, "-o", "m.json")
    assert (result.exit_code, (folder / "m.json").read_text()) == (2, before)
    assert "m.json: this file is read, and not replaced" in result.stderr


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_labels_that_are_no_class_of_the_model_are_said(folder, form):
    assert invoke("train", SPARSE, "-o", "m").exit_code == 0
    (folder / "unknown").write_text("7 1:1\n8 2:1\n")
    result = invoke("predict", "m", "unknown", *form)
    assert (result.exit_code, result.stderr) == (
        0, "unknown: no label of these rows is a class of the model\n",
    )  # fmt: skip
    assert invoke("predict", "m", "unknown", *form, "--quiet").stderr == ""


@pytest.mark.parametrize("model", ["", ".", "/"])
def test_a_folder_in_place_of_a_model_is_refused_in_one_line(model):
    for output in ((), ("-o", "labels")):
        result = invoke("predict", model, SPARSE, *output)
        assert result.exit_code == 3
        assert "cannot be read as a model: Is a directory" in result.stderr


def test_values_need_a_file():
    assert invoke("train", SPARSE, "-o", "m").exit_code == 0
    result = invoke("predict", "m", SPARSE, "--values")
    assert (result.exit_code, "--values needs a file" in result.stderr) == (2, True)


def test_no_file_that_is_read_is_replaced(folder):
    data = folder / "rows"
    data.write_text("1 1:1\n-1 1:-1\n")
    (folder / "link").symlink_to(data)
    assert invoke("train", data, "-o", "m").exit_code == 0
    before = data.read_text(), (folder / "m").read_text()
    for args in (
        ("train", data, "-o", data),
        ("train", data, "-o", "link"),
        ("predict", "m", data, "-o", data),
        ("predict", "m", data, "-o", "m"),
    ):
        result = invoke(*args)
        assert (result.exit_code, "this file is read" in result.stderr) == (2, True)
        assert (data.read_text(), (folder / "m").read_text()) == before


@pytest.mark.parametrize("damage", [b"{", b"\xff", b"[" * 100_000])
def test_a_damaged_certificate_is_refused(folder, damage):
    """It may be that of indices from 0, without which columns are taken for their neighbours."""
    (folder / "zero").write_text("1 0:1 1:-2\n-1 0:-3 2:1\n")
    invoke("train", "zero", "--zero-based", "-o", "m")
    (folder / "new").write_text("1 1:-2\n-1 1:3 2:1\n")
    assert invoke("predict", "m", "new").exit_code == 0
    (folder / "m.json").write_bytes(damage)
    refused = invoke("predict", "m", "new")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "m.json: cannot be read (damaged), and says how rows are read" in refused.stderr


def test_a_link_stays_a_link(folder):
    (folder / "target").write_text("old")
    (folder / "link").symlink_to("target")
    assert invoke("train", SPARSE, "-o", "link").exit_code == 0
    assert (folder / "link").is_symlink()
    assert (folder / "target").read_text().startswith("solver_type")


def test_a_pipe_or_a_device_is_no_model(folder):
    os.mkfifo(folder / "pipe")  # whoever opens it waits
    for model in ("pipe", "/dev/null"):
        result = invoke("predict", model, SPARSE)
        assert result.exit_code == 3
        assert f"{model}: a pipe or a device; copy its content into a file" in result.stderr


def test_more_columns_than_memory_are_one_line(folder, monkeypatch):
    (folder / "wide").write_text("1 1:1\n-1 2000000000:1\n")
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: 8 * 10**9)
    result = invoke("train", "wide")
    assert result.exit_code == 3
    assert "wide: a model of 2,000,000,000 columns needs 32.0 GB of memory" in result.stderr


def test_rows_that_do_not_fit_into_memory_are_one_line_before_training(folder, monkeypatch):
    text = (folder / SPARSE).read_text()
    (folder / "many").write_text(400 * text)
    assert invoke("train", "many", "-o", "model", "--tol", "0.5").exit_code == 0  # now in the cache
    model = (folder / "model").read_bytes()
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: 500_000)
    monkeypatch.setattr("svmbench.train.classes.LITTLE", 0)
    result = invoke("train", "many", "-o", "model", "--tol", "0.5")
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert "many: training on " in line
    assert "rows needs" in line
    assert (folder / "model").read_bytes() == model


def test_weights_of_classes(folder):
    found = invoke("train", SPARSE, "--weight", "1=3", "--weight", "-1=0.5", "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    assert facts["class_weights"] == {"1": 3.0, "-1": 0.5}
    assert facts["fits"][0]["lambda"] != facts["lambda"]
    equal = json.loads(
        invoke("train", SPARSE, "--weight", "1=2", "--weight", "-1=2", "--json").stdout
    )
    double = json.loads(invoke("train", SPARSE, "-C", "2", "--json").stdout)
    assert equal["fits"][0]["P"] == pytest.approx(double["fits"][0]["P"], rel=1e-12)
    assert "weights: class 1 3" in invoke("train", SPARSE, "--weight", "1=3").stdout


def test_a_class_has_one_weight():
    result = invoke("train", SPARSE, "--weight", "1=2", "--weight", "1=3")
    assert result.exit_code == 2
    assert "class 1 has a weight already" in result.stderr


def test_cross_validation_chooses_c(folder):
    result = invoke("train", SPARSE, "--cv", "3", "--bias", "free", "-o", "m")
    assert result.exit_code == 0, result.stderr
    (chosen,) = [line for line in result.stdout.splitlines() if line.endswith("chosen")]
    facts = json.loads((folder / "m.json").read_text())
    assert facts["C"] == pytest.approx(float(chosen.split()[0]), rel=1e-5)
    values = facts["cross_validation"]["values"]
    best = min(values, key=lambda each: (each["error"], each["C"]))
    assert best["C"] == facts["C"]
    assert facts["fits"][0]["relative_gap"] <= 1e-4
    picture = (folder / "m.cv.svg").read_text()
    assert picture.startswith("<?xml")
    assert "C; chosen: " in picture
    ElementTree.fromstring(picture)
    again = invoke("train", SPARSE, "--cv", "3", "--bias", "free", "-o", "n", "--json")
    assert json.loads(again.stdout)["cross_validation"] == facts["cross_validation"]
    assert (folder / "n.cv.svg").read_bytes() == (folder / "m.cv.svg").read_bytes()


def test_a_chosen_c_at_the_end_of_the_values_is_said(folder, monkeypatch):
    (folder / "rows").write_text("1 1:1 2:1\n-1 1:-1 2:1\n" * 6)
    monkeypatch.setattr("svmbench.train.path.COUNT", 3)
    result = invoke("train", "rows", "--cv", "2", "-o", "m")
    assert result.exit_code == 0, result.stderr
    C = json.loads((folder / "m.json").read_text())["C"]
    assert f"cross-validation: the chosen C = {C:g} is the smallest tried" in result.stderr
    facts = json.loads((folder / "m.json").read_text())["cross_validation"]
    assert facts["chosen_is"] == "smallest"
    assert facts["effective_rows"] == 12.0


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--cv", "1"), 2, "1 is not in the range x>=2"),
        (("--cv", "5", "-C", "1"), 2, "--cv chooses C"),
        (("--cv", "100000"), 3, "fewer than the 100000 folds"),
    ],
)
def test_cross_validation_that_makes_no_sense(folder, options, code, says):
    result = invoke("train", SPARSE, *options)
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert result.exit_code == code
    assert not list(folder.iterdir())


def test_a_path_is_a_table_and_no_model(folder):
    result = invoke("train", SPARSE, "--path", "--bias", "free", "-o", "m")
    assert result.exit_code == 0, result.stderr
    assert "no model is written" in result.stdout
    assert sorted(each.name for each in folder.iterdir()) == [
        "m.path.csv", "m.path.json", "m.path.svg",
    ]  # fmt: skip
    facts = json.loads((folder / "m.path.json").read_text())
    assert facts["data"]["sha256"] == hashlib.sha256(SPARSE.read_bytes()).hexdigest()
    values = facts["values"]
    with (folder / "m.path.csv").open() as file:
        table = [{key: float(each) for key, each in row.items()} for row in csv.DictReader(file)]
    assert table == values
    assert all(0.0 <= each["gap"] <= 1e-4 for each in values)
    # The optimum grows with C, and less than C does.
    for one, other in pairwise(values):
        assert other["C"] == 2.0 * one["C"]
        assert one["bound"] <= other["objective"] <= 2.0 * one["objective"] * (1.0 + 1e-4)
        assert other["share_of_zero"] <= one["share_of_zero"] * (1.0 + 1e-4)
    middle = values[len(values) // 2]
    alone = invoke("train", SPARSE, "-C", middle["C"], "--bias", "free", "-o", "n", "--json")
    (fit,) = json.loads(alone.stdout)["fits"]
    assert middle["objective"] == pytest.approx(fit["P"] / fit["lambda"], rel=2e-4)
    again = invoke("train", SPARSE, "--path", "--bias", "free", "-o", "k", "--json")
    assert json.loads(again.stdout) == facts
    assert (folder / "k.path.svg").read_bytes() == (folder / "m.path.svg").read_bytes()


def test_pictures_that_are_interrupted_leave_no_files(folder, monkeypatch):
    def stop(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr("svmbench.train.files._as_svg", stop)
    for options in (["--path"], ["--cv", "2"], ["--path", "--cv", "2"]):
        assert invoke("train", SPARSE, "-o", "m", *options).exit_code == 130
        assert list(folder.iterdir()) == []


def test_a_path_with_validation_has_its_errors_and_the_model(folder):
    result = invoke("train", SPARSE, "--path", "--cv", "3", "-o", "m")
    assert result.exit_code == 0, result.stderr
    facts = json.loads((folder / "m.json").read_text())
    validated = {each["C"]: each for each in facts["cross_validation"]["values"]}
    values = json.loads((folder / "m.path.json").read_text())["values"]
    both = [each for each in values if each["C"] in validated]
    assert len(both) > 5
    for each in both:
        theirs = validated[each["C"]]
        assert each["validation_error"] == theirs["error"]
        assert (each["low"], each["high"]) == (theirs["low"], theirs["high"])
    (chosen,) = [each for each in values if each["C"] == facts["C"]]
    (fit,) = facts["fits"]  # the path's own model is the one that is written
    assert chosen["objective"] == fit["P"] / fit["lambda"]
    found = json.loads(invoke("predict", "m", SPARSE, "--json").stdout)
    assert chosen["training_error"] == pytest.approx(1.0 - found["correct"] / 400, abs=1e-12)


def test_a_path_that_is_cut_short_says_where(folder):
    result = invoke("train", SPARSE, "--path", "--tol", "1e-9", "--time-limit", "1e-6", "-o", "m")
    assert result.exit_code == 1
    *certified, last = json.loads((folder / "m.path.json").read_text())["values"]
    assert len(certified) <= 1  # a single look may be enough for the smallest C
    assert all(each["gap"] <= 1e-9 for each in certified)
    assert f"path: it ends at C = {last['C']:g}, not certified to 1e-09" in result.stderr
    assert (last["gap"] is None) or last["gap"] > 1e-9


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--path", "-C", "1"), 2, "--path tries values of C"),
        (("--path", "--lambda", "1"), 2, "--path tries values of C"),
        (("--path", "-o", "/dev/null/m"), 2, "/dev/null/m.path.csv: cannot be written"),
        (("--path", "--weight", "9=1"), 2, "a weight for class 9, which has no rows"),
    ],
)
def test_a_path_that_makes_no_sense(folder, options, code, says):
    result = invoke("train", SPARSE, *options)
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.exit_code == code
    assert not list(folder.iterdir())


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_a_huge_c_is_certified_or_said_not_to_be(loss):
    result = invoke("train", SPARSE, "-C", "1e12", "--loss", loss, "--time-limit", "5s", "--json")
    gap = json.loads(result.stdout)["fits"][0]["relative_gap"]
    assert (result.exit_code == 0) == (gap is not None and gap <= 1e-4)
    assert (result.exit_code == 0) or "not proven to" in result.stderr


def closed_pipe(*args):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "svmbench", *args], stdout=writer, stderr=subprocess.PIPE
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr.decode()


def interrupted(*args):
    """A command that gets Ctrl-C once it has read its rows."""
    from svmbench.train import examples

    read = examples.read_examples

    def read_and_stop(*given, **how):
        read(*given, **how)
        raise KeyboardInterrupt  # and no signal, which this process may have inherited as ignored

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "read_examples", read_and_stop)
        result = invoke(*args)
    return result.exit_code, result.stderr


def plain(*args):
    result = invoke(*args)
    return result.exit_code, result.stderr


#: For each documented code, commands that end with it.
ENDS = {
    0: [(plain, "train", SPARSE, "-o", "n"), (plain, "predict", "m", SPARSE)],
    1: [(plain, "train", SPARSE, "--tol", "1e-15", "--time-limit", "1e-6", "-o", "n")],
    2: [(plain, "train", SPARSE, "-C", "-1"), (plain, "predict", "m", SPARSE, "-o", "/dev/full")],
    3: [(plain, "train", "none"), (plain, "predict", "none", SPARSE), (plain, "predict", "m", "m")],
    130: [(interrupted, "train", SPARSE, "-o", "n"), (interrupted, "predict", "m", SPARSE)],
    141: [(closed_pipe, "train", SPARSE, "-o", "n"), (closed_pipe, "predict", "m", SPARSE)],
}


@pytest.mark.parametrize("code", ENDS)
def test_exit_codes(folder, code):
    assert invoke("train", SPARSE, "-o", "m").exit_code == 0
    for command, *args in ENDS[code]:
        found, said = command(*args)
        assert found == code, (args, said)
        assert len(said.splitlines()) == (code in (1, 2, 3, 130)), said
        # What is not trained is not written, and what is, is: also where nobody reads the output.
        assert (folder / "n").exists() == (code in (0, 1, 141))
