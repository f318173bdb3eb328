"""Sectors, lines, wavefronts, instructions and branches of small kernels, counted by hand. Arrays start at multiples of
256 bytes.
"""

import csv
import io
import json

import numpy as np
import pytest

from gpuprof.isa.encoding import decode
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.stalls import INDEX
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.timing.sampling.configuration import Sampling
from tests.paths import SAMPLES
from tests.support.command import gpuprof, write_files
from tests.support.matrices import long_from
from tests.support.running import run_file, run_source


def opcodes(result: LaunchResult) -> np.ndarray:
    """The opcode name of every instruction."""
    return np.array([decode(row).op.name for row in result.launch.module.code])


def total(result: LaunchResult, counter: str, opcode: str) -> int:
    """A counter's sum over the instructions whose opcode starts so."""
    chosen = np.char.startswith(opcodes(result), opcode)
    assert chosen.any(), f"the kernel has no {opcode}"
    return int(getattr(result.counters, counter)[chosen].sum())


def only_result(folder, source: str, launch: str, **settings) -> LaunchResult:
    _, results = run_source(folder, source, launch, **settings)
    return results.launches[0]


def results_by_case(folder, source: str, cases: list[tuple]) -> dict[str, LaunchResult]:
    """The results of a table's launches, by the table's first column; the source is compiled once."""
    _, results = run_source(folder, source, *(launch for _, launch, *_ in cases))
    return dict(zip((what for what, *_ in cases), results.launches, strict=True))


# --- global memory: 32-byte sectors, 128-byte lines


STRIDED = """
template <class T> __global__ void load(const T *in, T *out, int stride, int start)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride + start];
}
"""


LOADS = [
    # A warp's 32 floats are 128 bytes: 4 sectors in 1 line. Two warps: 8 and 2.
    ("stride 1", "load<float><<<1, 64>>>(f32[4096], f32[64], 1, 0)", 8, 8, 2),
    # 32 floats spread over 256 bytes: all their 8 sectors, 2 lines. Packed, they would be 4 sectors.
    ("stride 2", "load<float><<<1, 64>>>(f32[4096], f32[64], 2, 0)", 16, 8, 4),
    # 128 bytes from lane to lane: each lane has a sector and a line of its own.
    ("stride 32", "load<float><<<1, 64>>>(f32[4096], f32[64], 32, 0)", 64, 8, 64),
    # Warp 0: bytes 4..131, sectors 0..4, lines 0 and 1; warp 1: bytes 132..259, sectors 4..8, lines 1 and 2.
    ("one element off", "load<float><<<1, 64>>>(f32[4096], f32[64], 1, 1)", 10, 8, 4),
    # Bytes 32..159: whole sectors 1..4, but two lines.
    ("one sector off", "load<float><<<1, 64>>>(f32[4096], f32[64], 1, 8)", 8, 8, 4),
    # All lanes read one element: one sector, and no access takes fewer.
    ("broadcast", "load<float><<<1, 64>>>(f32[4096], f32[64], 0, 5)", 2, 2, 2),
    # Backwards from byte 4 * 2000: warp 0 has elements 1969..2000, bytes 7876..8003: sectors 246..250, lines 61 and 62;
    # warp 1 has elements 1937..1968, bytes 7748..7875: sectors 242..246, lines 60 and 61.
    ("backwards", "load<float><<<1, 64>>>(f32[4096], f32[64], -1, 2000)", 10, 8, 4),
    # 32 doubles: 256 bytes, 8 sectors, 2 lines.
    ("doubles", "load<double><<<1, 64>>>(f64[4096], f64[64], 1, 0)", 16, 16, 4),
    # 32 bytes: 1 sector. Warp 1's are in the next sector of the same line.
    ("bytes", "load<char><<<1, 64>>>(i8[4096], i8[64], 1, 0)", 2, 2, 2),
    # 32 float4: 512 bytes, 16 sectors, 4 lines.
    ("float4", "load<float4><<<1, 64>>>(f32[4096], f32[256], 1, 0)", 32, 32, 8),
    # The last 8 of 40 threads are a warp of their own: 32 bytes, 1 sector.
    ("40 threads", "load<float><<<1, 40>>>(f32[4096], f32[40], 1, 0)", 5, 5, 2),
    # Half a warp, 8 bytes apart: 15 * 8 + 4 bytes reach into 4 sectors; packed, 64 bytes are 2.
    ("16 threads, stride 2", "load<float><<<1, 16>>>(f32[4096], f32[16], 2, 0)", 4, 2, 1),
    # Blocks of 16 threads share no warp: 2 sectors each.
    ("4 blocks of 16", "load<float><<<4, 16>>>(f32[4096], f32[64], 1, 0)", 8, 8, 4),
]


