"""Pictures keep their shape when they are made to stand inside a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.report.svg import inlined, with_titles

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200">{}</svg>'


def absolute(path: str) -> np.ndarray:
    """The corners of a path of M and l."""
    at, corners = np.zeros(2), []
    for command, numbers in re.findall(r"([Ml])([-.\d\s]+)", path):
        step = np.array([float(n) for n in numbers.split()])
        at = step if command == "M" else at + step
        corners.append(at)
    return np.array(corners)


@given(
    st.lists(
        st.tuples(st.floats(-999, 999), st.floats(-999, 999)), min_size=2, max_size=60, unique=True
    )
)
def test_paths_are_written_short_without_drifting(corners):
    path = "M " + " L ".join(f"{x:f} {y:f} \n" for x, y in corners)
    (found,) = ET.fromstring(inlined(SVG.format(f'<path d="{path}"/>'), "p", "")).iter("path")
    ours = absolute(found.get("d"))
    wanted = np.round(np.array(corners) * 50) / 50
    kept = np.append(True, (np.abs(np.diff(wanted, axis=0)) > 1e-9).any(axis=1))
    np.testing.assert_allclose(ours, wanted[kept], atol=0.0201)


def test_other_paths_are_left_as_they_are():
    for path in ("M 0 2 C 0.5 2 1 1.8 1.4 1.4 z", "M 1e-05 2 L 3 4"):
        (found,) = ET.fromstring(inlined(SVG.format(f'<path d="{path}"/>'), "p", "")).iter("path")
        assert found.get("d") == path


def test_closed_parts_stay_closed_and_apart():
    path = "M 1 1 L 2 1 L 2 2 z M 5 5 L 6 5 L 6 6 z"
    (found,) = ET.fromstring(inlined(SVG.format(f'<path d="{path}"/>'), "p", "")).iter("path")
    assert found.get("d") == "M1 1l1 0l0 1zM5 5l1 0l0 1z"


def test_ids_get_a_prefix_and_idle_ones_go():
    inside = (
        '<defs><clipPath id="c"/><path id="m"/></defs><g id="idle" clip-path="url(#c)">'
        '<use xmlns:x="http://www.w3.org/1999/xlink" x:href="#m" style="clip-path: url(#c)"/></g>'
    )
    text = inlined(SVG.format(inside), "p", "")
    assert 'id="p-c"' in text
    assert 'id="p-m"' in text
    assert 'href="#p-m"' in text
    assert text.count("url(#p-c)") == 2
    assert "idle" not in text


def test_titles_are_given_to_the_groups_they_name():
    svg = with_titles(SVG.format('<g id="a"><path/></g><g id="b"/>'), {"a": "x < y & z", "q": "no"})
    group = ET.fromstring(svg).find("{http://www.w3.org/2000/svg}g")
    assert group is not None
    assert group.findtext("{http://www.w3.org/2000/svg}title") == "x < y & z"
    assert "no" not in svg


def test_text_keeps_its_words():
    text = inlined(SVG.format("<text>a <tspan>b</tspan> c</text>"), "p", "what it shows")
    root = ET.fromstring(text)
    assert "".join(root.find("text").itertext()) == "a b c"
    assert root.get("aria-label") == "what it shows"
    assert root.get("viewBox") == "0 0 300 200"


def test_what_is_not_xml_is_refused():
    with pytest.raises(ET.ParseError):
        inlined("<svg>", "p", "")
