"""One reader of YAML models: what a key might have been meant to be, in every kind of file."""

import pytest

from svmbench.config.reading import read_model
from svmbench.errors import ConfigError
from svmbench.papers.model import Item, Paper


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        (Paper, "version: 1\nautors: A\n", "2:1: unknown key 'autors'; did you mean 'authors'?"),
        (
            Item,
            "sweeps: {a: {same_s: x/y}}\n",
            "1:14: unknown key 'same_s'; did you mean 'same_as'?",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, model, text, message):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_model(path, model)
    assert str(caught.value).startswith(f"{path}:{message}")
