"""``svmbench data``."""

import hashlib
import json

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data import catalogue
from svmbench.data.catalogue import Entry, names


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch, tmp_path):
    """No mirror, no network, nothing cached."""
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    monkeypatch.setenv("SVMBENCH_OFFLINE", "1")
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))


def run(*args):
    return CliRunner().invoke(main, ["data", *args])


def test_list_says_what_is_here():
    result = run("list")
    assert (result.exit_code, result.stderr) == (0, "")
    header, *lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == names()
    files = {line.split()[0]: line[header.index("files") :] for line in lines}
    assert files["tiny-sparse"].startswith("with svmbench ")
    assert files["adult"].startswith("to be fetched ")


@pytest.fixture
def small_mirror(monkeypatch, tmp_path):
    """An empty mirror."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("SVMBENCH_MIRROR", str(folder))
    return folder


def test_list_tells_mirror_download_and_cache(monkeypatch, small_mirror, tmp_path):
    (small_mirror / "heart_scale").write_bytes(b"x" * 2500)
    downloads = tmp_path / "cache" / "files"
    downloads.mkdir(parents=True)
    (downloads / "mushrooms.xz").write_bytes(b"x" * 1_500_000)
    run("fetch", "tiny-dense")
    lines = {line.split()[0]: line for line in run("list").stdout.splitlines()}
    assert "  mirror         2.5 kB    " in lines["heart_scale"]
    assert "  downloaded     1.5 MB    " in lines["mushrooms"]


@pytest.fixture
def unstated(monkeypatch, tmp_path):
    """A set of the catalogue whose hash nobody states, in a mirror."""
    folder, text = tmp_path / "mirror", "+1 1:1\n-1 3:0.5\n"
    folder.mkdir()
    (folder / "rows").write_text(text)
    found = Entry(name="rows", title="Rows", train={"file": "rows"}, positive=1)
    monkeypatch.setenv("SVMBENCH_MIRROR", str(folder))
    monkeypatch.setattr(catalogue, "names", lambda: ["rows"])
    monkeypatch.setattr(catalogue, "entry", lambda name: found)
    return folder / "rows"


def test_fetch_reads_and_caches(tmp_path):
    result = run("fetch", "tiny-sparse", "tiny-separable")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "tiny-sparse",
        "tiny-sparse.t",
        "tiny-separable",
    ]
    for line in lines:
        assert f"; in {tmp_path / 'cache'}" in line


def test_fetch_takes_a_file_of_ones_own(tmp_path):
    path = tmp_path / "own.libsvm"
    path.write_text("+1 1:1 3:0.5\n-1 2:1\n")
    result = run("fetch", str(path))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("own: 2 rows, 3 features, 6 entries stored as dense float32; ")


def test_info_describes_a_file_of_ones_own(tmp_path, monkeypatch):
    path = tmp_path / "own.libsvm"
    path.write_text("+1 1:1 2147483647:0.5\n-1 2:1\n-1 2:0.25 3:0\n")
    monkeypatch.chdir(tmp_path)
    for name in ("own.libsvm", "./own.libsvm", str(path)):
        result = run("info", name)
        assert (result.exit_code, result.stderr) == (0, "")
        text = " ".join(result.stdout.split())
        assert text.startswith("own: ")
        for fact in (
            "rows 3 ",
            "features 2,147,483,647, 3 of them with an entry ",
            "entries 4, ",
            "labels -1 (2), 1 (1) +1 1 ",
            "stored as int32+float32, ",
            "cached not yet; ",
            f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}",
        ):
            assert fact in text
    assert json.loads(run("info", "own.libsvm", "--json").stdout)["rows"] == 3
    run("fetch", str(path))
    assert f"cached {tmp_path / 'cache' / 'datasets'}" in " ".join(
        run("info", str(path)).stdout.split()
    )


def test_a_table_is_told_how_to_become_libsvm_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,y\n1,1\n")
    result = run("info", "./a.csv")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "a.csv: a table; write it as LIBSVM text by 'svmbench data convert'" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["info", "./absent.libsvm"], "absent.libsvm: no such file"),
        (["info", "adutl"], "no data set 'adutl'; did you mean 'adult'?"),
        (["fetch", "adutl"], "no data set 'adutl'; did you mean 'adult'?"),
        (["fetch", "adult"], "adult: a9a is missing (the network is switched off); put "),
        (["fetch", "adult", "--offline"], "adult: a9a is missing (the network is switched"),
        (["fetch", "./absent.libsvm"], "absent.libsvm: no such file"),
    ],
)
def test_missing_data_is_one_line_and_3(args, message):
    result = run(*args)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"svmbench: {message}")
    assert result.stderr.count("\n") == 1


def test_the_list_is_json_if_asked_for():
    listed = json.loads(CliRunner().invoke(main, ["data", "list", "--json"]).stdout)
    (adult,) = [row for row in listed if row["name"] == "adult"]
    assert (adult["rows"], adult["test_rows"], adult["features"]) == (32561, 16281, 123)
