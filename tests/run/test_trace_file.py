"""NAME.gptrace: the same timings from a file, and refusals of what is damaged, foreign or of something else."""

import json
from zlib import compress, crc32, decompress

import numpy as np
import pytest

from gpuprof.base.inputs import TRACES
from gpuprof.chips import load_chip
from gpuprof.errors import FileFormatError, GpuprofError, NotComparable, UsageError
from gpuprof.isa.encoding import make
from gpuprof.run import stored_launches
from gpuprof.run.stored_launches import Capture, read_launches
from gpuprof.run.trace_file import describe, read, write
from gpuprof.run.trace_file.layout import ARRAYS, CHUNK_HEADER, CHUNKS, FILE_HEADER, PIECE_HEADER, VERSION, PieceHeader
from gpuprof.run.trace_file.sound import fault_of
from gpuprof.timing.state.static_program import ARRIVE, BARRIER, BULK, GLOBAL, MBARRIER_WAIT
from gpuprof.whatif.timing_again import timed
from tests.paths import DOCS
from tests.support.command import gpuprof, names
from tests.support.timing_support import access, warp
from tests.whatif.hand import subject

OF_SWEEPS = {b"SWEP", b"PROG", b"LNCH", b"CNTR"}
# With --cache keep the second launch finds what the first has left.
KERNELS = """// LAUNCH: column<<<6, 128>>>(in: f32[24576]=random, out: f32[768])
// LAUNCH: column<<<6, 128>>>(in, out)
__global__ void column(const float *in, float *out)
{
    __shared__ float all[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    all[threadIdx.x] = in[32 * i];
    __syncthreads();
    out[i] = all[127 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("traces of launches")  # a path with spaces
    (made / "column.cu").write_text(KERNELS)
    for name, flags in (("one.gprec", []), ("h200.gprec", ["--chip", "h200"]), ("other.gprec", ["--seed", "7"])):
        words = ("collect", "column.cu", "--save-stream", "--cache", "keep", *flags, "-o", name)
        assert gpuprof(made, *words)[0] == 0
    return made


@pytest.fixture(scope="module")
def whole(folder):
    """The bytes of a file of both launches."""
    path = folder / "whole file.gptrace"
    read_launches(folder / "one.gprec", [0, 1], path)
    return path.read_bytes()


def from_file(folder, data, recording="one.gprec", wanted=(0, 1)):
    path = folder / "some.gptrace"
    path.write_bytes(data)
    return read_launches(folder / recording, wanted, path)


def chunks_of(data):
    """[(type, payload)] of a file."""
    found, at = [], FILE_HEADER.size
    while at < len(data):
        type_, _, nbytes = CHUNK_HEADER.unpack_from(data, at)
        found.append((type_, data[at + CHUNK_HEADER.size : at + CHUNK_HEADER.size + nbytes]))
        at += CHUNK_HEADER.size + nbytes
    return found


def sealed(chunks):
    header = FILE_HEADER.pack(b"GPTRACE\n", VERSION, 0)
    return header + b"".join(CHUNK_HEADER.pack(type_, crc32(data), len(data)) + data for type_, data in chunks)


def changed(data, type_, change):
    """The file with the first chunk of a type changed, and its CRC right."""
    chunks = chunks_of(data)
    at = [each for each, _ in chunks].index(type_)
    chunks[at] = type_, change(chunks[at][1])
    return sealed(chunks)


def with_fields(**fields):
    return lambda payload: json.dumps(json.loads(payload) | fields).encode()


def test_the_same_timings_without_emulation(folder, whole, monkeypatch):
    carried_out = read_launches(folder / "one.gprec", [0, 1])
    monkeypatch.setattr(stored_launches, "replay", None)  # nothing is carried out
    found = from_file(folder, whole)
    for index in (0, 1):
        before, now = timed(carried_out[index]), timed(found[index])
        assert (now.ledger == before.ledger).all() and (now.causes == before.causes).all()
        assert (now.start_cycle, now.end_cycle) == (before.start_cycle, before.end_cycle)
    assert timed(found[1]).cycles < timed(found[0]).cycles  # the caches are in the file, too
    assert [type_ for type_, _ in chunks_of(whole)][:2] == [b"HEAD", b"BTCH"]
    assert {type_ for type_, _ in chunks_of(whole)} == CHUNKS.keys() - OF_SWEEPS


def test_the_same_run_gives_the_same_bytes(folder, whole):
    read_launches(folder / "one.gprec", [0, 1], folder / "again.gptrace")
    assert (folder / "again.gptrace").read_bytes() == whole


def test_an_empty_file_is_written(folder, whole):
    from_file(folder, b"")
    assert (folder / "some.gptrace").read_bytes() == whole


@pytest.mark.parametrize("command", ["whatif", "advise"])
def test_commands_print_the_same_with_it(folder, command):
    words = (command, "one.gprec", "--json", "--budget", "0s")
    name = f"of {command}.gptrace"
    plain = gpuprof(folder, *words)
    assert plain[0] == 0
    assert [gpuprof(folder, *words, "--traces", name) for _ in range(2)] == [plain, plain]
    assert name in names(folder)


@pytest.mark.parametrize("count", [8, 15, 16, 20, 40, 0.3, 0.7, -1])
def test_truncated(folder, whole, count):
    n = int(count * len(whole)) if isinstance(count, float) else count
    with pytest.raises(FileFormatError, match=r"some\.gptrace: is (damaged|no file of traces)"):
        from_file(folder, whole[:n])


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_byte_is_noticed(folder, whole, seed):
    data = bytearray(whole)
    data[int(np.random.default_rng(seed).integers(8, len(data)))] ^= 1 << seed % 8
    with pytest.raises((FileFormatError, NotComparable)):
        from_file(folder, bytes(data))


@pytest.mark.parametrize(
    "header, words",
    [
        (
            b"GPTRACE\n\x02\0\0\0\0\0\0\0",
            "has format version 2, and this gpuprof reads 3: remove it, and",
        ),
        (b"GPTRACE\n\x03\0\0\0\x01\0\0\0", "has format version 3, and"),
    ],
)
def test_another_format(folder, whole, header, words):
    with pytest.raises(FileFormatError, match=words):
        from_file(folder, header + whole[16:])


@pytest.mark.parametrize(
    "recording, fields, words",
    [
        ("other.gprec", {}, "its traces are of another program, or of other launches or data"),
        ("h200.gprec", {}, "its traces are of chip a100, and this is h200"),
        ("one.gprec", {"chip_digest": ""}, "its traces are of chip a100, and this is another a100"),
        ("one.gprec", {"model": "0.9"}, "its traces are of version 0.9 of the timing model, and this is"),
    ],
)
def test_traces_of_something_else(folder, whole, recording, fields, words):
    with pytest.raises(NotComparable, match=words):
        from_file(folder, changed(whole, b"HEAD", with_fields(**fields)), recording)


def test_a_launch_that_is_not_in_it(folder):
    path = folder / "first.gptrace"
    read_launches(folder / "one.gprec", [0], path)
    with pytest.raises(NotComparable, match="launch 1 is not in it; give another name, or remove it"):
        read_launches(folder / "one.gprec", [1], path)


# What compiled code would follow without looking.


def with_piece(name, change):
    """A piece one of whose arrays is changed in place."""

    def made(payload):
        header = PieceHeader(*PIECE_HEADER.unpack_from(payload))
        data, offset = bytearray(payload), PIECE_HEADER.size
        for (array, dtype, _), count in zip(ARRAYS, header.rows, strict=True):
            if array == name:
                change(np.frombuffer(data, dtype, count, offset))
            offset += count * dtype.itemsize
        return bytes(data)

    return made


def with_header(**fields):
    def made(payload):
        header = PieceHeader(*PIECE_HEADER.unpack_from(payload))._replace(**fields)
        return PIECE_HEADER.pack(*header) + payload[PIECE_HEADER.size :]

    return made


def put(index, value, field=None):
    def change(array):
        (array[field] if field else array)[index] = value

    return change


@pytest.mark.parametrize(
    "change, words",
    [
        (with_piece("step_start", put(1, 1 << 40)), "warps whose steps overlap"),
        (with_piece("access_start", put(1, -1)), "warps whose accesses overlap"),
        (with_piece("sector_start", put(0, 1)), "warps whose sectors overlap"),
        (with_piece("step_start", put(1, 0)), "a warp without a step"),
        (with_piece("steps", put(0, 1 << 20, "block")), "a basic block that the code has not"),
        (with_piece("access_start", put(1, 0)), "accesses that do not match the steps"),
        (with_piece("accesses", put(0, 200, "n_sectors")), "sectors that do not match the accesses"),
        (with_piece("sectors", put(0, -5)), "a negative address"),
        (with_header(n_steps=1 << 60), "a piece of .* bytes claims"),
        (with_header(n_blocks=1 << 31, warps_per_block=1 << 31), "a piece of .* bytes claims"),
        (with_header(grid=7), "a piece of launch 7 of a batch of 1"),
        (with_header(first_block=2), "a piece from block 2 on, where 0 is due"),
        (lambda payload: payload[:8], "a piece without its header"),
    ],
)
def test_hostile_pieces(folder, whole, change, words):
    with pytest.raises(FileFormatError, match=words):
        from_file(folder, changed(whole, b"PIEC", change))


def hand_made(chip, access_record, kind):
    """Says what is wrong with the trace of one load whose instruction is of another kind."""
    some = subject(chip, [make("LDG.32", dst=0, a=2, mods=1 << 6), make("EXIT")], [warp([0], [access_record])])
    program = some.machine.programs.of(some.launch.module)
    program.inst["kind"][0] = kind
    return fault_of(some.trace[0], program, chip)


def test_accesses_of_more_lines_than_there_is_room_for():
    """Two lines for each of 32 lanes; a bulk copy has room for more."""
    chip = load_chip("a100")
    most, more = (access([4 * line for line in range(n)]) for n in (64, 65))
    assert [hand_made(chip, each, GLOBAL) for each in (most, more)] == ["", "an access of more lines than lanes have"]
    assert hand_made(chip, more, BULK) == ""


@pytest.mark.parametrize("kind, count", [(BULK, 64), (MBARRIER_WAIT, 64), (BARRIER, 16), (ARRIVE, 16)])
def test_barriers_that_there_are_not(kind, count):
    chip = load_chip("a100")
    found = [hand_made(chip, access((), conflicts=number), kind) for number in (count - 1, count)]
    assert found == ["", "a barrier that there is not"]


def grids(**fields):
    def made(payload):
        batch = json.loads(payload)
        batch["grids"][0] |= fields
        return json.dumps(batch).encode()

    return made


@pytest.mark.parametrize(
    "change, words",
    [
        (grids(load_base=4096), "the recording has no module at 0x1000"),
        (grids(symbol="nothing"), "there is no kernel 'nothing'"),
        (grids(grid=[7, 1, 1]), "it has not all blocks of column"),
        (grids(block=[256, 1, 1]), "a piece from block 0 on"),
        (grids(block=[1 << 20, 1, 1]), "is damaged"),
        (grids(after=[0]), "waits for what does not come before it"),
        (grids(arrival=-1), "at an impossible time"),
        (grids(grid="x"), "is not a list"),
        (with_fields(cycle=1 << 60), "a clock out of range"),
        (with_fields(more=1), "does not have the fields of Batch"),
        (lambda _: b"[" * 100_000, "is damaged"),
    ],
)
def test_hostile_batches(folder, whole, change, words):
    with pytest.raises(FileFormatError, match=words):
        from_file(folder, changed(whole, b"BTCH", change))


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda _: b"nothing", "a table cannot be decompressed"),
        (lambda payload: compress(decompress(payload) + b"\0"), "a table of another length"),
        (lambda _: compress(bytes(1 << 24)), "a table of another length"),
    ],
)
def test_hostile_tables(folder, whole, change, words):
    with pytest.raises(FileFormatError, match=words):
        from_file(folder, changed(whole, b"TABL", change))


def test_table_that_names_places_that_there_are_not(folder, whole):
    """Each table in turn is full of the largest number: those that are compared only are taken as they are."""
    chunks = chunks_of(whole)
    refused = set()
    for at in [number for number, (type_, _) in enumerate(chunks) if type_ == b"TABL"]:
        full = compress(b"\xff\xff\xff\x7f" * (len(decompress(chunks[at][1])) // 4))
        try:
            from_file(folder, sealed([*chunks[:at], (b"TABL", full), *chunks[at + 1 :]]))
        except FileFormatError as error:
            refused.add(str(error).split("the table ")[1].split(" ")[0])
    assert refused == {"l2_tag", "l2_copy", "l2_line", "l2_ticket", "slice_join", "tlb_hint"}


def test_chunks_in_another_order(folder, whole):
    chunks = chunks_of(whole)
    for some in (chunks[1:], chunks[:-1] + chunks[-2:], [chunks[0], *chunks[2:]]):
        with pytest.raises(FileFormatError, match="is damaged"):
            from_file(folder, sealed(some))
    with pytest.raises(FileFormatError, match="it does not end with its ENDF"):
        from_file(folder, whole + b"more")


def test_a_file_that_is_too_long(folder, whole, monkeypatch):
    monkeypatch.setattr(read, "TRACES", TRACES._replace(most_nbytes=1000))
    with pytest.raises(UsageError, match="the limit for a file of traces is 1,000 bytes"):
        from_file(folder, whole)


def test_traces_that_are_too_long_are_not_written(folder, monkeypatch):
    monkeypatch.setattr(stored_launches, "Capture", lambda wanted: Capture(wanted, 1000))
    with pytest.raises(GpuprofError, match="the trace of column is too large to be stored"):
        read_launches(folder / "one.gprec", [0], folder / "long.gptrace")
    assert "long.gptrace" not in names(folder)


def test_an_interrupt_leaves_no_half_file(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    before = set(names(folder))
    monkeypatch.setattr(write, "_put_trace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_launches(folder / "one.gprec", [0], folder / "half.gptrace")
    assert set(names(folder)) == before


def test_the_page_is_in_step_with_the_layout():
    assert (DOCS / "gptrace.md").read_text() == describe.describe(), "write it again: see run/trace_file/describe.py"


def test_another_file_of_this_name_stays(folder):
    (folder / "notes.gptrace").write_text("my notes, of more than sixteen bytes")
    code, out, error = gpuprof(folder, "whatif", "one.gprec", "--traces", "notes.gptrace")
    assert (code, out) == (2, "")
    assert error.startswith("gpuprof: notes.gptrace: is no file of traces")
    assert (folder / "notes.gptrace").read_text().startswith("my notes")
