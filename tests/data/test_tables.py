"""Tables with named columns become rows of numbers, and other tables the same ones."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import svmbench
from svmbench.cli import main
from svmbench.data.tables import Encoding, read_table
from svmbench.data.text_files import kind_of
from svmbench.errors import DataError

TABLE = """\
age,job,answer
20,clerk,yes
30,"farmer, own",no
40,clerk,yes
25,nurse,no
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(TABLE)
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(main, arguments)


def dense(found):
    return found.X.toarray() if hasattr(found.X, "toarray") else found.X


def test_texts_become_features_of_0_and_1(folder):
    found = read_table(folder / "a.csv", "answer")
    features = [name for column in found.encoding.columns for name in column.features]
    assert features == ["age", "job=clerk", "job=farmer, own", "job=nurse"]
    assert dense(found).tolist() == [[20, 1, 0, 0], [30, 0, 1, 0], [40, 1, 0, 0], [25, 0, 0, 1]]
    assert found.labels.tolist() == [1, 0, 1, 0]
    assert found.encoding.classes == ("no", "yes")


def test_another_table_has_the_same_features_whatever_it_holds(folder):
    encoding = read_table(folder / "a.csv", "answer").encoding
    kept = Encoding.of(json.loads(json.dumps(encoding.facts())))
    assert kept == encoding
    (folder / "b.csv").write_text("job,extra,age\npilot,1,7\nnurse,2,8\n")
    found = read_table(folder / "b.csv", encoding=kept)
    assert dense(found).tolist() == [[7, 0, 0, 0], [8, 0, 0, 1]]
    assert (found.labels, found.unknown.fields) == (None, 1)


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "a.TSV", "a.npz", "a.npy"])
def test_every_form_of_a_table_gives_the_same_rows(folder, name):
    X, y = np.array([[1.5, 0.0], [0.0, -2.0], [3.0, 1.0]]), np.array([1, -1, 1])
    text = pd.DataFrame(X, columns=["1", "2"]).assign(y=y).to_csv(sep="\t", index=False)
    if name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    elif name.endswith("z"):
        np.savez(folder / name, X=X, y=y)
    elif name.endswith("npy"):
        np.save(folder / name, np.column_stack([X, y]))
    else:
        (folder / name).write_text(text)
    found = read_table(folder / name, "y")
    assert np.array_equal(dense(found), X)
    assert found.labels.tolist() == y.tolist()


def test_missing_values_are_refused_or_become_the_mean(folder):
    (folder / "a.csv").write_text("a,b,y\n1,x,1\n,z,-1\n5,,1\n")
    with pytest.raises(
        DataError, match=r"'a': 1 of 3 rows have no value, first row 2; .*--missing"
    ):
        read_table(folder / "a.csv", "y")
    found = read_table(folder / "a.csv", "y", "mean")
    assert dense(found).tolist() == [[1, 0, 1, 0], [3, 0, 0, 1], [5, 1, 0, 0]]
    (folder / "b.csv").write_text("a,b\n,x\n")
    assert dense(read_table(folder / "b.csv", encoding=found.encoding)).tolist() == [[3, 0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (TABLE, None, "which column has the classes? add --target COLUMN; it has age, job, answer"),
        (TABLE, "answr", "did you mean 'answer'?"),
        (TABLE, "age", None),
        ("a,y\n1,0.5\n2,1\n", "y", "row 1: 0.5: classes are whole numbers"),
        ("a,y\n1,\n2,1\n", "y", "a row needs its class"),
        ("a,a,y\n1,2,1\n", "y", "two columns are called 'a'; rename one"),
        ("a,y\n1,2,3\n4,5,6\n", "y", "more fields than its header"),
        ("a,y\ninf,1\n2,-1\n", "y", "row 1 is infinite"),
        ("", "y", "is empty"),
        ("a,y\n", "y", "has no rows"),
        ("y\n1\n", "y", "has no column but the target"),
        ("a,y\n,1\n,2\n", "y", "column 'a' is empty"),
        (",a,y\n1,2,1\n2,3,0\n", "y", "column 1 has no name"),
        ("a,y\n1,1\n?,0\n3,1\n", "y", "column 'a' has numbers, and in row 2 '?'"),
        ("a,y\n1,1e12\n2,1\n", "y", "classes are numbers up to"),
        ("a;y\n1;1\n2;0\n", "y", None),
        ("a\ty\n1\t1\n2\t0\n\n\n", "y", None),
        ("a|y\n1|1\n2|0\n", "y", None),
        ("a,y\n1,1\n\n2,0\n", "y", "first row 2; fill them"),
        ("a,y\n" + "".join(f"1,{k}\n" for k in range(200)), "y", "has 200 different values"),
    ],
)
def test_what_cannot_be_read_is_one_line(folder, text, target, said):
    (folder / "a.csv").write_text(text)
    if said is None:
        assert read_table(folder / "a.csv", target).labels is not None
        return
    with pytest.raises(DataError) as caught:
        read_table(folder / "a.csv", target)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_texts_that_name_rows_are_refused(folder):
    lines = "".join(f"name {at},{at % 2}\n" for at in range(1500))
    (folder / "a.csv").write_text(f"id,y\n{lines}")
    with pytest.raises(DataError, match="'id' has 1,500 different texts in 1,500 rows"):
        read_table(folder / "a.csv", "y")


