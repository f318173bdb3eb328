"""memcheck: planted errors by kind, space, width and distance, their clean twins, and what is told of them."""

import re

import numpy as np
import pytest

from gpuprof.device import commands as cmd
from gpuprof.errors import DeviceMemoryError
from gpuprof.trace.checkers.memcheck import Memcheck
from tests.checkers.memory_cases import CASES, Case, N, run, source_of
from tests.support.planted import Planted, in_short

QUICK, SLOW = ([case for case in CASES if (case.nbytes == 4) == is_quick] for is_quick in (True, False))
OTHERS = """
extern "C" __global__ void null_store(int *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void misaligned_load(char *x, int *y) { y[threadIdx.x] = *(int *)(x + 2 * threadIdx.x); }
extern "C" __global__ void read(int *y) { y[threadIdx.x] = table[threadIdx.x % 4].x; }
extern "C" __global__ void use(int *x) { x[threadIdx.x] += 1; }
__device__ __noinline__ int down(int n, int *y)
{
    volatile int own[64];
    own[n & 63] = n;
    return n == 0 ? *y : down(n - 1, y) + own[n & 63];
}
extern "C" __global__ void deep(int *y, int n) { *y = down(n, y); }
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
extern "C" __global__ void load_matrices(unsigned *y, int row, int bytes)
{
    __shared__ __align__(16) unsigned s[64];
    int t = threadIdx.x, at = 4 * (t % 16) + (t == row ? bytes / 4 : 0);
    s[t] = 1 + t; s[t + 32] = 33 + t;
    __syncwarp();
    unsigned first, second;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(first), "=r"(second) : "r"(AT(s + at)));
    y[t] = first; y[t + 32] = second;
}
extern "C" __global__ void store_matrix(unsigned *y, int row, int bytes)
{
    __shared__ __align__(16) unsigned s[32];
    int t = threadIdx.x, at = 4 * (t % 8) + (t == row ? bytes / 4 : 0);
    s[t] = 0;
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], %1;" :: "r"(AT(s + at)), "r"(1 + t) : "memory");
    __syncwarp();
    y[t] = s[t];
}
extern "C" __global__ void local_store(int *y, int n)
{
    int own[8];
    for (int k = 0; k < 8; k++) own[k] = y[k];
    own[n] = 3;
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += own[k];
    y[threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return Planted(tmp_path_factory.mktemp("memcheck"), source_of(QUICK) + OTHERS, Memcheck(), chip="h200")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    return Planted(tmp_path_factory.mktemp("memcheck"), source_of(SLOW), Memcheck())


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_planted(planted, case):
    check(planted, case)


@pytest.mark.long
@pytest.mark.parametrize("case", SLOW, ids=lambda case: case.name)
def test_planted_of_other_widths(matrix, case):
    check(matrix, case)


def check(planted: Planted, case: Case) -> None:
    found = run(planted, case)
    assert in_short(found) == ([(case.kind, case.wrong)] if case.kind else [])
    for finding in found:
        thread = case.first_wrong
        assert (finding.thread, finding.block, finding.warp) == (thread, 0, thread // 32)
        assert re.match(rf"thread \({thread}, 0, 0\) of block \(0, 0, 0\) \w+ {case.nbytes} bytes", finding.text)


def test_what_is_refused_loads_zero_and_stores_nothing(planted):
    x, y = planted.array(4 * N, 1), planted.array(4 * N, 9)
    planted.run("array_global_load_4_p40_0", 1, N, x, y, 40, 0)
    ones, zeros = [0x01010101] * (N - 40), [0] * 40
    assert y.copy_to_host().view(np.uint32).tolist() == ones + zeros
    planted.run("array_global_store_4_m1_0", 1, N, x, y, -1, 0)
    assert x.copy_to_host().view(np.uint32).tolist() == [7] * (N - 1) + [0x01010101]
    planted.run("array_global_atomic_4_p40_0", 1, N, x, y, 40, 0)
    assert y.copy_to_host().view(np.uint32).tolist() == [7] * (N - 41) + [0x01010101] + zeros


def test_null(planted):
    (found,) = planted.run("null_store", 1, 32, 0)
    assert (found.kind, found.count, found.address) == ("null_pointer", 32, 0)
    assert found.text == (
        "thread (0, 0, 0) of block (0, 0, 0) writes 4 bytes of global memory at 0x0; 0x0 is the null address"
    )


def test_before_null(planted):
    """A negative number of bytes behind null is an address of 64 bits, and no finding's number holds it."""
    (found,) = planted.run("null_store", 1, 1, -256)
    assert (found.kind, found.count, found.address) == ("out_of_bounds", 1, -1)
    assert " at 0xffffffffffffff00; 0xffffffffffffff00 is " in found.text


def test_misaligned(planted):
    x = planted.array(256)
    (found,) = planted.run("misaligned_load", 1, 32, x, planted.array(128))
    assert (found.kind, found.count) == ("misaligned", 16)
    assert found.text == (
        f"thread (1, 0, 0) of block (0, 0, 0) reads 4 bytes of global memory at {x.address + 2:#x}, which is not a "
        "multiple of 4"
    )


