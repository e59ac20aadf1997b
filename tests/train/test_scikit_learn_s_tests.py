"""Scikit-learn's own tests of its LinearSVC, run on ours."""

import ast
import inspect
from itertools import product

import pytest

import svmbench

theirs = pytest.importorskip("sklearn.svm.tests.test_svm")

MISSES = pytest.fail.Exception  # the test expects an exception or a warning in vain

#: Tests that do not hold of ours, each with the reason and what it raises.
EXCEPTIONS = {
    "test_linearsvc": ("it trains with the l1 penalty, too", TypeError),
    "test_linearsvc_crammer_singer": ("ours trains each class against the rest only", TypeError),
    "test_crammer_singer_binary": ("ours trains each class against the rest only", TypeError),
    "test_linearsvc_verbose": ("ours has no verbose", TypeError),
    "test_linear_svm_convergence_warnings": (
        "its warning is for max_iter; ours has max_seconds",
        MISSES,
    ),
}


def exception(name, arguments):
    """Why a test does not hold of ours, and what it raises; None where it holds."""
    given = [value for each in arguments.values() for value in flat(each)]
    if "l1" in given:
        # set_params has its own error
        return "ours has no l1 penalty", (TypeError, ValueError)
    if (arguments.get("loss"), arguments.get("dual")) == ("hinge", False):
        return "it expects a refusal; ours trains the hinge without a choice of dual", MISSES
    return EXCEPTIONS.get(name)


def flat(argument):
    """The values of a dictionary, or the argument."""
    return list(argument.values()) if isinstance(argument, dict) else [argument]


def shared(parameters):
    """The parameters that ours has, too.

    ``dual`` chooses scikit-learn's way to the same optimum, and ``max_iter`` ends it. The penalty
    of ours is l2.
    """
    left = {name: value for name, value in parameters.items() if name not in ("dual", "max_iter")}
    if left.get("penalty") == "l2":
        del left["penalty"]
    return left


class Ours(svmbench.LinearSVC):
    """Our LinearSVC, told the shared parameters only."""

    def set_params(self, **parameters):
        """Set those that ours has."""
        return super().set_params(**shared(parameters))


def ours(**parameters):
    """Our LinearSVC in place of scikit-learn's."""
    return Ours(**shared(parameters))


def mentions(function):
    """Whether a test's source names LinearSVC."""
    named = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(function))
    return "LinearSVC" in named


def cases():
    """The tests with their parameters."""
    for node in ast.parse(inspect.getsource(theirs)).body:
        if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
            continue
        if not mentions(node):
            continue
        test = getattr(theirs, node.name)
        axes = []
        for mark in getattr(test, "pytestmark", []):
            if mark.name == "parametrize":
                names, values = mark.args[:2]
                names = names.split(",") if isinstance(names, str) else names
                names = [name.strip() for name in names]
                tuples = values if len(names) > 1 else [[value] for value in values]
                axes.append([dict(zip(names, each, strict=True)) for each in tuples])
        for k, parts in enumerate(product(*axes)):
            arguments = {name: value for part in parts for name, value in part.items()}
            if "global_random_seed" in inspect.signature(test).parameters:
                arguments["global_random_seed"] = 42
            yield pytest.param(test, arguments, id=f"{node.name}-{k}" if axes else node.name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("test", "arguments"), list(cases()))
def test_of_scikit_learn(request, monkeypatch, test, arguments):
    expected = exception(test.__name__, arguments)
    if expected is not None:
        reason, raises = expected
        request.applymarker(pytest.mark.xfail(reason=reason, raises=raises, strict=True))
    monkeypatch.setattr(theirs.svm, "LinearSVC", ours)
    given = {
        name: ours if each is theirs.LinearSVC else shared(each) if isinstance(each, dict) else each
        for name, each in arguments.items()
    }
    test(**given)
