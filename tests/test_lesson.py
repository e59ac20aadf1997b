"""docs/lesson.svg: two runs of SGD, one of which ends at another minimum."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def picture():
    path = ROOT / "scripts" / "lesson.py"
    spec = importlib.util.spec_from_file_location("lesson", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["lesson"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    yield module.picture()
    del sys.modules["lesson"]


def test_the_picture_is_what_the_script_draws(picture):
    assert picture == (ROOT / "docs" / "lesson.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(picture)


def test_the_printed_step_stays_away_from_the_optimum_and_the_consistent_one_does_not(picture):
    shown = re.findall(r"epoch 256: objective (?:< )?([\d.]+) % above the optimum", picture)
    printed, consistent = map(float, shown)
    assert printed > 100
    assert consistent < 1


def test_without_animation_the_picture_shows_the_end(picture):
    visible = re.findall(r'opacity="1">(epoch \d+)', picture)
    assert visible == ["epoch 256", "epoch 256"]
