"""What is on disk when the writer ends well, is interrupted, fails, is killed, or the disk is full."""

import os
import signal
import struct
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gpuprof.errors import CompileError, GpuprofError, KernelFault, UsageError
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.tables.samples import WIDE
from tests.paths import ROOT
from tests.support.recordings import META, SAMPLES, launch_fields, timing, write_saxpy


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
        writer.samples(0, SAMPLES)
        writer.mark("interrupted", launch=0, cycle=70)
        raise KeyboardInterrupt
    assert read_recording(tmp_path / "a.gprec").marks == [{"text": "interrupted", "launch": 0, "cycle": 70}]


@pytest.mark.parametrize(
    "error", [UsageError("the launch has 2 arguments"), CompileError("no"), KernelFault("fault"), ZeroDivisionError()]
)
@pytest.mark.parametrize("launches", [0, 1])
def test_an_error_leaves_nothing(tmp_path, error, launches):
    with pytest.raises(type(error)):
        record(tmp_path / "a.gprec", error, launches)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "error, why", [(KernelFault("a fault"), "a fault"), (ZeroDivisionError(), "ZeroDivisionError")]
)
def test_an_error_keeps_the_launches_that_ended(tmp_path, error, why):
    """Two ended, a third had begun; the file that was there before becomes the old one."""
    path = write_saxpy(tmp_path / "a.gprec")
    before = path.read_bytes()
    with pytest.raises(type(error)), RecordWriter(path) as writer:
        two_launches(writer)
        writer.launch_begin(launch_fields(2))
        raise error
    recording = read_recording(path)
    assert writer.is_part and (recording.complete, recording.damage) == (False, None)
    assert [launch.end is not None for launch in recording.launches.values()] == [True, True, False]
    assert recording.marks == [{"text": why, "cycle": 0}]
    assert (tmp_path / "a.gprec.old").read_bytes() == before


@pytest.mark.parametrize("has_mark", [False, True])
def test_an_interrupt_before_anything_is_measured_gives_the_previous_file_back(tmp_path, has_mark):
    """A launch had begun: a reader would find nothing in the file, so nobody is told that it can be read."""
    path = write_saxpy(tmp_path / "a.gprec")
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt), RecordWriter(path) as writer:
        writer.meta(META)
        writer.launch_begin(launch_fields())
        if has_mark:
            writer.mark("interrupted", launch=0)
        raise KeyboardInterrupt
    assert not writer.is_part and names(tmp_path) == ["a.gprec"] and path.read_bytes() == before


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


def complete_file(path: Path, **sizes) -> bytes:
    """Two launches, with more than one chunk of samples if `n_samples` says so; the bytes."""
    with RecordWriter(path) as writer:
        two_launches(writer, **sizes)
    return path.read_bytes()


def two_launches(writer: RecordWriter, n_samples: int = 3) -> None:
    writer.meta(META)
    writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
    for launch in range(2):
        writer.launch_begin(launch_fields(launch))
        rows = np.resize(SAMPLES, n_samples)
        rows["launch"] = launch
        writer.samples(launch, rows)
        writer.launch_end(launch, timing(samples_due=n_samples, samples_kept=n_samples))


def chunk_ends(data: bytes) -> list[int]:
    ends = [16]
    while ends[-1] < len(data):
        ends.append(ends[-1] + 12 + struct.unpack_from("<I", data, ends[-1] + 4)[0])
    return ends


