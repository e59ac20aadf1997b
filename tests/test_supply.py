"""What development, wheels and the public host stand on: locked, listed and the same everywhere."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / ".ci" / "requirements.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSIONS = ["3.11", "3.12", "3.13"]


def locked(text=LOCK):
    """Requirements of a lock, with the number of hashes of each."""
    for block in re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE)):
        if block.strip():
            line, *hashes = block.replace("\\\n", "\n").splitlines()
            yield Requirement(line.strip()), sum("--hash=sha256:" in each for each in hashes)


def asked():
    """What the lock has to cover: the project's own needs, those of developing, of building."""
    project = PROJECT["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    return [Requirement(line) for line in [*lines, *PROJECT["build-system"]["requires"]]]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_lock_fits_the_project(version, platform):
    here = default_environment() | {
        "python_version": version,
        "python_full_version": f"{version}.0",
        "sys_platform": platform,
        "os_name": "posix",
        "extra": "",
    }
    pins = {}
    for pin, _ in locked():
        if pin.marker is None or pin.marker.evaluate(here):
            assert canonicalize_name(pin.name) not in pins, pin
            pins[canonicalize_name(pin.name)] = pin
    for wanted in asked():
        pin = pins.get(canonicalize_name(wanted.name))
        assert pin is not None, f"{wanted.name} is not locked; make lock"
        (specifier,) = pin.specifier
        assert specifier.operator == "=="
        assert wanted.specifier.contains(specifier.version), f"{pin} is not {wanted}; make lock"


def test_every_locked_package_has_its_hashes_and_no_place():
    pins = list(locked())
    assert len(pins) > 40
    assert [pin.name for pin, hashes in pins if not hashes] == []
    assert "://" not in LOCK
    assert not re.search(r"^\s*-(?!-hash)", LOCK, re.MULTILINE)


def test_the_conda_recipe_needs_what_the_project_needs():
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    needs = yaml.safe_load(recipe)["requirements"]["run"]
    wanted = [f"python {PROJECT['project']['requires-python']}"]
    wanted += [line.replace(">=", " >=") for line in PROJECT["project"]["dependencies"]]
    assert [line.replace("matplotlib-base", "matplotlib") for line in needs] == wanted
    assert f'version: "{PROJECT["project"]["version"]}"' in recipe
