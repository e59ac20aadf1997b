"""Models in LIBLINEAR's format: both programs read both, and predict the same."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest

from svmbench.data.csr import csr
from svmbench.data.liblinear_model import LiblinearModel, read_liblinear, write_liblinear
from svmbench.errors import DataError
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.train.classes import train
from svmbench.train.examples import read_examples
from svmbench.train.objective import Objective

liblinear = pytest.importorskip("liblinear.liblinearutil")


@pytest.fixture
def text(tmp_path):
    """Three classes of sparse rows with awkward numbers, and rows without entries."""
    rng = np.random.default_rng(1)
    lines = []
    for row in range(90):
        columns = np.flatnonzero(rng.random(12) < 0.3) + 1
        shift = row % 3
        entries = " ".join(f"{c}:{rng.normal() + (c % 3 == shift):.17g}" for c in columns)
        lines.append(f"{(7, -2, 11)[shift]} {entries}".rstrip())
    path = tmp_path / "three.libsvm"
    path.write_text("\n".join([*lines, "7", "-2"]) + "\n")
    return path


def only_two(text):
    path = text.with_name("two.libsvm")
    lines = [line for line in text.read_text().splitlines() if not line.startswith("11")]
    path.write_text("\n".join(lines) + "\n")
    return path


def theirs(model_path, text):
    """LIBLINEAR's labels and decision values."""
    y, x = liblinear.svm_read_problem(str(text))
    model = liblinear.load_model(str(model_path))
    labels, _, values = liblinear.predict(y, x, model, "-q")
    return np.array(labels), np.array(values)


def ours(model_path, text):
    model = read_liblinear(model_path)
    rows = read_examples(text, n_features=model.n_features, dtype="float64").rows
    values = model.decision_values(rows)
    return model.classes_of(values), values


@pytest.mark.parametrize("bias", TRAINED_BIASES)
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_liblinear_predicts_the_same_from_our_models(text, tmp_path, loss, bias, classes):
    text = text if classes == 3 else only_two(text)
    examples, path = read_examples(text), tmp_path / "model"
    trained = train(examples, Objective(loss, 2.0, bias), 1e-6)
    write_liblinear(path, trained.model)
    labels, values = ours(path, text)
    their_labels, their_values = theirs(path, text)
    assert np.array_equal(labels, their_labels)
    assert values == pytest.approx(their_values, rel=1e-14, abs=1e-300)
    assert len(set(labels)) == classes


@pytest.mark.parametrize("options", ["-s 0", "-s 1 -B 1", "-s 3 -B 0.5", "-s 4", "-s 5 -B 2"])
@pytest.mark.parametrize("classes", [2, 3])
def test_we_predict_the_same_from_liblinear_s_models(text, tmp_path, options, classes):
    text = text if classes == 3 else only_two(text)
    y, x = liblinear.svm_read_problem(str(text))
    ctypes.CDLL(None).srand(0)
    path = tmp_path / "model"
    liblinear.save_model(str(path), liblinear.train(y, x, f"{options} -q"))
    labels, values = ours(path, text)
    their_labels, their_values = theirs(path, text)
    assert np.array_equal(labels, their_labels)
    k = min(values.shape[1], their_values.shape[1])
    assert values[:, :k] == pytest.approx(their_values[:, :k], rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("constant", [-1.0, 1.0])
def test_a_model_survives_a_round_trip(tmp_path, constant):
    rng = np.random.default_rng(0)
    biases = rng.normal(size=3) if constant > 0.0 else np.zeros(3)
    weights = rng.normal(size=(3, 5)) * 10.0 ** rng.integers(-300, 300, size=(3, 5))
    model = LiblinearModel("L2R_LR", (3, 1, -5), weights, biases, constant)
    write_liblinear(tmp_path / "model", model)
    back = read_liblinear(tmp_path / "model")
    assert np.array_equal(back.weights, weights)
    assert np.array_equal(back.biases, biases)
    assert (back.labels, back.solver_type, back.constant) == ((3, 1, -5), "L2R_LR", constant)


WHOLE = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.5 \n-1 \n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no weights"),
        (WHOLE[: WHOLE.rindex("\n", 0, -1) + 1], "1 lines of weights, not 2"),
        (WHOLE + "3 \n", "3 lines of weights, not 2"),
        (WHOLE.replace("0.5", "0.5 2"), "model:7: 2 weights, not 1"),
        (WHOLE.replace("0.5", "nan"), "model:7: 'nan' is no finite number"),
        (WHOLE.replace("0.5", "x"), "model:7: 'x' is no finite number"),
        (WHOLE.replace("L2R_LR", "L2R_L2LOSS_SVR"), "no classifier"),
        # LIBLINEAR writes no labels of regressions and of its one-class machine.
        (
            WHOLE.replace("L2R_LR\nnr_class 2\nlabel 1 -1", "L2R_L2LOSS_SVR\nnr_class 2"),
            "L2R_L2LOSS_SVR is no classifier",
        ),
        (
            "solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 1\nbias -1\nrho 1\nw\n1 \n",
            "ONECLASS_SVM is no classifier",
        ),
        (WHOLE.replace("nr_class 2", "nr_class 3"), "2 labels of 3 classes"),
        (WHOLE.replace("nr_class 2", "nr_class two"), "'two' is no whole number"),
        (WHOLE.replace("nr_feature 2\n", ""), "no nr_feature before the weights"),
        (
            WHOLE.replace("bias -1", "bias 1e200") + "1e200 \n",
            "bias 1e[+]200 times its weight leaves double precision",
        ),
        (WHOLE.replace("nr_feature 2", "nr_feature -1").replace("bias -1", "bias 1"), "nr_feature"),
        (WHOLE.replace("nr_class 2", "nr_class 1"), "a model of one class; two are needed"),
        (WHOLE.rstrip(), "the last line has no line end; the file is cut short"),
        (WHOLE.replace("label 1 -1", "label 1 1"), "two classes have the same label"),
        (WHOLE.replace("nr_class", "label 7 -1\nnr_class"), "model:4: a second line of label"),
        (WHOLE.replace("label 1", "label 1_0"), "'1_0' is no whole number"),
        (WHOLE.replace("label 1", f"label {2**63}"), "model:3: a label beyond 2147483647"),
        (WHOLE.replace("0.5", "0_5"), "model:7: '0_5' is no finite number"),
        ("PK\x03\x04", "is no line of a LIBLINEAR model"),
        ("modèle", "not text"),
        ("\ufeffsolver_type L2R_LR\n", "a byte order mark before the model"),
    ],
)
def test_a_damaged_model_is_refused(tmp_path, text, message):
    path = tmp_path / "model"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_liblinear(path)


