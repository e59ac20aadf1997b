"""Programs as solvers: what a configuration may say, files, time, and programs that misbehave."""

import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from small_sweep import run_sweep

from problems import PROBLEMS, read_libsvm
from svmbench.config import SolverSpec, Sweep, dump_sweep, load_sweep
from svmbench.errors import ConfigError, DataError
from svmbench.harness import supervise
from svmbench.harness.measurement import Measurement, Terms
from svmbench.solvers.checked import checked
from svmbench.solvers.execution import execute
from svmbench.solvers.program import ForeignProgram, ProgramParameters
from svmbench.solvers.program_files import read_weights, write_rows
from twins.optimum import optimum

PROBLEM = PROBLEMS["sparse"]
D = PROBLEM.data.n_features
PYTHON = sys.executable

#: A trainer: dual coordinate descent in plain Python, with the passes it is given.
TRAINER = """
import sys, time
C, passes, data, model = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
rows = []
for line in open(data):
    label, *entries = line.split()
    rows.append((float(label), [(int(i), float(v)) for i, v in (e.split(":") for e in entries)]))
d = max(i for _, row in rows for i, _ in row)
w, alpha = [0.0] * (d + 1), [0.0] * len(rows)
for _ in range(passes):
    for k, (y, row) in enumerate(rows):
        norm = sum(v * v for _, v in row)
        if norm:
            gradient = y * sum(w[i] * v for i, v in row) - 1.0
            new = min(max(alpha[k] - gradient / norm, 0.0), C)
            for i, v in row:
                w[i] += (new - alpha[k]) * y * v
            alpha[k] = new
print("passes =", passes)
open(model, "w").write("".join(f"{value!r}\\n" for value in w[1:]))
"""

STOP = {
    **{"accuracy": [1e-3], "gap": None, "own": False, "max_epochs": None, "max_updates": None},
    "time_limit": 20.0,
}


@pytest.fixture
def trainer(tmp_path):
    path = tmp_path / "trainer.py"
    path.write_text(TRAINER)
    return f"{PYTHON} {path} {{C}} {{passes}} {{data}} {{model}}"


def made(command, **more):
    """A program with these parameters, which writes text models unless told otherwise."""
    given = {"command": command, "model": "text"} | more
    return ForeignProgram(checked(ProgramParameters, given))


def script(text, **more):
    """A program that executes a text of Python, in which sys.argv has data and model."""
    return made((PYTHON, "-S", "-c", text, "{data}", "{model}"), **more)


def measured(solver, problem=PROBLEM, **stop):
    """The end state, the points and the measurement of a run."""
    best = optimum(problem)
    run = Measurement(solver, Terms(problem, None, STOP | stop, best.lower, best.upper))
    points = []
    return run.run(1, points), points, run


WRITE = "import sys; open(sys.argv[2], 'w').write('0.5\\n' * {})"


def test_a_program_climbs_to_the_optimum(trainer):
    rungs = [
        measured(made(trainer, tolerance=passes, ladder=(1, 10, 1000)))[1][-1]
        for passes in (1, 10, 1000)
    ]
    assert [point["visits"] / PROBLEM.data.n_samples for point in rungs] == [1, 10, 1000]
    assert rungs[2]["accuracy"] < 1e-6 < rungs[0]["accuracy"]
    assert rungs[2]["wall"] > rungs[2]["cpu"] * 0.5 > 0.0


