"""The record stream, written and read back: whole, cut at every byte, with flipped bits, newer, foreign."""

import pytest
from recordings import CHIP, LAUNCH_END, META, SAMPLES, counters, launch_fields, write_saxpy

from gpuprof.records.reader import read_chunks, read_recording


@pytest.fixture
def saxpy(tmp_path):
    return write_saxpy(tmp_path / "saxpy.gprec")


def chunk_types(path) -> list[str]:
    return [chunk.type.decode() for chunk, _ in read_chunks(path)]


SAXPY_CHUNKS = ["META", "CHIP", "MODL", "IMAG", "SRCF", "LNCH", "SMPW", "LEDG", "CNTR", "LEND", "ENDF"]


def test_whole(saxpy):
    recording = read_recording(saxpy)
    assert chunk_types(saxpy) == SAXPY_CHUNKS
    assert (recording.complete, recording.damage) == (True, None)
    assert (recording.meta, recording.chip) == (META, CHIP)
    assert recording.modules[0].image == b"\x7fELF image"
    assert list(recording.sources) == ["saxpy.cu"]
    launch = recording.launches[0]
    assert (launch.begin, launch.end) == (launch_fields(), LAUNCH_END)
    assert launch.samples.tolist() == SAMPLES.tolist()
    assert launch.ledger.tolist() == [(0x1000, 0, 4), (0x1010, 3, 600), (0x1020, 15, 60)]
    assert launch.counters.tolist() == counters()[:2].tolist()
