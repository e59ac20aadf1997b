"""Two sides run alternately: in which order, which cells, when it ends, and how it resumes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from svmbench.errors import ConfigError, DataError
from svmbench.harness.alternate import AlternateSide, OpenCell, alternate, find_python

CONFIG = """\
version: 1
name: two
datasets: [{path: rows.libsvm, test: 0.2}, tiny-sparse]
lambda: [1e-2]
solvers: [dcd, sgd-s]
stop: {accuracy: [1e-1]}
repeats: 3
"""

#: A Python whose svmbench notes what it is asked to run, and lists the runs it would have made.
STUB = """\
#!{python}
import fnmatch, json, pathlib, sys, yaml
if "--version" in sys.argv:
    sys.exit({version})
arguments = sys.argv[sys.argv.index("run") + 1:]
config, folder = pathlib.Path(arguments[0]), pathlib.Path(arguments[2])
only = [b for a, b in zip(arguments, arguments[1:]) if a == "--only"]
document = yaml.safe_load(config.read_text())
if not document["solvers"]:
    print("config.yaml: no solvers; add one", file=sys.stderr)
    sys.exit(2)
if document["solvers"] == ["dcd"]:
    print("svmbench: internal error (KeyError: 'x'); rerun with --debug", file=sys.stderr)
    sys.exit(1)
with open({log!r}, "a") as log:
    log.write(json.dumps([{name!r}, document["repeats"], only]) + "\\n")
folder.mkdir(parents=True, exist_ok=True)
rows = {{}}
path = folder / "kept.json"
if path.exists():
    rows = json.loads(path.read_text())
for repeat in range(document["repeats"]):
    for label in document["solvers"]:
        cell = f"tiny-sparse/0.01/{{label}}"
        if not only or any(fnmatch.fnmatchcase(cell, pattern) for pattern in only):
            row = f"tiny-sparse,0.01,{{label}},{{repeat}},{build}"
            rows.setdefault(f"{{label}} {{repeat}}", row)
