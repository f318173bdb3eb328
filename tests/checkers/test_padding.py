"""initcheck and padding: structures that are copied in all ways, with all members written, and with one forgotten."""

import pytest

from gpuprof.device import commands as cmd
from gpuprof.run.compile_file import BuildOptions
from gpuprof.trace.checkers.initcheck import Initcheck
from tests.support.planted import Planted, in_short

N, WRITTEN = 32, 29  # threads; of a twin, those that write the last member
TYPES = """
struct Padded { char c; int i; double d; short s; };
struct Base { int a; char b; };
struct Derived : Base { double d; char e; };
struct alignas(16) Wide { float x, y; };
struct Fields { unsigned a : 3; unsigned b : 7; unsigned char c; };
struct Row { Padded of[3]; int n; };
struct Split { long a : 33; int b : 3; char c; unsigned short d : 5; };
template <class T> struct Box { char tag; T value; };
union Either { struct { char c; int i; } a; double d; };
struct Tagged { int tag; Either e; };
union Both { struct { char c; int i; } a; struct { char d; float f; } b; };
struct Pair { Both of; char e; };
struct Filled { char c; int i; double d; short s; };
#define FILL(p) p.c = 1; p.d = 2; p.s = 3
// Nobody goes through all of their elements.
struct Huge : Base { char e; float many[100000000]; };
struct HugeFields { int a : 3; float many[100000000]; };
extern "C" __global__ void huge(Huge *x, HugeFields *y) { x->e = 1; y->a = 1; }
"""
# Bytes, and how p is filled; what the last of it forgets is a member.
STRUCTURES = {
    "Padded": (24, "p.c = 1; p.d = 2; p.s = 3; if (t < n) p.i = t;"),
    "Derived": (24, "p.a = 1; p.d = t; p.e = 2; if (t < n) p.b = 3;"),
    "Wide": (16, "p.x = 1; if (t < n) p.y = 2;"),
    "Fields": (4, "p.a = 1; p.c = t; if (t < n) p.b = 3;"),
    "Split": (8, "p.a = t; p.c = 1; p.d = 2; if (t < n) p.b = 3;"),
    "Tagged": (16, "p.tag = 1; p.e.a.c = 2; if (t < n) p.e.a.i = t;"),
    "Pair": (12, "p.of.b.d = 1; p.e = 2; if (t < n) p.of.b.f = t;"),
    "Filled": (24, "FILL(p); if (t < n) p.i = t;"),
    "Row": (
        80,
        "for (Padded &o : p.of) { o.c = 1; o.d = 2; o.s = 3; if (t < n) o.i = t; } p.n = 1;",
    ),
    "Box<double>": (16, "p.tag = 1; if (t < n) p.value = t;"),
}  # fmt: skip
COPIES = {
    "assigned": "y[t] = from[t];",
    "memcpy": "memcpy(y + t, from + t, sizeof(S));",
    "words": "for (int k = 0; k < sizeof(S) / 4; k++) ((int *)(y + t))[k] = ((int *)(from + t))[k];",
    "bytes": "for (int k = 0; k < sizeof(S); k++) ((char *)(y + t))[k] = ((char *)(from + t))[k];",
    "pointers": "S *a = y + t, *b = from + t; *a = *b;",
}
SPACES = {
    "shared": "__shared__ S s[32]; S &p = s[t]; S *from = s;",
    "local": "S own[33]; S &p = own[t]; S *from = own;",
    "global": "S &p = x[t]; S *from = x;",
}
CASES = [(of, copy, space) for of in STRUCTURES for copy in COPIES for space in SPACES]
STORE = "uninitialised_store"
DECIDED = """
extern "C" __global__ void fill(Padded *x) { Padded &p = x[threadIdx.x]; p.c = 1; p.i = 2; p.d = 3; p.s = 4; }
extern "C" __global__ void decide(char *x, int *y) { if (x[24 * threadIdx.x + 1]) y[threadIdx.x] = 1; }
extern "C" __global__ void sum(int *x, int *y) { y[threadIdx.x] = x[6 * threadIdx.x] * 31 + x[6 * threadIdx.x + 1]; }
extern "C" __global__ void words(int *x, int *y) { for (int k = threadIdx.x; k < 192; k += 32) y[k] = x[k]; }
extern "C" __global__ void pairs(uint2 *x, uint2 *y) { for (int k = threadIdx.x; k < 96; k += 32) y[k] = x[k]; }
extern "C" __global__ void another(unsigned *x, unsigned *y) { x[6 * threadIdx.x] = y[threadIdx.x]; }
"""


