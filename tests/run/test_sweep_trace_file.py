"""NAME.gptrace of a sweep: refusals of what is damaged, foreign or of something else, before compiled code follows
it.
"""

import re
import struct

import numpy as np
import pytest

from gpuprof.run.swept_program import versions_here
from gpuprof.run.trace_file.layout import CHUNK_HEADER, FILE_HEADER
from gpuprof.run.trace_file.read_sweep import programs_of
from tests.run.test_trace_file import changed, chunks_of, put, sealed, with_fields, with_header, with_piece
from tests.support.command import gpuprof, names

KERNELS = """// LAUNCH: column<<<6, 128, 0, 1>>>(in: f32[24576]=random, out: f32[768])
// LAUNCH: column<<<6, 128, 0, 1>>>(in, out)
__global__ void column(const float *in, float *out)
{
    __shared__ float all[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    all[threadIdx.x] = in[32 * i];
    __syncthreads();
    out[i] = all[127 - threadIdx.x];
}
"""

ONE = ("--launch", "column<<<6, 128>>>(in: f32[24576]=random, out: f32[768])")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("traces of sweeps")  # a path with spaces
    (made / "column.cu").write_text(KERNELS)
    return made


def sweep(folder, name, *words):
    return gpuprof(folder, "sweep", "column.cu", "--jobs", "1", "--traces", name, *words)


@pytest.fixture(scope="module")
def whole(folder):
    assert sweep(folder, "whole.gptrace")[0] == 0
    return (folder / "whole.gptrace").read_bytes()


def said(folder, data, *words):
    """Gives what a sweep says of a file, which stays as it is."""
    (folder / "some.gptrace").write_bytes(data)
    code, _, error = sweep(folder, "some.gptrace", *words)
    assert code in (1, 2, 3, 4) and error
    assert (folder / "some.gptrace").read_bytes() == data
    return error


def test_what_is_in_it(whole, folder):
    """Launches on streams are timed together, and end together."""
    assert [type_ for type_, _ in chunks_of(whole)] == [
        *(b"SWEP", b"PROG", b"PIEC", b"PIEC", b"LNCH", b"CNTR", b"LNCH", b"CNTR", b"ENDF")
    ]
    [place] = programs_of(folder / "whole.gptrace", versions_here())
    first = FILE_HEADER.size + 2 * CHUNK_HEADER.size + len(chunks_of(whole)[0][1])
    assert place.start == first - CHUNK_HEADER.size
    assert place.end == len(whole) - CHUNK_HEADER.size
    assert {number: [block for block, _ in found] for number, found in place.pieces.items()} == {0: [0], 1: [0]}
    counters = dict(chunks_of(whole))[b"CNTR"]
    executed = np.frombuffer(counters, "<u8").reshape(10, -1)[0]
    assert executed[0] == 6 * 4  # warps of the last launch


def test_the_same_sweep_gives_the_same_bytes(folder, whole):
    assert sweep(folder, "again.gptrace", "--param", "sms=3")[0] == 0
    assert (folder / "again.gptrace").read_bytes() == whole


def test_an_empty_file_is_written(folder, whole):
    (folder / "empty.gptrace").write_bytes(b"")
    assert sweep(folder, "empty.gptrace")[0] == 0
    assert (folder / "empty.gptrace").read_bytes() == whole


@pytest.mark.parametrize(
    "header, words",
    [
        (
            b"GPTRACE\n\x02\0\0\0\0\0\0\0",
            "has format version 2, and this gpuprof reads 3: remove it, and",
        ),
        (b"GPTRACE\n\x04\0\0\0\0\0\0\0", "has format version 4, and"),
    ],
)
def test_another_format(folder, whole, header, words):
    assert words in said(folder, header + whole[16:])


def test_each_command_has_files_of_its_own(folder, whole):
    assert gpuprof(folder, "collect", "column.cu", "--save-stream", "-o", "one.gprec", *ONE)[0] == 0
    code, _, error = gpuprof(folder, "whatif", "one.gprec", "--traces", "whole.gptrace")
    assert (code, error) == (
        4,
        "gpuprof: whole.gptrace: its traces are of a sweep, which times launches from power-on; give another name, or "
        "remove it\n",
    )
    assert gpuprof(folder, "whatif", "one.gprec", "--traces", "of whatif.gptrace", "--budget", "0s")[0] == 0
    assert said(folder, (folder / "of whatif.gptrace").read_bytes()) == (
        "gpuprof: some.gptrace: its traces are of a recording, for `whatif` and `advise`; give another name, or remove "
        "it\n"
    )


