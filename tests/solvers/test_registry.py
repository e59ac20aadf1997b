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
