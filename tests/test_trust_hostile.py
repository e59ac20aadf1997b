"""The scripts that hand svmbench hostile input: small runs of each, and that they find."""

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


@pytest.mark.slow
def test_hostile_input_is_read_rightly_or_refused():
    done = script("hostile.py", "--inputs", "1500")
    assert done.returncode == 0, done.stdout + done.stderr
    total = next(line for line in done.stdout.splitlines() if line.startswith("all"))
    assert int(total.split()[1]) >= 1500


@pytest.mark.parametrize("sign", ["|", ">", ">-", "|2+"])
def test_a_comment_needs_a_space_after_the_sign_of_a_block(sign, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(f"checked: {sign} # a\n  b\n", encoding="utf-8")
    parse_document(path)
    path.write_text(f"checked: {sign}#- a\n  b\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"x\.yaml:1:.*not valid YAML"):
        parse_document(path)
