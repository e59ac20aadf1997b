"""Configurations: what a file means, and where and how a wrong one is refused."""

import math
import re
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, field_validator
from refusals import refusal

from svmbench import config
from svmbench.bundled import bundled
from svmbench.config import Sweep, dump_sweep, find_config, load_sweep
from svmbench.config.fields import look_of
from svmbench.data.catalogue import names, resolve
from svmbench.data.transforms import (
    Bias,
    Derived,
    MaxAbs,
    Rows,
    Shuffled,
    Split,
    Subsample,
    UnitNorm,
)
from svmbench.errors import ConfigError
from svmbench.problem import Loss
from svmbench.records.spelling import in_file_names
from svmbench.solvers.base import EitherParameters, Parameters, Solver, parameter
from svmbench.solvers.checked import json_schema
from svmbench.solvers.registry import solvers

VALID = """\
version: 1
name: trial
datasets:
  - tiny-sparse
  - path: mine.libsvm
    positive: 3
loss: hinge
lambda: [1e-3, 1e-4]
solvers:
  - dcd
  - name: sgd-m
    schedule: blocks
    epsilon: 1e-4
stop:
  accuracy: [1e-3, 1e-1]
  max_epochs: 100
  time_limit: 500ms
repeats: 2
reference:
  gap: 1e-8
tables: [time]
plots: []
"""


