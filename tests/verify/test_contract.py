"""The contract's checks for users: solvers that keep it, and what each broken one is told."""

import json
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.solvers import registry
from svmbench.solvers.single_file import load_file
from svmbench.verify import checked
from svmbench.verify.checked import run_checks

TEMPLATE = Path(__file__).parents[2] / "docs/plugin-template/src/svmbench_subgradient/__init__.py"

BASE = """
import os, sys, time
import numpy as np
from svmbench.solvers.stochastic.sgd_s import SgdS
from svmbench.solvers.dual.dcd import Dcd

class Mine({base}):
    "Like its base class."
    name = "mine"
{body}
"""


@pytest.fixture(autouse=True)
def forgotten():
    """Forget the files that a test has loaded."""
    yield
    registry.forget_files()


def written(path, body, base="Dcd"):
    """A file with a solver of that body."""
    path.write_text(BASE.format(body=body, base=base))
    return path


def check(path, name="mine", *more):
    return CliRunner().invoke(main, ["solvers", "--check", name, "--plugin", str(path), *more])


def test_the_template_keeps_the_contract(tmp_path):
    path = tmp_path / "my_solver.py"
    path.write_text(TEMPLATE.read_text())
    done = check(path, "subgradient")
    assert done.exit_code == 0, done.output
    *lines, verdict = done.output.splitlines()
    assert verdict == "subgradient: keeps the contract of solvers"
    assert len(lines) == 11
    assert all(line.startswith("holds  ") for line in lines)
    assert "holds  Reaches the certified optimum (1 kind of problem)" in lines


W = "    @property\n    def w(self):\n        return "
ADVANCE = "    def advance(self, steps):\n        "


@pytest.mark.parametrize(
    ("body", "what", "said"),
    [
        ("    name = 'Mine!'", "Describes itself", r"name is 'Mine!'; use lower case"),
        ("    losses = ('hinges',)", "Describes itself", r"losses is \('hinges',\); give a tuple"),
        (f"{W}super().w.astype(np.float32)", "Returns its weights", r"type float32; return an"),
        (f"{W}super().w[:-1]", "Returns its weights", r"of shape \(11,\)"),
        (f"{W}list(super().w)", "Returns its weights", r"w is a list and no array; return an"),
        (f"{W}super().w / 0.0", "Returns its weights", r"w is not finite after 0 steps; look"),
        (f"{W}1e-3 * super().w", "Reaches the certified optimum", r"check the step length"),
        (
            "    def start(self, problem, seed):\n        super().start(problem, seed)\n"
            "        self.kept = np.zeros(problem.data.n_features)\n"
            f"{W}self.kept",
            "Returns its weights",
            r"changes w; return a copy",
        ),
        (f"{W}0.0 * super().w", "Reaches the certified optimum", r"w is still 0: let advance"),
        (f"{W}-super().w", "Reaches the certified optimum", r"the weights point the wrong way"),
        (f"{W}1e3 * super().w", "Reaches the certified optimum", r"no better than w = 0.*shorter"),
        ("    __doc__ = ''", "Describes itself", r"it has no docstring; say in one"),
        (
            "    def dual(self):\n        return 9.0",
            "Shows no lower bound above",
            r"dual\(\) is 9\.0, and P\* is at most",
        ),
        (
            "    shared = [0]\n    def start(self, problem, seed):\n"
            "        self.shared[0] += 1\n"
            "        super().start(problem, seed // 2 + self.shared[0])",
            "Gives the same result for the same seed",
            r"two instances with the same seed differ; draw all",
        ),
        (
            f"{ADVANCE}super().advance(steps)\n"
            "        self.counters.presentations += 1000 * (steps > 0)",
            "Counts the rows",
            r"advance\(1\) counts \d{4} presentations; count each row once",
        ),
        (
            f"{ADVANCE}super().advance(steps)\n"
            "        object.__setattr__(self._given, 'lam', 1.0)\n"
            "    def start(self, problem, seed):\n        self._given = problem\n"
            "        super().start(problem, seed)",
            "Leaves the problem as it is",
            r"the rows, labels or λ have changed; work on copies",
        ),
        (
            "    def start(self, problem, seed):\n        super().start(problem, seed)\n"
            f"        self.calls = 0\n{ADVANCE}super().advance(steps)\n        self.calls += 1\n"
            "    @property\n    def alpha(self):\n        return np.full(3, 1.0 * self.calls)",
            "Continues where the last step ended",
            r"advance by .* and advance by their sum differ; keep the whole state",
        ),
        (f"{ADVANCE}1 / 0", "Returns its weights", r"raises ZeroDivisionError at my_solver\.py:11"),
        (f"{ADVANCE}os.abort()", "Returns its weights", r"crashed \(SIGABRT\)"),
        (f"{ADVANCE}os._exit(7)", "Returns its weights", r"ended the process: exit code 7"),
        (f"{ADVANCE}sys.exit('over')", "Returns its weights", r"ended the process: over; raise"),
        (f"{ADVANCE}sys.exit(0)", "Returns its weights", r"ended the process: exit code 0; raise"),
    ],
)
def test_a_broken_solver_is_told_what_and_how(tmp_path, body, what, said):
    solver = load_file(written(tmp_path / "my_solver.py", body, "SgdS"))[0]
    wrong = {result.what: result.wrong for result in run_checks(solver) if result.wrong}
    found = [text for key, text in wrong.items() if key.startswith(what)]
    assert found, wrong
    assert re.search(said, found[0]), found[0]
    assert "\n" not in found[0]


