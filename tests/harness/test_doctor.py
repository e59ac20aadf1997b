import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.harness import doctor, system


@pytest.fixture(autouse=True)
def calm(monkeypatch):
    """A machine on which nothing is found that the tests do not put there."""
    monkeypatch.setattr(doctor, "clock_ratio", lambda: 1.001)
    monkeypatch.setattr(doctor, "repeated_work", lambda: ([1.0, 1.01], [1.0, 1.01]))
    monkeypatch.setattr(doctor, "OBSERVED", 0.01)
    monkeypatch.setattr(doctor.os, "getloadavg", lambda: (0.1, 0.1, 0.1))
    monkeypatch.setattr(doctor.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(system, "now", lambda: None)
    facts = {"governors": [], "boost": None, "quota": None, "hyper_threads": None}
    for name, value in (facts | {"allowed_processors": 4}).items():
        monkeypatch.setattr(system, name, lambda value=value: value)


def test_a_sound_installation_is_found_sound():
    findings = {finding.what: finding for finding in doctor.examine()}
    assert {"machine", "kernels", "cache", "clock"} <= set(findings)
    assert not [finding for finding in findings.values() if finding.verdict == "fault"]
    assert findings["clock"].verdict == "ok"
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == "fit to measure on"
    told = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).stdout)
    assert {each["what"] for each in told["checks"]} == set(findings)
    assert told["conclusion"] == "fit to measure on"


def moments(busy, stolen):
    """Readings one second apart, of a machine doing that beside this process."""
    yield system.Moment(0.0, 0.0, 1000.0, 0.0)
    yield system.Moment(1.0, 0.5, 1000.5 + busy, stolen)


@pytest.mark.parametrize(
    ("check", "module", "name", "value", "verdict", "said"),
    [
        ("_governor", system, "governors", ["performance"], "ok", "performance"),
        ("_governor", system, "governors", ["powersave"], "warning", "--governor performance"),
        ("_boost", system, "boost", (False, Path("no_turbo")), "ok", "off"),
        ("_boost", system, "boost", (True, Path("a/no_turbo")), "warning", "1 to a/no_turbo"),
        ("_boost", system, "boost", (True, Path("a/boost")), "warning", "0 to a/boost"),
        ("_processors", system, "quota", 2.0, "ok", "quota of 2"),
        ("_processors", system, "quota", 0.5, "unfit", "cpu.max"),
        ("_processors", system, "hyper_threads", True, "warning", "smt/control"),
        ("_processors", system, "allowed_processors", 1, "warning", "1 allowed by the affinity"),
        ("_noise", doctor, "repeated_work", ([1.0, 1.02], [1.0, 1.02]), "ok", "below 3.4 %"),
        ("_noise", doctor, "repeated_work", ([1.0, 1.2], [1.0, 1.02]), "warning", "cpu_seconds"),
        ("_noise", doctor, "repeated_work", ([1.0, 1.9], [1.0, 1.9]), "unfit", "more repeats"),
    ],
)
def test_a_check_says_what_to_change(monkeypatch, check, module, name, value, verdict, said):
    monkeypatch.setattr(module, name, lambda: value)
    finding = getattr(doctor, check)()
    assert finding.verdict == verdict
    assert said in f"{finding.found}; {finding.advice}"


@pytest.mark.parametrize(
    ("check", "processors", "busy", "stolen", "verdict"),
    [
        ("_others", 4, 0.05, 0.0, "ok"),
        ("_others", 4, 1.0, 0.0, "warning"),
        ("_others", 1, 1.0, 0.0, "unfit"),
        ("_steal", 4, 0.0, 0.0, "ok"),
        ("_steal", 4, 0.0, 0.0004, "warning"),
        ("_steal", 4, 0.0, 0.5, "unfit"),
    ],
)
def test_the_machine_is_watched(monkeypatch, check, processors, busy, stolen, verdict):
    read = moments(busy, stolen)
    monkeypatch.setattr(system, "now", lambda: next(read))
    monkeypatch.setattr(system, "allowed_processors", lambda: processors)
    finding = getattr(doctor, check)()
    assert finding.verdict == verdict


def test_the_last_line_says_what_to_change(monkeypatch):
    monkeypatch.setattr(system, "governors", lambda: ["powersave"])
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0
    last = result.output.splitlines()[-1]
    assert last.startswith("fit with reservations: frequency governor (the processor")
    monkeypatch.setattr(system, "quota", lambda: 0.5)
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert result.output.splitlines()[-1].startswith("not fit: processors (the control")


def test_a_cache_that_cannot_be_written_is_a_fault(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(doctor, "clock_ratio", lambda: 1.5)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "file" / "below"))
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert "SVMBENCH_CACHE" in result.output
    assert "evaluations disturb" in result.output
