"""Random kernels under racecheck, beside a brute force that asks of all pairs of accesses whether anything orders them.

The kernels are straight lines of accesses to a few words of shared memory, each by some threads, and of barriers of the
block, of named halves of it, and of groups of lanes. The brute force knows nothing of clocks: it follows the order from
step to step, thread by thread.
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

THREADS, WORDS, KERNELS, STEPS = 64, 6, 24, 9
ORDERS = 2  # findings of a kernel that are tried in both orders


class Step(NamedTuple):
    """`what`: store, load, block, warp. Thread t takes part where t % of == is_; its word is (t * factor + shift) %
    WORDS. `group`: lanes that a warp synchronisation is for, a power of two.
    """

    what: str
    of: int = 1
    is_: int = 0
    factor: int = 0
    shift: int = 0
    group: int = 32

    def threads(self) -> list[int]:
        return [t for t in range(THREADS) if t % self.of == self.is_]

    def word(self, t: int) -> int:
        return (t * self.factor + self.shift) % WORDS

    def source(self) -> str:
        if self.what == "block":
            return "__syncthreads();"
        if self.what == "warp":
            mask = (1 << self.group) - 1
            return f"__syncwarp({mask:#x}u << (t % 32 / {self.group} * {self.group}));"
        place = f'"r"(s + (t * {self.factor} + {self.shift}) % {WORDS} * 4)'
        act = {
            "store": f'asm volatile("st.shared.u32 [%0], %1;" :: {place}, "r"(t * 77 + n++) : "memory");',
            "load": f'{{ int v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : {place} : "memory"); sum += v; }}',
        }[self.what]
        return f"if (t % {self.of} == {self.is_}) {act}"


def random_steps(rng: random.Random) -> list[Step]:
    return [_random_step(rng) for _ in range(STEPS)]


def _random_step(rng: random.Random) -> Step:
    what = rng.choice(("store", "load", "load", "block", "warp", "warp"))
    of = rng.choice((16, 32, 32, 64))
    return Step(what, of, rng.randrange(of), rng.randrange(2), rng.randrange(WORDS), rng.choice((8, 16, 32)))


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


def racing_pairs(steps: list[Step]) -> set[frozenset[int]]:
    """Pairs of steps in which two threads access a word, one of them with a store, and neither is before the other."""
    after: dict = {}
    for start, end in _edges(steps):
        after.setdefault(start, set()).add(end)
    reach: dict = {}
    for at in range(len(steps) - 1, -1, -1):
        for t in range(THREADS):
            found = reach[t, at] = set()
            for node in after.get((t, at), ()):
                found |= {node} | reach[node]
    accesses = [(t, at) for at, step in enumerate(steps) if step.what in ("store", "load") for t in step.threads()]
    return {
        frozenset((a[1], b[1]))
        for a in accesses
        for b in accesses
        if a[0] < b[0]
        and "store" in (steps[a[1]].what, steps[b[1]].what)
        and steps[a[1]].word(a[0]) == steps[b[1]].word(b[0])
        and b not in reach[a]
        and a not in reach[b]
    }


def kernel(number: int, steps: list[Step]) -> str:
    lines = "\n".join(step.source() for step in steps)
    return (
        f'extern "C" __global__ void k{number}(int *x) {{ __shared__ int words[{WORDS}]; int t = threadIdx.x, n = 0;'
        f" unsigned s = (unsigned)__cvta_generic_to_shared(words); int sum = 0;\n{lines}\n"
        "x[t] = sum; }\n"
    )


@pytest.fixture(scope="module")
def programs():
    rng = random.Random(7)
    return [random_steps(rng) for _ in range(KERNELS)]


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
    assert [each.findings for each in compacting.results] == [each.findings for each in plain.results]
    assert compacting.n_thrown_out > 50


SOME = [pytest.param(number, marks=[pytest.mark.long] if number % 4 else []) for number in range(KERNELS)]


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
    assert 3 <= sum(racy) <= KERNELS - 3
