import os
import stat

import pytest

from svmbench.durable import replacing, write_text


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder" / "file.txt"
    write_text(path, "first\n")
    with pytest.raises(UnicodeEncodeError), replacing(path) as file:
        file.write("half of the sec\ud800")
    assert path.read_text() == "first\n"
    write_text(path, "sécond\n")
    assert path.read_bytes() == "sécond\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_bytes_can_be_written(tmp_path):
    with replacing(tmp_path / "b", "wb") as file:
        file.write(b"\x00\xff")
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_the_file_has_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "t", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o640