def source_of(cases) -> str:
    return TYPES + "".join(kernel(*case) for case in cases)


def kernel(of: str, copy: str, space: str) -> str:
    body = f"using S = {of}; int t = threadIdx.x; {SPACES[space]} {STRUCTURES[of][1]}"
    between = "__syncthreads();" if space == "shared" else ""
    name = name_of(of, copy, space)
    return f'extern "C" __global__ void {name}({of} *x, {of} *y, int n) {{ {body} {between} {COPIES[copy]} }}\n'


def name_of(of: str, copy: str, space: str) -> str:
    return f"{of.split('<')[0]}_{copy}_{space}"


def undefined(planted: Planted, nbytes: int) -> int:
    return planted.device.submit(cmd.Allocate(nbytes, "x", is_undefined=True)).address


def run(planted: Planted, case: tuple[str, str, str], n: int) -> list:
    nbytes = N * STRUCTURES[case[0]][0]
    return planted.run(name_of(*case), 1, N, undefined(planted, nbytes), undefined(planted, nbytes), n)


def check(planted: Planted, case: tuple[str, str, str], is_told: bool) -> None:
    assert run(planted, case, N) == []
    found = in_short(run(planted, case, WRITTEN))
    assert bool(found) == is_told
    # One store may be that of several words or bytes, one after the other.
    assert all(kind == STORE and count % (N - WRITTEN) == 0 for kind, count in found)


QUICK = [("Padded", "words", "shared"), ("Derived", "assigned", "global"), ("Fields", "memcpy", "shared")]


def test_padding_is_told_of_no_copy(tmp_path):
    planted = Planted(tmp_path, source_of(QUICK), Initcheck())
    for case in QUICK:
        check(planted, case, True)


@pytest.mark.long
@pytest.mark.parametrize("level", [3, 0])
def test_each_way_of_each_structure(tmp_path, level):
    planted = Planted(tmp_path, source_of(CASES), Initcheck(), options=BuildOptions(optimize=level))
    hidden = [case for case in CASES if run(planted, case, WRITTEN) == []]
    # Optimised, a local variable that is set on one way alone has its value on the other one, too.
    assert all(level == 3 and space == "local" for _, _, space in hidden)
    for case in CASES:
        check(planted, case, case not in hidden)


def test_padding_that_decides_is_told(tmp_path):
    """So it is where something is computed of it; but not where it is copied, once and again, by the host, too."""
    planted = Planted(tmp_path, TYPES + DECIDED, Initcheck())
    x, y, z = (undefined(planted, 24 * N) for _ in range(3))
    assert planted.run("fill", 1, N, x) == []
    assert in_short(planted.run("decide", 1, N, x, planted.array(4 * N))) == [("uninitialised_branch", N)]
    assert in_short(planted.run("sum", 1, N, x, planted.array(4 * N))) == [(STORE, N)]
    assert planted.run("words", 1, N, x, y) == []
    planted.device.submit(cmd.CopyWithin(z, y, 24 * N))
    assert planted.run("pairs", 1, N, z, x) == []
    assert in_short(planted.run("decide", 1, N, x, planted.array(4 * N))) == [("uninitialised_branch", N)]
    # Others that come there are no padding.
    assert in_short(planted.run("another", 1, N, x, undefined(planted, 4 * N))) == [(STORE, N)]
    assert sum(each.count for each in planted.run("words", 1, N, x, y)) == N
    # Nor is memory that is allocated anew.
    planted.device.submit(cmd.Free(x))
    assert undefined(planted, 24 * N) == x
    assert sum(each.count for each in planted.run("words", 1, N, x, y)) == 6 * N


