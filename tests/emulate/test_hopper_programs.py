"""CUDA programs for sm_90 from source to result and cycles, and what a launch with clusters may be."""

import re

import numpy as np
import pytest

import gpuprof
from gpuprof.device.host_arguments import host_arguments
from gpuprof.device.launching.config import LaunchConfig
from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.errors import UsageError
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.stalls import INDEX
from tests.emulate.test_hopper import kernel, pipeline
from tests.paths import ROOT
from tests.support.running import run_file

I32, F32 = np.int32, np.float32


@pytest.fixture(scope="module")
def loaded():
    gpu = gpuprof.Device("h200")
    return gpu, gpu.load(ROOT / "tests" / "programs" / "cluster.cu")


def test_cluster_dimensions_come_from_the_source(loaded):
    _, program = loaded
    values, out = np.arange(16 * 64, dtype=I32), np.zeros(4, I32)
    program.sums[16, 64](values, out)
    np.testing.assert_array_equal(out, values.reshape(4, 256).sum(1))
    assert program["sums"].function.required_cluster == (4, 1, 1)


@pytest.mark.parametrize("cluster", [None, 2, (2, 2), (4, 1, 1), (1, 4)])
def test_blocks_hand_their_part_to_the_next_of_the_cluster(loaded, cluster):
    _, program = loaded
    values, out = np.arange(8 * 4 * 32, dtype=I32), np.zeros(8 * 4 * 32, I32)
    program.rotate[(8, 4), 32, 0, 128, cluster](values, out)
    cx, cy, _ = (*(cluster if isinstance(cluster, tuple) else (cluster or 1,)), 1, 1)[:3]
    parts, wanted = values.reshape(4, 8, 32), np.zeros((4, 8, 32), I32)
    for y, x in np.ndindex(4, 8):
        rank = y % cy * cx + x % cx
        before = (rank - 1) % (cx * cy)
        wanted[y, x] = parts[y - y % cy + before // cx, x - x % cx + before % cx] + 1000 * rank
    np.testing.assert_array_equal(out.reshape(4, 8, 32), wanted)


def test_tile_through_a_tensor_map_argument(loaded):
    gpu, program = loaded
    matrix = np.random.default_rng(0).integers(0, 9, (100, 96)).astype(F32)
    on_device, out = gpu.to_device(matrix), np.zeros(32, F32)
    tensor = gpuprof.TensorMap(on_device, box=(64, 32), swizzle=128)
    program.tile_sums[1, 32](tensor, out, 32, 60)
    np.testing.assert_array_equal(out, matrix[60:, 32:64].sum(0))
    assert str(tensor) == "tensor map of f32[100x96], box 64x32"


@pytest.mark.parametrize("start", ["random", "arange"])
def test_tile_through_a_tensor_map_of_a_launch_text(start):
    launch = f"tile_sums<<<1, 32>>>(tensormap(box=(64, 32), swizzle=128) a: f32[100,96]={start}, out: f32[32], 32, 30)"
    arrays, _ = run_file(ROOT / "tests" / "programs" / "cluster.cu", launch, chip_name="h200")
    matrix = arrays["a"].copy_to_host().reshape(100, 96)
    np.testing.assert_allclose(arrays["out"].copy_to_host(), matrix[30:94, 32:64].sum(0), rtol=1e-6)


def test_a_later_launch_sees_a_named_array_through_a_map():
    """What is out of bounds is NaN, in bfloat16 too, which numpy holds as integers."""
    first = "rotate<<<1, 32, 128>>>(i32[32], i32[32])"
    second = "tile_sums<<<1, 32>>>(tensormap(box=(64, 32), fill=nan) a: f32[64,32]=ones, out: f32[32], 0, 0)"
    third = "tile_sums<<<1, 32>>>(tensormap(box=(64, 32), fill=nan) a, after: f32[32], 0, 1)"
    arrays, _ = run_file(ROOT / "tests" / "programs" / "cluster.cu", first, second, third, chip_name="h200")
    assert (arrays["out"].copy_to_host() == 64).all()
    assert np.isnan(arrays["after"].copy_to_host()).all()


@pytest.mark.parametrize(
    "map, text",
    [
        ("tensormap(box=(64, 64), swizzle=128) f32[100,96]", "a row of the box has 256 bytes; swizzle 128 allows"),
        ("tensormap(box=64) f32[100,96]", "a box of 1 dimensions for a tensor of 2"),
        ("tensormap(box=(64, 32)) f32[100,97]", "strides are multiples of 16 bytes"),
        ("tensormap(box=(64, 32)) a", "array a is not defined yet"),
    ],
)
def test_maps_of_launch_texts_are_checked_before_anything_runs(map, text):
    with pytest.raises(UsageError, match=re.escape(text)):
        run_file(
            ROOT / "tests" / "programs" / "cluster.cu", f"tile_sums<<<1, 32>>>({map}, f32[32], 0, 0)", chip_name="h200"
        )


@pytest.mark.parametrize(
    "config, text",
    [
        ((6, 32, 0, 0, 4), "a grid of 6x1x1 cannot be divided into clusters of 4x1x1"),
        ((32, 32, 0, 0, 32), "at most 16 blocks"),
    ],
)
def test_clusters_that_no_gpu_would_launch(loaded, config, text):
    _, program = loaded
    with pytest.raises(UsageError, match=text):
        program.rotate[config](np.zeros(1, I32), np.zeros(1, I32))


def test_an_older_chip_has_no_clusters():
    gpu = gpuprof.Device("a100")
    program = gpu.load(ROOT / "tests" / "programs" / "cluster.cu")
    with pytest.raises(UsageError, match="clusters need sm_90; a100 is sm_80"):
        program.sums[16, 64](np.zeros(1, I32), np.zeros(1, I32))


def test_a_launch_must_agree_with_the_kernel(loaded):
    _, program = loaded
    with pytest.raises(UsageError, match="compiled for clusters of exactly 4x1x1"):
        program.sums[16, 64, 0, 0, 2](np.zeros(1, I32), np.zeros(1, I32))


@pytest.mark.parametrize(
    "text, cluster, shared",
    [
        ("k<<<8, 32>>>()", None, 0),
        ("k<<<8, 32, cluster=2>>>()", (2, 1, 1), 0),
        ("k<<<8, 32, 64, 1, cluster = (2, 2)>>>()", (2, 2, 1), 64),
    ],
)
def test_clusters_in_a_launch_text(text, cluster, shared):
    request = parse_launch(text)
    assert (request.config.cluster, request.config.dynamic_shared_nbytes) == (cluster, shared)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"box": (8,)}, "a box of 1 dimensions for a tensor of 2"),
        ({"box": (8, 300)}, "extents are 1 to 256"),
        ({"box": (8, 3)}, "12 bytes, which is not a multiple of 16"),
        ({"box": (8, 64), "swizzle": 128}, "256 bytes; swizzle 128"),
        ({"box": (8, 16), "swizzle": 48}, "swizzle is 0, 32, 64 or 128"),
        ({"box": (8, 16), "strides": (36, 4)}, "multiples of 16 bytes"),
        ({"box": (8, 16), "element": "f24"}, "unknown element type"),
        ({"box": (8, 16), "steps": (1, 9)}, "from 1 to 8"),
    ],
)
def test_tensor_maps_that_the_hardware_would_refuse(loaded, changes, text):
    gpu, _ = loaded
    array = gpu.device_array((64, 128), F32)
    with pytest.raises(UsageError, match=text):
        gpuprof.TensorMap(array, **changes)