def test_it_is_refused_where_the_weights_are_not_of_the_problem():
    # Its P is computed from the rows like that of any other solver.
    state, points, _ = measured(script(WRITE.format(D)))
    assert state == "max_steps"
    assert points[-1]["primal"] == PROBLEM.primal(np.full(D, 0.5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pass", r"wrote no model"),
        (WRITE.format(D - 1), rf"not one of {D} features: it has {D - 1} lines"),
        (WRITE.format(D + 1), r"has a bias, 0\.5, and the problem has none"),
        ("import sys; open(sys.argv[2], 'w').write('x\\n' * 9)", r"cannot be read as text: could"),
        ("import sys; open(sys.argv[2], 'wb').write(b'\\xff' * 9)", r"cannot be read as text: '"),
        ("import sys; open(sys.argv[2], 'wb').truncate(1 << 40)", r"has \d+ bytes, too many"),
        ("import sys, os; os.mkfifo(sys.argv[2])", r"wrote no model"),
        ("import sys, os; os.symlink('/dev/zero', sys.argv[2])", r"wrote no model"),
        ("import sys; sys.exit('bad weather')", r"ended with exit code 1: bad weather"),
        ("import sys; sys.exit(3)", r"ended with exit code 3: it printed nothing"),
        ("import os; os.kill(os.getpid(), 9)", r"ended with signal 9: it printed nothing"),
        ("import sys; sys.exit('x' * 10**6)", r"ended with exit code 1: x{300}$"),
    ],
)
def test_a_program_without_a_model_of_the_problem_fails(text, said):
    solver = script(text)
    solver.start(PROBLEM, 1)
    with pytest.raises(DataError, match=said):
        solver.advance(1)


def test_a_program_that_cannot_be_started_fails():
    solver = made(("/no/such/program", "{data}", "{model}"))
    solver.start(PROBLEM, 1)
    said = r"/no/such/program: cannot be started \(No such file.*; install it"
    with pytest.raises(DataError, match=said):
        solver.advance(1)


def test_weights_that_are_no_numbers_diverge():
    text = f"import sys; open(sys.argv[2], 'w').write('nan\\n' * {D})"
    assert measured(script(text))[0] == "diverged"


def test_a_program_that_does_not_end_is_killed_at_the_time_limit():
    begun = time.monotonic()
    state, points, _ = measured(script("while True: pass"), time_limit=0.5)
    assert state == "time_limit"
    assert 0.5 <= points[-1]["wall"] < 5.0
    assert time.monotonic() - begun < 10.0
    assert points[-1]["primal"] == PROBLEM.primal(np.zeros(D))


def test_all_processes_of_a_program_are_killed_at_its_limit(tmp_path):
    ticks = tmp_path / "ticks"
    text = (
        "import os, sys, time\n"
        "os.fork()\n"
        "end = time.monotonic() + 20.0\n"
        "while time.monotonic() < end:\n"
        "    open(sys.argv[1], 'a').write('x')\n"
        "    time.sleep(0.01)\n"
    )
    done = execute([PYTHON, "-S", "-c", text, str(ticks)], 1.0)
    assert (done.late, done.code) == (True, -9)
    counted = ticks.stat().st_size
    assert counted
    time.sleep(0.3)
    assert ticks.stat().st_size == counted


def test_the_clock_has_the_time_of_the_program_less_reading():
    busy = (
        "import sys, time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
    )
    whole = busy.format(1.0) + WRITE.format(D)
    plain = measured(script(whole))[1][-1]
    reading = (PYTHON, "-S", "-c", busy.format(0.2), "{data}")
    state, points, run = measured(script(whole, reading=reading))
    assert (state, run.reason) == ("max_steps", "")
    less = points[-1]
    assert plain["cpu"] >= 1.0
    assert 0.75 <= less["cpu"] <= 0.9
    closing = run.closing()
    assert closing["remark"].endswith("s for reading")
    # What is not on the clock is accounted for all the same.
    assert closing["background_cpu_seconds"] < 0.05
    assert closing["unaccounted_seconds"] < 0.2 * closing["elapsed_seconds"]