def test_columns_are_dropped(folder):
    (folder / "b.csv").write_text("day,a,y\n2020-01-01,1,0\n2020-01-02,2,1\n")
    found = invoke("train", "b.csv", "--target", "y", "--drop", "day", "-o", "m")
    assert found.exit_code == 0, found.stderr
    facts = json.loads((folder / "m.json").read_text())
    assert [column["name"] for column in facts["table"]["columns"]] == ["a"]
    assert facts["bias"] == "free"  # a table's is so unless another is asked for
    for name, said in (("dya", "did you mean 'day'?"), ("y", "is the target")):
        refused = invoke("train", "b.csv", "--target", "y", "--drop", name, "-o", "n")
        assert refused.exit_code == 3
        assert f"--drop {name}: {said}" in refused.stderr


def test_damaged_files_are_one_line(folder):
    np.savez("b.npz", X=np.eye(9), y=np.arange(9))
    whole = (folder / "b.npz").read_bytes()
    (folder / "b.npz").write_bytes(whole[:200] + b"no" * 25 + whole[250:])
    with pytest.raises(DataError, match=r"b\.npz: cannot be read"):
        read_table(folder / "b.npz")
    for name in ("a.npz", "a.npy", "a.csv.gz"):
        (folder / name).write_bytes(b"\x93NUMPY and no more")
        with pytest.raises(DataError, match=r"cannot be read|truncated or corrupt"):
            read_table(folder / name, "y")


def test_the_suffix_says_what_is_a_table(tmp_path):
    kinds = {
        name: kind_of(tmp_path / name) for name in ("a", "a.libsvm", "a.csv.xz", "a.b.Parquet")
    }
    assert kinds == {"a": "", "a.libsvm": "", "a.csv.xz": "text", "a.b.Parquet": "parquet"}


def test_from_a_table_to_predictions(folder):
    found = invoke("train", "a.csv", "--target", "answer", "--scale", "--test", "a.csv", "-o", "m")
    assert found.exit_code == 0, found.stderr
    assert "class yes: P = " in found.stdout
    assert "test 0.00% of 4 rows" in found.stdout
    assert "predicted as" in found.stdout
    (folder / "new.csv").write_text("age,job\n41,clerk\n31,nurse\n")
    predicted = invoke("predict", "m", "new.csv", "-o", "labels")
    assert predicted.stdout == "2 rows, whose classes are not known\n"
    assert "-o FILE keeps" in invoke("predict", "m", "new.csv").stdout
    assert (folder / "labels").read_text() == "yes\nno\n"
    assert "100.0000% right" in invoke("predict", "m", "a.csv").stdout
    weighed = invoke("train", "a.csv", "--target", "answer", "--weight", "yes=2", "-o", "m")
    assert "weights: class yes 2" in weighed.stdout
    wrong = invoke("train", "a.csv", "--target", "answer", "--weight", "maybe=2", "-o", "m")
    assert "a weight for class maybe, which has no rows; known: yes, no" in wrong.stderr