def timed(gpu, launched, arguments, block: int, grid: int = 1):
    """The launch's timing: what device.launching.text gives."""
    with host_arguments(gpu.submit, launched.function, arguments) as given:
        return gpu.launch(
            launched.module, launched.function, LaunchConfig((grid, 1, 1), (block, 1, 1)), given.values, "k"
        )


def waits_of(timing, module, name: str, reason: str = "long_scoreboard") -> int:
    """Warp-cycles of a stall reason at an opcode."""
    return int(timing.ledger[module.code["opcode"] == BY_NAME[name].number, INDEX[reason]].sum())


def test_the_wait_for_a_tile_is_charged_to_memory(loaded):
    gpu, program = loaded
    fresh = gpu.to_device(np.ones((64, 32), F32))
    launched = program.tile_sums
    timing = timed(gpu, launched, (gpuprof.TensorMap(fresh, box=(64, 32), swizzle=128), np.zeros(32, F32), 0, 0), 32)
    assert timing.dram_read_nbytes == 64 * 32 * 4
    wait = waits_of(timing, launched.module, "MBAR.TRY_WAIT.PARITY")
    assert gpu.chip.dram_cycles < wait < 2 * gpu.chip.dram_cycles  # the first lines' way, and the others behind them


def test_a_wait_for_bulk_stores_lasts_until_they_are_out(tmp_path):
    """`.read` lets go when shared memory has been read, which is at once here; without, the L2 has to have answered."""
    body = (
        "@%p7 ret;\n cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 1024;\n cp.async.bulk.commit_group;\n"
    )
    waits = []
    for number, form in enumerate(("wait_group", "wait_group.read")):
        gpu = gpuprof.Device("h200")
        path = tmp_path / f"store{number}.ptx"
        path.write_text(kernel(body + f" cp.async.bulk.{form} 0;\n", 1))
        launched = gpu.load(path)["k"]
        out = gpu.to_device(np.ones(256, F32))
        waits.append(waits_of(timed(gpu, launched, (out,), 32), launched.module, "BULK.WAIT" + ".READ" * number))
        assert (out.copy_to_host() == 0).all()  # shared memory begins as zeros
    assert waits[0] > 200 and waits[1] == 0  # h200.toml: l2_store_cycles = 264


