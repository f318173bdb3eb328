"""initcheck: undefined values by where they are, how wide, what becomes of them, and what they decide; and clean twins,
which are the same kernels with values that are defined.
"""

from typing import NamedTuple

import numpy as np
import pytest

from gpuprof.device import commands as cmd
from gpuprof.errors import KernelFault
from gpuprof.trace.checkers.initcheck import Initcheck
from gpuprof.trace.checkers.memcheck import Memcheck
from tests.support.matrices import long_but_every
from tests.support.planted import Planted, in_short

N = 32  # threads
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "uint4"}
# Where the value is, from x[t] or without a value.
ORIGINS = {
    "global": "{of} v = x[t];",
    "shared": "__shared__ {of} s[32]; if (full) s[t] = x[t]; __syncthreads(); {of} v = s[t];",
    "local": "{of} own[4]; for (int k = 0; k < 4; k++) if (full) own[k] = x[t]; {of} v = own[(t + full) & 3];",
}
# What becomes of a word on its way.
CARRIERS = {
    "plain": "",
    "sum": "v += 3 * t;",
    "product": "v = v * 2654435761u;",
    "float": "v = __float_as_uint(__uint_as_float(v) * 2.5f);",
    "shift": "v = __funnelshift_l(v, v, 7);",
    "bytes": "v = __byte_perm(v, 0, 0x0123);",
    "reversed": "v = __brev(v);",
    "halves": '{{ unsigned r; asm("add.rn.f16x2 %0, %1, %1;" : "=r"(r) : "r"(v)); v = r; }}',
    "selected": "v = v > 9u ? t : 77u;",
    "shuffle": "v = __shfl_xor_sync(~0u, v, 5);",
    "ballot": "v = __ballot_sync(~0u, v & 1);",
    "redux": "v = __reduce_add_sync(~0u, v);",
    "through_shared": "__shared__ unsigned via[32]; via[t ^ 1] = v; __syncthreads(); v = via[t];",
    "through_atomic": "__shared__ unsigned sum[32]; sum[t] = 0; atomicAdd(&sum[t], v); v = sum[t];",
    "through_exchange": "__shared__ unsigned slot[32]; slot[t] = v; v = atomicExch(&slot[t], 1u);",
    "called": "v = twice(v);",
}
SINKS = {
    "store": "y[t] = v;",
    "address": "y[t] = z[v & 31];",
    "branch": 'if (v & 1) {{ asm volatile("membar.cta;"); y[t] = 1; }}',
}
KINDS = {sink: f"uninitialised_{sink}" for sink in SINKS}
HELPERS = "__device__ __noinline__ unsigned twice(unsigned v) { return 2 * v; }\n"


class Case(NamedTuple):
    origin: str
    nbytes: int = 4
    carrier: str = "plain"
    sink: str = "store"

    @property
    def name(self) -> str:
        return f"{self.origin}_{self.nbytes}_{self.carrier}_{self.sink}"

    @property
    def source(self) -> str:
        of = TYPES[self.nbytes]
        body = "".join((ORIGINS[self.origin], CARRIERS[self.carrier], SINKS[self.sink])).format(of=of)
        return (
            f'extern "C" __global__ void {self.name}({of} *x, {of} *y, {of} *z, int full) '
            f"{{ int t = threadIdx.x; {body} }}\n"
        )


CASES = [
    *(Case(origin, nbytes) for origin in ORIGINS for nbytes in TYPES),
    *(Case("global", 4, carrier) for carrier in CARRIERS if carrier != "plain"),
    *(Case(origin, 4, carrier, sink) for origin in ORIGINS for sink in ("address", "branch")
      for carrier in ("plain", "shuffle")),
]  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return Planted(tmp_path_factory.mktemp("initcheck"), OTHERS, Initcheck())


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    source = HELPERS + "".join(case.source for case in CASES)
    return Planted(tmp_path_factory.mktemp("initcheck"), source, Initcheck())


def undefined(planted, nbytes: int, start: bytes = b"") -> int:
    """The address of memory of a program that has written only the first of it."""
    address = planted.device.submit(cmd.Allocate(nbytes, "x", is_undefined=True)).address
    if start:
        planted.device.submit(cmd.CopyIn(address, start))
    return address


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planted(matrix, case):
    for is_whole in (False, True):
        # 16 bytes may be two stores.
        found = sorted(set(in_short(run_case(matrix, case, is_whole))))
        assert found == ([] if is_whole else [(KINDS[case.sink], N)]), is_whole