@pytest.mark.parametrize("words", [("--seed", "1"), ("--max-instructions", "100000"), ("--define", "A=1,2")])
def test_traces_of_another_program(folder, whole, words):
    if words[0] != "--define":
        words = (*words, "--param", "sms=2,3")
    else:
        (folder / "column.cu").write_text(KERNELS.replace("32 * i", "31 * i"))
    try:
        error = said(folder, whole, *words)
    finally:
        (folder / "column.cu").write_text(KERNELS)
    assert error == (
        "gpuprof: some.gptrace: its traces are of another program, or of other launches or data; give another name, or "
        "remove it\n"
    )


def test_traces_of_another_version(folder, whole):
    error = said(folder, changed(whole, b"SWEP", with_fields(model="0.9")))
    assert "its traces are of gpuprof 0.1.0, model 0.9; give another name, or remove it" in error


@pytest.mark.parametrize("count", [8, 15, 16, 20, 40, 0.3, 0.7, -1, -16])
def test_truncated(folder, whole, count):
    n = int(count * len(whole)) if isinstance(count, float) else count
    error = said(folder, whole[:n])
    assert "some.gptrace: is damaged: it ends" in error or "is no file of traces" in error


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_byte_is_noticed(folder, whole, seed):
    data = bytearray(whole)
    data[int(np.random.default_rng(seed).integers(8, len(data)))] ^= 1 << seed % 8
    assert "some.gptrace: " in said(folder, bytes(data))


@pytest.mark.parametrize(
    "change, words",
    [
        (with_piece("step_start", put(1, 1 << 40)), "warps whose steps overlap"),
        (with_piece("steps", put(0, 1 << 20, "block")), "a basic block that the code has not"),
        (with_piece("accesses", put(0, 200, "n_sectors")), "sectors that do not match the accesses"),
        (with_piece("sectors", put(0, -5)), "a negative address"),
        (with_header(n_steps=1 << 60), "a piece of .* bytes claims"),
        (with_header(first_block=2), "a piece from block 2 on, where 0 is due"),
        (with_header(grid=0), "a piece from block 0 on, where 6 is due|it has not all blocks of column"),
        (with_header(grid=7), "it has not all blocks of column"),
        (lambda payload: payload[:8], "a piece without its header"),
    ],
)
def test_hostile_pieces(folder, whole, change, words):
    assert re.search(words, said(folder, changed(whole, b"PIEC", change)))


def counters(at, value):
    def made(payload):
        data = bytearray(payload)
        struct.pack_into("<Q", data, 8 * at, value)
        return bytes(data)

    return made


@pytest.mark.parametrize(
    "type_, change, words",
    [
        (b"CNTR", counters(3, 1 << 63), "a counter of launch 0 is out of range"),
        (b"CNTR", lambda payload: payload[8:], "it has no counters of launch 0"),
        (b"LNCH", with_fields(n_instructions=7), "it has no counters of launch 0"),
        (b"LNCH", with_fields(n_instructions=-1), "it has no counters of launch 0"),
        (b"LNCH", with_fields(number=5), "it has no launch 0"),
        (b"LNCH", with_fields(slow_slots=[[1 << 40, 2]]), "a counter of launch 0 is out of range"),
        (b"LNCH", with_fields(slow_slots=[[-1, 2]]), "a counter of launch 0 is out of range"),
        (b"LNCH", with_fields(slow_slots=[[1, 2, 3]]), "has 3 items, not 2"),
        (b"LNCH", with_fields(more=1), "does not have the fields of SweptLaunch"),
        (b"PROG", lambda _: b"[" * 100_000, "is damaged"),
        (b"PROG", with_fields(digest=5), "is damaged"),
        (b"SWEP", lambda _: b"{}", "does not have the fields of Versions"),
    ],
)
def test_hostile_objects_and_counters(folder, whole, type_, change, words):
    assert words in said(folder, changed(whole, type_, change))


def test_chunks_in_another_order(folder, whole):
    chunks = chunks_of(whole)
    for some in (chunks[1:], chunks[:-1] + chunks[-2:], [chunks[0], *chunks[2:]], [*chunks, chunks[-1]]):
        assert "is damaged" in said(folder, sealed(some))
    without_counters = [each for each in chunks if each[0] != b"CNTR"]
    assert "it has no counters of launch 0" in said(folder, sealed(without_counters))
    twice = [each for each in chunks for _ in range(2 if each[0] == b"PIEC" else 1)]
    assert "a piece from block 0 on, where 6 is due" in said(folder, sealed(twice))


def test_an_interrupt_leaves_no_half_file(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    before = set(names(folder))
    monkeypatch.setattr("gpuprof.run.trace_file.write_sweep._copy", interrupted)
    assert sweep(folder, "half.gptrace")[0] == 130
    assert set(names(folder)) == before
