"""The descriptions in datasets/, and what becomes of wrong ones."""

import pytest

from svmbench.bundled import bundled
from svmbench.data.catalogue import DataFile, OwnFiles, entry, names, read_entry, resolve
from svmbench.errors import ConfigError, DataError

GOOD = """
name: mine
title: Mine
train: {file: mine, urls: [https://example.org/data/mine.bz2]}
"""


def refusal(call, *args, kind=DataError):
    with pytest.raises(kind) as caught:
        call(*args)
    message = str(caught.value)
    assert "\n" not in message
    return message


def described(folder, text, name="mine"):
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", names())
def test_every_description_is_complete(name):
    found = entry(name)
    assert found.name == name
    assert found.positive is not None
    for text in (found.title, found.description, found.labels, found.licence, found.citation):
        assert text.strip()
    for file in (found.train, found.test):
        if file is not None:
            assert not (file.urls and file.path)
            assert file.urls or file.path or "no site serves it" in found.description
            assert None not in (file.sha256, file.rows, file.positives, file.nnz)
            assert file.path is None or (bundled("datasets") / file.path).is_file()


def test_the_first_sets_are_there():
    assert {"adult", "tiny-sparse", "tiny-dense", "tiny-separable"} <= set(names())


def test_adult_is_wider_than_its_test_file():
    assert entry("adult").n_features == 123


@pytest.mark.parametrize(
    ("name", "hint"), [("adlut", "did you mean 'adult'?"), ("zzz", "known: adult, ")]
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
        ("- a", "not a description"),
        ("", "not a description"),
        (GOOD.replace("title", "titel"), "title: Field required"),
        (GOOD + "licenze: MIT", "licenze: Extra inputs"),
        (GOOD + "n_features: 0", "n_features: "),
        (GOOD + "positive: []", "positive: "),
        (GOOD + "positive: .nan", "positive.0: "),
        (GOOD.replace("mine.bz2", "other.bz2"), "does not end in mine or mine.xz"),
        (GOOD.replace("urls", "sha256: abc, urls"), "train.sha256: "),
        (GOOD.replace("file: mine", "file: ../mine"), "train.file: "),
        (GOOD.replace("name: mine", "name: yours"), "describes 'yours'"),
    ],
)
def test_a_wrong_description(tmp_path, text, words):
    path = described(tmp_path, text)
    message = refusal(read_entry, path)
    assert message.startswith(str(path))
    assert words in message


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
    found = resolve({**mapping, "n_features": 7, "name": "mine"})
    assert (found.name, found.positive, found.n_features) == ("mine", (3.0,), 7)
    assert found.test == DataFile(file="a.t", path=str(tmp_path / "a.t"))
    assert resolve(OwnFiles(**mapping)).name == "a"
    assert resolve(found) is found


@pytest.mark.parametrize(
    ("mapping", "words"),
    [({"test": "x"}, "path: Field required"), ({"path": "x", "lamda": 1}, "lamda: Extra")],
)
def test_a_mapping_of_another_form(mapping, words):
    assert words in refusal(resolve, mapping, kind=ConfigError)


def test_own_files_that_are_wrong(tmp_path):
    missing = tmp_path / "absent"
    assert refusal(resolve, str(missing)) == f"{missing}: no such file; check the path"
    (tmp_path / "a").write_bytes(b"")
    wrong = {"path": tmp_path / "a", "n_features": -1}
    assert "n_features: " in refusal(resolve, wrong, kind=ConfigError)