def test_freed(planted):
    x = planted.array(128)
    x.free()
    (found,) = planted.run("use", 1, 32, x.address)[:1]
    assert (found.kind, found.count, found.thread, found.address) == ("use_after_free", 32, 0, x.address)
    assert "was there and has been freed" in found.text


def test_freed_memory_rests_before_it_is_used_again(planted):
    """What is allocated next lies elsewhere, or a use of what was freed would be a use of that."""
    x = planted.array(128)
    x.free()
    assert planted.array(128).address != x.address
    found = planted.run("use", 1, 32, x.address)
    assert in_short(found) == 2 * [("use_after_free", 32)]


def test_freed_twice(planted):
    x = planted.array(128)
    x.free()
    with pytest.raises(DeviceMemoryError):
        x.free()
    assert planted.notices[-1].startswith("double_free: cannot free 0x")


def test_a_constant_is_written(planted):
    table = planted.module.symbol("table", np.int32)
    (found,) = planted.run("use", 1, 4, table.address)
    assert (found.kind, found.count) == ("constant_write", 4)
    assert found.text == (
        f"thread (0, 0, 0) of block (0, 0, 0) writes 4 bytes of global memory at {table.address:#x}, which is constant"
    )
    assert not table.copy_to_host().any()


def test_local(planted):
    y = planted.array(128)
    assert in_short(planted.run("local_store", 1, 32, y, 7)) == []
    found = planted.run("local_store", 1, 32, y, 1000)
    assert in_short(found) == [("out_of_bounds", 32)]
    assert "writes 4 bytes of local memory" in found[0].text


def test_a_stack_overflows(planted):
    """Calls that go too deep leave the local memory that a thread has, and what they return is 0 there."""
    y = planted.array(4)
    assert planted.run("deep", 1, 1, y, 20) == []
    found = planted.run("deep", 1, 1, y, 1100)
    assert {each.kind for each in found} == {"out_of_bounds"}
    assert re.fullmatch(
        r"thread \(0, 0, 0\) of block \(0, 0, 0\) writes 4 bytes of local memory at 0x4[0-9a-f]{4}; the thread has "
        "262144 bytes of local memory",
        found[0].text,
    )


def test_rows_of_matrices_that_are_refused_are_zero(planted):
    """The rows of the others come: lane 8 * m + r has the address of row r of matrix m, four lanes have its words."""
    y = planted.array(256)
    plain = np.arange(1, 65)
    for row, bytes_off, kind, why in (
        (3, 1600, "out_of_bounds", "; the block has 256 bytes of shared memory"),
        (13, 4, "misaligned", ", which is not a multiple of 16"),
    ):
        (found,) = planted.run("load_matrices", 1, 32, y, row, bytes_off)
        assert (found.kind, found.count, found.thread) == (kind, 1, row)
        at = 16 * row + bytes_off
        assert found.text == (
            f"thread ({row}, 0, 0) of block (0, 0, 0) reads 16 bytes of shared memory at {at:#x}{why}"
        )
        expected = np.where(np.arange(64) // 4 == row, 0, plain)
        assert y.copy_to_host().view(np.uint32).tolist() == expected.tolist()
    assert planted.run("load_matrices", 1, 32, y, 32, 0) == []
    assert y.copy_to_host().view(np.uint32).tolist() == plain.tolist()


def test_rows_of_matrices_that_are_refused_are_not_stored(planted):
    y = planted.array(128)
    (found,) = planted.run("store_matrix", 1, 32, y, 5, 4096)
    assert (found.kind, found.count, found.thread) == ("out_of_bounds", 1, 5)
    assert found.text == (
        "thread (5, 0, 0) of block (0, 0, 0) writes 16 bytes of shared memory at 0x1050; the block has 128 bytes of "
        "shared memory"
    )
    expected = np.where(np.arange(32) // 4 == 5, 0, np.arange(1, 33))
    assert y.copy_to_host().view(np.uint32).tolist() == expected.tolist()


def test_leaks_are_told_at_the_end(tmp_path):
    planted = Planted(tmp_path, "__global__ void k() {}\n", Memcheck(leaks=True))
    planted.array(128).free()
    x = planted.device.submit(cmd.Allocate(400, "kept")).address
    planted.device.executor.finish()
    assert planted.notices == [f"leak: 400 bytes at {x:#x} are never freed: kept"]


def test_a_neighbour_is_no_excuse(planted):
    """The next allocation is farther away than the usual gap."""
    x, _ = planted.array(256), planted.array(1 << 16)
    assert in_short(planted.run("use", 1, 1, x.address + 256 + 2048)) == 2 * [("out_of_bounds", 1)]


def test_a_wrong_place_is_counted_once(planted):
    x = planted.array(256)
    (found, other) = planted.run("use", 4, 32, x.address + 192)
    assert (found.count, found.block, found.thread) == (4 * 16, 0, 16)
    assert other.count == found.count
