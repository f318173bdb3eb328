"""What is on disk after the worst: a recording that was killed, or met a full disk, and can be read; names of killed
runs that go.
"""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from socket import gethostname

import pytest

from gpuprof.base.files import remove_left, replacing
from tests.paths import ROOT
from tests.records.test_writer import disk_of
from tests.support.command import PROGRAM, gpuprof, names, write_files

SPIN = """\
.version 8.0
.target sm_80
.address_size 64
.global .u32 last;
// LAUNCH: spin<<<108, 256>>>()
.visible .entry spin()
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    mov.u32 %r1, 0;
    mov.u32 %r2, %tid.x;
L:  mad.lo.u32 %r2, %r2, %r2, %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, TIMES;
    @%p bra L;
    st.global.u32 [last], %r2;
    ret;
}
"""


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_collect_on_a_full_disk(tmp_path):
    """What was recorded is kept, the error says how to see it, and it can be seen."""
    write_files(tmp_path, {"spin.ptx": SPIN.replace("TIMES", "2000")})
    write_files(tmp_path / "first", {"spin.ptx": SPIN.replace("TIMES", "2")})
    # Numba's cache is no part of what the disk has room for
    assert gpuprof(tmp_path / "first", "collect", "spin.ptx")[0] == 0
    shutil.rmtree(tmp_path / "first")
    with disk_of(600_000):
        code, out, error = gpuprof(tmp_path, "collect", "spin.ptx", "--period", "32")
    expected = (
        "spin.gprec: cannot write the recording: File too large; the part before can be read: gpuprof report spin.gprec"
    )
    assert (code, out) == (1, "") and error.endswith(f"gpuprof: {expected}\n")
    assert names(tmp_path) == ["spin.gprec", "spin.ptx"]
    code, out, error = gpuprof(tmp_path, "report", "spin.gprec")
    assert code == 0 and "NOT COMPLETE" in out and "the recording was cut off" in out and "spin" in out
    code, out, error = gpuprof(tmp_path, "records", "spin.gprec")
    assert code == 1 and error.endswith("the recording was cut off; the records above are intact\n")
    assert out.count("\n") % 8192 == 0 and len(out) > 8192  # whole chunks


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_collect_that_is_killed(tmp_path):
    """The recording lies under its own name, and what had been recorded is in it: whole chunks, the last of them
    samples.
    """
    write_files(tmp_path, {"spin.ptx": SPIN.replace("TIMES", "300000")})
    command = [*PROGRAM, "collect", "spin.ptx", "--period", "32"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    recording, end = tmp_path / "spin.gprec", time.monotonic() + 120
    while not (recording.exists() and recording.stat().st_size > 400_000):
        assert run.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    assert names(tmp_path) == [".spin.gprec.lock", "spin.gprec", "spin.ptx"]
    code, out, _ = gpuprof(tmp_path, "report", "spin.gprec")
    assert code == 0 and "NOT COMPLETE" in out and "the recording was cut off" in out and "spin" in out
    write_files(tmp_path, {"spin.ptx": SPIN.replace("TIMES", "2")})
    assert gpuprof(tmp_path, "collect", "spin.ptx")[0] == 0  # the lock went with its process, its file goes now
    assert names(tmp_path) == ["spin.gprec", "spin.gprec.old", "spin.ptx"]


def test_a_script_that_fails(tmp_path):
    """The launch that ended is kept, and the error says where; a script that fails before leaves the file as it was."""
    script = "import gpuprof\nspin = gpuprof.Device().load('spin.ptx')['spin']\n{}raise ValueError('no')\n"
    write_files(tmp_path, {"spin.ptx": SPIN.replace("TIMES", "2"), "s.py": script.format("spin[2, 32]()\n")})
    code, _, error = gpuprof(tmp_path, "collect", "s.py")
    kept = "gpuprof: s.py: the script ended with ValueError; the part before can be read: gpuprof report s.gprec\n"
    assert code == 1 and error.endswith(f"ValueError: no\n{kept}")
    assert gpuprof(tmp_path, "collect", "s.py", "-o", "my s.gprec")[2].endswith(
        "; the part before can be read: gpuprof report 'my s.gprec'\n"
    )
    assert gpuprof(tmp_path, "replay", "my s.gprec")[::2] == (
        4,
        "gpuprof: my s.gprec: no command stream is saved in it: the run was cut off\n",
    )
    (tmp_path / "my s.gprec").unlink()
    code, out, _ = gpuprof(tmp_path, "report", "s.gprec", "--page", "launches")
    assert code == 0 and "NOT COMPLETE" in out and "# note       s.py: the script ended with ValueError\n" in out
    before = (tmp_path / "s.gprec").read_bytes()
    write_files(tmp_path, {"s.py": script.format("")})
    code, _, error = gpuprof(tmp_path, "collect", "s.py")
    assert code == 1 and error.endswith("gpuprof: s.py: the script ended with ValueError\n")
    assert names(tmp_path) == ["s.gprec", "s.py", "spin.ptx"] and (tmp_path / "s.gprec").read_bytes() == before


# Names beside a file that is being replaced.


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_what_a_killed_run_left_goes_when_the_next_begins(tmp_path):
    script = """
        import os, signal, sys
        from pathlib import Path
        from gpuprof.base.files import replacing
        with replacing(Path(sys.argv[1])) as partial:
            partial.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / "a [1].gpudb"
    done = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), path], env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.wait() == -signal.SIGKILL
    assert names(tmp_path) == [f".a [1].gpudb.{gethostname()}.{done.pid}.partial"]
    with replacing(tmp_path / "b.gpudb") as partial:
        partial.write_text("another file's run leaves it alone")
    assert len(names(tmp_path)) == 2
    with replacing(path) as partial:
        partial.write_text("whole")
    assert names(tmp_path) == ["a [1].gpudb", "b.gpudb"] and path.read_text() == "whole"


def test_what_another_run_is_writing_stays(tmp_path):
    """It may be a process of ours, of another machine that shares the folder, or a file that is named by chance like
    one of ours.
    """
    others = [
        f".a.HERE.{os.getppid()}.partial",
        ".a.elsewhere.4000000.partial",
        ".a.HERE.x.partial",
        ".a.HERE.4000000.partial.gz",
        ".b.HERE.4000000.partial",
    ]
    write_files(tmp_path, dict.fromkeys([*others, ".a.HERE.999999999.partial"], "half"))
    remove_left(tmp_path, ".a.HERE.")
    assert names(tmp_path) == sorted(others)


def test_an_error_and_a_folder_that_is_not_there_leave_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a") as partial:
        partial.write_text("half")
        raise ZeroDivisionError
    assert names(tmp_path) == []
    remove_left(tmp_path / "none", ".a.HERE.")
