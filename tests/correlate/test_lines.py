"""Lines and inlined calls of a real kernel, against the DWARF of the same gpubin as pyelftools reads it."""

import io
import itertools
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from gpuprof.compile import compile_cuda
from gpuprof.correlate.database import ensure_database
from gpuprof.records.writer import RecordWriter
from gpuprof.run.compile_file import build_ptx
from tests.support.recordings import META, launch_fields

LOAD_BASE = 0x10_0000
SOURCE = """\
__device__ inline float twice(float x) {
    return x +
        x;
}
__device__ inline float four_times(float x) {
    return twice(x) + twice(x);
}
__global__ void kernel(float *y, const float *x) {
    int i = threadIdx.x;
    y[i] = four_times(x[i]);
}
"""


@pytest.fixture(scope="module")
def gpubin(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "kernel.cu"
    path.write_text(SOURCE)
    return path, build_ptx(compile_cuda(path))[1]


@pytest.fixture(scope="module")
def db(gpubin):
    path, image = gpubin
    recording = Path(path).with_suffix(".gprec")
    (text,) = [s for s in ELFFile(io.BytesIO(image)).iter_sections() if s.name.startswith(".text.")]
    with RecordWriter(recording) as writer:
        writer.meta(META)
        writer.module(
            0,
            name="kernel.cu",
            load_base=LOAD_BASE,
            code_nbytes=len(text.data()),
            image=image,
            compiler="c",
            arch="sm_80",
        )
        writer.launch_begin(launch_fields(kernel="kernel", symbol="_Z6kernelPfPKf"))
    return ensure_database(recording)


def dwarf_lines(image: bytes) -> dict[int, tuple[str, int, int]]:
    """Code address -> file name, line and column, from .debug_line."""
    dwarf = ELFFile(io.BytesIO(image)).get_dwarf_info(relocate_dwarf_sections=False)
    rows = {}
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        files = program["file_entry"]
        states = [entry.state for entry in program.get_entries() if entry.state]
        for state, after in itertools.pairwise(states):
            name = files[state.file - 1].name.decode()
            for address in range(state.address, after.address, 16):
                rows[address] = (name, state.line, state.column)
    return rows


def test_every_instruction_has_the_line_of_the_dwarf(gpubin, db):
    rows = db.execute(
        "SELECT pc, path, line, column FROM instructions LEFT JOIN sources USING (source) ORDER BY pc"
    ).fetchall()
    lines = dwarf_lines(gpubin[1])
    assert len(rows) > 5
    known = {pc - LOAD_BASE: (Path(path).name, line, column) for pc, path, line, column in rows if line}
    assert len(known) > 5
    assert {
        address: (Path(name).name, line, column) for address, (name, line, column) in lines.items() if line
    } == known


def test_inlined_calls_are_the_subroutines_of_the_dwarf(gpubin, db):
    """`twice` is inlined into `four_times` at line 6, that into the kernel at line 10."""
    chains = {}
    for pc, function, line in db.execute("SELECT pc, function, line FROM inline_frames ORDER BY pc, depth"):
        chains.setdefault(pc, []).append((function, line))
    additions = dict(db.execute("SELECT pc, line FROM instructions WHERE opcode LIKE 'FADD%'"))
    assert additions and set(additions.values()) <= {2, 6}
    for pc, line in additions.items():
        names = [(function.partition("(")[0], call) for function, call in chains[pc]]
        expected = {2: ["twice", "four_times"], 6: ["four_times"]}[line]
        assert [call for _, call in names] == {2: [6, 10], 6: [10]}[line]
        assert all(want in name for want, (name, _) in zip(expected, names, strict=True))


def test_the_source_is_embedded(db, gpubin):
    assert dict(db.execute("SELECT path, text FROM sources"))[str(gpubin[0])] == SOURCE
