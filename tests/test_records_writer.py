"""What is on disk when the writer ends well, is interrupted, fails, is killed, or the disk is full."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from recordings import META, SAMPLES, launch_fields, write_saxpy

from gpuprof.errors import CompileError, GpuprofError, KernelFault, UsageError
from gpuprof.records.reader import read_chunks, read_recording
from gpuprof.records.schema import WIDE_DTYPE
from gpuprof.records.writer import RecordWriter


def record(path: Path, error: BaseException | None = None, launches: int = 1) -> None:
    """A recording of some launches of three samples each; `error` ends the last one."""
    with RecordWriter(path) as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        for launch in range(launches):
            writer.launch_begin(launch_fields(launch))
            rows = SAMPLES.copy()
            rows["launch"] = launch
            writer.samples(launch, rows)
        if error:
            raise error


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupt_keeps_the_records_so_far(tmp_path):
    path = tmp_path / "a.gprec"
    with pytest.raises(KeyboardInterrupt):
        record(path, KeyboardInterrupt())
    recording = read_recording(path)
    assert [chunk.type.decode() for chunk, _ in read_chunks(path)] == ["META", "MODL", "LNCH", "SMPW", "MARK"]
    assert (recording.complete, recording.damage) == (False, None)
    assert recording.marks == [{"text": "interrupted", "cycle": 0}]
    assert recording.launches[0].samples.tolist() == SAMPLES.tolist()


def test_an_interrupt_that_was_marked_is_not_marked_twice(tmp_path):
    with pytest.raises(KeyboardInterrupt), RecordWriter(tmp_path / "a.gprec") as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        writer.launch_begin(launch_fields())
        writer.mark("interrupted", launch=0, cycle=70)
        raise KeyboardInterrupt
    assert read_recording(tmp_path / "a.gprec").marks == [{"text": "interrupted", "launch": 0, "cycle": 70}]


@pytest.mark.parametrize("error", [UsageError("the launch has 2 arguments"), CompileError("no"), KernelFault("fault"), ZeroDivisionError()])
@pytest.mark.parametrize("launches", [0, 1])
def test_an_error_leaves_nothing(tmp_path, error, launches):
    with pytest.raises(type(error)):
        record(tmp_path / "a.gprec", error, launches)
    assert names(tmp_path) == []


def test_nothing_is_kept_before_the_first_launch(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path / "a.gprec", KeyboardInterrupt(), launches=0)
    assert names(tmp_path) == []


def test_the_previous_file_becomes_old(tmp_path):
    path = tmp_path / "a.gprec"
    for _ in range(3):
        before = path.read_bytes() if path.exists() else None
        record(path)
    assert names(tmp_path) == ["a.gprec", "a.gprec.old"]
    assert (tmp_path / "a.gprec.old").read_bytes() == before


@pytest.mark.parametrize("launches", [0, 1])
def test_an_error_gives_the_previous_file_back(tmp_path, launches):
    path = write_saxpy(tmp_path / "a.gprec")
    before = path.read_bytes()
    with pytest.raises(UsageError):
        record(path, UsageError("no"), launches)
    assert names(tmp_path) == ["a.gprec"]
    assert path.read_bytes() == before


def test_an_error_leaves_another_run_s_file_alone(tmp_path):
    path = tmp_path / "a.gprec"
    with pytest.raises(KernelFault), RecordWriter(path) as failing:
        failing.meta(META)
        failing.launch_begin(launch_fields(0))
        before = write_saxpy(path).read_bytes()  # by another process, as far as this one knows
        raise KernelFault("no")
    assert path.read_bytes() == before


def test_a_bad_place_is_refused_before_anything_is_measured(tmp_path):
    with pytest.raises(UsageError, match="is a folder"):
        RecordWriter(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        RecordWriter(tmp_path / "none" / "a.gprec")
    with pytest.raises(UsageError, match="record format 'narrow' is unknown: wide or compact"):
        RecordWriter(tmp_path / "a.gprec", "narrow")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device /dev/full")
def test_a_full_disk(tmp_path):
    (tmp_path / "a.gprec").symlink_to("/dev/full")
    with pytest.raises(GpuprofError, match=r"a\.gprec: cannot write the recording: No space left on device"):
        record(tmp_path / "a.gprec")
    assert os.path.exists("/dev/full")


def test_a_device_is_written_to_and_left_alone():
    record(Path("/dev/null"))
    assert Path("/dev/null").is_char_device() and not Path("/dev/null.old").exists()


def test_a_killed_run_leaves_whole_chunks(tmp_path):
    """kill -9 after 20,000 samples of 32 bytes: the two full chunks of 8192 are there."""
    script = """
        import os, signal, sys
        import numpy as np
        from recordings import META, launch_fields
        from gpuprof.records.schema import WIDE_DTYPE
        from gpuprof.records.writer import RecordWriter
        writer = RecordWriter(sys.argv[1])
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        writer.launch_begin(launch_fields())
        for _ in range(20):
            writer.samples(0, np.zeros(1000, WIDE_DTYPE))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / "a.gprec"
    here = Path(__file__).parent
    paths = os.pathsep.join((str(here.parent), str(here)))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), path], cwd=here, env=os.environ | {"PYTHONPATH": paths})
    assert done.returncode == -signal.SIGKILL
    recording = read_recording(path)
    assert len(recording.launches[0].samples) == 2 * 8192
    assert recording.damage == f"it ends at byte {path.stat().st_size} without an ENDF chunk: the recording was cut off"


def test_an_interrupt_inside_a_write_leaves_no_partial_chunk(tmp_path):
    """Half a chunk is on disk when Ctrl-C comes: it is cut off before the mark follows."""
    path = tmp_path / "a.gprec"
    with pytest.raises(KeyboardInterrupt), RecordWriter(path) as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        writer.launch_begin(launch_fields())
        with open(path, "ab") as half:
            half.write(b"SMPW\x00")
        raise KeyboardInterrupt
    assert [chunk.type.decode() for chunk, _ in read_chunks(path)] == ["META", "MODL", "LNCH", "MARK"]


def test_samples_handed_over_may_change_afterwards(tmp_path):
    rows = np.zeros(1, WIDE_DTYPE)
    with RecordWriter(tmp_path / "a.gprec") as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        writer.launch_begin(launch_fields())
        for pc in (1, 2, 3):
            rows["pc"] = pc
            writer.samples(0, rows)
    assert read_recording(tmp_path / "a.gprec").launches[0].samples["pc"].tolist() == [1, 2, 3]
