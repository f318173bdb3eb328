"""Saved streams that nobody saved: each gives an error that says what is wrong, or runs; never anything else."""

import json
import random
import typing
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuprof.device import commands as cmd
from gpuprof.errors import DeviceMemoryError, FileFormatError, GpuprofError, NotComparable, UsageError
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.command_stream import pieces
from gpuprof.records.command_stream.codec import (
    LINES,
    VERSION,
    End,
    Header,
    SavedCopyIn,
    SavedLaunch,
    line_of,
    value_of,
)
from gpuprof.records.command_stream.pieces import BLOCK_NBYTES, MAX_PIECE_NBYTES, pack, unpack
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.command_stream.write import StreamWriter
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import chip_of, replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.matrices import long_from

SOURCE = "__global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }"
LEAST = Settings(chip_name="t4", sampling=Sampling(64), max_cycles=20_000)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    (folder / "add.cu").write_text(SOURCE)
    with RecordWriter(folder / "a.gprec") as recorder:
        gpu = open_device(replace(LEAST, recorder=recorder, save_stream=True))
        mod = gpu.load(folder / "add.cu")
        x = gpu.to_device(np.ones(300, np.float32))
        gpu.texture(np.ones((4, 4), np.float32))
        stream, event = gpu.stream(1), gpu.event()
        with gpu.task("t"):
            mod.add[3, 128, stream](x, 300)
        gpu.sampler.set(period_cycles=128)
        event.record(stream)
        event.wait(gpu.stream())
        x.fill(2)
        assert event.cycle > 0
        y = gpu.device_array_like(x)
        y.copy_to_device(x)
        gpu.submit(cmd.HostWrite(y.address, b"efgh"))
        gpu.submit(cmd.HostTime(5_000))
        gpu.submit(cmd.HostCall("graph_instantiate", 2))
        gpu.submit(cmd.Together("graph", 2))
        gpu.submit(cmd.Together("copy", 2))
        gpu.submit(cmd.CopyIn(y.address, b"abcd", stream.number, is_pinned=True))
        gpu.submit(cmd.TogetherEnd())
        gpu.submit(cmd.HostFunction(stream.number))
        gpu.submit(cmd.TogetherEnd())
        y.free()
        gpu.synchronize()
        gpu.executor.finish()
    return folder / "a.gprec"


def lines_of(path: Path) -> list[dict]:
    text = b"".join(
        unpack(payload.data) for chunk, payload in read_chunks(path) if chunk.type == b"STRM" and payload.id == 0
    )
    return [json.loads(line) for line in text.splitlines()]


def with_pieces(path: Path, to: Path, *new: tuple[int, bytes]) -> Path:
    """The recording with other pieces of a stream, and the blocks of its own that these do not replace."""
    with RecordWriter(to) as writer:
        for chunk, payload in read_chunks(path):
            if chunk.type == b"LNCH":
                writer.launch_begin(payload)
            elif chunk.type == b"IMAG":
                writer._put(b"IMAG", payload.id.to_bytes(4, "little") + payload.data)
            elif chunk.type == b"STRM" and payload.id and payload.id not in dict(new):
                writer.stream(*payload)
            elif chunk.kind == "json" and chunk.type not in (b"ENDF", b"LEND"):
                writer._json(chunk.type, payload)
        for piece in new:
            writer.stream(*piece)
    return to


def with_lines(path: Path, to: Path, lines: list) -> Path:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return with_pieces(path, to, (0, zlib.compress(data)))


def run(path: Path) -> None:
    stream = read_stream(path)
    replay(stream, replace(LEAST, chip=chip_of(stream), sampling=stream.header.sampling))


def test_the_helpers_change_nothing(saved, tmp_path):
    run(with_lines(saved, tmp_path / "a.gprec", lines_of(saved)))


SAVED = {cmd.Load, cmd.CopyIn, cmd.HostWrite, cmd.Launch, cmd.Draw}  # which have saved forms


def test_every_command_can_be_saved():
    kinds = set(typing.get_args(cmd.Command)) - SAVED
    assert kinds <= set(LINES.values())


