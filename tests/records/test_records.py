"""The record stream, written and read back: whole, cut at every byte, with flipped bits, newer, foreign, made by
hand.
"""

import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.errors import FileFormatError, UsageError
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.encoding import file_header, frame
from gpuprof.records.index import read_index
from gpuprof.records.reader import read_recording
from gpuprof.records.schema import MAGIC, MAX_PAYLOAD_NBYTES, VERSION
from gpuprof.records.writer import PIECE_CHARACTERS, PIECE_NBYTES, RecordWriter
from gpuprof.run.observers.launch_rows import ledger_rows
from gpuprof.tables.launch import COUNTERS, LEDGER
from gpuprof.tables.samples import COMPACT, WIDE
from tests.support.recordings import (
    CHIP,
    LAUNCH_END,
    META,
    SAMPLES,
    counters,
    launch_fields,
    saxpy_program,
    write_saxpy,
)

SAXPY_CHUNKS = ["META", "CHIP", "MODL", "IMAG", "SRCF", "LNCH", "SMPW", "LEDG", "CNTR", "LEND", "ENDF"]


@pytest.fixture
def saxpy(tmp_path):
    return write_saxpy(tmp_path / "saxpy.gprec")


def chunk_types(path) -> list[str]:
    return [chunk.type.decode() for chunk, _ in read_chunks(path)]


def canonical(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def test_whole(saxpy):
    recording = read_recording(saxpy)
    assert chunk_types(saxpy) == SAXPY_CHUNKS
    assert (recording.complete, recording.damage) == (True, None)
    assert (recording.meta, recording.chip) == (META, CHIP)
    assert recording.modules[0].image == write_gpubin(saxpy_program())
    assert list(recording.sources) == ["saxpy.cu"]
    launch = recording.launches[0]
    assert (launch.begin, launch.end) == (launch_fields(), LAUNCH_END)
    assert launch.samples.tolist() == SAMPLES.tolist()
    assert launch.rows[LEDGER].tolist() == [(0x1000, 0, 4), (0x1010, 3, 600), (0x1020, 15, 60)]
    assert launch.rows[COUNTERS].tolist() == counters()[:2].tolist()


def test_bytes_of_a_file_by_hand(tmp_path):
    """The format as docs/gprec.md states it, taken apart without our reader."""
    data = write_saxpy(tmp_path / "a.gprec", record="compact").read_bytes()
    assert data[:16] == b"GPREC\x1a\r\n" + struct.pack("<II", 11, 0)
    position, chunks = 16, []
    while position < len(data):
        type_, nbytes, crc = struct.unpack_from("<4sII", data, position)
        payload = data[position + 12 : position + 12 + nbytes]
        assert crc == zlib.crc32(data[position : position + 8] + payload)
        chunks.append((type_.decode(), payload))
        position += 12 + nbytes
    payloads = dict(chunks)
    assert [type_ for type_, _ in chunks] == [type_.replace("SMPW", "SMPC") for type_ in SAXPY_CHUNKS]
    assert payloads["META"] == canonical(META)
    assert payloads["ENDF"] == b'{"launches":1,"records":3}'
    # launch 0, 3 rows; selected is bit 0, wait bit 2, long_scoreboard bit 3, drain bit 15, the SM starts at bit 22
    rows = (0x1000, 1 | 1 << 22, 0x1010, 1 << 3 | 1 << 15 | 1 << 22, 0x1010, 1 << 2 | 2 << 22)
    assert payloads["SMPC"] == struct.pack("<II6I", 0, 3, *rows)


def test_same_bytes_however_samples_arrive(tmp_path):
    rows = np.zeros(20_000, WIDE.dtype)
    rows["cycle"] = np.arange(len(rows))
    data = []
    for step in (1, 999, 20_000):
        path = tmp_path / f"{step}.gprec"
        with RecordWriter(path) as writer:
            begin(writer)
            for start in range(0, len(rows), step):
                writer.samples(0, rows[start : start + step])
        data.append(path.read_bytes())
        assert read_recording(path).launches[0].samples["cycle"].tolist() == list(range(20_000))
    assert data[0] == data[1] == data[2]


def begin(writer: RecordWriter) -> None:
    writer.meta(META)
    writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=b"", compiler="clang", arch="sm_80")
    writer.launch_begin(launch_fields())


