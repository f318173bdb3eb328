"""The parts of initcheck: a rule for every instruction, and the compiled shadow of memory beside a plain one."""

import numpy as np
import pytest

from gpuprof.isa.flow.definedness import atomic_rule_of, rule_of, vote_of
from gpuprof.isa.opcodes import TABLE
from gpuprof.trace.checkers.definedness.memory import DEFINED, UNDEFINED, MemoryShadow
from gpuprof.trace.checkers.definedness.rules import RULES
from gpuprof.trace.checkers.definedness.spaces import BlockShadow
from gpuprof.trace.checkers.initcheck import _ACTS, _AFTER, FOUND_LATER, Initcheck

BASE, NBYTES = 0x7_0000_0000, 3000


def test_every_instruction_has_its_rule():
    assert {rule_of(op) for op in TABLE if op.kind == "compute"} == set(RULES)
    assert all(atomic_rule_of(op) for op in TABLE if op.kind in ("atomic", "reduction"))
    assert all(vote_of(op) for op in TABLE if op.kind == "vote")
    assert set(_ACTS) == set(Initcheck.kinds)
    assert set(_AFTER) == set(FOUND_LATER)


class PlainShadow:
    """A byte for each byte, one after the other."""

    def __init__(self, outside: int):
        self.bytes = np.full(2 * NBYTES, 0xFF if outside == UNDEFINED else 0, np.uint8)

    def define(self, address: int, nbytes: int) -> None:
        self.put(address, np.zeros(nbytes, np.uint8))

    def undefine(self, address: int, nbytes: int) -> None:
        self.put(address, np.full(nbytes, 0xFF, np.uint8))

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        self.put(destination, self.get(source, nbytes).copy())

    def get(self, address: int, nbytes: int) -> np.ndarray:
        return self.bytes[address - BASE : address - BASE + nbytes]

    def put(self, address: int, undefined: np.ndarray) -> None:
        self.bytes[address - BASE : address - BASE + len(undefined)] = undefined

    def lanes(self, addresses, masks) -> list[tuple[int, int, int]]:
        """(row, lane, address) of those that take part."""
        return [
            (row, lane, int(addresses[row, lane]))
            for row in range(len(masks))
            for lane in range(32)
            if int(masks[row]) >> lane & 1
        ]

    def read(self, addresses, masks, nbytes: int) -> np.ndarray:
        found = np.zeros((*addresses.shape, nbytes), np.uint8)
        for row, lane, address in self.lanes(addresses, masks):
            found[row, lane] = self.get(address, nbytes)
        return found

    def write(self, addresses, masks, undefined: np.ndarray) -> None:
        for row, lane, address in self.lanes(addresses, masks):
            self.put(address, undefined[row, lane])

    def define_lanes(self, addresses, masks, nbytes: int) -> None:
        self.write(addresses, masks, np.zeros((*addresses.shape, nbytes), np.uint8))

    def is_clean(self, addresses, masks, nbytes: int) -> bool:
        return not self.read(addresses, masks, nbytes).any()


@pytest.mark.parametrize("outside", [DEFINED, UNDEFINED])
def test_the_shadow_is_as_a_plain_one(outside):
    rng = np.random.default_rng(3)
    shadow, plain = MemoryShadow(outside), PlainShadow(outside)

    def both(call: str, *arguments):
        return [getattr(each, call)(*arguments) for each in (shadow, plain)]

    for _ in range(300):
        start, to = (BASE + int(place) for place in rng.integers(0, NBYTES, 2))
        nbytes, size = int(rng.integers(0, 900)), int(rng.choice((1, 2, 4, 8, 16)))
        addresses = start + size * rng.permutation(64).reshape(2, 32)
        masks = rng.integers(0, 1 << 32, 2, np.uint32) & np.uint32(rng.choice((0, 0xFF, 0xFFFFFFFF)))
        undefined = rng.choice(np.array([0, 0, 3, 0xFF], np.uint8), (2, 32, size))
        call, arguments = [
            ("define", (start, nbytes)),
            ("undefine", (start, nbytes)),
            ("copy", (to, start, nbytes)),
            ("write", (addresses, masks, undefined)),
            ("define_lanes", (addresses, masks, size)),
        ][rng.integers(5)]
        both(call, *arguments)
        ours, expected = both("get", BASE, 2 * NBYTES - 2000)
        assert np.array_equal(ours, expected), call
        ours, expected = both("is_clean", addresses, masks, size)
        assert ours == expected
        ours, expected = both("read", addresses, masks, size)
        assert np.array_equal(ours, expected)
    shadow.clear()
    assert shadow.nbytes == 0


def test_what_owners_leave_is_undefined_for_the_next_ones():
    shadow = BlockShadow(300)
    shadow.begin(3)
    shadow.define(shadow.stride, 300)
    assert not shadow.get(shadow.stride, 300).any()
    shadow.widen(1000)
    assert not shadow.get(shadow.stride, 300).any()
    assert shadow.get(shadow.stride + 300, 700).all()
    shadow.end(np.array([1]))
    assert shadow.get(shadow.stride, 1000).all()