path.write_text(json.dumps(rows))
listed = [
    row + f"-{{key}}" for key, row in rows.items() if int(key.split()[1]) < document["repeats"]
]
(folder / "runs.csv").write_text("\\n".join(["dataset,lambda,label,repeat,id", *listed]) + "\\n")
"""


@pytest.fixture
def sides(tmp_path):
    """Two stubs, what they note, and the folders they write."""
    log = tmp_path / "log"

    def make(build="x", version=0):
        found = []
        for name in "ab":
            python = tmp_path / f"env-{name}" / "bin" / "python"
            python.parent.mkdir(parents=True, exist_ok=True)
            python.write_text(
                STUB.format(
                    python=sys.executable, log=str(log), name=name, build=build, version=version
                )
            )
            python.chmod(0o755)
            found.append(AlternateSide(str(python), tmp_path / "results" / name))
        return found

    return make


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(CONFIG)
    return path


def noted(tmp_path):
    path = tmp_path / "log"
    lines = [yaml.safe_load(line) for line in path.read_text().splitlines()]
    path.unlink()
    return lines


OPEN = OpenCell("tiny-sparse", 0.01, ("dcd",))


def test_sides_alternate_and_decided_cells_get_no_more(sides, config, tmp_path):
    asked = []

    def undecided(blocks):
        asked.append(blocks)
        return [OPEN] if blocks < 3 else []

    assert alternate(sides(), config, undecided, most=9) == 3
    assert asked == [1, 2, 3]
    one = ["tiny-sparse/0.01/dcd"]
    assert noted(tmp_path) == [
        ["a", 1, []], ["b", 1, []],
        ["b", 2, one], ["a", 2, one],
        ["a", 3, one], ["b", 3, one],
    ]  # fmt: skip


def test_the_configuration_is_handed_on_as_it_was_written(sides, config, tmp_path):
    alternate(sides(), config, lambda _: [], most=1)
    written = yaml.safe_load((tmp_path / "results" / "blocks.yaml").read_text())
    assert written["datasets"] == [
        {"path": str(tmp_path / "rows.libsvm"), "test": 0.2},
        "tiny-sparse",
    ]
    assert (written["repeats"], written["tables"], written["plots"]) == (1, [], [])
    assert written["stop"] == {"accuracy": [0.1]}


def test_labels_are_no_patterns(sides, config, tmp_path):
    labelled = [AlternateSide(side.python, side.folder, ("sgd [x]",)) for side in sides()]
    alternate(labelled, config, lambda _: [], most=1)
    assert noted(tmp_path)[0] == ["a", 1, ["*/*/sgd [[]x]"]]


def test_the_budget_and_the_most_end_it(sides, config, tmp_path):
    assert alternate(sides(), config, lambda _: [OPEN], most=2) == 2
    assert alternate(sides(), config, lambda _: [OPEN], most=9, budget=0.0) == 2


def test_it_resumes_where_it_stopped(sides, config, tmp_path):
    alternate(sides(), config, lambda blocks: [OPEN] * (blocks < 2), most=9)
    noted(tmp_path)
    asked = []
    alternate(sides(), config, lambda blocks: asked.append(blocks) or [OPEN], most=3)
    assert asked == [2]
    everything, one = [], ["tiny-sparse/0.01/dcd"]
    # What is there is listed again, and nothing of it is made anew.
    assert noted(tmp_path) == [
        ["a", 1, everything], ["b", 1, everything],
        ["b", 2, one], ["a", 2, one],
        ["a", 3, one], ["b", 3, one],
    ]  # fmt: skip


def test_an_interrupted_first_block_is_completed(sides, config, tmp_path):
    one, other = sides()
    alternate([one], config, lambda _: [], most=1)
    # Of the other side, only one of two runs of the first repeat was finished.
    alternate([AlternateSide(other.python, other.folder, ("dcd",))], config, lambda _: [], most=1)
    assert alternate([one, other], config, lambda _: [], most=2) == 1
    lines = [(side.folder / "runs.csv").read_text().splitlines() for side in (one, other)]
    assert [len(each) for each in lines] == [3, 3]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("runs.csv", ""),
        ("runs.csv", "x,y\n1,2\n"),
        ("runs.csv", "dataset,lambda,label,repeat,id\na,0.1,dcd,soon,b\n"),
        ("runs.csv", "dataset,lambda,label,repeat,id\na,0.1,dcd,1000000000000,b\n"),
        ("runs.csv", "dataset,lambda,label,repeat,id\na,0.1,dcd,-1,b\n"),
        ("first-repeat.json", ""),
        ("first-repeat.json", "{}"),
        ("first-repeat.json", "[[1]]"),
    ],
)
def test_what_cannot_be_read_there_is_said_in_one_line(sides, config, tmp_path, name, text):
    alternate(sides(), config, lambda _: [], most=1)
    path = tmp_path / "results" / "b" / name
    path.write_text(text)
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}: not .*; remove it, "):
        alternate(sides(), config, lambda _: [], most=2)


def test_results_of_another_build_are_refused(sides, config, tmp_path):
    alternate(sides(), config, lambda _: [], most=1)
    for kept in tmp_path.glob("results/*/kept.json"):
        kept.unlink()  # the runs of another build have other ids
    for _ in range(2):  # the first of these calls has replaced what the folders list
        with pytest.raises(ConfigError, match="another build or configuration; name another"):
            alternate(sides(build="y"), config, lambda _: [], most=2)


def test_what_a_side_refuses_is_said_in_one_line(sides, tmp_path):
    path = tmp_path / "none.yaml"
    path.write_text(CONFIG.replace("[dcd, sgd-s]", "[]"))
    with pytest.raises(ConfigError) as refused:
        alternate(sides(), path, lambda _: [], most=1)
    assert str(refused.value).endswith("-m svmbench run: config.yaml: no solvers; add one")


def test_an_internal_error_of_a_side_ends_it(sides, tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text(CONFIG.replace("[dcd, sgd-s]", "[dcd]"))
    with pytest.raises(ConfigError, match=r"internal error \(KeyError"):
        alternate(sides(), path, lambda _: [OPEN], most=3)


@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_what_is_no_program_is_refused_in_one_line(tmp_path, mode):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"\x00 no program")
    path.chmod(mode)
    with pytest.raises(ConfigError, match=r"notes.txt: cannot be started \(.*\); name an env"):
        find_python(path)


def test_an_environment_is_found_by_its_python_its_folder_or_a_checkout(sides, tmp_path):
    (side, _) = sides()
    checkout = tmp_path / "checkout"
    (checkout / ".venv").parent.mkdir()
    (checkout / ".venv").symlink_to(tmp_path / "env-a")
    assert find_python(Path(side.python)) == find_python(tmp_path / "env-a") == side.python
    assert find_python(checkout) == str(checkout / ".venv" / "bin" / "python")
    with pytest.raises(ConfigError, match="no Python there; name an environment's python"):
        find_python(tmp_path)
    sides(version=1)
    with pytest.raises(ConfigError, match="-m svmbench --version: exit code 1"):
        find_python(tmp_path / "env-a")
