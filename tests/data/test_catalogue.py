"""The descriptions in datasets/, and what becomes of wrong ones."""

import pytest
from pydantic import ValidationError
from refusals import refusal

from svmbench.bundled import bundled
from svmbench.data.catalogue import (
    Chosen,
    DataFile,
    OwnFiles,
    Shape,
    entry,
    names,
    read_entry,
    resolve,
)
from svmbench.errors import ConfigError

GOOD = """
name: mine
title: Mine
train: {file: mine, urls: [https://example.org/data/mine.bz2]}
"""


def test_a_name_that_is_no_utf_8_is_said_to_be_so(tmp_path):
    folder = tmp_path / b"\xff".decode(errors="surrogateescape")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("all names are UTF-8 here")
    (folder / "rows").write_text("1 1:1\n")
    assert "is not UTF-8; rename it" in refusal(resolve, str(folder / "rows"))


def described(folder, text, name="mine"):
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", names())
def test_every_description_is_complete(name):
    found = entry(name)
    assert found.name == name
    assert found.positive is not None
    for text in (found.title, found.description, found.labels, found.citation, found.checked):
        assert text.strip(), "title, description, labels, citation and checked say something"
    assert found.licence != "unknown"  # "not stated by the source" is an answer
    assert found.n_features is not None
    assert found.homepage or found.train.path
    for file in found.files.values():
        assert file.rows is not None
        for part in file.parts:
            ways = [
                part.urls,
                part.path,
                part.obtain,
                part.converted,
                "no site serves it" in found.description,
            ]
            assert sum(map(bool, ways)) == 1, "one of urls, path and obtain"
            assert part.sha256 or "hash" in found.checked, "sha256, or why there is no hash"
            assert part.path is None or (bundled("datasets") / part.path).is_file()


#: Sets that need a stand-in: neither with svmbench nor drawn by a recipe.
STAND_INS = [name for name in names() if not (entry(name).train.path or entry(name).recipe)]


@pytest.mark.parametrize("name", STAND_INS)
def test_every_stand_in_has_the_shape_of_its_set(name):
    found = entry(name)
    shape = found.stand_in
    assert shape is not None
    test_rows = found.test.rows if found.test else 0
    assert (shape.m, shape.m_test, shape.d) == (found.train.rows, test_rows, found.n_features)
    assert shape.noise <= min(shape.positives, 1 - shape.positives)
    if found.train.nnz is not None:
        density = found.train.nnz / (found.train.rows * found.n_features)
        assert shape.fraction == pytest.approx(density, rel=0.01)
    if found.train.positives is not None:
        share = found.train.positives / found.train.rows
        assert shape.positives == pytest.approx(share, abs=0.003)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("adlut", "did you mean 'adult'?"), ("zzz", "'svmbench data list' lists the known ones")],
)
def test_unknown_name(name, hint):
    message = refusal(entry, name)
    assert message.startswith(f"no data set '{name}'; ")
    assert hint in message


def test_positive_label_alone_or_in_a_list(tmp_path):
    assert read_entry(described(tmp_path, GOOD + "positive: 2")).positive == (2.0,)
    assert read_entry(described(tmp_path, GOOD + "positive: [1, 3]")).positive == (1.0, 3.0)
    assert read_entry(described(tmp_path, GOOD)).positive is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [", "mine.yaml:1:8: "),
        ("- a", "not a mapping"),
        ("", "empty"),
        (GOOD.replace("title", "titel"), "title: Field required"),
        (GOOD + "licenze: MIT", "licenze: Extra inputs"),
        (GOOD + "n_features: 0", "n_features: "),
        (GOOD + "positive: []", "positive: "),
        (GOOD + "positive: .nan", "positive.0: "),
        (GOOD.replace("mine.bz2", "other.bz2"), "does not end in mine or mine.xz"),
        (GOOD.replace("urls", "sha256: abc, urls"), "train.sha256: "),
        (GOOD.replace("file: mine", "file: ../mine"), "train.file: "),
        (GOOD.replace("name: mine", "name: yours"), "describes 'yours'"),
        (GOOD.replace("name: mine", f"name: {'x' * 5000}"), "describes 'xxx"),
        (GOOD + "format: parquet", "format: Input should be"),
        (GOOD + "scale: 2", "'scale' belongs to format idx"),
        (GOOD + "format: idx", "mine needs a label_file"),
        (GOOD + "format: csv", "'csv' is the layout of format csv"),
        (GOOD + "csv: {label: 1}", "'csv' is the layout of format csv"),
        (GOOD + "format: csv\ncsv: {label: 0}", "csv.label"),
        (GOOD + "format: csv\ncsv: {header: false}", "mine needs a label_file"),
        (GOOD.replace("urls", "label_file: {file: l}, urls"), "mine has no use for a label_file"),
        (GOOD + "stand_in: {m: 1, d: 2}", "give one of density and nnz_row"),
    ],
)
def test_a_wrong_description(tmp_path, text, words):
    path = described(tmp_path, text)
    message = refusal(read_entry, path)
    assert message.startswith(str(path))
    assert words in message
    assert len(message) < 1000