@pytest.fixture(scope="module")
def loads(tmp_path_factory):
    return results_by_case(tmp_path_factory.mktemp("loads"), STRIDED, LOADS)


@pytest.mark.parametrize("what, launch, sectors, ideal, lines", LOADS)
def test_global_loads(loads, what, launch, sectors, ideal, lines):
    found = [
        total(loads[what], name, "LDG")
        for name in ("l2_sectors_global", "l2_sectors_global_ideal", "l1_tag_requests_global")
    ]
    assert found == [sectors, ideal, lines]


def test_stores_count_like_loads(tmp_path):
    source = "__global__ void store(float *out, int stride) { out[threadIdx.x * stride] = 1; }"
    # A line of 4 sectors for 32 neighbours; 32 of each when a line lies between them.
    for stride, sectors, lines in ((1, 4, 1), (32, 32, 32)):
        result = only_result(tmp_path, source, f"store<<<1, 32>>>(f32[1024], {stride})")
        assert (total(result, "l2_sectors_global", "STG"), total(result, "l1_tag_requests_global", "STG")) == (
            sectors,
            lines,
        )


def test_atomics_touch_each_sector_once(tmp_path):
    source = "__global__ void count(int *bins, int n) { atomicAdd(bins + threadIdx.x % n, 1); }"
    # 64 threads on 8 neighbouring ints: each of the two warps touches their one sector; on 32 ints, 4 sectors.
    for n, sectors in ((8, 2), (32, 8)):
        arrays, results = run_source(tmp_path, source, f"count<<<1, 64>>>(bins: i32[32], {n})")
        assert total(results.launches[0], "l2_sectors_global", "RED") == sectors
        assert arrays["bins"].copy_to_host().tolist() == [64 // n] * n + [0] * (32 - n)


# --- shared memory: 32 banks of 4 bytes


SHARED = """
template <class T> __global__ void exchange(T *out, int stride, int start)
{
    __shared__ T s[33 * 32];
    int lane = threadIdx.x;
    s[lane * stride + start] = T(lane);
    __syncthreads();
    out[lane] = s[lane * stride + start];
}
"""


EXCHANGES = [
    # 32 lanes, 32 banks.
    ("stride 1", "exchange<float><<<1, 32>>>(f32[32], 1, 0)", 1, 1),
    # Words 0, 2, .. 62: each even bank has two of them.
    ("stride 2", "exchange<float><<<1, 32>>>(f32[32], 2, 0)", 2, 1),
    # Words 0, 4, .. 124: each of 8 banks has four.
    ("stride 4", "exchange<float><<<1, 32>>>(f32[32], 4, 0)", 4, 1),
    # All in bank 0, whichever word they start from.
    ("stride 32", "exchange<float><<<1, 32>>>(f32[32], 32, 0)", 32, 1),
    ("stride 32 from 3", "exchange<float><<<1, 32>>>(f32[32], 32, 3)", 32, 1),
    # A padded column: 33 mod 32 = 1, a bank each.
    ("stride 33", "exchange<float><<<1, 32>>>(f32[32], 33, 0)", 1, 1),
    # Odd strides have no common divisor with 32.
    ("stride 3", "exchange<float><<<1, 32>>>(f32[32], 3, 0)", 1, 1),
    # 3 * 2: words 0, 6, .. 186; two in each even bank.
    ("stride 6", "exchange<float><<<1, 32>>>(f32[32], 6, 0)", 2, 1),
    # One word for all.
    ("broadcast", "exchange<float><<<1, 32>>>(f32[32], 0, 7)", 1, 1),
    # 4 bytes in a word, 8 words: no bank has two.
    ("bytes", "exchange<char><<<1, 32>>>(i8[32], 1, 0)", 1, 1),
    # A lane for each word, 32 bytes apart would be 8 words: words 0, 8, .. 248, each of 4 banks has eight.
    ("bytes, stride 32", "exchange<char><<<1, 32>>>(i8[32], 32, 0)", 8, 1),
    # Doubles go in two half warps, each of 16 x 2 words on 32 banks.
    ("doubles", "exchange<double><<<1, 32>>>(f64[32], 1, 0)", 2, 2),
    # A half warp's words 0,1, 4,5, .. 60,61: two in each of 16 banks; two half warps.
    ("doubles, stride 2", "exchange<double><<<1, 32>>>(f64[32], 2, 0)", 4, 2),
]


@pytest.fixture(scope="module")
def exchanges(tmp_path_factory):
    return results_by_case(tmp_path_factory.mktemp("exchanges"), SHARED, EXCHANGES)


@pytest.mark.parametrize("what, launch, wavefronts, ideal", EXCHANGES)
def test_shared_accesses(exchanges, what, launch, wavefronts, ideal):
    result = exchanges[what]
    for opcode in ("STS", "LDS"):
        assert total(result, "l1_wavefronts_shared", opcode) == wavefronts
        assert total(result, "l1_wavefronts_shared_ideal", opcode) == ideal
    # One warp stores and loads once; what the timing saw is what was counted.
    assert result.timing.shared_wavefronts == 2 * wavefronts


def test_shared_float4(tmp_path):
    source = """
    __global__ void k(float4 *out) {
        __shared__ float4 s[64];
        s[threadIdx.x] = make_float4(1, 2, 3, threadIdx.x);
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    }"""
    # Quarter warps of 8 lanes x 4 words fill the 32 banks: 4 wavefronts a warp and direction, and it cannot be fewer.
    result = only_result(tmp_path, source, "k<<<1, 64>>>(f32[256])")
    for opcode in ("STS", "LDS"):
        assert (total(result, "l1_wavefronts_shared", opcode), total(result, "l1_wavefronts_shared_ideal", opcode)) == (
            8,
            8,
        )


def test_transpose_sample():
    """512 x 512 floats in tiles of 32 x 32, blocks of 32 x 8: 2048 warps in all move 4 rows of 32 floats each, so 8192
    accesses.
    """
    _, results = run_file(SAMPLES / "transpose.cu")
    by_name = {each.launch.function.display: each for each in results.launches}
    for name, each in by_name.items():
        # Reads are along rows: 4 sectors an access, always.
        assert total(each, "l2_sectors_global", "LDG") == 8192 * 4, name
        # Writes are along columns in `naive`: a sector for each lane.
        assert total(each, "l2_sectors_global", "STG") == 8192 * (32 if name == "naive" else 4), name
    # Through a tile of 32 columns, a column is in one bank: 32 passes. With one column of padding there are no
    # conflicts.
    assert total(by_name["coalesced"], "l1_wavefronts_shared", "LDS") == 8192 * 32
    assert total(by_name["padded"], "l1_wavefronts_shared", "LDS") == 8192
    assert total(by_name["coalesced"], "l1_wavefronts_shared", "STS") == 8192


# --- instructions and branches


PTX_HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
"""


def run_ptx(folder, body: str, launch: str) -> tuple[np.ndarray, LaunchResult]:
    path = folder / "k.ptx"
    path.write_text(PTX_HEAD + body + "\n}\n")
    arrays, results = run_file(path, launch)
    return arrays["out"].copy_to_host(), results.launches[0]


def instructions(result: LaunchResult, opcode: str) -> tuple[int, int, int]:
    names = ("inst_executed", "thread_inst_executed", "thread_inst_executed_pred_on")
    return tuple(total(result, name, opcode) for name in names)


def test_a_guard_turns_lanes_off_but_not_the_instruction(tmp_path):
    body = """
    setp.lt.u32 %p1, %r1, 40;
    @%p1 st.global.u32 [%rd3], %r1;
    ret;"""
    out, result = run_ptx(tmp_path, body, "k<<<1, 96>>>(out: i32[96]=ones)")
    # Three warps execute the store with all 96 threads; threads 0..39 have their guard on.
    assert instructions(result, "STG") == (3, 96, 40)
    # Warp 0 stores 32 ints in 4 sectors, warp 1 stores 8 in 1, warp 2 none.
    assert total(result, "l2_sectors_global", "STG") == 5
    assert out.tolist() == [*range(40)] + [1] * 56


def test_a_loop_that_each_lane_leaves_at_another_time(tmp_path):
    body = """
    mov.u32 %r2, 0;
    mov.f32 %f1, 0f3f800000;
LOOP:
    .pragma "nounroll";
    fma.rn.f32 %f1, %f1, %f1, %f1;
    add.u32 %r2, %r2, 1;
    setp.le.u32 %p1, %r2, %r1;
    @%p1 bra LOOP;
    st.global.u32 [%rd3], %r2;
    ret;"""
    out, result = run_ptx(tmp_path, body, "k<<<2, 32>>>(out: i32[32])")
    assert out.tolist() == list(range(1, 33))
    # Lane l makes l + 1 rounds: the warp makes 32, its lanes 1 + 2 + .. + 32 = 528. Two blocks do the same.
    assert instructions(result, "FFMA") == (2 * 32, 2 * 528, 2 * 528)
    # In each round but the last one lane leaves and others stay.
    assert total(result, "divergent_branches", "BRA") == 2 * 31
    # The warp is whole again for the store.
    assert instructions(result, "STG") == (2, 64, 64)


def test_two_ways_of_a_branch(tmp_path):
    calls = "".join("    fma.rn.f32 %f1, %f1, %f1, %f1;\n" for _ in range(20))
    body = f"""
    mov.f32 %f1, 0f3f800000;
    mov.f32 %f2, 0f3f800000;
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra FOURTH;
    add.f32 %f2, %f2, %f2;
    bar.warp.sync 0xeeeeeeee;
{calls}
    bra DONE;
FOURTH:
    mul.f32 %f2, %f2, %f1;
    bar.warp.sync 0x11111111;
DONE:
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd3], %f3;
    ret;"""
    _, result = run_ptx(tmp_path, body, "k<<<1, 64>>>(out: f32[64])")
    # Each of two warps goes both ways: 24 lanes through 20 multiply-adds, 8 lanes through the multiplication.
    assert instructions(result, "FFMA") == (40, 20 * 48, 20 * 48)
    assert instructions(result, "FMUL") == (2, 16, 16)
    assert total(result, "divergent_branches", "BRA") == 2
    assert instructions(result, "STG") == (2, 64, 64)


def test_a_uniform_branch_does_not_diverge(tmp_path):
    body = """
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r2, 0;
LOOP:
    .pragma "nounroll";
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 5;
    @%p1 bra LOOP;
    st.global.u32 [%rd3], %r2;
    ret;"""
    _, result = run_ptx(tmp_path, body, "k<<<1, 64>>>(out: i32[64])")
    assert instructions(result, "BRA") == (10, 320, 4 * 64)
    assert total(result, "divergent_branches", "BRA") == 0


# --- cycles and samples: sums that must hold


@pytest.mark.parametrize("chip", long_from(1, ["a100", "v100", "h200", "ppu15"]))
@pytest.mark.parametrize("sample", ["transpose.cu", "reduction.cu"])
def test_every_cycle_of_every_warp_is_in_the_ledger(sample, chip):
    _, results = run_file(SAMPLES / sample, chip_name=chip)
    for result in results.launches:
        timing = result.timing
        assert int(timing.ledger.sum()) == timing.resident_warp_cycles
        # An instruction of n slots issues n times for each warp that executes it.
        slots = np.array([BY_NAME[name].slots for name in opcodes(result)], np.uint64)
        issues = result.counters.inst_executed * slots
        selected = timing.ledger[:, INDEX["selected"]]
        if chip == "ppu15":  # two dispatch units: a warp's second instruction of a cycle costs no cycle of its own
            assert (selected <= issues).all() and 2 * selected.sum() >= issues.sum()
        else:
            assert selected.tolist() == issues.tolist()
        assert timing.issue_slots == issues.sum()
        warps_per_block = -(-result.launch.threads_per_block // 32)
        assert timing.warps_launched == result.launch.n_blocks * warps_per_block
        assert timing.active_cycles_of_sm.sum() == timing.sm_active_cycles


def test_data_read_once_comes_from_memory_once(tmp_path):
    """32768 floats in, as many out, each touched once, from a chip just switched on: 131072 bytes, 4096 sectors each
    way.
    """
    timing = only_result(tmp_path, STRIDED, "load<float><<<256, 128>>>(f32[32768], f32[32768], 1, 0)").timing
    assert (timing.l1_sectors, timing.l1_hits, timing.l2_sectors, timing.dram_read_nbytes) == (4096, 0, 8192, 131072)


@pytest.mark.parametrize(
    "fifo_depth, drain_cycles, kept",
    [
        # The FIFO is emptied faster than it fills: all are kept.
        (16, 1, lambda due: due),
        # One place, free again after 100 cycles, when three samples at 32, 64 and 96 cycles have found it taken: each
        # fourth is kept.
        (1, 100, lambda due: -(-due // 4)),
        (2, 100, lambda due: kept_by_queue(due, 2, 100)),
        (5, 77, lambda due: kept_by_queue(due, 5, 77)),
    ],
)
def test_samples_are_kept_or_dropped(tmp_path, fifo_depth, drain_cycles, kept):
    sampling = Sampling(period_cycles=32, fifo_depth=fifo_depth, drain_cycles=drain_cycles)
    timing = only_result(tmp_path, STRIDED, "load<float><<<1, 32>>>(f32[32], f32[32], 1, 0)", sampling=sampling).timing
    # One warp, resident until the end: a sample is due in each cycle of its stay that is a multiple of 32.
    first, end = timing.end_cycle - timing.resident_warp_cycles, timing.end_cycle
    due = sum(cycle % 32 == 0 for cycle in range(first, end))
    assert timing.samples_due == due > 20
    assert timing.samples_kept + timing.samples_dropped == due
    assert timing.samples_kept == kept(due)
    assert timing.buffer_full == (timing.samples_dropped > 0)


def kept_by_queue(due: int, depth: int, drain_cycles: int) -> int:
    """The queue, cycle by cycle: one record comes each 32 cycles, one goes `drain_cycles` after it is the first."""
    waiting: list[int] = []  # cycles until each may go, the first one's counted down
    kept = 0
    for cycle in range(32 * due):
        if waiting:
            waiting[0] -= 1
            if waiting[0] == 0:
                waiting.pop(0)
        if cycle % 32 == 0 and len(waiting) < depth:
            waiting.append(drain_cycles)
            kept += 1
    return kept


# --- the same counts wherever they are shown


def test_excess_on_every_page(tmp_path):
    """A column of a 32 x 32 tile of floats, and one store in 128-byte steps: counted by hand, in text, CSV and JSON of
    a line.

    Line 4: 32 lanes in 128-byte steps store to 32 sectors, where their 128 bytes fill 4: 28 too many; they load from
    one bank, 32 passes for
    one: 31 too many. One warp, 32 threads, all of them on.
    """
    source = (
        "__global__ void k(float *out) {\n    __shared__ float tile[32][32];\n    tile[0][threadIdx.x] = 1.0f;\n"
        "    out[32 * threadIdx.x] = tile[threadIdx.x][0];\n}\n"
    )
    write_files(tmp_path, {"k.cu": source})
    assert gpuprof(tmp_path, "collect", "k.cu", "--launch", "k<<<1, 32>>>(f32[1024])", "--period", "32")[0] == 0
    page = ("report", "k.gprec", "--page", "source")
    (text,) = (line.split() for line in gpuprof(tmp_path, *page)[1].splitlines() if "out[32" in line)
    lanes = text.index("32.0")
    assert text[lanes + 1 : lanes + 3] == ["28", "31"]
    rows = list(csv.reader(io.StringIO(gpuprof(tmp_path, *page, "--format", "csv")[1])))
    (line,) = (dict(zip(rows[1], row, strict=True)) for row in rows[2:] if "out[32" in row[1])
    sectors, passes = "L2 Theoretical Sectors Global", "L1 Wavefronts Shared"
    assert [line[f"{sectors}{end}"] for end in ("", " Ideal", " Excessive")] == ["32", "4", "28"]
    assert [line[f"{passes}{end}"] for end in ("", " Ideal", " Excessive")] == ["32", "1", "31"]
    executed = int(line["Instructions Executed"])
    assert text[lanes - 1] == str(executed) and int(line["Thread Instructions Executed"]) == 32 * executed
    (kernel,) = json.loads(gpuprof(tmp_path, *page, "--format", "json")[1])["kernels"]
    (counters,) = (
        row["counters"] for section in kernel["sections"] for row in section["rows"] if "out[32" in row["text"]
    )
    assert counters["inst_executed"] == executed and counters["thread_inst_executed_pred_on"] == 32 * executed
    for name, counts in (("l2_sectors_global", (32, 4, 28)), ("l1_wavefronts_shared", (32, 1, 31))):
        assert tuple(counters[name + end] for end in ("", "_ideal", "_excess")) == counts