def test_what_a_model_has_never_seen_is_said(folder):
    (folder / "b.csv").write_text("age,job,answer\n41,pilot,yes\n31,nurse,perhaps\n")
    found = invoke("train", "a.csv", "--target", "answer", "--test", "b.csv", "-o", "m")
    said = "or empty where it never is there ('pilot' in column 'job' of row 1)"
    assert said in found.stderr
    assert "(another)" in found.stdout
    assert said in invoke("predict", "m", "b.csv").stderr
    (folder / "c.csv").write_text("age,job\n41,clerk\n")
    (folder / "m").unlink()
    refused = invoke("train", "a.csv", "--target", "answer", "--test", "c.csv", "-o", "m")
    assert "c.csv: a test needs the column of classes" in refused.stderr
    assert not (folder / "m").exists()


FIELDS = {
    "a column that is not all words of truth": ("c,y\ntrue,1\nTrue,0\n", ["c=True", "c=true"]),
    "codes": ("c,y\n01,1\nA,0\nB,1\n", ["c=01", "c=A", "c=B"]),
    "missing words where there are texts": ("c,y\nNA,1\nFR,0\n", ["c=FR", "c=NA"]),
    "missing words where there are numbers": ("c,y\nNA,1\n1,0\n3,0\n", ["c"]),
    "a column of one row with a text, far down": (
        "c,y\n" + "".join(f"{at % 7},{at % 2}\n" for at in range(300_000)) + "x,1\n",
        "has numbers, and in row 300,001 'x'",
    ),
    "decimal commas": ("c;y\n1,5;1\n2,5;0\n", "numbers; write 1234.5 instead of '1,5'"),
    "thousands": ('c,y\n"1,500",1\n900,0\n"12,000",0\n', "has numbers; write 1234.5"),
    "per cent": ("c,y\n12%,1\n5 %,0\n", "has numbers; write 1234.5 instead of '12%'"),
    "minus signs": ("c,y\n\u22121.5,1\n\u22122,0\n3,1\n", "instead of '\u22121.5'"),
    "decimal commas and exponents": ("c;y\n1,5e-3;1\n2,5E+2;0\n", "instead of '1,5e-3'"),
    "thousands apart": ("c,y\n1\u202f500,1\n12\xa0000,0\n", "has numbers; write 1234.5"),
    "Swiss thousands": ("c,y\n1\u2019500,1\n12\u2019000,0\n", "has numbers; write 1234.5"),
    "losses in brackets": ("c,y\n(1.5),1\n(2),0\n7,1\n", "instead of '(1.5)'"),
    "marks": ("c,y\n2-,1\n3+,0\n", ["c=2-", "c=3+"]),
    "dates": ("c,y\n2020-01-01,1\n2021-03-04 12:00,0\n", "has dates; write numbers of days"),
    "per cent beside a missing word": ("c,y\n12%,1\nNA,0\n7%,1\n", "has numbers; write 1234.5"),
    "times of day": ("c,y\n12:30,1\n9:05,0\n", "has times of day"),
    "missing words alone": ("a,c,y\n1,NA,1\n2,NA,0\n", "column 'c' is empty"),
    "classes of which some are numbers": ("c,y\n1,10\n2,9\n3,b\n", ["c"]),
    "names in spaces": (" c , y\n1,1\n2,0\n", ["c"]),
    "a name of Python's": ("self,y\na,1\nb,0\n", ["self=a", "self=b"]),
    "a number of 300 digits": (f"c,y\n1{'0' * 320},1\n2,0\n", "no finite mean"),
    "an open quotation mark": ('c,y\n"a,1\nb,0\nc",1\n', "row 1: a text of more than one line"),
    "a mean beyond range": ("c,y\n1.7e308,1\n1.7e308,0\n", "has no finite mean"),
}