CARRIED = """
extern "C" __global__ void fill_some(Padded *x, int n)
{
    Padded &p = x[threadIdx.x];
    p.c = 1; p.d = 3; p.s = 4;
    if (threadIdx.x < n) p.i = 2;
}
#define WORDS for (int k = 6 * threadIdx.x; k < 6 * threadIdx.x + 6; k++)
extern "C" __global__ void shuffled(int *x, int *y) { WORDS y[k] = __shfl_xor_sync(~0u, x[k], 1); }
extern "C" __global__ void from_anywhere(int *x, int *y, int *lane)
{
    WORDS y[k] = __shfl_sync(~0u, x[k], lane[threadIdx.x]);
}
#define LOOKED_UP(name, lut) extern "C" __global__ void name(int *x, int *y, int a) \\
    { WORDS asm("lop3.b32 %0, %1, %2, 0, " #lut ";" : "=r"(y[k]) : "r"(x[k]), "r"(a)); }
LOOKED_UP(both, 0xC0)
LOOKED_UP(one_of_both, 0x3C)
#define AT(p) (unsigned)__cvta_generic_to_shared(p)
extern "C" __global__ void bulk(int *x, int *y)
{
    __shared__ __align__(128) int s[192];
    __shared__ unsigned long long bar;
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(AT(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 768;" :: "r"(AT(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 768, [%2];"
                 :: "r"(AT(s)), "l"(x), "r"(AT(&bar)) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                 :: "r"(AT(&bar)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 768;" :: "l"(y), "r"(AT(s)) : "memory");
}
"""


def test_padding_goes_through_shuffles_logic_and_bulk_copies(tmp_path):
    """What is no padding is told: a member that three threads forget, an undefined lane, and bits that are inverted."""
    planted = Planted(tmp_path, TYPES + DECIDED + CARRIED, Initcheck(), chip="h200")
    x, y, z = (undefined(planted, 24 * N) for _ in range(3))
    assert planted.run("fill_some", 1, N, x, N) == []
    own, unknown = planted.array(4 * N), undefined(planted, 4 * N)
    forgotten = undefined(planted, 24 * N)
    assert planted.run("fill_some", 1, N, forgotten, WRITTEN) == []
    ways = {"shuffled": ((), N - WRITTEN), "both": ((-1,), N - WRITTEN), "bulk": ((), 1)}
    for name, (given, count) in ways.items():
        assert planted.run(name, 1, N, x, y, *given) == []
        assert planted.run("words", 1, N, y, z) == []
        told = planted.run(name, 1, N, forgotten, z, *given)
        assert {each.kind for each in told} == {STORE} and sum(each.count for each in told) == count
    assert planted.run("from_anywhere", 1, N, x, y, own) == []
    assert sum(each.count for each in planted.run("from_anywhere", 1, N, x, y, unknown)) == 6 * N
    assert planted.run("one_of_both", 1, N, x, y, 0) == []
    # Three words of each structure have padding.
    assert sum(each.count for each in planted.run("one_of_both", 1, N, x, y, -1)) == 3 * N


TEMPLATE = """
struct Sparse { char c; int i; };
struct Whole { int a, i; };
template <class T> __device__ void give(T *x, int i) { x[threadIdx.x].i = i; }
extern "C" __global__ void sparse(Sparse *x) { give(x, 1); x[threadIdx.x].c = 2; }
extern "C" __global__ void whole(Whole *x) { give(x, 1); x[threadIdx.x].a = 2; }
extern "C" __global__ void forget(Whole *x) { give(x, 1); ((char *)&x[threadIdx.x])[0] = 2; }
extern "C" __global__ void bytes(char *x, char *y) { for (int k = threadIdx.x; k < 256; k += 32) y[k] = x[k]; }
"""


def test_what_a_template_stores_is_padding_of_no_other_structure(tmp_path):
    planted = Planted(tmp_path, TEMPLATE, Initcheck())
    for name, count in (("sparse", 0), ("whole", 0), ("forget", 3 * N)):
        x, y = undefined(planted, 8 * N), undefined(planted, 8 * N)
        assert planted.run(name, 1, N, x) == []
        assert sum(each.count for each in planted.run("bytes", 1, N, x, y)) == count
