"""Published folders: what they hold, what is refused, and the table over machines."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, copy_of, make

from svmbench.cli import main
from svmbench.errors import ConfigError, DataError
from svmbench.harness.environment import fingerprint_of
from svmbench.records.columns import MACHINE
from svmbench.report.publish import publish
from svmbench.verify.folder import MANIFEST, manifest_of


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made"), SWEEP, report=True)


@pytest.fixture
def made(once, tmp_path, monkeypatch):
    return copy_of(once, tmp_path, monkeypatch)


@pytest.fixture
def published(made):
    publish(made / "results", made / "published")
    return made / "published"


def _text_of(manifest):
    return json.dumps(manifest, indent=2) + "\n"


def rewrite_manifest(folder: Path, **changes):
    (folder / MANIFEST).write_text(_text_of(manifest_of(folder, "1", False) | changes))


def test_a_published_folder_has_page_tables_traces_and_hashes_but_no_weights(made, published):
    manifest = json.loads((published / MANIFEST).read_text())
    files = {p.relative_to(published).as_posix() for p in published.rglob("*") if p.is_file()}
    assert files == {*manifest["files"], MANIFEST}
    assert {"index.html", "environment.json", "runs.csv", "tables/time.md"} <= files
    traces = {path.name for path in (made / "results" / "runs").glob("*.jsonl")}
    assert {path.name for path in (published / "runs").iterdir()} == traces
    environment = json.loads((published / "environment.json").read_text())
    assert manifest["machine"] == fingerprint_of({key: environment[key] for key in MACHINE})


@pytest.mark.parametrize(
    ("here", "given", "said"),
    [
        ("results", ".", "{made}/results-published/index.html\n"),
        ("results/tables", "..", "{made}/results-published/index.html\n"),
        (".", "results", "results-published/index.html\n"),
    ],
)
def test_the_copy_is_beside_the_results_however_they_are_named(
    made, monkeypatch, here, given, said
):
    monkeypatch.chdir(made / here)
    result = CliRunner().invoke(main, ["publish", given])
    assert (result.exit_code, result.stdout) == (0, said.format(made=made))
    assert (made / "results-published" / MANIFEST).is_file()


def test_publishing_again_replaces_the_folder_and_nothing_else(made, published):
    (published / "note.txt").write_text("mine")
    publish(made / "results", published)
    assert not (published / "note.txt").exists()
    other = made / "other"
    other.mkdir()
    with pytest.raises(ConfigError, match="no published folder"):
        publish(made / "results", other)
    assert list(made.glob(".*")) == []


def test_an_interruption_leaves_a_whole_copy(made, published, monkeypatch):
    remove = shutil.rmtree

    def interrupted(folder, *args, **options):
        if "published" in Path(folder).name:
            raise KeyboardInterrupt
        remove(folder, *args, **options)

    (published / "note.txt").write_text("old")
    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(made / "results", published)
    assert CliRunner().invoke(main, ["verify", str(published)]).exit_code == 0
    assert not (published / "note.txt").exists()


def test_results_that_contradict_themselves_are_not_published(made):
    path = made / "results" / "runs.csv"
    runs = pd.read_csv(path, dtype=str, keep_default_na=False)
    runs.loc[0, "train_seconds"] = "1e-9"
    runs.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"does not hold.*train_seconds is 1e-9"):
        publish(made / "results", made / "published")
    assert not (made / "published").exists()


def test_results_without_a_page_are_not_published(made):
    for name in ("tables", "plots"):
        shutil.rmtree(made / "results" / name, ignore_errors=True)
    (made / "results" / "report.html").unlink()
    with pytest.raises(DataError, match=r"has no page; run 'svmbench report"):
        publish(made / "results", made / "published")


def edited(name):
    def edit(folder):
        path = folder / name
        path.write_bytes(path.read_bytes().replace(b"0", b"1", 1))

    return edit


def added(name):
    return lambda folder: (folder / name).write_text("{}")


@pytest.mark.parametrize(
    ("edit", "hashes", "name", "said"),
    [
        (edited("environment.json"), False, "environment.json", "not the file that was published"),
        (edited("index.html"), False, "index.html", "not the file that was published"),
        (lambda folder: (folder / "traces.csv").unlink(), False, "traces.csv", "missing"),
        (added("evil.js"), False, "evil.js", "no file that was published"),
        (added("runs/one-more.jsonl"), False, "runs/one-more.jsonl", "no file that was published"),
        (added("plots/more.svg"), True, "plots/more.svg", "not a file of this report"),
    ],
)
def test_what_publish_has_not_written_is_named(published, edit, hashes, name, said):
    edit(published)
    if hashes:
        rewrite_manifest(published)
    result = CliRunner().invoke(main, ["verify", str(published)])
    assert result.exit_code == 1
    assert re.search(
        f"does not hold: file {re.escape(name)}: (is )?{said}|has {said}", result.output
    )


def test_weights_are_published_if_asked_for_and_else_said_to_be_left_out(made, published):
    publish(made / "results", made / "whole", weights=True)
    for folder, said in (
        (published, "left out when this was published: 2 runs"),
        (made / "whole", ""),
    ):
        result = CliRunner().invoke(main, ["verify", str(folder)])
        assert (result.exit_code, "2 runs: 2 hold" in result.output) == (0, True)
        assert said in result.output
        assert ("left out" in result.output) == bool(said)
    weights = next((made / "whole" / "runs").glob("*.npz"))
    weights.unlink()
    assert CliRunner().invoke(main, ["verify", str(made / "whole")]).exit_code == 1


def test_links_are_not_read_and_their_files_not_taken_for_the_folders_own(published):
    (published / "runs.csv").rename(published.parent / "runs.csv")
    (published / "runs.csv").symlink_to(published.parent / "runs.csv")
    result = CliRunner().invoke(main, ["verify", str(published)])
    assert "does not hold: file runs.csv:" in result.output


def test_results_without_a_trace_are_not_published(made):
    next((made / "results" / "runs").glob("*.jsonl")).unlink()
    with pytest.raises(DataError, match=r": (missing|damaged); see"):
        publish(made / "results", made / "published")