@pytest.mark.parametrize("what", FIELDS)
def test_what_fields_are(folder, what):
    text, expected = FIELDS[what]
    (folder / "a.csv").write_text(text)
    if isinstance(expected, list):
        encoding = read_table(folder / "a.csv", "y", "mean").encoding
        assert [name for column in encoding.columns for name in column.features] == expected
        return
    with pytest.raises(DataError) as caught:
        read_table(folder / "a.csv", "y", "mean")
    assert expected in str(caught.value)


def test_a_second_table_is_read_as_the_first(folder):
    (folder / "a.csv").write_text("code,flag,y\n01,true,01\nC,false,A\nA,true,B\n")
    encoding = read_table(folder / "a.csv", "y").encoding
    (folder / "b.csv").write_text("code,flag,y\n01,true,01\n01,true,01\n")
    found = read_table(folder / "b.csv", encoding=encoding)
    assert (found.unknown.fields, found.labels.tolist()) == (0, [0, 0])
    assert dense(found).tolist() == [[1, 0, 0, 0, 1]] * 2  # code=01, A, C; flag=false, true


def test_a_second_table_is_refused_where_the_first_would_be(folder):
    encoding = read_table(folder / "a.csv", "answer").encoding
    (folder / "b.csv").write_text('age,job,answer\n1,"clerk,no\n2,nurse,no\n3,nurse",no\n')
    with pytest.raises(DataError, match="more than one line"):
        read_table(folder / "b.csv", encoding=encoding)
    (folder / "c.csv").write_text("age,jobs\n1,clerk\n")
    with pytest.raises(DataError, match=r"no column 'job', .* did you mean 'jobs'"):
        read_table(folder / "c.csv", encoding=encoding)
    (folder / "d.csv").write_text("age,job,note\n1,clerk,5\n2,nurse,6\n3,nurse,?\n")
    assert read_table(folder / "d.csv", encoding=encoding).unknown.fields == 0


def test_missing_texts_are_those_that_the_model_does_not_know(folder):
    encoding = read_table(folder / "a.csv", "answer", "mean").encoding
    (folder / "b.csv").write_text("age,job\nNA,\nNA,clerk\n")
    found = read_table(folder / "b.csv", encoding=encoding)
    assert dense(found).tolist() == [[28.75, 0, 0, 0], [28.75, 1, 0, 0]]
    assert found.unknown.fields == 1


def test_arrays_have_the_columns_of_the_model(folder):
    X = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 5.0]])
    np.save("a.npy", np.column_stack([X, [0, 1, 0]]))
    encoding = read_table(folder / "a.npy").encoding
    np.save("b.npy", X)
    assert read_table(folder / "b.npy", encoding=encoding).labels is None
    np.savez("c.npz", X=X > 1)
    assert dense(read_table(folder / "c.npz", encoding=encoding)).tolist() == (X > 1).tolist()
    np.save("d.npy", np.column_stack([X, X]))
    with pytest.raises(DataError, match="has 4 columns, and the model is of 2 beside the labels"):
        read_table(folder / "d.npy", encoding=encoding)


def test_lines_without_text_are_rows_of_a_single_column(folder):
    (folder / "b.csv").write_text("a,y\n1,0\n2,1\n")
    encoding = read_table(folder / "b.csv", "y").encoding
    (folder / "d.csv").write_text("\n\na\n1\n2\n")
    assert dense(read_table(folder / "d.csv", encoding=encoding)).tolist() == [[1], [2]]
    (folder / "c.csv").write_text("a\n1\n\n2\n")
    with pytest.raises(DataError, match="first row 2"):
        read_table(folder / "c.csv", encoding=encoding)