def test_a_solver_that_does_not_end_is_ended(tmp_path):
    body = f"{ADVANCE}time.sleep(60)"
    solver = load_file(written(tmp_path / "my_solver.py", body))[0]
    *_, last = run_checks(solver, limit=3.0)
    assert last.wrong.endswith("did not end within 3 s; look for an endless loop")


def test_an_interruption_does_not_wait_for_a_solver_that_hangs(tmp_path, monkeypatch):
    monkeypatch.setattr(checked, "SLOW", 0.5)
    solver = load_file(written(tmp_path / "my_solver.py", f"{ADVANCE}time.sleep(300)"))[0]
    begun, main_thread = time.monotonic(), threading.get_ident()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of xdist ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            list(
                run_checks(
                    solver, slow=lambda what: signal.pthread_kill(main_thread, signal.SIGINT)
                )
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < checked.LIMIT / 2


def test_what_is_not_asked_of_a_foreign_solver_is_said(tmp_path):
    done = check(written(tmp_path / "my_solver.py", "    foreign = True"))
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "left out, as it is declared foreign: Counts the rows that it processes;" in text
    assert "Reaches the certified optimum" in text
    assert text.endswith("mine: keeps the checked part of the contract of solvers")


def test_exit_codes(tmp_path):
    path = written(tmp_path / "my_solver.py", "    __doc__ = ''")
    done = check(path)
    assert done.exit_code == 1
    assert "FAILS  Describes itself\n       it has no docstring" in done.output
    assert done.output.endswith("mine: 1 of 11 checks failed\n")
    found = json.loads(check(path, "mine", "--json").output)
    assert [each["what"] for each in found if each["wrong"]] == ["Describes itself"]
    absent = "    @classmethod\n    def missing(cls):\n        return 'pip install it'"
    other = written(tmp_path / "absent.py", absent)
    other.write_text(other.read_text().replace('"mine"', '"absent"'))
    for arguments, code, said in (
        (["absent", "--plugin", other], 3, "absent: pip install it"),
        (["program"], 2, "a program is checked by its runs"),
        (["no-such"], 2, "unknown solver 'no-such'"),
        ([], 2, "--check needs the NAME"),
    ):
        done = CliRunner().invoke(main, ["solvers", "--check", *map(str, arguments)])
        assert done.exit_code == code, done.output
        assert said in done.stderr