def run_case(matrix, case: Case, is_whole: bool) -> list:
    """What initcheck finds in a case, or in its clean twin."""
    nbytes = N * case.nbytes
    z = matrix.array(nbytes, 1)
    x = matrix.array(nbytes, 1) if is_whole or case.origin != "global" else undefined(matrix, nbytes)
    return matrix.run(case.name, 1, N, x, matrix.array(nbytes), z, int(is_whole))


OTHERS = """
extern "C" __global__ void masked(unsigned *x, unsigned *y, unsigned by) { y[threadIdx.x] = x[threadIdx.x] & by; }
extern "C" __global__ void joined(unsigned *x, unsigned *y, unsigned by) { y[threadIdx.x] = x[threadIdx.x] | by; }
extern "C" __global__ void times(unsigned *x, unsigned *y, unsigned by) { y[threadIdx.x] = x[threadIdx.x] * by; }
extern "C" __global__ void shifted(unsigned *x, unsigned *y, unsigned by) { y[threadIdx.x] = x[threadIdx.x] >> by; }
extern "C" __global__ void below(unsigned *x, unsigned *y, unsigned by) { y[threadIdx.x] = x[threadIdx.x] < by; }
extern "C" __global__ void first_byte(unsigned *x, unsigned *y) { y[threadIdx.x] = x[threadIdx.x] & 0xff; }
extern "C" __global__ void fields(unsigned *x, unsigned char *y) { y[threadIdx.x] = (x[threadIdx.x] >> 8) & 3; }
extern "C" __global__ void pairs(uint2 *x, unsigned *y) { y[threadIdx.x] = x[threadIdx.x].x; }
extern "C" __global__ void exchange(unsigned *x, unsigned *y)
{
    atomicExch(&x[threadIdx.x], 3u);
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void counted(unsigned *x) { atomicAdd(&x[0], 1u); }
extern "C" __global__ void swapped(unsigned *x) { atomicCAS(&x[threadIdx.x], 0u, 1u); }
extern "C" __global__ void exchanged_by_all(unsigned *x, unsigned *y)
{
    y[threadIdx.x] = atomicExch(&y[32], x[threadIdx.x]);
}
extern "C" __global__ void counted_by_some(unsigned *x, unsigned *y)
{
    unsigned old = 3;
    if (x[threadIdx.x] > 3) old = atomicAdd(&y[32], 1);
    y[threadIdx.x] = old;
}
extern "C" __global__ void anywhere(unsigned *x) { *(volatile unsigned *)x = *(volatile unsigned *)x; }
extern "C" __global__ void tail(unsigned *x, unsigned *y, int n)
{
    unsigned v = x[threadIdx.x];
    if (threadIdx.x < n) y[threadIdx.x] = v;
}
extern "C" __global__ void any(unsigned *x, unsigned *y)
{
    y[threadIdx.x] = __any_sync(~0u, threadIdx.x == 0 || x[threadIdx.x]);
}
extern "C" __global__ void async_copy(unsigned *x, unsigned *y)
{
    __shared__ __align__(16) unsigned s[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + threadIdx.x) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void fragments(unsigned *x, unsigned *y)
{
    __shared__ __align__(16) unsigned s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    unsigned from = (unsigned)__cvta_generic_to_shared(s + threadIdx.x % 8 * 4), v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 %0, [%1];" : "=r"(v) : "r"(from) : "memory");
    y[threadIdx.x] = v;
}
struct Padded { char c; int i; double d; short s; };
extern "C" __global__ void structures(int *x, Padded *y, int n)
{
    __shared__ Padded s[32];
    int t = threadIdx.x;
    s[t].c = 1; s[t].d = 2; s[t].s = 3;
    if (t < n) s[t].i = *x;
    __syncthreads();
    y[t] = s[t];
}
extern "C" __global__ void fetched(cudaTextureObject_t x, float *y)
{
    y[threadIdx.x] = tex1Dfetch<float>(x, threadIdx.x);
}
extern "C" __global__ void product(unsigned *x, float *y)
{
    // Rows of A, of 16 halves each: lane l has those of row l / 4 and 8 further down.
    unsigned t = threadIdx.x, a[4] = {x[t], x[t + 32], x[t], x[t + 32]}, b[2] = {0x3c003c00, 0x3c003c00};
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    y[2 * t] = d[0]; y[2 * t + 1] = d[2];
}
"""


class Doubt(NamedTuple):
    """`start`: what is defined of x, by bytes of each 4; `more`: arguments after x and y; `found`: kinds and counts."""

    kernel: str
    defined: str
    more: tuple = ()
    found: tuple = ()
    text: str = ""

    @property
    def name(self) -> str:
        return "_".join(map(str, (self.kernel, self.defined, *self.more)))


