"""Whether a program asks for times of events is found in its object files."""

import pytest

from gpuprof.program.clocks import measures_events

NAMES = {
    b"\0main\0cudaEventElapsedTime\0cudaEventRecord\0": True,
    b"\0cuEventElapsedTime_v2\0": True,
    b'.rodata: "cuEventElapsedTime\0"': True,
    b"\0cudaEventElapsedTimeless\0": False,
    b"\0cudaEventRecord\0clock_gettime\0": False,
}


@pytest.mark.parametrize("names", NAMES)
def test_events(tmp_path, names):
    first, second = tmp_path / "first.o", tmp_path / "second.o"
    first.write_bytes(b"\x7fELF\0")
    second.write_bytes(b"\x7fELF" + names)
    assert measures_events([first, second]) == NAMES[names]
    assert not measures_events([first])
