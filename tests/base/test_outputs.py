"""What stands behind an output's name, which files may be overwritten, and one writer at a time."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from gpuprof.base.files import hidden, replacing
from gpuprof.base.output_claims import claimed
from gpuprof.base.output_targets import target_of
from gpuprof.base.outputs import Kind, check_output
from gpuprof.errors import GpuprofError, UsageError
from tests.support.command import names, write_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links and devices")

MARKED = Kind("thing", ((0, b"AB"), (4, b"CD")), keeps_old=True)
TEXT = Kind("list", suffixes=(".csv",))


@pytest.mark.parametrize(
    "kind, name, content, may",
    [
        (MARKED, "a", b"AB..CD..", True),
        (MARKED, "a", b"\xef\xbb\xbfAB..CD", True),
        (MARKED, "a", b"AB..CE", False),
        (MARKED, "a", b"AB", False),
        (MARKED, "a", b"", True),
        (TEXT, "a.csv", b"what there is", True),
        (TEXT, "a.txt", b"what there is", False),
        (TEXT, "a.txt", b"", True),
    ],
)
def test_what_may_be_overwritten(tmp_path, kind, name, content, may):
    (tmp_path / name).write_bytes(content)
    if may:
        check_output(tmp_path / name, kind)
        return
    error = f"{tmp_path / name}: is no {kind.name}, and would be overwritten; give another name, or --force to "
    with pytest.raises(UsageError, match=f"^{error}overwrite it$"):
        check_output(tmp_path / name, kind)
    check_output(tmp_path / name, kind, force=True)


def test_what_is_read_is_not_overwritten(tmp_path):
    write_files(tmp_path, {"a.csv": "1", "a.npy": "2"})
    (tmp_path / "b.csv").hardlink_to(tmp_path / "a.npy")
    for name, also in (("a.csv", ""), ("b.csv", f"is the same file as {tmp_path / 'a.npy'}, and ")):
        for force in (False, True):
            with pytest.raises(UsageError) as caught:
                check_output(tmp_path / name, TEXT, [tmp_path / "a.csv", tmp_path / "a.npy"], force)
            assert str(caught.value) == f"{tmp_path / name}: {also}is read by this command; give another name"
    check_output(tmp_path / "a.csv", TEXT, [tmp_path / "none", Path("x" * 5000)])


def old_folder(path):
    path.mkdir()


def old_link(path):
    path.symlink_to("/dev/null")


def old_fifo(path):
    os.mkfifo(path)


def old_foreign(path):
    path.write_text("my notes")


@pytest.mark.parametrize(
    "make, what, with_force",
    [
        (old_folder, "is a folder", False),
        (old_link, "is a link", False),
        (old_fifo, "is a FIFO", False),
        (old_foreign, "is no thing", True),
    ],
)
def test_what_has_the_name_of_the_old_file(tmp_path, make, what, with_force):
    (tmp_path / "a").write_bytes(b"AB..CD")
    make(tmp_path / "a.old")
    for force in (False, True):
        if force and with_force:
            check_output(tmp_path / "a", MARKED, force=force)
            continue
        with pytest.raises(UsageError, match=f"a.old: {what}"):
            check_output(tmp_path / "a", MARKED, force=force)


def test_an_old_file_that_is_read(tmp_path):
    """Also where the output itself may be read: `merge x.old y -o x`."""
    for name in ("a", "a.old"):
        (tmp_path / name).write_bytes(b"AB..CD")
    check_output(tmp_path / "a", MARKED, [tmp_path / "a"], may_be_input=True)
    with pytest.raises(UsageError, match=r"a\.old: is read by this command"):
        check_output(tmp_path / "a", MARKED, [tmp_path / "a.old"], may_be_input=True)


def test_what_came_to_have_the_name_meanwhile_stays(tmp_path):
    with pytest.raises(UsageError, match="is a FIFO"), replacing(tmp_path / "a") as partial:
        partial.write_text("new")
        os.mkfifo(tmp_path / "a")
    assert (tmp_path / "a").is_fifo() and names(tmp_path) == ["a"]


def test_a_block_device_is_refused(tmp_path):
    """Only as a status that says so: no test goes near a real one."""
    status = os.stat_result((stat.S_IFBLK | 0o660, *[0] * 9))
    with (
        mock.patch("gpuprof.base.output_targets.os.stat", return_value=status),
        pytest.raises(UsageError, match="sda: is a device; give a file name"),
    ):
        target_of(tmp_path / "sda")


def test_open_files_are_written_to(tmp_path):
    """Behind what is there already, and the file that is open stays that file."""
    with open(tmp_path / "open", "wb") as file:
        file.write(b"before ")
        file.flush()
        with replacing(Path(f"/dev/fd/{file.fileno()}")) as whole:
            whole.write_text("after")
    assert (tmp_path / "open").read_text() == "before after" and names(tmp_path) == ["open"]
    with open(tmp_path / "open", "rb") as file, pytest.raises(UsageError, match="is not open for writing"):
        target_of(Path(f"/proc/self/fd/{file.fileno()}"))
    with pytest.raises(UsageError, match="/dev/fd/999: is not open"):
        target_of(Path("/dev/fd/999"))


def test_a_link_stays_a_link(tmp_path):
    write_files(tmp_path, {"there/a": "before"})
    (tmp_path / "a").symlink_to("there/a")
    with replacing(tmp_path / "a", keep_old=True) as partial:
        partial.write_text("after")
    assert os.readlink(tmp_path / "a") == "there/a"
    assert names(tmp_path) == ["a", "there", "there/a", "there/a.old"]
    assert ((tmp_path / "there/a").read_text(), (tmp_path / "there/a.old").read_text()) == ("after", "before")


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a b"])
def test_hidden_names_fit(tmp_path, name):
    """Beside the longest name that a file may have."""
    hidden(tmp_path / name, "partial").touch()
    with claimed(target_of(tmp_path / name)):
        assert len(names(tmp_path)) == 2


# One writer.

HOLDER = """
import sys
from pathlib import Path
from gpuprof.base.output_claims import claimed
from gpuprof.base.output_targets import target_of
with claimed(target_of(Path(sys.argv[1]))):
    print("claimed", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", HOLDER, path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "claimed\n"
    return process


def test_one_writer_at_a_time(tmp_path):
    (tmp_path / "link").symlink_to("a")
    process = holder(tmp_path / "a")
    for name in ("a", "link"):
        error = f"{tmp_path / name}: another gpuprof is writing it; wait until it ends, or give another name"
        with pytest.raises(UsageError, match=f"^{error}$"), claimed(target_of(tmp_path / name)):
            pass
    with claimed(target_of(tmp_path / "b")):
        pass
    process.communicate("")
    with claimed(target_of(tmp_path / "a")):
        assert names(tmp_path) == [".a.lock", "link"]
    assert names(tmp_path) == ["link"]


def test_a_killed_process_claims_nothing(tmp_path):
    process = holder(tmp_path / "a")
    process.kill()
    process.communicate()
    assert names(tmp_path) == [".a.lock"]
    with claimed(target_of(tmp_path / "a")):
        pass
    assert names(tmp_path) == []


def test_a_file_of_the_user_that_is_named_like_a_lock_stays(tmp_path):
    (tmp_path / ".a.lock").write_text("mine")
    with claimed(target_of(tmp_path / "a")):
        pass
    assert (tmp_path / ".a.lock").read_text() == "mine"
    (tmp_path / ".b.lock").symlink_to("mine")
    with pytest.raises(GpuprofError, match="b: cannot be written"), claimed(target_of(tmp_path / "b")):
        pass
    assert names(tmp_path) == [".a.lock", ".b.lock"]