def test_stages_of_a_pipeline_overlap_in_time(tmp_path):
    """One stage: each of 16 tiles is waited for alone. Four stages: four are on their way at once."""
    cycles, waits = {}, {}
    for stages in (1, 4):
        gpu = gpuprof.Device("h200")
        path = tmp_path / f"pipeline{stages}.ptx"
        path.write_text(kernel(pipeline(stages), 2, 1))
        launched = gpu.load(path)["k"]
        matrix = gpu.to_device(np.ones((64, 128), np.float16))
        arguments = (matrix, gpu.device_array(1, F32), gpuprof.TensorMap(matrix, (8, 64), swizzle=128))
        timing = timed(gpu, launched, arguments, 160)
        # Without what every launch takes before its first warp and after its last.
        cycles[stages] = timing.end_cycle - timing.start_cycle
        waits[stages] = waits_of(timing, launched.module, "MBAR.TRY_WAIT.PARITY")
        turns = waits_of(timing, launched.module, "BRA", "short_scoreboard")  # after an arrival, whose lanes take turns
        assert waits[stages] + turns > {1: 2, 4: 1.5}[stages] * cycles[stages]  # of five warps, which also add up
        assert waits[stages] > cycles[stages]
    assert cycles[1] > 16 * gpu.chip.dram_cycles
    assert 4 * gpu.chip.dram_cycles < cycles[4] < cycles[1] / 2


PTX = ROOT / "tests" / "ptx"


def test_barriers_of_libcudacxx():
    """hopper_barriers.cu as nvcc 13.0 compiles it (-ptx -lineinfo -arch=sm_90a): cuda::barrier, cuda::ptx, clusters,
    tensor maps.
    """
    gpu = gpuprof.Device("h200")
    program = gpu.load(PTX / "hopper_barriers.ptx")
    rng = np.random.default_rng(0)
    data = np.arange(4096, dtype=I32)
    program["add1"][4, 128](data, 4096)
    np.testing.assert_array_equal(data, np.arange(1, 4097))

    values, bins = rng.integers(0, 128, 5000).astype(I32), np.zeros(128, I32)
    program["histo"][8, 64](bins, values, 5000)
    np.testing.assert_array_equal(bins, np.bincount(values, minlength=128))

    matrix = rng.integers(0, 1000, (40, 64)).astype(I32)
    on_device = gpu.to_device(matrix)
    program["tile"][1, 256](gpuprof.TensorMap(on_device, box=(8, 32)), 16, 30, np.zeros(1, I32))
    wanted = matrix.copy()
    wanted[30:38, 16:48] *= 2
    np.testing.assert_array_equal(on_device.copy_to_host(), wanted)


def test_matrix_product_with_descriptors_made_on_the_device():
    """hopper_descriptors.py as Triton compiles it: tensormap.replace from zeros, TMA in three stages, wgmma. Small
    integers: exact.
    """
    gpu = gpuprof.Device("h200")
    program = gpu.load(PTX / "hopper_descriptors.ptx")
    rng = np.random.default_rng(1)
    m, n, k = 128, 104, 136  # tiles of 64 reach out of the matrices
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float16), rng.integers(-4, 5, (k, n)).astype(np.float16)
    c, scratch = gpu.device_array((m, n), np.float16), gpu.device_array(384 * 4, np.uint8)
    program["mm"][(2, 2), 128, 0, 49176](gpu.to_device(a), gpu.to_device(b), c, m, n, k, scratch, scratch)
    np.testing.assert_array_equal(c.copy_to_host(), (a.astype(F32) @ b.astype(F32)).astype(np.float16))