CHANGES = [
    ({"do": "launch"}, {"module": 1}, "launches '_Z3addPfi' of module 1, which is not loaded"),
    ({"do": "launch"}, {"module": -1}, "of module -1"),
    ({"do": "launch"}, {"symbol": "nothing"}, "has no kernel 'nothing'"),
    ({"do": "launch"}, {"grid": [0, 1, 1]}, "the grid's x extent is 0"),
    ({"do": "launch"}, {"grid": [1, 1]}, r"launch\.grid has 2 items, not 3"),
    ({"do": "launch"}, {"block": [1 << 40, 1, 1]}, "the block's x extent is"),
    ({"do": "launch"}, {"params": "00"}, "bytes of parameters, and 1 are given"),
    ({"do": "launch"}, {"params": "0g"}, "non-hexadecimal"),
    ({"do": "launch"}, {"stream": -1}, "there is no stream -1"),
    ({"do": "launch"}, {"cluster": [1 << 20, 1, 1]}, "clusters of"),
    ({"do": "launch"}, {"more": 1}, "does not have the fields of SavedLaunch"),
    ({"do": "load"}, {"load_base": 5}, "a module is loaded at 0x5"),
    ({"do": "load"}, {"load_base": 1 << 40}, "ends above 4 GiB"),
    ({"do": "load"}, {"load_base": "x"}, r"load\.load_base is 'x', not int"),
    ({"do": "copy_in"}, {"blocks": [7]}, "there is no block 7"),
    ({"do": "copy_in"}, {"blocks": [1] * 1000}, "a copy of 1200 bytes has another length"),
    ({"do": "copy_in"}, {"blocks": []}, "a copy of 1200 bytes has another length"),
    ({"do": "copy_in"}, {"nbytes": 1 << 50}, "no allocation is so large"),
    ({"do": "copy_in"}, {"address": 5}, "cannot write 1200 bytes at 0x5"),
    ({"do": "host_write"}, {"blocks": [7]}, "there is no block 7"),
    ({"do": "host_write"}, {"nbytes": 1 << 50}, "no allocation is so large"),
    ({"do": "host_write"}, {"address": 5}, "cannot write 4 bytes at 0x5"),
    ({"do": "allocate"}, {"nbytes": 1 << 55}, "out of device memory"),
    ({"do": "allocate"}, {"nbytes": -1}, "the size is negative"),
    ({"do": "fill"}, {"nbytes": 1 << 55}, "cannot write"),
    ({"do": "fill"}, {"pattern": ""}, "has a pattern of 0"),
    ({"do": "fill"}, {"nbytes": 3}, "has a pattern of 4"),
    ({"do": "free"}, {"address": 1}, "cannot free 0x1"),
    ({"do": "event_time"}, {"event": 9}, "asks for the time of event 9"),
    ({"do": "copy_within"}, {"nbytes": -5}, "cannot read -5 bytes"),
    ({"do": "copy_within"}, {"direction": "up"}, "a copy has the direction 'up'"),
    ({"do": "host_time"}, {"ns": -1}, "the host's clock shows -1 ns"),
    ({"do": "host_time"}, {"ns": 1 << 60}, "the host's clock shows 1152921504606846976 ns"),
    ({"do": "host_call"}, {"kind": "none"}, "the host makes the call 'none' of 2 nodes"),
    ({"do": "host_call"}, {"n": -1}, "'graph_instantiate' of -1 nodes"),
    ({"do": "host_function"}, {"stream": -1}, "there is no stream -1"),
    ({"do": "together"}, {"what": "draw"}, "'draw' of 2 begins where it cannot"),
    ({"do": "together"}, {"what": "copy"}, "'copy' of 2 begins where it cannot"),  # the one in it
    ({"do": "together"}, {"n": -1}, "'graph' of -1 begins where it cannot"),
    ({"do": "make_image"}, {"image": {}}, "does not have the fields of Image"),
    ({"do": "set_sampler"}, {"registers": [["period_cycles", 3]]}, "sampling period 3"),
    ({"do": "set_sampler"}, {"registers": [["none", 3]]}, "has no register 'none'"),
    ({"do": "task_end"}, {"name": "other"}, "the innermost open task is 't'"),
    ({"do": "stream"}, {"version": VERSION + 1}, f"has version {VERSION + 1}, and this gpuprof reads up to {VERSION}"),
    ({"do": "stream"}, {"alignment": 100}, "allocations are aligned to 100 bytes"),
    ({"do": "stream"}, {"sampling": {"period_cycles": 7}}, "sampling period 7"),
    ({"do": "stream"}, {"do": "other"}, "unknown command 'other'"),
    ({"do": "end"}, {"do": "failed"}, "has no end: the run was stopped"),
]


@pytest.mark.parametrize("which, change, message", CHANGES)
def test_what_no_run_has_saved(saved, tmp_path, which, change, message):
    lines = lines_of(saved)
    line = next(line for line in lines if line["do"] == which["do"])
    line.update(change)
    with pytest.raises((FileFormatError, UsageError, DeviceMemoryError, NotComparable), match=message):
        run(with_lines(saved, tmp_path / "a.gprec", lines))


def test_what_ends_has_begun(saved, tmp_path):
    lines = [line for line in lines_of(saved) if line["do"] != "together"]
    with pytest.raises(FileFormatError, match="what was not begun ends"):
        run(with_lines(saved, tmp_path / "a.gprec", lines))


def test_a_page_locked_copy_is_saved_as_one(saved):
    copies = [line for line in lines_of(saved) if line["do"] == "copy_in"]
    assert [line.get("is_pinned", False) for line in copies] == [False, False, True]


