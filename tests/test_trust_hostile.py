"""The scripts that hand svmbench hostile input: small runs of each, and that they find."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from svmbench.document import parse_document
from svmbench.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent
TRUST = ROOT / "scripts" / "trust"


def script(name, *arguments, **environment):
    return subprocess.run(
        [sys.executable, str(TRUST / name), *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def kinds():
    sys.path.insert(0, str(TRUST))
    try:
        import hostile_kinds
    finally:
        sys.path.remove(str(TRUST))
    return hostile_kinds


@pytest.mark.slow
def test_hostile_input_is_read_rightly_or_refused():
    done = script("hostile.py", "--inputs", "1500")
    assert done.returncode == 0, done.stdout + done.stderr
    total = next(line for line in done.stdout.splitlines() if line.startswith("all"))
    assert int(total.split()[1]) >= 1500


def test_a_misreading_is_found(kinds, tmp_path, monkeypatch):
    case = kinds.Case({"text": b"1 2:3\n"}, {"cuts": [], "limit": 0, "multilabel": False})
    kind = kinds.LibsvmParser()
    assert kind.attempt(case, tmp_path)
    wrong = kinds.strict.Meaning([[1.0]], [[(1, 4.0)]], 2)
    monkeypatch.setattr(kinds.strict, "libsvm", lambda *_: wrong)
    with pytest.raises(kinds.FindError, match="other rows"):
        kind.attempt(case, tmp_path)
    monkeypatch.setattr(kinds.strict, "libsvm", lambda *_: None)
    with pytest.raises(kinds.FindError, match="although not legal"):
        kind.attempt(case, tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_first_label(kinds, tmp_path):
    text = b"\xef\xbb\xbf1 2:3\n"
    (tmp_path / "rows.libsvm").write_bytes(text)
    case = kinds.Case({"rows.libsvm": text}, {"multilabel": False, "threads": 1})
    assert kinds.LibsvmFile().attempt(case, tmp_path)


@pytest.mark.parametrize("sign", ["|", ">", ">-", "|2+"])
def test_a_comment_needs_a_space_after_the_sign_of_a_block(sign, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(f"checked: {sign} # a\n  b\n", encoding="utf-8")
    parse_document(path)
    path.write_text(f"checked: {sign}#- a\n  b\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"x\.yaml:1:.*not valid YAML"):
        parse_document(path)


@pytest.mark.slow
def test_the_reader_passes_the_sanitizers(tmp_path):
    spec = importlib.util.spec_from_file_location("sanitize", TRUST / "sanitize.py")
    sanitize = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sanitize)
    if not sanitize.runtimes():
        pytest.skip("the compiler has no libasan or libubsan")
    sanitize.build(tmp_path)
    tried = ["--kinds", "libsvm", "--inputs", "300"]
    done = script("hostile.py", *tried, **sanitize.environment(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
