"""The advice on bank conflicts, carried out: each kernel runs as it is, then with the padding that its report names,
and the conflicts are what was promised.
"""

import re
from contextlib import closing

import numpy as np
import pytest

from gpuprof.correlate.advice.padding_advice import wavefronts
from gpuprof.correlate.counts import Counters
from gpuprof.correlate.database import ensure_database
from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.trace_log.coalesce import inspect
from gpuprof.report.model import Kernel, total
from gpuprof.report.queries import read_report
from gpuprof.report.triage.kernel_rules import findings
from tests.support.command import gpuprof

# A tile of rows that are PITCH elements apart, written along rows and read in another order, often enough to cost time.
TILE = """\
#ifndef PAD
#define PAD 0
#endif
typedef {type} T;
// LAUNCH: walk<<<4, ({x}, {y})>>>(out: f32[65536])
__global__ void walk(float *out) {{
    __shared__ T tile[{rows}][{columns} + PAD];
    int x = threadIdx.x, y = threadIdx.y, t = y * blockDim.x + x;
    for (int i = t; i < {rows} * {columns}; i += blockDim.x * blockDim.y)
        *({element} *)((char *)tile + (i / {columns} * ({columns} + PAD) + i % {columns}) * sizeof(T)) = {zero};
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += {read};
    out[t] = sum;
}}
"""


def tile(read, rows, columns, block=(32, 8), type="float", element="T", zero="0"):
    x, y = block
    return TILE.format(read=read, rows=rows, columns=columns, x=x, y=y, type=type, element=element, zero=zero)


# name: source, bytes of an element, the words of the advice
REGULAR = {
    "column of 32": (tile("tile[x][(y + k) % 32]", 32, 32), 4, "33 words a row instead of 32 words"),
    # Four columns of eight: rows of 9, 10 or 11 words still lie in each other's banks.
    "column of 8": (
        tile("tile[x][y % 4 + k % 2 * 4]", 8, 8, (8, 16), "volatile float"),
        4,
        "12 words a row instead of 8 words",
    ),
    "column of 16": (tile("tile[x][(y + k) % 16]", 16, 16, (16, 16)), 4, "18 words a row instead of 16 words"),
    "column of 64": (tile("tile[x][(y + k) % 64]", 32, 64), 4, "65 words a row instead of 64 words"),
    "column of 24": (tile("tile[x][(y + k) % 24]", 32, 24), 4, "25 words a row instead of 24 words"),
    "column of 48": (tile("tile[x][(y + k) % 48]", 32, 48), 4, "49 words a row instead of 48 words"),
    # Two half rows of a warp lie in the same banks: a padding by one element leaves fifteen conflicts of sixteen.
    "half rows of 32": (tile("tile[(y + k) % 32][x]", 32, 32, (16, 16)), 4, "48 words a row instead of 32 words"),
    "half rows of 64": (tile("tile[(y + k) % 16][x]", 16, 64, (16, 16)), 4, "80 words a row instead of 64 words"),
    "doubles": (
        tile("(float)tile[x][(y + k) % 32]", 32, 32, type="double"),
        8,
        "264 bytes a row instead of 256 bytes",
    ),
    "float2": (tile("tile[x][(y + k) % 16].x", 32, 16, type="float2", zero="make_float2(0, 0)"), 8, ""),
    "float4": (
        tile("tile[x][(y + k) % 8].x + tile[x][(y + k) % 8].w", 32, 8, type="float4", zero="make_float4(0, 0, 0, 0)"),
        16,
        "",
    ),
    "halves": (tile("tile[x][(y + k) % 64]", 32, 64, type="short"), 2, "132 bytes a row instead of 128 bytes"),
    "every other row": (tile("tile[x / 2][(x % 2) * 16 + (y + k) % 16]", 16, 32), 4, ""),
}

