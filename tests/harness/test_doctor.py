import numpy as np
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.harness import doctor


def test_a_sound_installation_is_found_sound(monkeypatch):
    monkeypatch.setattr(doctor, "clock_ratio", lambda: 1.001)
    findings = {finding.what: finding for finding in doctor.examine()}
    assert {"machine", "kernels", "cache", "worker process", "clock"} <= set(findings)
    assert not [finding for finding in findings.values() if finding.verdict == "fault"]
    assert findings["clock"].verdict == "ok"
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "worker process: starts in" in result.output


def test_a_cache_that_cannot_be_written_is_a_fault(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(doctor, "clock_ratio", lambda: 1.5)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "file" / "below"))
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert "SVMBENCH_CACHE" in result.output
    assert "evaluations disturb" in result.output


def test_both_ways_of_timing_do_the_same_work(monkeypatch):
    walked = []

    def count(problem, epochs):
        solver = doctor.SgdS()
        solver.start(problem, 1)
        solver.advance(epochs * problem.data.n_samples)
        walked.append(solver.w)
        return 1.0

    monkeypatch.setattr(doctor, "_uninterrupted", count)
    assert doctor.clock_ratio(times=1, epochs=2) > 0.0
    problem = doctor.Problem(doctor._made_rows(20_000, 500, 20), 1e-4)
    solver = doctor.SgdS()
    solver.start(problem, 1)
    for _ in range(2 * 20):
        solver.advance(1000)
    assert np.array_equal(solver.w, walked[0])