def test_arrays_with_no_real_numbers_are_refused(folder):
    for X in (np.ones((2, 1)) * 1j, np.array([["a"], ["b"]])):
        np.savez("a.npz", X=X, y=[0, 1])
        with pytest.raises(DataError, match="it needs real numbers"):
            read_table(folder / "a.npz")


def test_classes_are_named_as_they_are_written(folder):
    (folder / "a.csv").write_text("a,y\n1,01\n2,z\n3,x\n4,01\n")
    found = invoke("train", "a.csv", "--target", "y", "--weight", "01=5", "-o", "m")
    assert "weights: class 01 5;" in found.stdout
    (folder / "a.csv").write_text("a,y\n1,New York\n-2,Rome\n")
    assert invoke("train", "a.csv", "--target", "y", "-o", "m").exit_code == 0
    invoke("predict", "m", "a.csv", "-o", "labels", "--values")
    assert (folder / "labels").read_text().startswith('labels Rome "New York"\n"New York" ')
    (folder / "b.libsvm").write_text("0 1:1\n1 1:-2\n7 1:1\n")
    tested = invoke("train", "a.csv", "--target", "y", "--test", "b.libsvm", "-o", "m")
    assert "New York  " in tested.stdout
    assert "1 row of classes that the model does not have (7), which count as errors" in (
        tested.stderr
    )
    (folder / "b.npz").write_bytes(b"")
    refused = invoke("train", "b.libsvm", "--test", "b.npz", "-o", "m")
    assert "b.npz: a table, and nothing says how the model reads one" in refused.stderr


def test_a_table_becomes_libsvm_text(folder):
    found = invoke("data", "convert", "a.csv", "--target", "answer")
    assert found.exit_code == 0, found.stderr
    assert found.stdout.splitlines() == [
        *("class 0: no", "class 1: yes", "feature 1: age", "feature 2: job=clerk"),
        *("feature 3: job=farmer, own", "feature 4: job=nurse", "a.libsvm: 4 rows, 4 features"),
    ]
    lines = (folder / "a.libsvm").read_text().splitlines()
    assert lines[:2] == ["1 1:20.0 2:1.0", "0 1:30.0 3:1.0"]
    (folder / "u.csv").write_text("a,b,y\n1,90000,1\n2,1,0\n")
    uneven = invoke("data", "convert", "u.csv", "--target", "y")
    assert "column 'b' has values up to 90000" in uneven.stderr
    assert "max-abs" in uneven.stderr
    assert (folder / "u.libsvm").read_text() == "1 1:1.0 2:90000.0\n0 1:2.0 2:1.0\n"
    assert "is no table by its name" in invoke("data", "convert", "u.libsvm").stderr
    assert "a.libsvm: exists and is not replaced" in invoke("data", "convert", "a.csv").stderr
    assert "rows 4 features 4" in " ".join(invoke("data", "info", "./a.libsvm").stdout.split())


def test_a_model_of_libsvm_text_reads_no_table(folder):
    (folder / "rows").write_text("1 1:1\n-1 1:-1\n")
    assert invoke("train", "rows", "-o", "m").exit_code == 0
    assert (
        "a table, and nothing says how the model reads one"
        in invoke("predict", "m", "a.csv").stderr
    )
    refused = invoke("train", "rows", "--target", "y", "-o", "m")
    assert "is LIBSVM text by its name" in refused.stderr


