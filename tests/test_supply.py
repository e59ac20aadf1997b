"""What development, wheels and the public host stand on: locked, listed and the same everywhere."""

import re
import subprocess
import sys
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
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
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


def wheels():
    return PROJECT["tool"]["cibuildwheel"]


def test_the_public_host_runs_the_same_and_may_write_nothing():
    jobs = WORKFLOW["jobs"]
    assert "bash .ci/run" in [step.get("run") for step in jobs["run"]["steps"]]
    assert WORKFLOW["permissions"] == {"contents": "read"}
    # A job that signs what it built may do that, and nothing else.
    signs = {"contents": "read", "id-token": "write", "attestations": "write"}
    assert {name: job["permissions"] for name, job in jobs.items() if "permissions" in job} == {
        "wheels": signs
    }
    steps = [step for job in jobs.values() for step in job["steps"]]
    actions = [step["uses"] for step in steps if "uses" in step]
    for action in actions:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
    # The version is a comment beside the hash, the same for the same hash.
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    versions = set(re.findall(r"uses: (\S+) # v\d+\.\d+\.\d+$", text, re.MULTILINE))
    assert versions == set(actions)
    assert text.count("uses: ") == len(actions)


def test_wheels_are_built_with_locked_packages():
    steps = [step.get("run", "") for step in WORKFLOW["jobs"]["wheels"]["steps"]]
    installing = [step for step in steps if "pip install" in step]
    assert installing == ["python -m pip install --require-hashes -r .ci/wheels-requirements.txt"]
    assert wheels()["build-frontend"] == {"name": "build", "args": ["--no-isolation"]}
    assert wheels()["before-build"].endswith(
        "pip install --require-hashes -r {project}/.ci/build-requirements.txt"
    )
    building = locked((ROOT / ".ci" / "build-requirements.txt").read_text(encoding="utf-8"))
    pins = {pin.name: pin for pin, hashes in building if hashes}
    developing = {pin.name: pin.specifier for pin, _ in locked()}
    for wanted in map(Requirement, PROJECT["build-system"]["requires"]):
        (specifier,) = pins[wanted.name].specifier
        assert wanted.specifier.contains(specifier.version)
        assert developing[wanted.name] == pins[wanted.name].specifier
    building_wheels = (ROOT / ".ci" / "wheels-requirements.txt").read_text(encoding="utf-8")
    assert "cibuildwheel" in {pin.name for pin, hashes in locked(building_wheels) if hashes}


def table(text):
    """Package, licence and conditions of each row of every table."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows if row[0] != "package"}


def test_the_page_of_licences_has_what_is_needed_here():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "licences.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown, first = table(page), table(done.stdout.partition("\nNeeded by these:\n")[0])
    needed = {canonicalize_name(Requirement(line).name) for line in dependencies()}
    assert {canonicalize_name(name) for name in first} == needed
    # Releases name further licences of what they carry; the first is their own.
    for name, (licence, _) in first.items():
        assert name in shown, f"{name} is not on docs/licences.md; run scripts/licences.py"
        assert shown[name][0].split(",")[0] == licence.split(",")[0], name


def dependencies():
    return PROJECT["project"]["dependencies"]
