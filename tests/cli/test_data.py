"""``svmbench data``."""

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data.catalogue import names


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
    assert files["tiny-sparse"].startswith("here ")
    assert files["adult"].startswith("to be fetched ")


def test_list_finds_part_of_a_set_in_the_mirror(monkeypatch, tmp_path):
    (tmp_path / "a9a.xz").touch()
    monkeypatch.setenv("SVMBENCH_MIRROR", str(tmp_path))
    assert "  some here  " in run("list").stdout
    assert f"train here    {tmp_path / 'a9a.xz'}\n" in run("info", "adult").stdout


def test_info_tells_licence_origin_and_files():
    result = run("info", "adult")
    assert (result.exit_code, result.stderr) == (0, "")
    for part in ("\nlicence ", "\ncitation ", "\nhomepage ", "a9a, 32,561 rows", "16,281 rows"):
        assert part in result.stdout
    assert "train here    no; see 'svmbench data fetch'\n" in result.stdout


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


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["info", "adutl"], "no data set 'adutl'; did you mean 'adult'?"),
        (["fetch", "adutl"], "no data set 'adutl'; did you mean 'adult'?"),
        (["fetch", "adult"], "adult: a9a is missing (the network is not to be used); put "),
        (["fetch", "adult", "--offline"], "adult: a9a is missing (the network is not"),
        (["fetch", "./absent.libsvm"], "absent.libsvm: no such file"),
    ],
)
def test_missing_data_is_one_line_and_3(args, message):
    result = run(*args)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"svmbench: {message}")
    assert result.stderr.count("\n") == 1