def test_unreadable_descriptions(tmp_path):
    assert "No such file" in refusal(read_entry, tmp_path / "absent.yaml")
    path = tmp_path / "latin.yaml"
    path.write_bytes("title: Ä".encode("latin-1"))
    assert "not UTF-8" in refusal(read_entry, path)


def test_a_file_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.libsvm.xz").write_bytes(b"")
    (tmp_path / "adult").write_bytes(b"")
    found = resolve("my.libsvm.xz")
    assert found.name == "my"
    assert found.train == DataFile(file="my.libsvm.xz", path=str(tmp_path / "my.libsvm.xz"))
    assert resolve("./my.libsvm.xz") == found.model_copy(update={"title": found.title})
    assert resolve("adult") == entry("adult")  # a name goes first
    assert resolve("./adult").train.path == str(tmp_path / "adult")


def test_own_files_with_all_there_is_to_say(tmp_path):
    for name in ("a", "a.t"):
        (tmp_path / name).write_bytes(b"")
    mapping = {"path": tmp_path / "a", "test": str(tmp_path / "a.t"), "positive": 3}
    found = resolve(OwnFiles(**mapping, n_features=7, name="mine"))
    assert (found.name, found.positive, found.n_features) == ("mine", (3.0,), 7)
    assert found.test == DataFile(file="a.t", path=str(tmp_path / "a.t"))
    assert resolve(OwnFiles(**mapping)).name == "a"
    assert resolve(found) is found


def test_own_files_that_are_wrong(tmp_path):
    missing = tmp_path / "absent"
    assert refusal(resolve, str(missing)) == f"{missing}: no such file; check the path"
    (tmp_path / "a").write_bytes(b"")
    wrong = OwnFiles(path=tmp_path / "a", n_features=-1)
    assert "n_features: " in refusal(resolve, wrong, kind=ConfigError)


def test_a_set_of_the_catalogue_with_another_label():
    found, usual = resolve(Chosen(name="mnist", positive=3)), entry("mnist")
    assert (found.positive, found.positive_chosen) == ((3.0,), True)
    assert found.train == usual.train.model_copy(update={"positives": None})
    assert found.test.positives is None
    assert resolve(Chosen(name="mnist")) == resolve(Chosen(name="mnist", positive=0)) == usual
    assert resolve(Chosen(name="CCAT", positive=[33, 34])).positive == (33.0, 34.0)


def test_a_choice_that_is_wrong():
    assert "did you mean 'mnist'?" in refusal(resolve, Chosen(name="mnis", positive=3))
    with pytest.raises(ValidationError, match="positive"):
        Chosen(name="mnist", positive=[])


@pytest.mark.parametrize(
    "wrong",
    [
        {"density": None},
        {"nnz_row": 2},
        {"density": None, "nnz_row": 5},
        {"density": 0},
        {"density": 1},
        {"columns": {"law": "dense"}},
        {"columns": {"law": "gauss"}},
        {"values": {"kind": "gamma"}},
        {"noise": 0.6},
        {"positives": 1.1},
        {"m": 0},
        {"conditioning": -1},
        {"offset": -1},
        {"colour": "red"},
    ],
)
def test_shapes_that_are_none(wrong):
    good = {"m": 10, "d": 4, "density": 0.5}
    assert Shape(**good).seed == 1
    with pytest.raises(ValueError, match="validation error"):
        Shape(**{**good, **wrong})