STORE = "uninitialised_store"
DOUBTS = [
    Doubt("masked", "----", (0,)),
    Doubt("masked", "+---", (0xFF,)),
    Doubt("masked", "+---", (0x1FF,), ((STORE, N),), "of which 1 have undefined bits"),
    Doubt("joined", "----", (-1,)),
    Doubt("joined", "----", (-0x10000,), ((STORE, N),), "of which 2 have undefined bits"),
    Doubt("times", "----", (0,)),
    Doubt("times", "----", (1 << 24,), ((STORE, N),), "of which 1 have undefined bits"),
    Doubt("shifted", "---+", (24,)),
    Doubt("shifted", "---+", (23,), ((STORE, N),), "of which 1 have undefined bits"),
    Doubt("below", "+++-", (0,)),
    Doubt("below", "---+", (1 << 24,)),
    Doubt("below", "+++-", (1 << 24,), ((STORE, N),)),
    Doubt("first_byte", "+---"),
    Doubt("first_byte", "-+++", (), ((STORE, N),)),
    Doubt("fields", "-+--"),
    Doubt("fields", "+-++", (), ((STORE, N),)),
    Doubt("pairs", "++++----"),
    Doubt("pairs", "+++-++++", (), ((STORE, N),), "of which 1 have undefined bits"),
    Doubt("exchange", "----"),
    Doubt("tail", "half", (N // 2,)),
    Doubt("tail", "half", (N // 2 + 1,), ((STORE, 1),)),
    Doubt("any", "----"),
    Doubt("async_copy", "++++"),
    Doubt("async_copy", "+-++", (), ((STORE, N),), "of which 1 have undefined bits"),
    Doubt("fragments", "++++"),
    # Transposed, row 0 comes to the lower half-words of every fourth lane.
    Doubt("fragments", "first", (), ((STORE, 8),), "of which 2 have undefined bits"),
    Doubt("product", "++++"),
    # Row 0 of A is undefined, and so is row 0 of D, two of its elements in each of four lanes: one of these is stored.
    Doubt("product", "first", (), ((STORE, 4),)),
]


def content(planted, defined: str) -> int:
    """64 words: with a pattern of bytes, the first half, or all but the first word of four."""
    address = undefined(planted, 256)
    pattern = {"half": "+" * 64 + "-" * 192, "first": "-" * 16 + "+" * 240}.get(defined, defined)
    for k in range(256):
        if pattern[k % len(pattern)] == "+":
            planted.device.submit(cmd.CopyIn(address + k, b"\1"))
    return address


@pytest.mark.parametrize("doubt", long_but_every(2, DOUBTS), ids=lambda doubt: doubt.name)
def test_parts(planted, doubt):
    found = planted.run(doubt.kernel, 1, N, content(planted, doubt.defined), planted.array(512), *doubt.more)
    assert in_short(found) == list(doubt.found)
    assert all(doubt.text in each.text for each in found)


def test_padding_is_not_told(planted):
    """What a structure has between its members is copied with them; a member without a value is told."""
    x, y = planted.array(4), planted.array(24 * N)
    assert planted.run("structures", 1, N, x, y, N) == []
    (found,) = planted.run("structures", 1, N, x, y, N - 2)
    assert (found.kind, found.count, found.thread) == (STORE, 2, N - 2)
    assert "writes 8 bytes" in found.text
    assert "of which 4 have undefined bits" in found.text


def test_atomics_leave_what_they_found(planted):
    x = undefined(planted, 128)
    assert in_short(planted.run("counted", 1, N, x)) == [(STORE, N)]
    assert in_short(planted.run("swapped", 1, N, x)) == [(STORE, N)]
    planted.device.submit(cmd.Fill(x, 128))
    assert planted.run("counted", 1, N, x) == planted.run("swapped", 1, N, x) == []


@pytest.mark.parametrize("kernel", ["exchanged_by_all", "counted_by_some"])
def test_what_an_atomic_gives_may_come_from_an_operand(planted, kernel):
    """The memory that it changes is defined: what is told is where the operand, or the guard, has been loaded."""
    x = undefined(planted, 128)
    *_, found = planted.run(kernel, 1, N, x, planted.array(132))
    assert (found.kind, found.count) == (STORE, N)
    assert f"the value comes from global memory that was never written: {x:#x} is byte 0 of x" in found.text


def test_what_memcheck_refuses_is_no_undefined_value(tmp_path):
    """It loads 0, from a far index into local memory and from freed memory; nothing is kept for such addresses."""
    source = (
        'extern "C" __global__ void far(int *x, int *y, int i) { volatile int own[8]; own[*x & 7] = 1; *y = own[i]; }'
        '\nextern "C" __global__ void first(int *x, int *y) { y[0] = x[0]; }\n'
    )
    planted = Planted(tmp_path, source, Memcheck(), Initcheck())
    x, y = planted.array(128), planted.array(4)
    assert in_short(planted.run("far", 1, 1, x, y, 200_000)) == [("out_of_bounds", 1)]
    freed = undefined(planted, 128)
    planted.device.submit(cmd.Free(freed))
    assert in_short(planted.run("first", 1, 1, freed, y)) == [("use_after_free", 1)]


@pytest.mark.parametrize("address", [-4, 0, 1 << 62, (1 << 63) - 4])
def test_addresses_that_are_none(planted, address):
    """The checker has no shadow there; the launch ends with the fault that it has without a checker."""
    with pytest.raises(KernelFault, match="global memory"):
        planted.run("anywhere", 1, 1, address)


def test_the_host_carries_what_is_undefined(planted):
    x, copy, y = undefined(planted, 128, bytes(40)), planted.array(128), planted.array(128)
    planted.device.submit(cmd.CopyWithin(copy.address, x, 128))
    (found,) = planted.run("masked", 1, N, copy, y, -1)
    assert (found.count, found.thread, found.allocation, found.address) == (22, 10, y.name, y.address + 40)
    assert found.text == (
        f"thread (10, 0, 0) of block (0, 0, 0) writes 4 bytes of global memory at {y.address + 40:#x}, undefined; the "
        f"value comes from global memory that was never written: {copy.address + 40:#x} is byte 40 of {copy.name} "
        f"(128 bytes at {copy.address:#x})"
    )
    # What the kernel has stored is as undefined as what it has read.
    assert in_short(planted.run("masked", 1, N, y, planted.array(128), -1)) == [(STORE, 22)]
    y.copy_to_device(np.zeros(128, np.uint8))
    assert planted.run("masked", 1, N, y, planted.array(128), -1) == []


def test_memory_that_is_used_again_is_undefined_again(planted):
    x = undefined(planted, 128)
    planted.device.submit(cmd.Fill(x, 128))
    planted.device.submit(cmd.Free(x))
    assert undefined(planted, 128) == x
    assert in_short(planted.run("masked", 1, N, x, planted.array(128), 1)) == [(STORE, N)]


def test_the_shadow_is_as_large_as_what_is_touched(planted):
    """Memory that is of one sort needs a number for 256 bytes, the rest a byte for each, with room for twice that."""
    nbytes = 1 << 20
    x = undefined(planted, nbytes)
    before = planted.checkers[0].shadow.nbytes
    planted.device.submit(cmd.CopyIn(x, bytes(nbytes)))
    assert planted.checkers[0].shadow.nbytes == before < nbytes // 16
    for k in range(0, nbytes, 256):
        planted.checkers[0].shadow.undefine(x + k, 1)
    assert planted.checkers[0].shadow.nbytes <= 2.1 * nbytes + before


def test_textures_give_what_their_array_has(planted):
    array = planted.device.device_array(N, np.float32, name="texels")
    handle = planted.device.texture(array).handle - (1 << 64)  # as a signed number
    y = planted.array(4 * N)
    assert planted.run("fetched", 1, N, handle, y) == []
    planted.checkers[0].shadow.undefine(array.address + 40, 8)
    assert in_short(planted.run("fetched", 1, N, handle, y)) == [(STORE, 2)]


BULK = """
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
extern "C" __global__ void there_and_back(int *x, int *y)
{
    __shared__ __align__(128) int s[32];
    __shared__ unsigned long long bar;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(AT(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(AT(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                 :: "r"(AT(s)), "l"(x), "r"(AT(&bar)) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                 :: "r"(AT(&bar)) : "memory");
    s[31] = s[0];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" :: "l"(y), "r"(AT(s)) : "memory");
}
extern "C" __global__ void last(int *x, int *y) { y[0] = x[31]; }
"""


def test_bulk_copies_carry_what_is_undefined(tmp_path):
    planted = Planted(tmp_path, BULK, Initcheck(), chip="h200")
    x, y = undefined(planted, 128, bytes(16)), undefined(planted, 128)
    assert in_short(planted.run("there_and_back", 1, 1, x, y)) == [(STORE, 1)]
    shadow = planted.checkers[0].shadow
    assert shadow.get(y, 128).tolist() == 16 * [0] + 108 * [0xFF] + 4 * [0]
    assert planted.run("last", 1, 1, y, x) == []
    planted.device.submit(cmd.Fill(x, 128))
    assert planted.run("there_and_back", 1, 1, x, y) == []