def test_passes_are_counted_from_the_output():
    said = "print('pass = 12, then')\nprint('pass = 34 or so')\n" + WRITE.format(D)
    assert measured(script(said, count="pass = ([0-9]+)"))[1][-1]["visits"] == (
        34 * PROBLEM.data.n_samples
    )
    assert measured(script(said))[1][-1]["visits"] == PROBLEM.data.n_samples
    solver = script(WRITE.format(D), count="pass = ([0-9]+)")
    solver.start(PROBLEM, 1)
    with pytest.raises(DataError, match="printed nothing that matches"):
        solver.advance(1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_rows_of_a_file_are_those_of_the_problem(name, tmp_path):
    data = PROBLEMS[name].data
    write_rows(tmp_path / "rows", data, "libsvm")
    back = read_libsvm(tmp_path / "rows")
    assert back.n_features == data.n_features
    assert back.labels.tolist() == data.labels.tolist()
    w = np.random.default_rng(1).normal(size=data.n_features)
    assert np.allclose(back.rows.dot(w), data.rows.dot(w), rtol=1e-12, atol=1e-300)


def test_rows_for_vowpal_wabbit(tmp_path):
    write_rows(tmp_path / "rows", PROBLEM.data, "vw")
    write_rows(tmp_path / "plain", PROBLEM.data, "libsvm")
    plain = (tmp_path / "plain").read_text().replace(f" {D}:0\n", "\n")
    wanted = [line.split(" ", 1) for line in plain.replace("+1", "1").splitlines()]
    lines = (tmp_path / "rows").read_text().splitlines()
    assert [line.split(" | ") for line in lines if " | " in line] == [
        row for row in wanted if len(row) == 2
    ]


VW = "Version 9\nbits:{bits}\nMin label:-1\n:0\n1:0.5\n3:-2\n"


@pytest.mark.parametrize(
    ("form", "text", "w", "bias"),
    [
        ("vw", VW.format(bits=18), [0.5, 0.0, -2.0], 0.0),
        ("text", "1\n2\n3\n", [1.0, 2.0, 3.0], 0.0),
        ("text", "1\n2\n3\n4\n", [1.0, 2.0, 3.0], 4.0),
        (
            "liblinear",
            "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel -1 1\nnr_feature 2\nbias 2\n"
            "w\n1 \n-2 \n3 \n",
            [-1.0, 2.0, 0.0],
            -6.0,
        ),
    ],
)
def test_models_are_read(form, text, w, bias, tmp_path):
    (tmp_path / "model").write_text(text)
    found, b = read_weights(tmp_path / "model", form, 3)
    assert (found.tolist(), b) == (w, bias)


def test_models_of_numpy_are_read(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, w=np.arange(3.0)[None], b=2.0)
    w, bias = read_weights(path, "npz", 3)
    assert (w.tolist(), bias) == ([0.0, 1.0, 2.0], 2.0)
    np.savez_compressed(path, w=np.ones((3, 1)), b=[2.0])
    assert read_weights(path, "npz", 3)[1] == 2.0


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("vw", VW.format(bits=1), r"hashes features to 1 bits"),
        ("vw", VW.format(bits=18) + "116060:1\n", r"weight of feature 116060; .*--noconstant"),
        ("vw", "1:2\n", r"not written by --predict_only_model"),
        ("vw", "\0" * 100, r"not written by"),
        ("vw", VW.format(bits="x"), r"cannot be read as vw"),
        ("vw", VW.format(bits=-1), r"hashes features to -1 bits"),
        ("vw", VW.format(bits=18) + "2:1_0\n", r"cannot be read as vw: '1_0' is no"),
        ("text", "1_0\n2\n3\n", r"cannot be read as text: '1_0' is no"),
        ("npz", "no archive", r"cannot be read as npz"),
        ("liblinear", "", r"no weights; is this a model\?"),
        (
            "liblinear",
            "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1\n",
            r"separates the classes 1, 2",
        ),
        (
            "liblinear",
            "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 4\nbias -1\nw\n1\n1\n1\n1\n",
            r"has 4 weights",
        ),
    ],
)
def test_other_models_are_refused(form, text, said, tmp_path):
    (tmp_path / "model").write_text(text)
    with pytest.raises(DataError, match=said) as caught:
        read_weights(tmp_path / "model", form, 3)
    assert str(tmp_path) not in str(caught.value)
    assert "\n" not in str(caught.value)