def test_long_things_come_in_pieces(tmp_path):
    path, image, text = tmp_path / "a.gprec", bytes(range(256)) * 1025, "\x1f" * (PIECE_CHARACTERS + 1)
    with RecordWriter(path) as writer:
        writer.meta(META)
        writer.source("a.cu", text)
        writer.source("empty.cu", "")
        writer.module(0, name="a.cu", load_base=0, code_nbytes=0, image=image, compiler="clang", arch="sm_80")
        writer.source("a.cu", "a second module includes it too")
    recording = read_recording(path)
    assert chunk_types(path) == ["META", "SRCF", "SRCF", "SRCF", "MODL", "IMAG", "IMAG", "ENDF"]
    assert recording.modules[0].image == image
    assert recording.sources == {"a.cu": text, "empty.cu": ""}
    assert max(len(payload.data) for chunk, payload in read_chunks(path) if chunk.type == b"IMAG") == PIECE_NBYTES


def test_text_that_is_not_unicode_is_written_as_question_marks(tmp_path):
    with RecordWriter(tmp_path / "a.gprec") as writer:
        writer.meta(META | {"command": "collect \udcff.cu"})
    assert read_recording(tmp_path / "a.gprec").meta["command"] == "collect ?.cu"


# Damage.


def boundaries(data: bytes) -> list[int]:
    """Where a chunk ends, the header being the first."""
    ends = [16]
    while ends[-1] < len(data):
        ends.append(ends[-1] + 12 + struct.unpack_from("<I", data, ends[-1] + 4)[0])
    return ends


def test_cut_at_every_byte(saxpy, tmp_path):
    """Every prefix gives its whole chunks, and says that it is cut off."""
    data, cut = saxpy.read_bytes(), tmp_path / "cut.gprec"
    ends = boundaries(data)
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        if length < 16:
            with pytest.raises(FileFormatError, match="is empty" if length == 0 else "cut off inside its header"):
                list(read_chunks(cut))
            continue
        stream = read_chunks(cut)
        n_whole = sum(end <= length for end in ends) - 1
        assert [chunk.type.decode() for chunk, _ in stream] == SAXPY_CHUNKS[:n_whole]
        assert not stream.complete
        at = f"ends at byte {length} without" if length in ends else f"at byte {ends[n_whole]} a chunk"
        assert at in stream.damage and "cut off" in stream.damage


VERSION_BYTE = 8  # the low one, after the magic


