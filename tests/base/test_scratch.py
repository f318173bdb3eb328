"""Temporary folders: gone with their block, or with the next one of this user's."""

import os
import subprocess
import sys
from socket import gethostname

import pytest

from gpuprof.base.scratch import remove_left_folders, temporary_folder
from tests.paths import ROOT
from tests.support.command import names, write_files

KILLED = """
import os, signal, sys
from gpuprof.base.scratch import temporary_folder
with temporary_folder() as folder:
    (folder / "half").write_text("")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_gone_with_the_block_however_it_ends(tmp_path):
    with pytest.raises(KeyboardInterrupt), temporary_folder(str(tmp_path)) as folder:
        assert names(tmp_path) == [folder.name] and folder.name.startswith(f"gpuprof-{gethostname()}.{os.getpid()}-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_text("")
        raise KeyboardInterrupt
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_what_a_killed_process_left_goes_with_the_next_one(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", KILLED], env=environment)
    assert [name.partition("/")[2] for name in names(tmp_path)] == ["", "half"]
    with temporary_folder(str(tmp_path)) as folder:
        assert names(tmp_path) == [folder.name]
    assert names(tmp_path) == []


def test_what_is_not_left_by_one_of_us_stays(tmp_path):
    """Of a process that runs, of another machine, a link, a file, a name that is only alike."""
    host = gethostname()
    stay = [
        f"gpuprof-{host}.{os.getppid()}-a/file", "gpuprof-elsewhere.999999999-a/file", f"gpuprof-{host}.x-a/file",
        f"gpuprof-{host}.999999999/file", f"gpuprof-{host}.999999999-file", "real/file",
    ]  # fmt: skip
    write_files(tmp_path, dict.fromkeys([*stay, f"gpuprof-{host}.999999999-a/file"], ""))
    (tmp_path / f"gpuprof-{host}.999999999-link").symlink_to("real")
    remove_left_folders(str(tmp_path))
    found = [name for name in names(tmp_path) if (tmp_path / name).is_file() or (tmp_path / name).is_symlink()]
    assert found == sorted([*stay, f"gpuprof-{host}.999999999-link"])
