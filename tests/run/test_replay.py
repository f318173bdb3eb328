"""A saved command stream, run again: the recording is the same, byte for byte, but for what is set otherwise."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import described, load_chip
from gpuprof.correlate.database import ensure_database
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.load_map import LoadMap, move_nbytes
from gpuprof.errors import DeviceMemoryError, KernelFault, UsageError
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.sampling.configuration import Sampling

SOURCE = """
__constant__ float weights[4];
__device__ int total;
__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * weights[i % 4];
}
__global__ void count(const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) atomicAdd(&total, 1);
}
__global__ void fetch(cudaTextureObject_t picture, float *y) { y[threadIdx.x] = tex2D<float>(picture, threadIdx.x, 1); }
"""
SAMPLING = Sampling(32, "random", 3)


def script(gpu: Device, folder: Path) -> list[np.ndarray]:
    """Two modules, textures, streams, events, tasks, a fill, freed and used memory, and two errors that it lives on
    after.
    """
    (folder / "k.cu").write_text(SOURCE)
    (folder / "other.cu").write_text(
        "__global__ void shift(float *x) { x[threadIdx.x + blockDim.x * blockIdx.x] += 1; }"
    )
    mod, other = gpu.load(folder / "k.cu"), gpu.load(folder / "other.cu")
    mod.symbol("weights", np.float32).copy_to_device(np.arange(1, 5, dtype=np.float32))
    x = gpu.to_device(np.linspace(-1, 1, 5000, dtype=np.float32))
    y = gpu.device_array(5000, np.float32)
    gpu.to_device(np.zeros(0, np.float32)).fill(0)
    y.fill(2.5)
    left, right, event = gpu.stream(), gpu.stream(-1), gpu.event()
    with gpu.task("step"), gpu.task("inner"):
        mod.scale[20, 256, left](x, 5000)
        event.record(left)
        event.wait(right)
        other.shift[10, 100, right](y)
    gpu.synchronize()
    with pytest.raises(KernelFault):
        other.shift[100, 100](y)
    with pytest.raises(DeviceMemoryError):
        gpu.submit(cmd.Free(5))
    mod.count[20, 256](x, 5000)
    y.copy_to_device(x)
    x.free()
    z = gpu.to_device(np.zeros((4, 8), np.float32))
    picture = gpu.texture(np.arange(32, dtype=np.float32).reshape(4, 8))
    mod.fetch[1, 8](picture, z)
    assert event.cycle > 0
    return [y.copy_to_host(), z.copy_to_host(), mod.symbol("total", np.int32).copy_to_host()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="module")
def original(folder):
    path = folder / "original.gprec"
    with RecordWriter(path) as recorder:
        gpu = open_device(
            Settings(chip_name="t4", sampling=SAMPLING, recorder=recorder, save_stream=True, command="the command")
        )
        script(gpu, folder)
        gpu.executor.finish()
    return path


def again(original: Path, path: Path, **changes) -> Path:
    stream = read_stream(original)
    chip = described(stream.chip, str(original))
    saved_load_bases = "load_base" not in changes
    with RecordWriter(path) as recorder:
        settings = Settings(
            chip=chip, sampling=stream.header.sampling, recorder=recorder, save_stream=True, command="the command"
        )
        replay(stream, replace(settings, **changes), saved_load_bases=saved_load_bases)
    return path


def rows(path: Path) -> dict[bytes, list]:
    found: dict[bytes, list] = {}
    for chunk, payload in read_chunks(path):
        found.setdefault(chunk.type, []).append(payload)
    return found


@pytest.mark.long
def test_the_same_again(original, tmp_path):
    assert again(original, tmp_path / "a.gprec").read_bytes() == original.read_bytes()
    assert again(tmp_path / "a.gprec", tmp_path / "b.gprec").read_bytes() == original.read_bytes()


def test_other_sampling(original, tmp_path):
    """All but samples and what counts them stays."""
    sampled = again(original, tmp_path / "a.gprec", sampling=Sampling(64, "all", 9))
    before, after = rows(original), rows(sampled)
    for type_ in (b"MODL", b"SRCF", b"LNCH", b"LEDG", b"CNTR", b"IMAG"):
        assert list(map(str, before[type_])) == list(map(str, after[type_]))
    assert [each["cycles"] for each in before[b"LEND"]] == [each["cycles"] for each in after[b"LEND"]]
    assert sum(each["samples_due"] for each in before[b"LEND"]) != sum(each["samples_due"] for each in after[b"LEND"])


def test_another_chip(original, tmp_path):
    """What is computed is the same, what is timed is not; the chip is the new one."""
    before, after = rows(original), rows(again(original, tmp_path / "a.gprec", chip=load_chip("rtx4090")))
    assert after[b"CHIP"] == [json.loads(json.dumps(load_chip("rtx4090").describe()))]
    assert list(map(str, before[b"CNTR"])) == list(map(str, after[b"CNTR"]))
    assert [each["cycles"] for each in before[b"LEND"]] != [each["cycles"] for each in after[b"LEND"]]


def database_rows(path: Path) -> dict[str, list[tuple]]:
    """Every table of a recording's database, each code address as module and offset."""
    db = ensure_database(path)
    modules = db.execute("SELECT module, load_base, code_nbytes FROM modules").fetchall()
    where = {base + offset: (module, offset) for module, base, nbytes in modules for offset in range(0, nbytes, 16)}
    places = {
        "pc": where,
        "cause_pc": where,
        "first_pc": where,
        "load_base": {base: module for module, base, _ in modules},
    }
    found = {}
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'meta'").fetchall():
        columns = [places.get(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
        rows = db.execute(f"SELECT * FROM {table}")
        found[table] = sorted(
            (tuple(c[v] if c and v is not None else v for v, c in zip(row, columns, strict=True)) for row in rows),
            key=repr,
        )
    return found


@pytest.mark.parametrize("load_base", [0x7F00_0000, None])
def test_load_bases(original, tmp_path, load_base):
    """Modules elsewhere: the same rows of the database, up to where a module lies."""
    moved = again(original, tmp_path / "a.gprec", load_base=load_base)
    bases = [module["load_base"] for module in rows(moved)[b"MODL"]]
    assert bases != [module["load_base"] for module in rows(original)[b"MODL"]]
    assert load_base is None or bases == [0x7F00_0000, 0x7F00_2000]
    assert database_rows(moved) == database_rows(original)
    assert again(moved, tmp_path / "b.gprec").read_bytes() == moved.read_bytes()


@pytest.mark.parametrize("chip", ["a100", "t4", "v100"])
def test_random_load_bases_keep_their_cache_lines(chip):
    """T4's 46 KB and V100's 12 KB are no powers of two."""
    chip = load_chip(chip)
    sizes = [5000 * 16, 16, 1 << 24, 0, 300 * 16]
    plain, moved, other = (
        LoadMap(),
        LoadMap(seed=1, move_nbytes=move_nbytes(chip)),
        LoadMap(seed=2, move_nbytes=move_nbytes(chip)),
    )
    usual, moved, other = ([load_map.place(size) for size in sizes] for load_map in (plain, moved, other))
    assert usual != moved != other
    for base, place in zip(usual, moved, strict=True):
        for lines in (chip.l0i_lines, chip.l1i_lines):
            assert (place - base) % (lines * chip.instruction_line_nbytes) == 0
    spans = sorted(zip(moved, sizes, strict=True))
    assert all(base + size + 0x1000 <= after for (base, size), (after, _) in pairwise(spans))
    assert spans[0][0] >= 0x1000 and sum(spans[-1]) <= 1 << 32


@pytest.mark.parametrize("first", [0, -0x1000, 0x1001, 1 << 32])
def test_bad_load_bases(first):
    with pytest.raises(UsageError, match=r"load base 0x.*must be a multiple of 0x1000"):
        LoadMap(first)


def test_no_room_for_code():
    load_map = LoadMap(seed=0)
    with pytest.raises(UsageError, match="no room"):
        for _ in range(5):
            load_map.place(1 << 30)