@given(st.data())
@settings(max_examples=300)
def test_any_flipped_bit_is_noticed(saxpy_bytes, data):
    bit = data.draw(st.integers(0, 8 * len(saxpy_bytes.data) - 1))
    damaged = bytearray(saxpy_bytes.data)
    damaged[bit // 8] ^= 1 << bit % 8
    saxpy_bytes.path.write_bytes(damaged)
    if bit // 8 == VERSION_BYTE and 0 < damaged[VERSION_BYTE] < VERSION:
        return  # it is a whole file of an older version
    stream = read_chunks(saxpy_bytes.path)
    try:
        types = [chunk.type.decode() for chunk, _ in stream]
    except FileFormatError:
        assert bit < 8 * 16  # in the header
        return
    assert stream.damage
    assert types == SAXPY_CHUNKS[: len(types)] and len(types) < len(SAXPY_CHUNKS)


class _Bytes:
    def __init__(self, path):
        self.path, self.data = path, write_saxpy(path).read_bytes()


@pytest.fixture(scope="module")
def saxpy_bytes(tmp_path_factory):
    return _Bytes(tmp_path_factory.mktemp("flip") / "a.gprec")


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_any_tail_is_survived(saxpy_bytes, tail):
    saxpy_bytes.path.write_bytes(file_header() + frame(b"META", canonical(META)) + tail)
    stream = read_chunks(saxpy_bytes.path)
    assert next(iter(stream))[1] == META
    list(stream)
    assert stream.damage


JSON_DAMAGE = {
    b"\xff": "is not JSON ('utf-8' codec can't decode byte 0xff in position 0: invalid start byte)",
    b"[]": "is JSON, but not an object",
    b"{}": "has no 'text'",
    b'{"text":1,"cycle":0}': "has 'text' = '1', which is not a string",
    b'{"text":"","cycle":-1}': "has 'cycle' = '-1', which is not an integer from 0 to 2^63 - 1",
    b'{"text":"","cycle":9223372036854775808}': "has 'cycle' = '9223372036854775808', which is not an integer from 0 "
    "to 2^63 - 1",
    b'{"text":"","cycle":NaN}': "is not JSON (NaN is not a number)",
    b'{"text":"","cycle":true}': "has 'cycle' = 'True', which is not an integer from 0 to 2^63 - 1",
}


@pytest.mark.parametrize("payload", JSON_DAMAGE)
def test_a_payload_that_passes_its_crc_and_is_wrong(tmp_path, payload):
    path = tmp_path / "a.gprec"
    before = file_header() + frame(b"META", canonical(META))
    path.write_bytes(before + frame(b"MARK", payload) + frame(b"ENDF", b'{"launches":0,"records":0}'))
    recording = read_recording(path)
    end = len(before) + 12 + len(payload)
    assert (recording.complete, recording.damage) == (False, f"the MARK chunk before byte {end} {JSON_DAMAGE[payload]}")


@pytest.mark.parametrize("payload", [b'{"text":"\\ud800","cycle":0}', b"[" * 100_000])
def test_hostile_json(tmp_path, payload):
    path = tmp_path / "a.gprec"
    path.write_bytes(file_header() + frame(b"META", canonical(META)) + frame(b"MARK", payload))
    assert "is not JSON" in read_recording(path).damage


@pytest.mark.parametrize(
    ("payload", "what"),
    [
        (b"", "has 0 bytes, fewer than its own header"),
        (struct.pack("<II", 0, 1), "says 1 rows, which take 40 bytes, and has 8"),
        (struct.pack("<II", 0, 0xFFFFFFFF), "says 4294967295 rows, which take 137438953448 bytes, and has 8"),
        (struct.pack("<II", 1, 3) + SAMPLES.tobytes(), "belongs to launch 1 and has rows of another"),
    ],
)
def test_rows_that_do_not_fit(tmp_path, payload, what):
    path = tmp_path / "a.gprec"
    path.write_bytes(file_header() + frame(b"META", canonical(META)) + frame(b"SMPW", payload))
    assert read_recording(path).damage.endswith(what)


def test_an_absurd_length_is_not_believed(tmp_path):
    path = tmp_path / "a.gprec"
    path.write_bytes(file_header() + frame(b"META", canonical(META)) + struct.pack("<4sII", b"SMPW", 0xFFFFFFFF, 0))
    what = f"a chunk claims 4294967295 bytes; the limit is {MAX_PAYLOAD_NBYTES}"
    assert read_recording(path).damage.endswith(what)


def test_an_unknown_chunk_is_skipped(tmp_path):
    path = tmp_path / "a.gprec"
    end = frame(b"ENDF", b'{"launches":0,"records":0}')
    path.write_bytes(file_header() + frame(b"META", canonical(META)) + frame(b"NEWS", b"?") + end)
    assert chunk_types(path) == ["META", "ENDF"]
    assert read_recording(path).complete


def test_bytes_after_the_end(saxpy):
    with saxpy.open("ab") as file:
        nbytes = file.tell()
        file.write(b"x")
    assert read_recording(saxpy).damage == f"more bytes follow its last chunk, which ends at byte {nbytes}"


CONTRADICTIONS = {
    "its first chunk is MARK, not META": [(b"MARK", {"text": "", "cycle": 0})],
    "a second META chunk": [(b"META", META), (b"META", META)],
    "a second launch 0": [(b"META", META), (b"MODL", None), (b"LNCH", launch_fields()), (b"LNCH", launch_fields())],
    "a launch of module 0, which is not declared": [(b"META", META), (b"LNCH", launch_fields())],
    "data of launch 0, which has not begun": [(b"META", META), (b"LEND", LAUNCH_END)],
    "a second module 0": [(b"META", META), (b"MODL", None), (b"MODL", None)],
    "0 records, but its last chunk counts 3": [(b"META", META), (b"ENDF", {"launches": 0, "records": 3})],
    "0 samples of launch 0, which has recorded 3": [
        (b"META", META),
        (b"MODL", None),
        (b"LNCH", launch_fields()),
        (b"LEND", LAUNCH_END),
    ],
    "0 launches, but its last chunk counts 2": [(b"META", META), (b"ENDF", {"launches": 2, "records": 0})],
}
MODULE = {"id": 0, "name": "a", "load_base": 0, "code_nbytes": 0, "compiler": "", "arch": ""}


@pytest.mark.parametrize("what", CONTRADICTIONS)
@pytest.mark.parametrize("read", [read_recording, read_index, read_stream])
def test_contradictions(tmp_path, read, what):
    path = tmp_path / "a.gprec"
    path.write_bytes(
        file_header() + b"".join(frame(type_, canonical(value or MODULE)) for type_, value in CONTRADICTIONS[what])
    )
    with pytest.raises(FileFormatError, match=what):
        read(path)


FOREIGN = {
    b"\x7fELF\x02\x01\x01" + bytes(60): "is not a gpuprof recording (.gprec)",
    b"\x89PNG\r\n\x1a\n" + bytes(60): "is not a gpuprof recording (.gprec)",
    b"x": "is not a gpuprof recording (.gprec)",
    b"": "is empty, not a gpuprof recording",
    MAGIC[:3]: "is cut off inside its header",
    MAGIC + struct.pack("<II", VERSION + 1, 0): f"has format version {VERSION + 1}, and this gpuprof reads up to "
    f"{VERSION}: use a newer gpuprof",
    MAGIC + struct.pack("<II", 0, 0): "its header is damaged (version 0, reserved word 0)",
    MAGIC + struct.pack("<II", 1, 9): "its header is damaged (version 1, reserved word 9)",
    file_header(): "nothing in it can be read: it ends at byte 16 without an ENDF chunk: the recording was cut off",
}


@pytest.mark.parametrize("data", FOREIGN)
def test_foreign_and_newer_files(tmp_path, data):
    path = tmp_path / "a.gprec"
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as caught:
        read_recording(path)
    assert str(caught.value) == f"{path}: {FOREIGN[data]}"


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(UsageError, match="there is no such file"):
        read_recording(tmp_path / "none.gprec")
    with pytest.raises(UsageError, match="is a folder; expected a regular file"):
        read_recording(tmp_path)


# Any rows.


@given(
    hnp.arrays(
        np.uint64, st.tuples(st.integers(0, 5), st.just(N_REASONS)), elements=st.sampled_from([0, 0, 0, 1, 2**64 - 1])
    )
)
@settings(max_examples=50)
def test_any_ledger_comes_back_sparse(tmp_path_factory, cycles):
    path = tmp_path_factory.mktemp("ledger") / "a.gprec"
    with RecordWriter(path) as writer:
        begin(writer)
        writer.rows(LEDGER, 0, ledger_rows(cycles, 0x4000))
    rows = read_recording(path).launches[0].rows[LEDGER]
    expected = [(0x4000 + 16 * i, reason, int(n)) for (i, reason), n in np.ndenumerate(cycles) if n]
    assert rows.tolist() == expected


def rows_of(dtype: np.dtype):
    fixed = {"launch": st.just(0)} if "launch" in dtype.names else {}
    fields = [fixed.get(name, hnp.from_dtype(dtype[name])) for name in dtype.names]
    return st.lists(st.tuples(*fields), max_size=30).map(lambda rows: np.array(rows, dtype))


@given(rows_of(WIDE.dtype))
@settings(max_examples=50)
def test_any_samples_come_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    for record, dtype in (("wide", WIDE.dtype), ("compact", COMPACT.dtype)):
        with RecordWriter(folder / record, record) as writer:
            begin(writer)
            writer.samples(0, rows)
        got = read_recording(folder / record).launches[0].samples
        assert got[["pc", "stall_sm"]].tolist() == rows[["pc", "stall_sm"]].tolist()
        if record == "wide":
            assert got.tolist() == rows.tolist()
        assert len(rows) == 0 or got.dtype == dtype
