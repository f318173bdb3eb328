"""A lock of several processes: who has it, who waits, and what happens when its holder is killed."""

import errno
import os
import subprocess
import sys

import pytest

from gpuprof.base.caching.lock import Lock, fcntl
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(fcntl is None, reason="the system has no flock")
HOLDER = """
import sys
from pathlib import Path
from gpuprof.base.caching.lock import Lock
print(Lock(Path(sys.argv[1])).take() if len(sys.argv) == 2 else None, flush=True)
sys.stdin.read()
"""


def holder(path, **options) -> subprocess.Popen:
    command = [sys.executable, "-c", HOLDER, path, *(["inherited"] if options else [])]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, **options)
    child.stdout.readline()
    return child


def test_one_at_a_time_and_free_when_its_holder_is_killed(tmp_path):
    lock = Lock(tmp_path / "lock")
    child = holder(tmp_path / "lock")
    assert not lock.take() and not lock.take()
    child.kill()
    child.communicate()
    assert lock.take() and lock.take()
    assert not Lock(tmp_path / "lock").take()
    lock.give_up()
    assert Lock(tmp_path / "lock").take()


def test_a_child_that_inherits_it_holds_it_until_it_ends(tmp_path):
    lock, other = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    assert lock.take()
    child = holder(tmp_path / "lock", pass_fds=lock.handles)
    lock.give_up()
    assert not other.take()
    child.communicate()
    assert other.take()


def test_where_there_are_no_locks_everybody_has_it(tmp_path, monkeypatch):
    assert Lock(tmp_path / "no folder" / "lock").take()

    def refuse(handle, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert Lock(tmp_path / "lock").take() and Lock(tmp_path / "lock").take()