def test_a_model_of_the_command_predicts_in_python(folder):
    invoke("train", "a.csv", "--target", "answer", "-o", "m")
    model, frame = svmbench.load_model("m"), pd.read_csv("a.csv")
    assert model.classes == ["yes", "no"]
    assert model.predict(frame[["job", "age"]]).tolist() == frame["answer"].tolist()
    assert ((model.decision_function(frame) > 0) == (frame["answer"] == "yes")).all()
    with pytest.raises(DataError, match="X: no column 'job', which the model knows"):
        model.predict(frame[["age"]])
    with pytest.raises(DataError, match=r"X has the shape \(1, 1\)"):
        model.predict(np.zeros((1, 1)))
    with pytest.raises(DataError, match="values that are not finite"):
        model.predict(np.full((1, 4), np.nan))


def test_a_loaded_model_takes_sparse_counts_and_follows_links(folder):
    (folder / "rows").write_text("1 1:1 2:3\n-1 1:-1\n")
    invoke("train", "rows", "-o", "m")
    Path("link").symlink_to("m")
    counts = sp.csr_matrix(np.array([[1, 3], [-2, 0]]))
    assert svmbench.load_model("link").predict(counts).tolist() == [1, -1]
    invoke("train", "a.csv", "--target", "answer", "-o", "named")
    Path("of-table").symlink_to("named")
    assert svmbench.load_model("of-table").classes == ["yes", "no"]


def test_truth_values_are_those_of_the_command_in_python(folder):
    rows = "".join(f"{k},{str(k % 2 == 0).lower()},{'ny'[k % 2]}\n" for k in range(12))
    (folder / "t.csv").write_text("a,b,y\n" + rows)
    invoke("train", "t.csv", "--target", "y", "-o", "m", "-C", "10")
    model, frame = svmbench.load_model("m"), pd.read_csv("t.csv")
    assert frame["b"].dtype == bool
    invoke("predict", "m", "t.csv", "-o", "p", "--values")
    texts = pd.read_csv("t.csv", dtype={"b": str})
    assert model.decision_function(frame).tolist() == model.decision_function(texts).tolist()
    with pytest.warns(UserWarning, match="12 texts that training has not seen"):
        model.predict(frame.assign(b="perhaps"))
    with pytest.raises(DataError, match="two columns are called 'b'"):
        model.predict(pd.concat([frame, frame[["b"]]], axis=1))


def test_truth_values_may_be_missing_where_a_mean_stands_for_them(folder):
    (folder / "t.csv").write_text("b,y\n" + "1,p\n0,n\n" * 6)
    invoke("train", "t.csv", "--target", "y", "--missing", "mean", "-o", "m")
    frame = pd.DataFrame({"b": [True, None, False]}, dtype=object)
    values = svmbench.load_model("m").decision_function(frame)
    assert values[1] == pytest.approx((values[0] + values[2]) / 2)


@pytest.mark.parametrize("change", [{"columns": []}, {"columns": [{"name": 3}]}, {"target": None}])
def test_a_json_that_does_not_say_how_to_read_tables(folder, change):
    (folder / "a.csv").write_text("a,y\n1,p\n2,q\n")
    facts = read_table(folder / "a.csv", "y").encoding.facts()
    assert Encoding.of(facts).facts() == facts
    with pytest.raises(DataError, match="does not say how to read tables"):
        Encoding.of({**facts, **change})


def test_libsvm_text_is_written_to_what_a_link_leads_to(folder):
    (folder / "target").write_text("old")
    (folder / "link").symlink_to("target")
    assert invoke("data", "convert", "a.csv", "--target", "answer", "-o", "link").exit_code == 0
    assert (folder / "link").is_symlink()
    assert (folder / "target").read_text().startswith("1 1:20.0")


def test_arrays_beyond_double_precision_are_refused_in_one_line(folder):
    huge = np.longdouble(10.0) ** 4000
    if not np.isfinite(huge):
        pytest.skip("no type of NumPy is wider than double precision here")
    np.savez("a.npz", X=np.array([[huge], [1.0]]), y=[1, 0])
    with (
        warnings.catch_warnings(action="error"),
        pytest.raises(DataError, match="row 1 is infinite"),
    ):
        read_table(folder / "a.npz")