@pytest.mark.parametrize(
    "field, value",
    [("element", "f99"), ("geometry", "9d"), ("channels", 3), ("levels", []), ("read", "x"), ("layers", 0)],
)
def test_images_that_are_none(saved, tmp_path, field, value):
    lines = lines_of(saved)
    next(line for line in lines if line["do"] == "make_image")["image"][field] = value
    with pytest.raises(FileFormatError, match="is not an image"):
        run(with_lines(saved, tmp_path / "a.gprec", lines))


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "a piece is not whole"),
        (b"no zlib", "a piece cannot be decompressed"),
        (zlib.compress(b""), "a piece is empty"),
        (zlib.compress(b"\n\n"), "is no|Expecting value"),
        (zlib.compress(b"[]\n"), "is not a command"),
        (zlib.compress(b'{"do":["end"]}\n'), "is not a command"),
        (zlib.compress(b"[" * 100_000), "recursion"),
        (zlib.compress(b'{"do":"end"}\n'), "its first line is not its header"),
        (zlib.compress(b"\xff\xfe\n"), "can't decode byte 0xff"),
        (zlib.compress(b'{"do":"free","address":' + b"9" * 5000 + b"}\n"), "Exceeds the limit"),
        (zlib.compress(bytes(MAX_PIECE_NBYTES + 1)), f"holds more than {MAX_PIECE_NBYTES} bytes"),
        (zlib.compress(b"x")[:-1], "a piece is not whole"),
        (zlib.compress(b"x") + b"more", "a piece is not whole"),
    ],
)
def test_pieces_that_are_none(saved, tmp_path, data, message):
    with pytest.raises(FileFormatError, match=f"its command stream is damaged: .*{message}"):
        run(with_pieces(saved, tmp_path / "a.gprec", (0, data)))


def test_a_bomb_is_not_unpacked(monkeypatch):
    """64 MB of zeros in 65 KB: no more than the limit is ever made of it."""
    packed = zlib.compress(bytes(1 << 26))
    sizes = []
    plain = zlib.decompressobj

    class Measured:
        def __init__(self):
            self.inner = plain()

        def decompress(self, data, limit):
            sizes.append(len(out := self.inner.decompress(data, limit)))
            return out

        eof = property(lambda self: self.inner.eof)
        unused_data = property(lambda self: self.inner.unused_data)

    monkeypatch.setattr(pieces.zlib, "decompressobj", Measured)
    with pytest.raises(ValueError, match="more than"):
        unpack(packed)
    assert sizes == [MAX_PIECE_NBYTES]


def test_a_block_that_is_a_bomb(saved, tmp_path):
    with pytest.raises(FileFormatError, match="holds more than"):
        run(with_pieces(with_lines(saved, tmp_path / "a.gprec", lines_of(saved)), tmp_path / "b.gprec",
            (1, zlib.compress(bytes(1 << 26))), (0, pack(b"".join(json.dumps(line).encode() + b"\n"
                for line in lines_of(saved))))))  # fmt: skip


VALUES = [-1, 0, 1, 2, 255, 1 << 31, (1 << 62) + 1, 1 << 70, 1.5, "", "x", None, True, [], [1], {}, [[1, 2]]]


def mutated(lines: list, rng: random.Random) -> list:
    """A line left out, doubled or moved, or a value in one that is another."""
    lines = json.loads(json.dumps(lines))
    at = rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        case 2:
            lines.insert(at, {"do": "failed"})
        case _:
            place = lines[at]
            while True:
                key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
                if not (isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8):
                    break
                place = place[key]
            place[key] = rng.choice(VALUES)
    return lines


@pytest.mark.parametrize("seed", long_from(3, range(8)))
def test_random_damage(saved, tmp_path, seed):
    """GpuprofErrors, or a run."""
    rng, lines = random.Random(seed), lines_of(saved)
    for number in range(12):
        try:
            run(with_lines(saved, tmp_path / f"{number}.gprec", mutated(lines, rng)))
        except GpuprofError as error:
            assert "\n" not in str(error)


def test_contents_are_saved_once():
    """Two copies of 3 blocks, of which 2 are alike, and one of nothing."""
    put = []
    writer = StreamWriter(lambda id, piece: put.append((id, unpack(piece))), Header(1, Sampling(), "wide"))
    data = bytes(2 * BLOCK_NBYTES) + b"end"
    for address, content in ((256, data), (1 << 30, data), (512, b"")):
        writer.through(cmd.CopyIn(address, content), lambda command: None)
    writer.end()
    writer.end()
    assert [(id, len(content)) for id, content in put[:-1]] == [(1, BLOCK_NBYTES), (2, 3)]
    values = [value_of(line) for line in put[-1][1].splitlines()]
    assert put[-1][0] == 0 and values == [
        Header(1, Sampling(), "wide"),
        SavedCopyIn(256, len(data), (1, 1, 2)),
        SavedCopyIn(1 << 30, len(data), (1, 1, 2)),
        SavedCopyIn(512, 0, ()),
        End(),
    ]


def test_lines_come_back():
    launch = SavedLaunch(0, "k", (1, 2, 3), (4, 5, 6), 7, b"\x00\xff", 8, "k<<<>>>", (1, 1, 2), True)
    set_sampler = cmd.SetSampler((("period_cycles", 64), ("mode", "all")))
    for value in (
        launch,
        set_sampler,
        cmd.Wait(cmd.EVERYTHING, cmd.HOST),
        cmd.Priority(1, -5),
        Header(1, Sampling(32, phase_cycles=3), "wide"),
    ):
        assert value_of(line_of(value)) == value
