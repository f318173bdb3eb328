"""Random kernels under racecheck, beside a brute force that asks of all pairs of accesses whether anything orders them.

The kernels are straight lines of accesses to a few bytes of shared memory, each by some threads, and of barriers of the
block, of named halves of it, and of groups of lanes. In the first half of them few threads access words; in the others
many access 1 to 8 bytes each, side by side, at a stride, backwards or all the same ones. The brute force knows nothing
of clocks and lines: it follows the order from step to step, thread by thread, and compares bytes.
"""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from gpuprof.trace.checkers.racecheck import Racecheck
from tests.one_thread.orders import At, both_orders
from tests.support.compacting import Compacting
from tests.support.planted import Planted

THREADS, KERNELS, STEPS = 64, 40, 9
WORDS_NBYTES, BYTES_NBYTES = 24, 96  # of shared memory, in kernels of words and of bytes
ORDERS = 2  # findings of a kernel that are tried in both orders
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}


class Step(NamedTuple):
    """`what`: store, load, block, warp. Thread t takes part where t % of == is_; it accesses the `nbytes` from byte
    (t * factor + shift) % (of_all / nbytes) * nbytes on. `group`: lanes that a warp synchronisation is for, a power of
    two.
    """

    what: str
    of: int = 1
    is_: int = 0
    factor: int = 0
    shift: int = 0
    group: int = 32
    nbytes: int = 4
    of_all: int = WORDS_NBYTES

    def threads(self) -> list[int]:
        return [t for t in range(THREADS) if t % self.of == self.is_]

    def bytes(self, t: int) -> int:
        """As bits of a number."""
        first = (t * self.factor + self.shift) % (self.of_all // self.nbytes) * self.nbytes
        return ((1 << self.nbytes) - 1) << first

    def source(self) -> str:
        if self.what == "block":
            return "__syncthreads();"
        if self.what == "warp":
            mask = (1 << self.group) - 1
            return f"__syncwarp({mask:#x}u << (t % 32 / {self.group} * {self.group}));"
        place = f'"r"(s + (t * {self.factor} + {self.shift}) % {self.of_all // self.nbytes} * {self.nbytes})'
        type_, register = TYPES[self.nbytes], "l" if self.nbytes == 8 else "r"
        value = "(long long)(t * 77 + n++)" if self.nbytes == 8 else "t * 77 + n++"
        own = "long long" if self.nbytes == 8 else "int"
        act = {
            "store": f'asm volatile("st.shared.{type_} [%0], %1;" :: {place}, "{register}"({value}) : "memory");',
            "load": f'{{ {own} v; asm volatile("ld.shared.{type_} %0, [%1];" : "={register}"(v) : {place} : "memory");'
            " sum += v; }",
        }[self.what]
        return f"if (t % {self.of} == {self.is_}) {act}"


def random_steps(rng: random.Random, of_bytes: bool) -> list[Step]:
    return [_random_step_of_bytes(rng) if of_bytes else _random_step(rng) for _ in range(STEPS)]


def _random_step(rng: random.Random) -> Step:
    what = rng.choice(("store", "load", "load", "block", "warp", "warp"))
    of = rng.choice((16, 32, 32, 64))
    return Step(what, of, rng.randrange(of), rng.randrange(2), rng.randrange(6), rng.choice((8, 16, 32)))


def _random_step_of_bytes(rng: random.Random) -> Step:
    what = rng.choice(("store", "load", "load", "block", "block", "block", "warp"))
    of, nbytes = rng.choice((1, 1, 1, 2, 3, 40)), rng.choice((1, 1, 1, 2, 4, 8))
    n_places = BYTES_NBYTES // nbytes
    factor = rng.choice((1, 1, 1, 3, n_places - 1)) if what == "store" or rng.random() < 0.8 else 0
    return Step(what, of, rng.randrange(of), factor, rng.randrange(4), 32, nbytes, BYTES_NBYTES)


def _edges(steps: list[Step]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(thread, step) before (thread, step): each thread's own order, and from each that waits to all it waits for."""
    for at, step in enumerate(steps):
        for t in range(THREADS):
            if at + 1 < len(steps):
                yield (t, at), (t, at + 1)
                group = THREADS if step.what == "block" else step.group
                if step.what in ("block", "warp"):
                    first = t // group * group
                    yield from (((t, at), (other, at + 1)) for other in range(first, first + group))


def _reached(steps: list[Step]) -> dict[tuple[int, int], int]:
    """By thread and step, all threads and steps that come behind it: bit step * THREADS + thread of a number."""
    after: dict = {}
    for start, end in _edges(steps):
        after.setdefault(start, set()).add(end)
    reach: dict[tuple[int, int], int] = {}
    for at in range(len(steps) - 1, -1, -1):
        for t in range(THREADS):
            reach[t, at] = 0
            for other, step in after.get((t, at), ()):
                reach[t, at] |= 1 << (step * THREADS + other) | reach[other, step]
    return reach


def racing_pairs(steps: list[Step]) -> set[frozenset[int]]:
    """Pairs of steps in which two threads access a byte, one of them with a store, and neither is before the other."""
    reach = _reached(steps)
    accesses = [(t, at) for at, step in enumerate(steps) if step.what in ("store", "load") for t in step.threads()]
    return {
        frozenset((a[1], b[1]))
        for a in accesses
        for b in accesses
        if a[0] < b[0]
        and "store" in (steps[a[1]].what, steps[b[1]].what)
        and steps[a[1]].bytes(a[0]) & steps[b[1]].bytes(b[0])
        and not reach[a] >> (b[1] * THREADS + b[0]) & 1
        and not reach[b] >> (a[1] * THREADS + a[0]) & 1
    }


def kernel(number: int, steps: list[Step]) -> str:
    lines = "\n".join(step.source() for step in steps)
    return (
        f'extern "C" __global__ void k{number}(int *x) {{ __shared__ __align__(16) char bytes[{BYTES_NBYTES}];'
        " int t = threadIdx.x, n = 0;"
        f" unsigned s = (unsigned)__cvta_generic_to_shared(bytes); int sum = 0;\n{lines}\n"
        "x[t] = sum; }\n"
    )


@pytest.fixture(scope="module")
def programs():
    rng = random.Random(7)
    return [random_steps(rng, number >= KERNELS // 2) for number in range(KERNELS)]


@pytest.fixture(scope="module")
def planted(programs, tmp_path_factory):
    source = "".join(kernel(number, steps) for number, steps in enumerate(programs))
    return Planted(tmp_path_factory.mktemp("random"), source, Racecheck(), Compacting())


@pytest.mark.parametrize("number", range(KERNELS))
def test_as_brute_force(programs, planted, number):
    steps = programs[number]
    planted.run(f"k{number}", 1, THREADS, planted.array(4 * THREADS))
    findings = planted.checkers[0].results[-1].findings
    first_line = number * (STEPS + 2) + 2
    lines = {instruction.pc: instruction.line - first_line for instruction in planted.checkers[0].kernel.instructions}
    found = {frozenset((lines[finding.pc], lines[finding.other_pc])) for finding in findings}
    expected = racing_pairs(steps)
    assert found <= expected
    assert bool(found) == bool(expected)


def test_tables_that_are_compacted_change_nothing(planted):
    """Whoever is thrown out too early is missing afterwards, and a wrong number names another access."""
    plain, compacting = planted.checkers
    for number in range(len(plain.results), KERNELS):  # that another process has run, or nobody
        planted.run(f"k{number}", 1, THREADS, planted.array(4 * THREADS))
    assert [each.findings for each in compacting.results] == [each.findings for each in plain.results]
    assert compacting.n_thrown_out > 100


SOME = [pytest.param(number, marks=[pytest.mark.long] if number % 10 else []) for number in range(KERNELS)]


@pytest.mark.parametrize("number", SOME)
def test_the_two_orders_differ(planted, number):
    """Of the two accesses that a finding names, both orders are possible, and leave different values behind."""
    planted.run(f"k{number}", 1, THREADS, planted.array(4 * THREADS))
    findings = planted.checkers[0].results[-1].findings
    base = planted.launch.module.load_base
    for found in findings[:ORDERS]:
        other = int(re.search(r"which thread \((\d+), 0, 0\)", found.text)[1])
        one, two = At(found.thread, (found.pc - base) // 16), At(other, (found.other_pc - base) // 16)
        first, second = both_orders(planted.launch, planted.device.executor.memory, one, two)
        assert first != second, found.text


def test_both_kinds_of_kernels_are_among_them(programs):
    racy = [bool(racing_pairs(steps)) for steps in programs]
    for half in (racy[: KERNELS // 2], racy[KERNELS // 2 :]):
        assert 3 <= sum(half) <= len(half) - 3