@pytest.fixture
def load(tmp_path):
    path = tmp_path / "trial.yaml"

    def load_text(text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_sweep(path)

    return load_text


@pytest.fixture
def refused(load, tmp_path):
    """The message a text is refused with, from its line on."""

    def refuse(text):
        return refusal(load, text, kind=ConfigError).removeprefix(f"{tmp_path / 'trial.yaml'}:")

    return refuse


def changed(old, new, text=VALID):
    assert text.count(old) == 1, f"{old!r} is not unique in the valid text"
    return text.replace(old, new)


# --- numbers without end ----------------------------------------------------------

SMALL = """version: 1
name: small
datasets: [{name: tiny-separable, test: 0.2, transforms: [{subsample: {size: 10}}]}]
lambda: 0.01
solvers: [dcd]
repeats: 1
stop: {accuracy: 0.1, memory_limit: 4GiB}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("test: 0.2", f"test: {'9' * 400}"),
        ("size: 10", f"size: {'9' * 400}"),
        ("subsample: {size: 10}", f"rows: [0, {'9' * 400}]"),
        ("4GiB", "9" * 400),
        ("repeats: 1", f"repeats: {'9' * 400}"),
        ("repeats: 1", "repeats: 1000000000"),
        ("repeats: 1", "repeats: {at_least: 1, until: decided, at_most: 1000000000}"),
    ],
)
def test_a_number_beyond_all_use_is_refused_in_one_line(refused, old, new):
    key = "size" if "size" in new else new.partition(":")[0] if ":" in new else "memory_limit"
    assert key.strip() in refused(changed(old, new, SMALL))


# --- what a file means -------------------------------------------------------------


def test_every_key_arrives(load, tmp_path):
    sweep = load(VALID)
    assert sweep.name == "trial"
    assert [data.label for data in sweep.datasets] == ["tiny-sparse", "mine"]
    assert sweep.datasets[1].path == tmp_path / "mine.libsvm"
    assert sweep.datasets[1].positive == (3.0,)
    assert sweep.loss.loss == Loss("hinge")
    assert sweep.lambdas == (1e-3, 1e-4)
    assert sweep.C is None
    assert [spec.name for spec in sweep.solvers] == ["dcd", "sgd-m"]
    assert [spec.label for spec in sweep.solvers] == [
        "dcd",
        "sgd-m(schedule=blocks, epsilon=0.0001)",
    ]
    assert type(sweep.solvers[1].parameters) is solvers()["sgd-m"].schema
    assert sweep.solvers[1].parameters.epsilon == 1e-4
    assert sweep.stop.accuracy == (0.1, 0.001)
    assert sweep.stop.max_epochs == 100.0
    assert sweep.stop.time_limit == 0.5
    assert (sweep.stop.gap, sweep.stop.own) == (None, False)
    assert (sweep.repeats, sweep.threads) == (2, 1)
    assert sweep.reference.gap == 1e-8
    assert (sweep.tables, sweep.plots) == (("time",), ())


def test_what_may_be_left_out(load):
    sweep = load(
        "version: 1\nname: short\ndatasets: [tiny-dense]\nlambda: 1e-2\nsolvers: [dcd]\n"
        "stop: {accuracy: 1e-3}\n"
    )
    assert sweep.loss.loss == Loss("hinge")
    assert sweep.lambdas == (1e-2,)
    assert sweep.stop.time_limit == 60.0
    assert (sweep.repeats, sweep.threads) == (1, 1)
    assert (sweep.reference.gap, sweep.reference.time_limit) == (1e-5, 300.0)
    assert sweep.tables == ("time", "epochs", "objective")
    assert sweep.plots == ("log-primal", "log-suboptimality")
    assert sweep.regret is False


def test_repeats_are_a_number_or_a_rule(load):
    fixed = load(VALID)
    assert (fixed.at_least, fixed.at_most) == (2, 2)
    assert "\nrepeats: 2\n" in dump_sweep(fixed)
    rule = load(changed("repeats: 2", "repeats: {at_least: 3, until: decided, at_most: 9}"))
    assert (rule.at_least, rule.at_most) == (3, 9)
    assert "\nrepeats: {at_least: 3, until: decided, at_most: 9}\n" in dump_sweep(rule)
    short = load(changed("repeats: 2", "repeats: {until: decided}"))
    assert (short.at_least, short.at_most) == (5, 60)


@pytest.mark.parametrize(
    ("accuracy", "gap"), [("1e-1", 1e-4), ("[1e-1, 1e-2]", 1e-4), ("[1, 1e-5]", 1e-7)]
)
def test_reference_is_a_hundred_times_tighter(load, accuracy, gap):
    text = changed("accuracy: [1e-3, 1e-1]", f"accuracy: {accuracy}")
    assert load(changed("reference:\n  gap: 1e-8\n", "", text)).reference.gap == gap


@pytest.mark.parametrize(("accuracy", "gap"), [("0.1", 1e-3), ("[]", 1.0)])
def test_a_reference_may_be_as_loose_as_the_accuracies_allow(load, accuracy, gap):
    text = changed("accuracy: [1e-3, 1e-1]", f"accuracy: {accuracy}")
    assert load(changed("gap: 1e-8", f"gap: {gap}", text)).reference.gap == gap


def test_logspace_meets_both_ends_and_round_values(load):
    sweep = load(changed("[1e-3, 1e-4]", "{logspace: {from: 1e-3, to: 1e-6, num: 4}}"))
    assert sweep.lambdas == (1e-3, 1e-4, 1e-5, 1e-6)


def test_c_becomes_lambda_by_the_number_of_rows(load):
    sweep = load(changed("lambda: [1e-3, 1e-4]", "C: [1, 10]"))
    assert sweep.lambdas is None
    assert sweep.C == (1.0, 10.0)
    assert sweep.lambdas_for(200) == (1 / 200, 1 / 2000)
    assert load(VALID).lambdas_for(200) == (1e-3, 1e-4)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60.0), ("500ms", 0.5), ("2m", 120.0), ("1h", 3600.0), ("7", 7.0), ("1.5 s", 1.5)],
)
def test_durations(load, text, seconds):
    assert load(changed("500ms", text)).stop.time_limit == seconds


def test_smoothed_hinge(load):
    text = changed("  - name: sgd-m\n    schedule: blocks\n    epsilon: 1e-4\n", "")
    sweep = load(changed("loss: hinge", "loss: {name: smoothed-hinge, gamma: 0.5}", text))
    assert sweep.loss.loss == Loss("smoothed-hinge", 0.5)
    assert load(changed("loss: hinge", "loss: smoothed-hinge", text)).loss.gamma == 1.0


def test_own_files_are_found_from_the_configuration_on(load, tmp_path, monkeypatch):
    (tmp_path / "mine.libsvm").write_text("3 1:1\n4 1:2\n")
    monkeypatch.chdir(bundled("configs"))
    spec = load(VALID).datasets[1]
    entry = resolve(spec.source)
    assert entry.train.path == str(tmp_path / "mine.libsvm")
    assert (entry.name, entry.positive) == (spec.label, (3.0,))


def datasets_of(load, text):
    return load(changed("  - tiny-sparse\n", f"  - {text}\n")).datasets


def test_transforms_in_order_with_the_shorthands_last(load):
    spec, _ = datasets_of(
        load,
        "{name: tiny-sparse, bias: 2, test: 0.1, transforms: [max-abs, {shuffled: 1}, "
        "{rows: [0, 20]}, {subsample: {size: 5, seed: 3}}, {unit-norm: }]}",
    )
    chain = (
        MaxAbs(),
        Shuffled(seed=1),
        Rows(start=0, stop=20),
        Subsample(size=5, seed=3),
        UnitNorm(),
        Bias(rho=2.0),
        Split(test=0.1),
    )
    label = "tiny-sparse+max-abs+shuffled-1+rows-0-20+subsample-5-3+unit-norm+bias-2+split-0.1"
    assert spec.source == Derived("tiny-sparse", chain, label)
    assert spec.label == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("tiny-dense", "tiny-dense"),
        ("{name: tiny-dense, label: as it is}", "as it is"),
        ("{name: tiny-dense, positive: 3}", "tiny-dense+positive-3"),
        ("{name: tiny-dense, positive: [3, 4], bias: 1}", "tiny-dense+positive-3-4+bias"),
        ("{path: x/a.libsvm.xz, positive: 3}", "a"),
        ("{path: x/a.libsvm.xz, test: 100}", "a+split-100"),
        ("{path: x/a.libsvm.xz, name: b, test: t, transforms: [swap]}", "b+swap"),
    ],
)
def test_names_of_what_is_made_of_a_set(load, text, label):
    spec = datasets_of(load, text)[0]
    assert spec.label == label
    if isinstance(spec.source, Derived):
        assert spec.source.name == label


def test_long_chains_have_names_that_fit_a_file_and_differ(load):
    labels = set()
    for last in (98, 99):
        steps = ", ".join(f"{{factor: {by}}}" for by in [*range(1, 90), last])
        spec = datasets_of(load, f"{{name: tiny-dense, transforms: [{steps}]}}")[0]
        assert len(spec.label) <= 100
        labels.add(spec.label)
    assert len(labels) == 2


@pytest.mark.parametrize("name", ["smoke", "smoke.yaml", "configs/smoke.yaml"])
def test_bundled_configurations_are_found_by_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_config(Path(name)) == bundled("configs") / "smoke.yaml"


def test_a_file_here_goes_before_a_bundled_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("smoke.yaml").write_text(VALID)
    assert load_sweep(Path("smoke.yaml")).name == "trial"


@pytest.mark.parametrize("path", sorted(bundled("configs").glob("*.yaml")), ids=lambda p: p.stem)
def test_bundled_configurations_are_valid_and_named_like_their_files(path):
    assert load_sweep(path).name == path.stem


# --- YAML's traps ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1e-4", "1E-4", "+1e-4", "1.e-4", "0.0001", ".0001"])
def test_numbers_without_a_point_are_numbers(load, text):
    assert yaml.safe_load("1e-4") == "1e-4", "PyYAML has changed: the reader may be simpler"
    assert load(changed("epsilon: 1e-4", f"epsilon: {text}")).solvers[1].parameters.epsilon == 1e-4
    assert load(changed("[1e-3, 1e-4]", text)).lambdas == (1e-4,)


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "Y", "1:30", "0x1F", "2001-01-01"])
def test_words_stay_words(load, word):
    assert load(changed("- name: sgd-m", f"- name: sgd-m\n    label: {word}")).solvers[1].label == (
        word
    )


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "1", "'true'"])
def test_only_true_and_false_are_flags(refused, word):
    text = changed("- dcd", f"- {{name: dcd, shrinking: {word}}}")
    shown = word if word.startswith("'") or word == "1" else f"'{word}'"
    assert refused(text) == (f"10:17: 'solvers[0].shrinking' should be true or false, not {shown}")


def test_written_words_survive_readers_of_both_versions(load):
    for word in ("yes", "1e-4", "1:30", "null", "0x1F", "<<", "="):
        text = changed("- name: sgd-m", f"- name: sgd-m\n    label: '{word}'")
        written = dump_sweep(load(text))
        assert load(written).solvers[1].label == word
        assert yaml.safe_load(written)["solvers"][1]["label"] == word
        assert yaml.safe_load(written)["reference"]["gap"] == 1e-8


# --- what is refused, and where ----------------------------------------------------

REFUSALS = {
    # unknown keys, with the nearest known one
    "unknown key": (
        ("lambda:", "lamda:"),
        "8:1: unknown key 'lamda'; did you mean 'lambda'?",
    ),
    "unknown parameter": (
        ("schedule: blocks", "shedule: blocks"),
        "12:5: unknown parameter 'shedule' of sgd-m; did you mean 'schedule'?",
    ),
    "unknown solver": (
        ("- dcd", "- dcb"),
        "10:5: unknown solver 'dcb'; did you mean 'dcd'?",
    ),
    "unknown data set": (
        ("tiny-sparse", "tiny-spare"),
        "4:5: unknown data set 'tiny-spare'; did you mean 'tiny-sparse'? "
        "(a file of your own: {path: FILE})",
    ),
    "unknown loss": (
        ("loss: hinge", "loss: hinges"),
        "7:1: 'loss' should be 'hinge', 'squared-hinge', 'smoothed-hinge' or 'logistic', not "
        "'hinges'; did you mean 'hinge'?",
    ),
    # missing
    "missing version": (("version: 1\n", ""), "1:1: missing key 'version'; add it"),
    "missing lambda": (
        ("lambda: [1e-3, 1e-4]\n", ""),
        "1:1: missing key 'lambda'; add it, or 'C'",
    ),
    "missing end": (
        ("  accuracy: [1e-3, 1e-1]\n  max_epochs: 100\n", ""),
        "14:1: no end but a time limit; give accuracy, gap, own, max_epochs, max_updates or "
        "max_steps",
    ),
    "missing path": (
        ("path: mine.libsvm\n    positive", "positive"),
        "5:5: neither name nor path; write a data set's name, or {path: FILE}",
    ),
    "no solver": (
        ("  - dcd\n  - name: sgd-m\n    schedule: blocks\n    epsilon: 1e-4\n", "  []\n"),
        "9:1: 'solvers' is empty; give at least one",
    ),
    # too much
    "both lambda and C": (
        ("lambda:", "C: 1\nlambda:"),
        "8:1: both 'lambda' and 'C'; keep one of them",
    ),
    "key twice": (
        ("repeats: 2", "repeats: 2\nname: again"),
        "19:1: key 'name' again, after line 2; keep one of them",
    ),
    "value twice": (
        ("[1e-3, 1e-4]", "[1e-3, 1e-4, 0.001]"),
        "8:22: 0.001 appears twice; keep one of them",
    ),
    "data set twice": (
        ("  - tiny-sparse", "  - tiny-sparse\n  - tiny-sparse"),
        "5:5: a second data set 'tiny-sparse'; drop it or give it a label",
    ),
    "label twice": (
        ("  - dcd", "  - dcd\n  - {name: dcd}"),
        "11:5: a second 'dcd'; drop it or give it a label of its own",
    ),
    "test file of a catalogue set": (
        ("- tiny-sparse", "- {name: tiny-sparse, test: FILE}"),
        "4:25: 'test' belongs to a path; of a name the catalogue knows it",
    ),
    "label that looks like a catalogue set": (
        ("- tiny-sparse", '- {name: tiny-sparse, label: "\\u0430dult"}'),
        "4:25: '\u0430dult' looks like a set of the catalogue; set another",
    ),
    "labels that look alike": (
        ("  - dcd", '  - dcd\n  - {name: sgd-s, label: "d\\u0441d"}'),
        "11:5: 'd\u0441d' looks like a label before it; give it another one",
    ),
    "data sets whose labels are the same in names of files": (
        (
            "  - tiny-sparse",
            "  - {name: tiny-sparse, label: a b}\n  - {name: tiny-sparse, label: a-b}",
        ),
        "5:5: 'a-b' has the same label in names of files as a data set before it; give it another "
        "one",
    ),
    "unknown transform": (
        ("- tiny-sparse", "- {name: tiny-sparse, transforms: [max-ab]}"),
        "4:38: unknown transform 'max-ab'; did you mean 'max-abs'?",
    ),
    "unknown transform in a mapping": (
        ("- tiny-sparse", "- {name: tiny-sparse, transforms: [{subsampl: 3}]}"),
        "4:39: unknown transform 'subsampl'; did you mean 'subsample'?",
    ),
    "unknown parameter of a transform": (
        ("- tiny-sparse", "- {name: tiny-sparse, transforms: [{subsample: {size: 3, sed: 4}}]}"),
        "4:60: unknown key 'sed'; did you mean 'seed'?",
    ),
    "parameter of a transform out of range": (
        ("- tiny-sparse", "- {name: tiny-sparse, transforms: [swap, {factor: -1}]}"),
        "4:45: 'datasets[0].transforms[1].factor' should be more than 0, not -1",
    ),
    "two transforms in one": (
        ("- tiny-sparse", "- {name: tiny-sparse, transforms: [{factor: 1, swap: }]}"),
        "4:38: 'datasets[0].transforms[0]' should be a transform's name, or {name: parameter}, "
        "not {'factor': 1, 'swap': None}",
    ),
    "file under a catalogue name": (
        ("positive: 3", "name: adult"),
        "6:5: 'adult' is a set of the catalogue; set another name",
    ),
    "gamma of a loss without one": (
        ("loss: hinge", "loss: {name: hinge, gamma: 2}"),
        "7:21: 'gamma' belongs to smoothed-hinge only; leave it out",
    ),
    # of the wrong kind
    "text for a number": (
        ("epsilon: 1e-4", "epsilon: small"),
        "13:5: 'solvers[1].epsilon' should be a number, not 'small'",
    ),
    "quoted number": (
        ("[1e-3, 1e-4]", "[1e-3, '1e-4']"),
        "8:16: 'lambda[1]' should be a number, not '1e-4'; write it without quotes",
    ),
    "number for text": (
        ("name: trial", "name: 2024"),
        "2:1: 'name' should be text, not 2024; put it in quotes",
    ),
    "limit out of range": (
        ("max_epochs: 100", "max_epochs: 1e308"),
        "16:3: 'stop.max_epochs' should be at most 1e+09, not 1e+308",
    ),
    "integer of many digits": (
        ("  - dcd\n", f"  - {{name: dcd, block_rows: {'9' * 400}}}\n"),
        f"10:17: 'solvers[0].block_rows' should be at most {2**63 - 1}, not {'9' * 56}...",
    ),
    "size of many digits": (
        ("time_limit: 500ms", f"memory_limit: {'9' * 400}GiB"),
        "17:3: 'stop.memory_limit' should be bytes, or a size such as 500MiB or 4GiB, not "
        f"'{'9' * 55}...",
    ),
    "scalar for a list": (
        ("tables: [time]", "tables: time"),
        "21:1: 'tables' should be a list, not 'time'; write [time]",
    ),
    "duration without a unit known": (
        ("500ms", "5 fortnights"),
        "17:3: 'stop.time_limit' should be seconds, or a duration such as 500ms, 2m or 1h, "
        "not '5 fortnights'",
    ),
    "name with capitals": (
        ("name: trial", "name: Trial"),
        "2:1: 'name' is 'Trial'; use lower-case letters, digits, '.', '_' and '-', "
        "a letter or a digit first",
    ),
    # out of range
    "parameter out of range": (
        ("- dcd", "- {name: dcd, tolerance: 0}"),
        "10:17: 'solvers[0].tolerance' should be more than 0, not 0",
    ),
    "lambda not positive": (
        ("[1e-3, 1e-4]", "-1"),
        "8:1: 'lambda' should be at least 1e-100, not -1",
    ),
    "rule of repeats without its end": (
        ("repeats: 2", "repeats: {at_least: 5}"),
        "18:1: missing key 'until'; add it",
    ),
    "more repeats at least than at most": (
        ("repeats: 2", "repeats: {at_least: 9, until: decided, at_most: 3}"),
        "18:40: 'repeats.at_most' is 3, less than at_least, which is 9; raise it",
    ),
    "version": (("version: 1", "version: 2"), "1:1: 'version' should be 1, not 2"),
    "loose reference": (
        ("gap: 1e-8", "gap: 1e-4"),
        "20:3: 'reference.gap' is 0.0001; it may be at most 1e-05, "
        "a hundredth of the tightest accuracy",
    ),
    "loss the solver cannot train": (
        ("loss: hinge", "loss: squared-hinge"),
        "11:5: sgd-m cannot train the loss squared-hinge, only hinge; "
        "drop the solver or change the loss",
    ),
    # not YAML, or more of it than a configuration needs
    "tab": (
        ("  - dcd", "\t- dcd"),
        "10:1: not valid YAML (found character '\\t' that cannot start any token); use spaces",
    ),
    "open bracket": (
        ("tables: [time]", "tables: [time"),
        "22:6: not valid YAML (expected ',' or ']', but got ':'); "
        "check indentation, brackets and quotes",
    ),
    "control character": (
        ("name: trial", "name: tri\x01al"),
        "2:10: character U+0001 is not allowed; remove it",
    ),
    "tag": (
        ("name: trial", "name: !!python/name:os.system trial"),
        "2:7: tag '!!python/name:os.system' is not for 'trial'; remove it",
    ),
    "alias": (
        ("[1e-3, 1e-4]", "[&a 1e-3, *a]"),
        "8:10: this anchor is referred to by an alias (*); write it out there",
    ),
    "alias of itself": (
        ("[time]", "&a [*a]"),
        "21:9: this anchor is referred to by an alias (*); write it out there",
    ),
    "endless integer": (
        ("repeats: 2", f"repeats: {'9' * 5000}"),
        "18:10: an integer of too many digits; write a smaller one",
    ),
    "too deep": (
        ("[time]", "[" * 5000 + "]" * 5000),
        "1:1: nested too deeply; flatten it",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_with_place_and_remedy(refused, case):
    (old, new), expected = REFUSALS[case]
    assert refused(changed(old, new)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: empty; a configuration holds 'key: value' lines"),
        ("# nothing\n", "1:1: empty; a configuration holds 'key: value' lines"),
        ("\n- a\n", "2:1: not a mapping; a configuration holds 'key: value' lines"),
        (b"version: 1\nname: \xff\n", "2:7: not UTF-8 text; save it as such"),
        ("a: 1\n---\nb: 2\n", "2:1: not valid YAML (but found another document); "),
    ],
)
def test_a_file_that_is_no_configuration(refused, text, expected):
    assert refused(text).startswith(expected)


def test_a_byte_order_mark_is_not_part_of_the_text(load):
    assert load(b"\xef\xbb\xbf" + VALID.encode()).name == "trial"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    rate: float = 1.0


class PluggedParameters(Parameters):
    rates: tuple[float, ...] = parameter((1.0,), "Rates.", source="ours")
    inner: Inner = parameter(Inner(), "More.", source="ours")

    @field_validator("rates")
    @classmethod
    def ascend(cls, rates):
        if sorted(rates) != list(rates):
            raise ValueError("rates must ascend;\nsort them")
        return rates


class SingleParameters(EitherParameters, PluggedParameters):
    """Also in single precision."""


class Plugged(solvers()["dcd"]):
    name = "plugged"
    schema = PluggedParameters


@pytest.fixture
def plugged(monkeypatch):
    """A solver of somebody else's, whose parameters go beyond what ours do."""
    known = {**solvers(), "plugged": Plugged}
    monkeypatch.setattr(config.sweep, "find_solver", known.__getitem__)
    return changed("- dcd", "- name: plugged\n    rates: [1, 2]\n    inner: {rate: 3}")


class Foreign(Solver):
    """A solver that has nothing in common with ours."""

    name = "foreign"
    schema = PluggedParameters

    def start(self, problem, seed):
        """Do nothing."""

    def advance(self, steps):
        """Do nothing."""

    @property
    def w(self):
        return np.zeros(1)


class Single(Foreign):
    name = "single"
    schema = SingleParameters


class Another(solvers()["mpu"]):
    name = "another"


@pytest.mark.parametrize("foreign", [Foreign, Another], ids=lambda each: each.name)
def test_a_plug_in_that_does_not_say_that_it_computes_in_float32_is_not_given_it(
    foreign, monkeypatch, load, refused
):
    monkeypatch.setattr(
        config.sweep, "find_solver", (solvers() | {foreign.name: foreign}).__getitem__
    )
    text = VALID.replace("- dcd", f"- name: {foreign.name}\n    precision: float32")
    assert refused(text) == (
        f"11:5: solver '{foreign.name}' does not compute in float32; leave its precision out"
    )
    assert load(text.replace("float32", "float64")).solvers[0].parameters.precision == "float64"
    assert json_schema(foreign.schema)["properties"]["precision"]["const"] == "float64"


@pytest.mark.parametrize("foreign", [Single], ids=lambda each: each.name)
def test_a_plug_in_may_compute_in_float32(foreign, monkeypatch, load):
    monkeypatch.setattr(
        config.sweep, "find_solver", (solvers() | {foreign.name: foreign}).__getitem__
    )
    text = VALID.replace("- dcd", f"- name: {foreign.name}\n    precision: float32")
    assert load(text).solvers[0].parameters.precision == "float32"


def test_parameters_of_plug_ins_are_read_and_written(plugged, load):
    sweep = load(plugged)
    spec = sweep.solvers[0]
    assert spec.label == 'plugged(rates=[1.0, 2.0], inner={"rate": 3.0})'
    assert (spec.parameters.rates, spec.parameters.inner) == ((1.0, 2.0), Inner(rate=3.0))
    assert load(dump_sweep(sweep)) == sweep


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[1, 2]", "[2, 1]", "11:5: rates must ascend; sort them"),
        ("[1, 2]", "[1, a]", "11:16: 'solvers[0].rates[1]' should be a number, not 'a'"),
        ("rate: 3", "rat: 3", "12:13: unknown key 'rat'; remove it"),
    ],
)
def test_parameters_of_plug_ins_are_checked(plugged, refused, old, new, expected):
    assert refused(changed(old, new, plugged)) == expected


