"""Faults of English that were found before, in documents, messages and help."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Each pattern, with a sentence that has the fault and one that does not.
FAULTS = {
    "a singular with an s": (
        r"(?<![\d.,-])\b1 (?:runs|claims|cases|cells|papers|solvers|repeats|rows|files)\b(?! of)",
        "There are 1 runs.",
        "There are 11 runs, and 1 run.",
    ),
    "a plural that holds": (
        r"\b(?:[2-9]|\d\d+) (?:claims? )?(?:does not hold|holds)\b(?!, )",
        "Of these, 6 does not hold.",
        "Of these, 6 do not hold.",
    ),
    "a before a vowel": (
        r"\b[Aa] (?:easier|epoch|interval|objective|example|optimum|accuracy|other|entry)\b",
        "It is a easier problem.",
        "It is an easier problem.",
    ),
    "an before a consonant": (
        r"\b[Aa]n (?:run|solver|problem|table|paper|certificate|one|user|unit)\b",
        "It is an solver.",
        "It is a solver.",
    ),
    "a for per": (
        r"\b(?:ns|seconds?|ms) an? (?:stored|epoch|row|pass|step|run)\b",
        "It takes 2 ns a stored nonzero.",
        "It takes 2 ns per stored nonzero.",
    ),
    "an inverted sentence": (
        r"\b[Ww]hat [^.;:|]{3,60}, (?:the page|it|svmbench|the table) says\b",
        "What the time did not allow, the page says.",
        "The page lists what was skipped.",
    ),
    "leaves for exits": (
        r"\b[Ll]eaves with code\b",
        "It leaves with code 4.",
        "It exits with code 4.",
    ),
    "a word twice": (
        r"\b(the|of|a|an|is|to|in|and|that|it) \1\b(?!-)",
        "It is the the best.",
        "It is the best that it is.",
    ),
}

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("*/README.md"),
        *ROOT.glob("results/snapshots/*/README.md"),
        *ROOT.glob("svmbench/**/*.py"),
        *ROOT.glob("svmbench/report/templates/*.html"),
        *ROOT.glob("configs/**/*.yaml"),
    ]
)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_pattern_finds_its_fault_and_spares_good_english(fault):
    pattern, wrong, right = FAULTS[fault]
    assert re.search(pattern, wrong)
    assert not re.search(pattern, right)


@pytest.mark.parametrize("fault", FAULTS)
def test_no_text_has_the_fault(fault):
    pattern = re.compile(FAULTS[fault][0])
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
        for page in PAGES
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert len(PAGES) > 100
    assert not found, "\n".join(found)
