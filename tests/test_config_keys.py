"""One reader of YAML models: what a key might have been meant to be, in every kind of file."""

import pytest

from svmbench.bench.profile import Profile
from svmbench.bench.stated_bounds import StatedBounds
from svmbench.config import Sweep
from svmbench.config.keys import keys_at
from svmbench.config.reading import read_model
from svmbench.errors import ConfigError
from svmbench.papers.model import Item, Paper


@pytest.mark.parametrize(
    ("model", "loc", "some"),
    [
        (Sweep, (), {"version", "lambda", "C", "reference"}),
        (Sweep, ("datasets", 3), {"name", "path", "label", "transforms"}),
        (Sweep, ("datasets", 0, "transforms", 1), {"max-abs", "compact-columns", "subsample"}),
        (Sweep, ("datasets", 0, "transforms", 1, "subsample"), {"size", "seed"}),
        (Sweep, ("datasets", 0, "transforms", 1, "rows"), {"start", "stop"}),
        (Sweep, ("lambda",), {"logspace"}),
        (Sweep, ("C", "logspace"), {"from", "to", "num"}),
        (Sweep, ("constraint",), {"l1"}),
        (Item, ("sweeps", "any"), {"same_as", "lambda", "stop"}),
        (Item, ("sweeps", "any", "stop"), {"accuracy", "time_limit"}),
        (Item, ("published", 0, "values", 2), {"lambda", "measure", "value"}),
        (Item, ("claims", 1, "where"), {"sweep", "dataset", "lambda", "C", "solver"}),
        (Paper, (), {"authors", "published_in"}),
        (Profile, ("sweeps", "any"), {"kind", "lambda", "reference_limit"}),
        (Profile, ("sets", 0, "data"), {"name", "transforms"}),
        (StatedBounds, ("bounds", 0), {"text", "lambda", "by", "tried"}),
        (StatedBounds, ("bounds", 0, "tried", 0), {"text", "sets", "lambda"}),
    ],
)
def test_keys_are_those_of_the_model_that_reads_the_mapping(model, loc, some):
    assert some <= set(keys_at(model, loc))


@pytest.mark.parametrize(
    ("model", "loc"),
    [
        (Sweep, ("version",)),
        (Sweep, ("datasets",)),
        (Sweep, ("datasets", "name")),
        (Sweep, ("no", "such", 1)),
        (Item, ("full", "any")),
        (StatedBounds, ("bounds", 0, "text", 0)),
    ],
)
def test_what_no_model_reads_has_no_keys(model, loc):
    assert keys_at(model, loc) == []


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        (Paper, "version: 1\nautors: A\n", "2:1: unknown key 'autors'; did you mean 'authors'?"),
        (
            Item,
            "sweeps: {a: {same_s: x/y}}\n",
            "1:14: unknown key 'same_s'; did you mean 'same_as'?",
        ),
        (
            StatedBounds,
            "version: 1\nbounds:\n- {text: a, by: 1, lambda: [1, 0]}\n",
            "3:32: 'bounds[0].lambda[1]' should be at least 1e-100, not 0",
        ),
        (
            StatedBounds,
            "version: 1\nbounds:\n- {text: a, by: 1, lamda: 1}\n",
            "3:20: unknown key 'lamda'; did you mean 'lambda'?",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, model, text, message):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_model(path, model)
    assert str(caught.value).startswith(f"{path}:{message}")
