"""The parts of initcheck: a rule for every instruction, and the compiled shadow of memory beside a plain one."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.isa.flow.definedness import atomic_rule_of, rule_of, vote_of
from gpuprof.isa.opcodes import TABLE
from gpuprof.trace.checkers.initcheck import _ACTS, _AFTER, KNOWN_AFTER, Initcheck
from gpuprof.trace.checkers.shadow_bits.instruction_rules import BITS, RULES, Operands, results_of
from gpuprof.trace.checkers.shadow_bits.memory_bits import DEFINED, UNDEFINED, MemoryShadow
from gpuprof.trace.checkers.shadow_bits.propagate import TRANSFORMS, Words, follow, simple_of
from gpuprof.trace.checkers.shadow_bits.space_bits import BlockShadow
from gpuprof.trace.event import unpacked

BASE, NBYTES = 0x7_0000_0000, 3000
WARPS = 6


def test_every_instruction_has_its_rule():
    assert {rule_of(op) for op in TABLE if op.kind == "compute"} == set(RULES)
    assert all(atomic_rule_of(op) for op in TABLE if op.kind in ("atomic", "reduction"))
    assert all(vote_of(op) for op in TABLE if op.kind == "vote")
    assert set(_ACTS) == set(Initcheck.kinds)
    assert set(_AFTER) == set(KNOWN_AFTER)


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


SIMPLE = [op for op in TABLE if op.kind == "compute" and rule_of(op) in TRANSFORMS and op.dst[1:] == ""]


def test_what_takes_no_values_follows_as_its_rule_says():
    """Each such row of the table, of random bits: in one pass, and by the formulas."""
    rng = np.random.default_rng(5)
    for op in SIMPLE:
        specs = [spec for slot in "abce" if (spec := getattr(op, slot)) and not spec.startswith(">")]
        registers, n_rows = [], 1  # row 0 is the guard
        for spec in (op.dst, *specs):
            registers.append(tuple(range(n_rows, n_rows + (2 if BITS[spec[0]] == 64 else 1))))
            n_rows = registers[-1][-1] + 1
        simple = simple_of(op, (0,), registers[1:], registers[:1])
        shape = (1, WARPS, n_rows, 32)
        bits = (
            rng.integers(0, 1 << 32, shape, np.uint32) * (rng.random(shape) < 0.5) * (rng.random(n_rows) < 0.7)[:, None]
        )
        bits = bits.astype(np.uint32)
        bits[:, :, 0] &= 1
        is_hot = bits.any(axis=3)
        active, held = (rng.integers(0, 1 << 32, WARPS, np.uint32) for _ in range(2))
        held &= active
        undefined = [_joined(bits[0], register) for register in registers]
        inst, operands = SimpleNamespace(op=op), dict(zip("abce", undefined[1:], strict=False))
        (formula,) = results_of(Operands(inst, {}, operands, BITS[op.dst[0]]))
        doubt = unpacked(active) & (bits[0, :, 0] != 0)
        expected = np.where(doubt, simple.whole, np.where(unpacked(held), formula & simple.whole, undefined[0]))
        before, changes = is_hot.copy(), np.zeros(2, np.int64)
        zeros = np.zeros(WARPS, np.int64)
        words = Words(bits, is_hot, np.zeros(is_hot.shape, np.int32), np.zeros(is_hot.shape, np.uint32))
        follow(words, zeros, np.arange(WARPS), active, held, *simple, changes)
        assert np.array_equal(_joined(bits[0], registers[0]), expected), op.name
        assert np.array_equal(is_hot, bits.any(axis=3)), op.name
        grown = is_hot.sum(axis=(0, 1)) - before.sum(axis=(0, 1))
        assert changes[: len(registers[0])].tolist() == grown[list(registers[0])].tolist(), op.name


def _joined(bits: np.ndarray, register: tuple[int, ...]) -> np.ndarray:
    """uint64 (n, 32)."""
    words = [bits[:, row].astype(np.uint64) << np.uint64(32 * place) for place, row in enumerate(register)]
    return np.bitwise_or.reduce(words)
