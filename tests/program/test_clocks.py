"""Programs that ask for times of events are found by their object files."""

import struct

import pytest

from gpuprof.program.clocks import measures_events
from gpuprof.program.line_table import SECTION

NAMES = {
    b"\0main\0cudaEventElapsedTime\0cudaEventRecord\0": True,
    b"\0cuEventElapsedTime_v2\0": True,
    b'.rodata: "cuEventElapsedTime\0"': True,
    b"\0cudaEventElapsedTimeless\0": False,
    b"\0cudaEventRecord\0clock_gettime\0": False,
}


def elf(**sections: bytes) -> bytes:
    """A file with these sections, after the one of their names."""
    contents = {"names": b"", **sections}
    contents["names"] = b"".join(f".{name}\0".encode() for name in contents)
    heads, body, start, name_at = b"", b"", 64, 0
    for name, content in contents.items():
        heads += SECTION.pack(name_at, 1, 0, 0, start + len(body), len(content), 0, 0, 1, 0)
        body += content
        name_at += len(name) + 2
    head = b"\x7fELF".ljust(40, b"\0") + struct.pack("<Q", start + len(body))
    return head.ljust(58, b"\0") + struct.pack("<HHH", SECTION.size, len(contents), 0) + body + heads


@pytest.mark.parametrize("names", NAMES)
def test_events(tmp_path, names):
    first, second = tmp_path / "first.o", tmp_path / "second.o"
    first.write_bytes(elf(debug_str=names))  # which names what headers declare
    second.write_bytes(elf(text=b"", strtab=names))
    assert measures_events([first, second]) == NAMES[names]
    assert not measures_events([first])
