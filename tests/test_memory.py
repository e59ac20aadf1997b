"""Free memory: the machine's, the control groups' and the process's own limits."""

import resource
import subprocess
import sys
from functools import partial

import pytest

from svmbench import memory
from svmbench.cli import main
from svmbench.data.catalogue import Csv
from svmbench.data.csvtext import parse_csv
from svmbench.data.idx import parse_idx
from svmbench.data.libsvm import parse_libsvm
from svmbench.errors import DataError
from svmbench.memory import available_memory, require_memory

MB = 1 << 20


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 1000 MB free, and files that say of its groups what a test wants."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {1000 * 1024} kB\n")
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "proc" / "self")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")

    def write(groups, **files):
        (tmp_path / "proc" / "self" / "cgroup").write_text(groups)
        for name, text in files.items():
            path = tmp_path / "groups" / name.replace("__", "/").replace("-", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    return write


def test_a_group_of_version_2_leaves_its_limit_without_what_is_taken(system):
    stat = f"anon 5\ninactive_file {7 * MB}\nactive_file {3 * MB}"
    system(
        "0::/a/b\n",
        **{"a__memory-max": 300 * MB, "a__memory-current": 100 * MB, "a__memory-stat": stat},
        **{"a__b__memory-max": "max", "a__b__memory-current": 90 * MB},
    )
    assert available_memory() == 210 * MB
    system("0::/a/b\n", **{"a__b__memory-max": 91 * MB})
    assert available_memory() == 1 * MB
    system("0::/a/b\n", **{"a__b__memory-max": 80 * MB})
    assert available_memory() == 0


def test_a_group_of_version_1_and_a_path_of_the_host(system):
    stat = f"inactive_file 1\ntotal_inactive_file {15 * MB}\ntotal_active_file {5 * MB}"
    system(
        "9:cpu:/\n4:memory,hugetlb:/docker/0123\n0::/\n",
        **{"memory__memory-limit_in_bytes": 200 * MB, "memory__memory-usage_in_bytes": 50 * MB},
        **{"memory__memory-stat": stat},
    )
    assert available_memory() == 170 * MB
    # Without a limit, version 1 states a number beyond all memory.
    system("4:memory:/\n", **{"memory__memory-limit_in_bytes": 2**63 - 4096})
    assert available_memory() == 1000 * MB


def test_the_limits_of_the_process_count():
    code = (
        "import resource\nfrom svmbench.memory import available_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "print(available_memory())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(out.stdout) < 1 << 30
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


def test_more_than_a_group_leaves_is_refused(system):
    system("0::/\n", **{"memory-max": 100 * MB, "memory-current": 0})
    require_memory(100 * MB, "data set a: training", "take fewer rows")
    with pytest.raises(DataError, match=r"needs 0.11 GB of memory, and 0.10 GB are free; take"):
        require_memory(101 * MB, "data set a: training", "take fewer rows")


@pytest.mark.parametrize("name", ["rows.libsvm", "rows.csv"])
def test_rows_are_refused_before_they_exceed_the_free_memory(name, system, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text(("1 1:1\n" if name.endswith("libsvm") else "1,1\n") * 50_000)
    read = partial(parse_csv, layout=Csv(header=False, label=1)) if ".csv" in name else parse_libsvm
    monkeypatch.setattr(memory, "_CHECKED_EVERY", 100_000)
    assert read(path).n_samples == 50_000
    # It is what is left when it is asked: rows that were read already are no longer free.
    system("0::/\n", **{"memory-max": 300 * MB, "memory-current": 240 * MB})
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: reading further rows needs 0.07 GB of memory")
    assert caught.value.exit_code == 3


def test_images_are_refused_once_their_header_announces_too_much(system, tmp_path):
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.write_bytes(bytes([0, 0, 8, 3, 1, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(5000))
    labels.write_bytes(bytes([0, 0, 8, 1, 1, 0, 0, 0]))
    with pytest.raises(DataError, match=r"images: keeping it needs 13.2 GB of memory, and 1.0 GB"):
        parse_idx(images, labels)


def test_memory_that_ends_anywhere_is_one_line(monkeypatch, capfd):
    def exhausted(*args, **extra):
        raise MemoryError

    monkeypatch.setattr("svmbench.data.catalogue.names", exhausted)
    with pytest.raises(SystemExit) as caught:
        main(["data", "list"])
    assert caught.value.code == 3
    said = "svmbench: not enough memory; take fewer rows, features or jobs, or allow more memory\n"
    assert capfd.readouterr().err == said
