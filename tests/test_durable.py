import errno
import os
import stat

import pytest

from svmbench.durable import replacing, write_text
from svmbench.errors import UnwritableError


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder" / "file.txt"
    write_text(path, "first\n")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines(["half of the sec", None])
    assert path.read_text() == "first\n"
    write_text(path, "sécond\n")
    assert path.read_bytes() == "sécond\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_bytes_can_be_written(tmp_path):
    with replacing(tmp_path / "b", "wb") as file:
        file.write(b"\x00\xff")
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_a_text_may_quote_any_name_of_a_file(tmp_path):
    name = b"\xff\xc3\xa4".decode(errors="surrogateescape")  # as Python has such names
    write_text(tmp_path / "page", f"# {name}\n")
    assert (tmp_path / "page").read_bytes() == b"# \\udcff\xc3\xa4\n"


def test_the_file_has_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "t", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room"),
        (errno.ENAMETOOLONG, "choose a shorter name"),
        (errno.EROFS, "allow it or choose another folder"),
        (errno.EACCES, "allow it or choose another folder"),
    ],
)
def test_a_disk_that_takes_nothing_is_one_line_with_a_remedy(number, remedy, tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_text(path, "first\n")

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(UnwritableError) as caught:
        write_text(path, "second\n")
    assert str(caught.value) == (
        f"{path}: cannot be written ({os.strerror(number)}); {remedy}, then give the same command "
        "again"
    )
    assert caught.value.exit_code == 2
    assert path.read_text() == "first\n"
    assert list(tmp_path.iterdir()) == [path]


def test_other_errors_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "file"):
        (tmp_path / "nothing").read_text()


def test_a_device_a_pipe_or_an_open_file_is_not_replaced(tmp_path):
    pipe, link, opened = tmp_path / "pipe", tmp_path / "link", tmp_path / "open"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    with (tmp_path / "file").open("w") as file:
        opened.symlink_to(f"/proc/self/fd/{file.fileno()}")
        for path in (pipe, link, opened):
            with pytest.raises(UnwritableError, match="not a file, and not replaced"):
                write_text(path, "text")
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert link.is_symlink()
    assert opened.is_symlink()
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("there", ["pipe", "broken link", "ring"])
def test_what_is_no_folder_is_named_where_a_folder_is_needed(there, tmp_path):
    place = tmp_path / "place"
    if there == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(place if there == "ring" else tmp_path / "nowhere")
    with pytest.raises(UnwritableError, match="remove what is in its place"):
        write_text(place / "file", "")