def test_several_errors_are_counted_and_the_first_is_told(refused):
    text = changed("repeats: 2", "repeats: 0", changed("name: trial", "name: T"))
    assert refused(changed("max_epochs: 100", "max_epochs: -1", text)).startswith("2:1: 'name'")
    assert refused(changed("max_epochs: 100", "max_epochs: -1", text)).endswith(" (and 2 more)")


def test_what_is_wrong_goes_before_what_is_missing(refused):
    text = changed("version: 1\n", "", changed("repeats: 2", "repeats: 0"))
    assert refused(text) == "17:1: 'repeats' should be at least 1, not 0 (and 1 more)"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("smok", "did you mean 'smoke'?"),
        ("configs/adutl.yaml", "did you mean 'adult.yaml'?"),
        ("mnie.yaml", "did you mean 'mine.yaml'?"),
        ("elsewhere/adult.yaml", "did you mean 'adult.yaml'?"),
        ("zzzzzzzz", "those of svmbench: adult.yaml, "),
    ],
)
def test_a_file_that_is_not_there(name, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(VALID)
    with pytest.raises(ConfigError) as caught:
        load_sweep(Path(name))
    assert str(caught.value).startswith(f"{name}: no such configuration; {hint}")


@pytest.mark.parametrize("name", [".", "a" * 5000, "a\0b", "a\nb", "smoke.yaml/x"])
def test_paths_that_are_no_files(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("smoke.yaml").write_text(VALID)
    with pytest.raises(ConfigError) as caught:
        load_sweep(Path(name))
    assert "\n" not in str(caught.value)


# --- there and back ----------------------------------------------------------------

labels = (
    st.text(min_size=1, max_size=20)
    .map(str.strip)
    .filter(lambda text: text != "" and text.isprintable())
)
file_names = labels.filter(
    lambda text: "/" not in text and "." not in text and look_of(text) not in names()
)
positive = st.floats(1e-90, 1e90)
weights = st.one_of(
    positive,
    st.lists(positive, min_size=1, max_size=5, unique=True),
    st.builds(
        lambda start, ratio, num: {"logspace": {"from": start, "to": start * ratio, "num": num}},
        st.floats(1e-6, 1e6),
        st.floats(1.1, 1e6),
        st.integers(2, 30),
    ),
)
parameters = st.one_of(
    st.builds(lambda value: {"name": "dcd", "tolerance": value}, positive),
    st.builds(lambda flag: {"name": "dcd", "shrinking": flag}, st.booleans()),
    st.builds(
        lambda schedule, epsilon: {"name": "sgd-m", "schedule": schedule, "epsilon": epsilon},
        st.sampled_from(["4/9", "blocks"]),
        st.none() | positive,
    ),
    st.builds(lambda kind: {"name": "pegasos", "precision": kind}, st.just("float32")),
    st.just({"name": "sgd-s"}),
)
sizes = st.floats(0, 1, exclude_min=True, exclude_max=True) | st.integers(1, 10**9)
steps = st.one_of(
    *map(st.just, ("max-abs", "unit-norm", "swap", "standardise", "balance", "shuffled", "bias")),
    st.fixed_dictionaries({"subsample": sizes}),
    st.fixed_dictionaries({"rows": st.integers(1, 99).map(lambda stop: [0, stop])}),
    st.fixed_dictionaries(
        {"split": st.fixed_dictionaries({"test": sizes}, optional={"seed": st.integers(0, 2**62)})}
    ),
    st.fixed_dictionaries({"factor": positive}),
    st.fixed_dictionaries({"balance": st.integers(1, 10**6) | st.none()}),
)
datasets = st.lists(
    st.one_of(
        st.sampled_from(["tiny-sparse", "tiny-dense", {"name": "tiny-separable"}]),
        st.fixed_dictionaries(
            {"name": st.just("tiny-sparse"), "label": st.just("my tiny-sparse")},
            optional={
                "transforms": st.lists(steps),
                "test": sizes,
                "bias": positive,
                "positive": st.just(-1),
            },
        ),
        st.fixed_dictionaries(
            {"path": file_names},
            optional={
                "positive": st.floats(-9, 9) | st.lists(st.integers(0, 9), min_size=1, unique=True),
                "features": st.integers(1, 10**6),
                "test": file_names,
                "name": st.just("mine"),
            },
        ),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda spec: in_file_names(
        spec if isinstance(spec, str) else spec.get("label") or spec.get("name") or spec["path"]
    ),
)
plain_sweeps = st.builds(
    lambda constants, labelled, **rest: {
        "version": 1,
        "name": "trial",
        "solvers": [{"label": label, **spec} for label, spec in labelled],
        **constants,
        **rest,
    },
    constants=st.builds(
        lambda key, values: {key: values}, st.sampled_from(["lambda", "C"]), weights
    ),
    labelled=st.lists(
        st.tuples(labels, parameters),
        min_size=1,
        max_size=4,
        unique_by=lambda pair: in_file_names(pair[0]),
    ),
    datasets=datasets,
    stop=st.fixed_dictionaries(
        {"max_epochs": st.floats(1e-3, 1e9)},
        optional={
            "accuracy": st.lists(st.floats(1e-12, 10), max_size=4, unique=True),
            "gap": st.none() | positive,
            "own": st.booleans(),
            "time_limit": positive | st.just("2m"),
        },
    ),
    repeats=st.integers(1, 100)
    | st.fixed_dictionaries(
        {"until": st.just("decided"), "at_most": st.integers(20, 100)},
        optional={"at_least": st.integers(1, 20)},
    ),
    regret=st.booleans(),
    tables=st.lists(st.sampled_from(["time", "epochs", "objective"]), unique=True),
    reference=st.fixed_dictionaries({}, optional={"gap": st.just(1e-15), "time_limit": positive}),
)


@given(plain=plain_sweeps)
def test_what_is_written_reads_back(plain, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    sweep = Sweep.model_validate(plain, context={"folder": folder})
    path = folder / "resolved.yaml"
    path.write_text(dump_sweep(sweep), encoding="utf-8")
    assert load_sweep(path) == sweep


@given(
    start=st.floats(1e-90, 1e90),
    ratio=st.floats(1e-8, 0.9) | st.floats(1.1, 1e8),
    num=st.integers(2, 50),
)
def test_logspace_is_even_and_complete(start, ratio, num):
    plain = {
        "version": 1,
        "name": "grid",
        "datasets": ["tiny-dense"],
        "solvers": ["dcd"],
        "lambda": {"logspace": {"from": start, "to": start * ratio, "num": num}},
        "stop": {"max_epochs": 1},
    }
    values = Sweep.model_validate(plain).lambdas
    assert (values[0], values[-1], len(values)) == (start, start * ratio, num)
    steps = [math.log(b) - math.log(a) for a, b in pairwise(values)]
    assert max(steps) - min(steps) <= 1e-10


# --- whatever is thrown at it ------------------------------------------------------

TOKENS = [
    *"[]{}:,-#&*!|>'\"%@`?~=\t\n",
    *["\x00", "\x85", "\u2028", "\ud7ff", "é", "\\ud800"],
    *["null", "true", "yes", "1e-4", "-1", "1e999", ".nan", "9" * 30, "''", "[]", "{}", "a: b"],
    *["&x ", "*x", "<<: ", "!!int ", "!!float ", "!!binary ", "? ", "--- ", "...\n", "  "],
    *["lambda", "C", "name", "path", "label", "precision", "logspace", "dcd", "500ms"],
]


@st.composite
def spoilt(draw):
    text = VALID
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from([0, 0, 1, 2, 5, 20]))
        text = text[:start] + draw(st.sampled_from(TOKENS)) + text[start + length :]
    lines = text.split("\n")
    if draw(st.booleans()):
        a, b = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


@given(text=spoilt() | st.text())
def test_any_text_is_a_sweep_or_one_line_with_a_place(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "spoilt.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        sweep = load_sweep(path)
    except ConfigError as error:
        message = str(error)
        place = re.match(rf"{re.escape(str(path))}:(\d+):(\d+): .+(; | should be ).+", message)
        assert place is not None, message
        assert message.isprintable()
        assert int(place[1]) <= len(re.split("\r\n|[\r\n\x85\u2028\u2029]", text))
    else:
        path.write_text(dump_sweep(sweep), encoding="utf-8")
        assert load_sweep(path) == sweep


def test_time_to_read_grows_with_the_length():
    # Comparing each with all others took half a minute, and minutes at a configuration's limit.
    plain = yaml.safe_load(VALID) | {"lambda": [1 / i for i in range(1, 70_001)]}
    plain["datasets"] = [{"name": "tiny-sparse", "label": f"set-{i}"} for i in range(2000)]
    plain["datasets"].append({"path": "a", "positive": [float(i) for i in range(20_000)]})
    plain["solvers"] = [{"name": "dcd", "label": f"dcd {i}"} for i in range(4000)]
    plain["stop"] = {"max_epochs": 1}
    plain["reference"] = {}
    begun = time.process_time()
    Sweep.model_validate(plain)
    assert time.process_time() - begun < 10.0
