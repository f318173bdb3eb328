"""The log of opened files, against strace's idea of it where a process is small enough to say it by hand."""

import os
import subprocess
import sys
from pathlib import Path

from gpuprof.base.dependencies.opened_files import Opened, read_log
from gpuprof.project.file_digests import FileDigests
from tests.paths import ROOT

SCRIPT = """\
import json, os, subprocess, sys
open("read.txt").close()
open("sub/both.txt", "r+").close()
open("written.txt", "w").close()
open("written.txt").close()
os.close(os.open("low.txt", os.O_RDONLY))
try:
    open("absent.txt")
except FileNotFoundError:
    pass
os.listdir("sub")
list(os.scandir())
import helper
os.chdir("sub")
open("../late.txt").close()
subprocess.run([TOOL])
os.environ.clear()
open("after.txt").close()
"""


def test_a_log_has_what_a_process_reads_and_lists(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    for name in ("read.txt", "sub/both.txt", "low.txt", "late.txt", "sub/after.txt", "helper.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "script.py").write_text(SCRIPT.replace("TOOL", repr(str(tool))))
    start = "from gpuprof.base.dependencies.opened_files import log_opened_files as log; log(); import runpy; "
    command = [sys.executable, "-B", "-c", start + "runpy.run_path('script.py')"]
    environment = os.environ | {"GPUPROF_OPENED_FILES": str(tmp_path / "log"), "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    opened = read_log(tmp_path / "log")
    inside = {path for path in opened.read if Path(path).is_relative_to(tmp_path)}
    names = {os.path.relpath(path, tmp_path) for path in inside if not path.endswith(".pyc")}
    assert names == {
        *(
            "read.txt",
            "sub/both.txt",
            "low.txt",
            "absent.txt",
            "late.txt",
            "sub/after.txt",
            "helper.py",
            "script.py",
            "tool",
        ),
    }
    assert {os.path.relpath(path, tmp_path) for path in opened.listed} == {"sub", "."}


def test_a_log_of_several_processes_is_read_as_a_whole(tmp_path):
    (tmp_path / "log").write_bytes(b"r/a\0w/b\0l/c\0r/b\0r/d\ne\0r/unfinis")
    assert read_log(tmp_path / "log") == Opened(frozenset({"/a", "/d\ne"}), frozenset({"/c"}))


def test_digests_are_of_content(tmp_path):
    file, large, known = tmp_path / "a", tmp_path / "large", tmp_path / "known.json"
    file.write_bytes(b"one")
    large.write_bytes(bytes(2 << 20))
    os.utime(large, ns=(10**18, 10**18))
    first = FileDigests(known)
    before = first.of_file(str(file)), first.of_file(str(large))
    file.write_bytes(b"two")
    assert first.of_file(str(file)) == before[0]  # a run of a check sees one state of it
    first.forget()
    assert first.of_file(str(file)) != before[0]
    first.save()
    large.write_bytes(bytes((2 << 20) - 1) + b"x")
    os.utime(large, ns=(10**18, 10**18))  # the same size and time, which its number of changes tells apart
    assert FileDigests(known).of_file(str(large)) != before[1]
    file.write_bytes(b"one")
    assert FileDigests(known).of_file(str(file)) == before[0]
    assert (
        FileDigests().of_file(str(tmp_path)) == FileDigests().of_file("/nowhere") == FileDigests().of_file("a\0") == ""
    )


def test_damaged_digests_are_none(tmp_path):
    file, known = tmp_path / "a", tmp_path / "known.json"
    file.write_bytes(bytes(2 << 20))
    for text in (b"", b"[]", b'{"a": 3}', b"\xff", b'{"a": [1, 2]}'):
        known.write_bytes(text)
        assert FileDigests(known).of_file(str(file)) == FileDigests().of_file(str(file))