@contextmanager
def disk_of(nbytes: int):
    """Files can have so many bytes and no more: the system takes the part of a write that fits, and refuses the
    next.
    """
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_a_disk_that_is_full_at_any_byte(tmp_path):
    """Before the first samples are there nothing is left, and the previous file is back; from then on whole chunks are,
    which are those of a disk with room, and the error says so. No byte of the file is special but chunks' ends: each is
    tried, and some between."""
    path, previous = tmp_path / "a.gprec", b"the recording of yesterday"
    whole = complete_file(tmp_path / "whole.gprec")
    ends = chunk_ends(whole)
    begun = ends[4]  # META, MODL, LNCH, SMPW
    for room in sorted(
        {*range(0, len(whole), 41), *ends[:-1], *(end - 1 for end in ends), *(end + 1 for end in ends[:-1])}
    ):
        (tmp_path / "a.gprec.old").unlink(missing_ok=True)
        path.write_bytes(previous)
        writer = RecordWriter(path)
        with (
            disk_of(room),
            pytest.raises(GpuprofError, match=r"a\.gprec: cannot write the recording: File too large"),
            writer,
        ):
            two_launches(writer)
        left = max(end for end in ends if end <= room) if room >= begun else 0
        assert writer.cut_short == (left > 0)
        assert path.read_bytes() == (whole[:left] if left else previous), room
        if left:
            assert (
                read_recording(path).damage
                == f"it ends at byte {left} without an ENDF chunk: the recording was cut off"
            )
            assert (tmp_path / "a.gprec.old").read_bytes() == previous


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_nothing_goes_behind_a_part_of_a_chunk(tmp_path):
    """A script that catches the error and goes on gets it again, also where there is room by then."""
    writer = RecordWriter(tmp_path / "a.gprec")
    with pytest.raises(GpuprofError, match="File too large"), writer:
        with disk_of(1000), pytest.raises(GpuprofError, match="File too large"):
            two_launches(writer)
        with pytest.raises(GpuprofError, match="File too large"):
            writer.mark("more")
    assert read_recording(tmp_path / "a.gprec").damage.endswith("without an ENDF chunk: the recording was cut off")


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_an_interrupt_on_a_full_disk(tmp_path):
    """There is no room for the note that it was interrupted: whole chunks stay without it."""
    whole = complete_file(tmp_path / "whole.gprec")
    ends = chunk_ends(whole)
    writer = RecordWriter(tmp_path / "a.gprec")
    with disk_of(ends[-3] + 5), pytest.raises(GpuprofError, match="File too large"), writer:
        with pytest.raises(GpuprofError):
            two_launches(writer)
        raise KeyboardInterrupt
    assert (tmp_path / "a.gprec").read_bytes() == whole[: ends[-3]]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device /dev/full")
def test_a_full_disk(tmp_path):
    with open("/dev/full", "wb") as full:
        place = f"/dev/fd/{full.fileno()}"
        with pytest.raises(GpuprofError, match=f"{place}: cannot write the recording: No space left on device"):
            record(Path(place))


def test_a_device_is_written_to_and_left_alone():
    record(Path("/dev/null"))
    assert Path("/dev/null").is_char_device() and not Path("/dev/null.old").exists()


def test_a_killed_run_leaves_whole_chunks(tmp_path):
    """kill -9 after 20,000 samples of 32 bytes: the two full chunks of 8192 are there."""
    script = """
        import os, signal, sys
        import numpy as np
        from tests.support.recordings import META, launch_fields
        from gpuprof.tables.samples import WIDE
        from gpuprof.records.writer import RecordWriter
        writer = RecordWriter(sys.argv[1])
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        writer.launch_begin(launch_fields())
        for _ in range(20):
            writer.samples(0, np.zeros(1000, WIDE.dtype))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / "a.gprec"
    paths = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), path], cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}
    )
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
        writer.samples(0, SAMPLES)
        writer.source("a.cu", "")
        with open(path, "ab") as half:
            half.write(b"SMPW\x00")
        raise KeyboardInterrupt
    assert [chunk.type.decode() for chunk, _ in read_chunks(path)] == [
        *("META", "MODL", "LNCH", "SMPW", "SRCF", "MARK")
    ]


def test_samples_handed_over_may_change_afterwards(tmp_path):
    rows = np.zeros(1, WIDE.dtype)
    with RecordWriter(tmp_path / "a.gprec") as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
        writer.launch_begin(launch_fields())
        for pc in (1, 2, 3):
            rows["pc"] = pc
            writer.samples(0, rows)
    assert read_recording(tmp_path / "a.gprec").launches[0].samples["pc"].tolist() == [1, 2, 3]