entry = partial(dict, command="train {data} {model}", model="text")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (entry(command="train {data}"), r"no \{model\} in the command"),
        (entry(command="train {model}"), r"no \{data\} in the command"),
        (entry(command=""), r"no \{data\} in the command"),
        (entry(command="train '{data} {model}"), r"No closing quotation"),
        (entry(command="train {data} {model} {c}"), r"unknown \{c\}; known: data, model, C"),
        (entry(command=7), r"valid tuple"),
        (entry(command="train -e {tolerance} {data} {model}"), r"needs a ladder, such as"),
        (entry(ladder=[1, 0.1]), r"a ladder needs \{tolerance\} or \{passes\}"),
        (entry(command="t {passes} {data} {model}", ladder=[1, 1]), r"different numbers above 0"),
        (entry(command="t {passes} {data} {model}", ladder=[0]), r"different numbers above 0"),
        (entry(count="iter = "), r"count needs one group"),
        (entry(count="("), r"no regular expression"),
        (entry(reading="cat"), r"no \{data\} in the command"),
        (entry(reading="cat {data} {model}"), r"\{model\} in a command that only reads"),
        (entry(model="pickle"), r"'liblinear', 'vw', 'text' or 'npz'"),
        ({"model": "text"}, r"missing key 'name'; write"),
    ],
)
def test_an_entry_that_cannot_be_run_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        SolverSpec.model_validate(given)


CONFIG = """
version: 1
name: programs
datasets: [tiny-sparse]
lambda: 0.01
solvers:
  - command: PYTHON trainer.py {C} {passes} {data} {model}
    model: text
    ladder: [1, 10]
    label: mine
stop: {accuracy: 0.1}
"""


def test_a_configuration_names_files_beside_it_and_is_written_whole(tmp_path, monkeypatch):
    (tmp_path / "trainer.py").write_text(TRAINER)
    config = tmp_path / "programs.yaml"
    config.write_text(CONFIG.replace("PYTHON", PYTHON))
    sweep = load_sweep(config)
    parameters = sweep.solvers[0].parameters
    assert parameters.command[1] == str(tmp_path / "trainer.py")
    elsewhere = tmp_path / "elsewhere" / "config.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text(dump_sweep(sweep))
    assert load_sweep(elsewhere) == sweep


def test_the_program_and_its_files_are_part_of_the_identity(tmp_path):
    path = tmp_path / "trainer.py"
    path.write_text(TRAINER)
    parameters = ProgramParameters(
        command=(PYTHON, str(path), "1", "1", "{data}", "{model}"), model="text"
    )
    first = ForeignProgram.build_with(parameters)
    assert set(first["files"]) == {PYTHON, str(path)}
    assert ForeignProgram.build_with(parameters) == first
    path.write_text(TRAINER + "# changed\n")
    assert ForeignProgram.build_with(parameters) != first


def test_a_program_that_changes_during_a_sweep_interrupts_its_run(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    path, config = tmp_path / "trainer.py", tmp_path / "programs.yaml"
    path.write_text(TRAINER)
    config.write_text(CONFIG.replace("PYTHON", PYTHON) + "repeats: 1\nplots: []\n")
    header_of = supervise.header_of

    def changing(run, *more):
        path.write_text(TRAINER + "# changed\n")
        return header_of(run, *more)

    monkeypatch.setattr(supervise, "header_of", changing)
    run_sweep(load_sweep(config), tmp_path / "results")
    (run,) = pd.read_csv(tmp_path / "results" / "runs.csv").to_dict("records")
    assert run["state"] == "interrupted"
    assert "the program's files changed during the sweep" in run["reason"]


def test_the_name_of_the_program_is_the_label():
    given = entry(command="/usr/bin/train -x {data} {model}")
    assert SolverSpec.model_validate(given).label == "train"
    plain = {
        **{"version": 1, "name": "two", "datasets": ["tiny-sparse"], "lambda": 0.1},
        **{"solvers": [given, given], "stop": {"accuracy": 0.1}},
    }
    with pytest.raises(ValueError, match=r"a second 'train'; drop it or give it a label"):
        Sweep.model_validate(plain)


def test_an_error_in_a_command_is_one_line(tmp_path):
    config = tmp_path / "programs.yaml"
    config.write_text(CONFIG.replace("{model}", "{modle}"))
    with pytest.raises(ConfigError, match=r"programs\.yaml:\d+:\d+: .*unknown \{modle\}") as caught:
        load_sweep(config)
    assert "\n" not in str(caught.value)
