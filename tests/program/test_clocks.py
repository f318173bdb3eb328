"""Which clocks a program reads is found in its object files."""

import pytest

from gpuprof.program.clocks import measures_events, reads_host_clock

# A table of names -> (events, a clock of the host)
NAMES = {
    b"\0main\0cudaEventElapsedTime\0cudaEventRecord\0": (True, False),
    b"\0cuEventElapsedTime_v2\0": (True, False),
    b'.rodata: "cuEventElapsedTime\0"': (True, False),
    b"\0cudaEventElapsedTimeless\0": (False, False),
    b"\0cudaEventRecord\0time\0srand\0": (False, False),
    b"\0_ZNSt3__16chrono12steady_clock3nowEv\0": (False, True),
    b"\0_ZNSt6chrono3_V212system_clock3nowEv\0": (False, True),
    b"\0clock_gettime\0cudaEventElapsedTime\0": (True, True),
    b"\0gettimeofday\0": (False, True),
    b"\0clock\0": (False, True),
    b"\0clock_of_mine\0o'clock\0": (False, False),
}


@pytest.mark.parametrize("names", NAMES)
def test_clocks(tmp_path, names):
    first, second = tmp_path / "first.o", tmp_path / "second.o"
    first.write_bytes(b"\x7fELF\0")
    second.write_bytes(b"\x7fELF" + names)
    assert (measures_events([first, second]), reads_host_clock([first, second])) == NAMES[names]
    assert not measures_events([first]) and not reads_host_clock([first])
