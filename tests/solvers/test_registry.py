"""Discovery of solvers, and the messages for those that are not found."""

from importlib.metadata import EntryPoint

import pytest

from svmbench.errors import ConfigError
from svmbench.solvers import registry
from svmbench.solvers.base import Solver
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.plug_in import GROUP
from svmbench.solvers.stochastic.sgd_s import SgdS


class Plugged(SgdS):
    name = "plugged-in"


class Impostor(SgdS):
    name = "dcd"


@pytest.fixture
def plug_in(monkeypatch):
    """Pretend that an installed package names an object of this module as its solver."""

    def install(target):
        points = [EntryPoint("any", target, GROUP)]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        return registry.solvers.__wrapped__

    return install


def test_every_module_with_a_solver_is_found_in_the_order_of_names():
    found = registry.solvers()
    assert list(found) == sorted(found)
    assert {"dcd", "pegasos", "sgd-m", "sgd-s"} <= set(found)
    assert all(issubclass(solver, Solver) and name == solver.name for name, solver in found.items())
    assert registry.find_solver("dcd") is Dcd


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown solver 'pegasus'; did you mean 'pegasos'\?"):
        registry.find_solver("pegasus")
    with pytest.raises(ConfigError, match=r"unknown solver 'xyzzy'; known: .*dcd.*pegasos"):
        registry.find_solver("xyzzy")


def test_a_plug_in_is_found(plug_in, monkeypatch):
    monkeypatch.setattr(registry, "_plugged_in", lambda: [Plugged])
    assert registry.solvers.__wrapped__()["plugged-in"] is Plugged


def test_a_plug_in_that_cannot_be_imported_is_named(plug_in):
    with pytest.raises(ConfigError, match=r"plug-in no_such_package:Thing: cannot be imported"):
        plug_in("no_such_package:Thing")()
    with pytest.raises(ConfigError, match=r"plug-in math:Thing: cannot be imported"):
        plug_in("math:Thing")()


def test_a_plug_in_that_is_no_solver_is_named(plug_in):
    with pytest.raises(ConfigError, match=r"plug-in math:pi: is not a subclass"):
        plug_in("math:pi")()


def test_a_name_claimed_twice_is_refused_with_both_places(monkeypatch):
    monkeypatch.setattr(registry, "_plugged_in", lambda: [Impostor])
    with pytest.raises(ConfigError, match=r"solver 'dcd': claimed by \S+\.Dcd and \S+\.Impostor"):
        registry.solvers.__wrapped__()


def test_a_plug_in_may_name_a_solver_of_ours(plug_in):
    # A package that re-exports one of ours claims no name anew.
    assert plug_in("svmbench.solvers.dual.dcd:Dcd")()["dcd"] is Dcd


def test_a_build_covers_the_modules_a_solver_shares_with_others():
    def names(solver):
        return {path.name for path in registry.find_solver(solver)._source_files()}

    assert names("sgd-s") == {"sgd_s.py", "perceptron.py", "row_order.py"}
    assert names("ipm") == {"cholesky.py", "ipm.py", "l1_ball.py", "normal_equations.py"}
    assert names("pegasos") == {"pegasos.py", "output.py", "row_order.py"}


def test_a_build_covers_what_the_shared_modules_import():
    auto = {path.name for path in registry.find_solver("auto")._source_files()}
    assert {"accelerator.py", "scale.py", "subspace.py", "choice.py", "dual_phase.py"} <= auto


def test_a_build_covers_the_kernels_that_the_modules_of_a_solver_import():
    assert registry.find_solver("sgd-s").kernels_used() == ("rng", "sampling", "sgd_primal")
    assert {"cholesky", "multipliers"} <= set(registry.find_solver("auto").kernels_used())
    assert registry.find_solver("liblinear").kernels_used() == ()
