"""The script that compares Spark's LinearSVC with our methods on shards, without Spark."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from problems import dataset
from svmbench.data.libsvm import read_libsvm
from svmbench.problem import Problem

pytest.importorskip("distributed", reason="the extra cluster is not installed")

FOLDER = Path(__file__).resolve().parents[2] / "scripts" / "distributed"


@pytest.fixture(scope="module")
def spark():
    """The script as a module."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("spark_script", FOLDER / "spark.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def objective_of_spark(X, y, w, parameters):
    """As Spark's documentation and source have it: the mean hinge and regParam/2 |w|^2."""
    assert not parameters["fitIntercept"]
    assert not parameters["standardization"]
    hinges = np.maximum(0.0, 1.0 - y * (X @ w))
    return hinges.sum() / len(y) + parameters["regParam"] / 2.0 * (w @ w)


def test_spark_s_objective_is_ours(spark):
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(50, 4)), rng.normal(size=4)
    y = np.where(rng.random(50) < 0.5, 1, -1)
    ours = Problem(dataset(X, y, "uint16+float64"), 1e-2).primal(w)
    theirs = objective_of_spark(X, y, w, spark.parameters(1e-2, 8))
    assert spark.same(theirs, ours)
    assert not spark.same(theirs * (1.0 + 1e-11), ours)
    assert spark.parameters(1e-2, 8)["maxIter"] == 8


def test_the_text_has_the_same_rows_and_the_classes_0_and_1(spark, tmp_path):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(20, 3)), np.where(rng.random(20) < 0.5, 1, -1)
    data = dataset(X, y, "uint16+float64")
    spark.write_libsvm(data, tmp_path / "rows")
    labels = [line.split()[0] for line in (tmp_path / "rows").read_text().splitlines()]
    assert labels == ["1" if each > 0 else "0" for each in y]
    read = read_libsvm(tmp_path / "rows")
    assert np.array_equal(read.values, X)  # it has no gaps, so it is read as a dense one


def test_the_fastest_rung_that_is_near_enough_counts(spark):
    rungs = [
        spark.Rung(1, 4, 0.5, 1.0, 1.0, 1.0),
        spark.Rung(4, 9, 0.009, 3.0, 2.0, 2.0),
        spark.Rung(8, 15, 0.002, 2.5, 2.0, 3.0),
    ]
    assert list(spark.limits(10)) == [1, 2, 4, 8]
    assert spark.first_within(rungs, 1e-2) is rungs[2]
    assert spark.cell(rungs, 1e-2) == "15, 2.5 s, 2 s, 3 MB"
    assert spark.cell(rungs, 1e-3) == "not within 8 iterations (2.0e-03)"


def test_bytes_are_those_of_all_workers_both_ways(spark):
    assert spark.megabytes_of_spark(rounds=10, d=1000) == pytest.approx(10 * 2 * 2 * 8e-3)


def test_without_pyspark_one_line_says_what_to_install(tmp_path):
    (tmp_path / "pyspark.py").write_text("raise ImportError\n")
    done = subprocess.run(
        [sys.executable, str(FOLDER / "spark.py"), "tiny-sparse:1e-2"],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "pip install pyspark==3.5.6" in done.stderr