def test_a_missing_model_is_one_line(tmp_path):
    with pytest.raises(DataError, match="no such model; check the path"):
        read_liblinear(tmp_path / "none")


def test_a_constant_of_zero_survives_a_round_trip(tmp_path):
    path = tmp_path / "model"
    path.write_text(WHOLE.replace("bias -1", "bias 0") + "0.25 \n")
    model = read_liblinear(path)
    assert model.biases.tolist() == [0.0]
    write_liblinear(path, model)
    again = read_liblinear(path)
    assert (again.constant, again.biases.tolist()) == (0.0, [0.0])
    assert np.array_equal(again.weights, model.weights)


@pytest.mark.parametrize("zero", ["0", "0.0"])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_read_to_the_last_bit(tmp_path, zero, classes):
    rng = np.random.default_rng(1)
    k = 1 if classes == 2 else classes
    weights = np.where(rng.random((k, 300)) < 0.02, rng.normal(size=(k, 300)), 0.0)
    weights[:, 7], weights[:, 9] = -0.0, 5e-324  # neither is one of them
    model = LiblinearModel("L2R_LR", (3, 1, -5)[:classes], weights, np.zeros(k))
    path = tmp_path / "model"
    write_liblinear(path, model)
    head, _, lines = path.read_text().partition("w\n")
    lines = lines.replace("0.0 " * k + "\n", f"{zero} " * k + "\n").replace("\n", "\n\n", 5)
    path.write_text(f"{head}w\n{lines}")
    found = read_liblinear(path).weights
    assert np.array_equal(found.view(np.int64), weights.view(np.int64))


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_classes_are_those_of_liblinear_s_wi(text, loss, classes):
    text = text if classes == 3 else only_two(text)
    y, x = liblinear.svm_read_problem(str(text))
    kind = {"hinge": 3, "squared-hinge": 1, "logistic": 7}[loss]
    model = liblinear.train(y, x, f"-s {kind} -c 0.5 -w7 4 -w-2 0.3 -e 1e-9 -q")
    examples = replace(read_examples(text, dtype="float64"), class_weights={7: 4.0, -2: 0.3})
    found = train(examples, Objective(loss, C=0.5), 1e-9)
    m, order = examples.rows.n_samples, model.get_labels()
    for label, fit in zip(found.model.labels, found.fits, strict=False):
        column = order.index(label) if classes == 3 else 0
        sign = -1.0 if classes == 2 and order[0] != label else 1.0
        w = sign * np.array([model.get_decfun_coef(j, column) for j in range(1, 13)])
        margins = np.where(examples.labels == label, 1, -1) * (csr(examples.rows, np.float64) @ w)
        short = np.maximum(0.0, 1.0 - margins)
        each = {"hinge": short, "squared-hinge": short**2, "logistic": np.logaddexp(0.0, -margins)}
        weights = np.ones(m)
        for other, weight in ((7, 4.0), (-2, 0.3)):
            if classes == 2 or other == label:
                weights[examples.labels == other] = weight
        total = 0.5 * w @ w + 0.5 * weights @ each[loss]
        # LIBLINEAR ends the hinge after 1000 passes, here a ten-thousandth above the optimum.
        assert fit.dual / fit.lam * (1.0 - 1e-12) <= total <= fit.primal / fit.lam * (1.0 + 1e-3)