SWIZZLED = tile("tile[x][(y + k) % 32 ^ x]", 32, 32)
HISTOGRAM = """\
// LAUNCH: count<<<4, 256>>>(in: u32[1024]=random, out: u32[4096])
__global__ void count(const unsigned *in, unsigned *out) {
    __shared__ unsigned bins[1024];
    for (int k = threadIdx.x; k < 1024; k += 256) bins[k] = 0;
    __syncthreads();
    unsigned value = in[blockIdx.x * 256 + threadIdx.x];
    for (int k = 0; k < 64; k++) {
        value = value * 1664525u + 1013904223u;
        atomicAdd(&bins[(value >> 16) % 32 * 32 + (value >> 8) % 4], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256) out[blockIdx.x * 1024 + k] = bins[k];
}
"""
REDUCTION = """\
// LAUNCH: reduce<<<8, 256>>>(out: f32[8])
__global__ void reduce(float *out) {
    __shared__ float part[512 + 32];
    for (int round = 0; round < 8; round++) {
        part[threadIdx.x] = round;
        __syncthreads();
        for (int s = 1; s < 256; s *= 2) {
            int at = 2 * s * threadIdx.x;
            if (at < 256) part[at] += part[at + s];
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""


def collected(folder, source, *options):
    """The kernel, and the findings about its banks."""
    (folder / "k.cu").write_text(source)
    code, _, error = gpuprof(folder, "collect", "k.cu", "-o", "k.gprec", *options)
    assert code == 0, error
    with closing(ensure_database(folder / "k.gprec")) as db:
        report = read_report(db)
    (kernel,) = report.kernels
    return kernel, [f for f in findings(kernel, report.chip, report.header) if f.rule == "bank_conflicts"]


def excess(kernel: Kernel) -> int:
    return kernel.cost.counters.l1_wavefronts_shared_excess


def advised(text: str, element_nbytes: int) -> int:
    """The elements by which the advice makes a row longer."""
    unit = {"words": 4, "bytes": 1}
    new, new_unit, old, old_unit = re.search(r"(\d+) (words|bytes) a row instead of (\d+) (words|bytes)", text).groups()
    return (int(new) * unit[new_unit] - int(old) * unit[old_unit]) // element_nbytes


def line_of(kernel: Kernel, number: int) -> Counters:
    return total(i.cost for i in kernel.instructions if i.positions[0].line == number).counters


@pytest.mark.long
@pytest.mark.parametrize("name", REGULAR)
def test_the_advised_padding_does_what_it_says(tmp_path, name):
    source, nbytes, words = REGULAR[name]
    before, told = collected(tmp_path, source)
    if not told:
        assert excess(before) == 0, name  # nothing to say
        return
    finding = told[0]
    assert f"Pad the array's rows: {words}" in finding.text, finding.text
    promised = int(re.search(r"saves ([\d,]+) wavefronts", finding.text)[1].replace(",", ""))
    after, _ = collected(tmp_path, source, "-D", f"PAD={advised(finding.text, nbytes)}")
    used = [line_of(kernel, finding.line).l1_wavefronts_shared for kernel in (before, after)]
    assert used[0] - used[1] == promised, finding.text
    assert 2 * excess(after) <= excess(before)


@pytest.mark.long
def test_no_smaller_padding_does_as_much(tmp_path):
    """The half rows: one element, as one would guess, and all others below sixteen leave conflicts."""
    source = REGULAR["half rows of 32"][0]
    left = {pad: excess(collected(tmp_path, source, "-D", f"PAD={pad}")[0]) for pad in (0, 1, 8, 15, 16)}
    # A pass is as long as the fullest bank makes it: one bank with two words is as slow as sixteen.
    assert left[0] > 0 and left == dict.fromkeys((0, 1, 8, 15), left[0]) | {16: 0}


def test_conflicts_without_a_stride_get_another_word(tmp_path):
    kernel, (finding,) = collected(tmp_path, HISTOGRAM)
    assert excess(kernel) > 0
    assert finding.text.endswith("give each warp or lane a copy of its own, or take words in another order.")
    assert "Pad" not in finding.text


def test_a_tree_over_one_row_gets_gaps(tmp_path):
    _, told = collected(tmp_path, REDUCTION)
    assert [f.text.split(" would do. ")[1].split(". That makes")[0] for f in told] == [
        "Leave 1 word free after every 32 words of the array"
    ]


def test_a_swizzled_tile_has_no_conflicts(tmp_path):
    kernel, told = collected(tmp_path, SWIZZLED)
    assert (excess(kernel), told) == (0, [])


def test_wavefronts_are_the_emulators():
    rng = np.random.default_rng(0)
    lanes = np.arange(32)
    for nbytes in (1, 2, 4, 8, 16):
        for _ in range(200):
            mask = int(rng.choice([0xFFFFFFFF, 0xFFFF, 0x55555555, 1, int(rng.integers(1, 1 << 32))]))
            address = rng.integers(0, 40, 3) @ [lanes, lanes // 8, lanes // 16] * nbytes
            records, sectors = np.zeros(1, np.uint64), np.zeros(32, np.int64)
            masks = np.array([mask], np.uint32)
            placed = tuple((lane, int(address[lane])) for lane in range(32) if mask >> lane & 1)
            for store in (False, True):
                found = inspect(address, masks, masks, nbytes, 1, 0, False, False, store, NO_RANGES, records, sectors)
                assert wavefronts(placed, nbytes, not store) == (found[7], found[8]), (nbytes, hex(mask), address)
