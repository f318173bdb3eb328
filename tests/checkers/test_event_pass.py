"""The compiled passes of initcheck over a whole event give what formulas and shadows give step by step."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.isa.flow.definedness import rule_of
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import TABLE
from gpuprof.trace.checkers.shadow_bits import event_pass
from gpuprof.trace.checkers.shadow_bits.instruction_rules import BITS, Operands, of_bytes, results_of, to_bytes
from gpuprof.trace.checkers.shadow_bits.lane_rules import CODES, COMPARED, JOINED, SLOTS, by_value_of, follow_values
from gpuprof.trace.checkers.shadow_bits.memory_bits import DEFINED, UNDEFINED, MemoryShadow
from gpuprof.trace.checkers.shadow_bits.propagate import Words
from gpuprof.trace.event import unpacked

WARPS, GUARD = 4, 0
BASE, NBYTES = 0x7_0000_0000, 4096
MODS = {
    "compare": [pack(cmp=compared, bool=joined) for compared, joined in product(COMPARED, JOINED)],
    "compare_floats": [pack(bool=joined) for joined in JOINED],
    "shift_add": [pack(by=by) for by in (0, 3, 31)],
}
BY_VALUE = [op for op in TABLE if op.kind == "compute" and rule_of(op) in CODES]


def words_of(bits: np.ndarray) -> Words:
    """The state of registers with undefined bits, uint32 (warps, rows, 32), in one slot."""
    is_hot = bits.any(axis=2)[None]
    return Words(bits[None].copy(), is_hot, np.zeros(is_hot.shape, np.int32), np.zeros(is_hot.shape, np.uint32))


def joined(bits: np.ndarray, register: tuple[int, ...]) -> np.ndarray:
    """uint64 (warps, 32)."""
    words = [bits[:, row].astype(np.uint64) << np.uint64(32 * place) for place, row in enumerate(register)]
    return np.bitwise_or.reduce(words)


def random_bits(rng: np.random.Generator, widths: list[int]) -> np.ndarray:
    """uint32 (warps, rows, 32): few bits, many, or none, in rows of these widths."""
    shape = (WARPS, len(widths), 32)
    bits = rng.integers(0, 1 << 32, shape, np.uint32)
    bits &= np.where(rng.random(shape) < 0.5, rng.integers(0, 1 << 32, shape, np.uint32), np.uint32(1) << 7)
    bits = bits * (rng.random(shape) < 0.6) * (rng.random((WARPS, len(widths), 1)) < 0.7)
    return (bits & np.array([(1 << width) - 1 for width in widths], np.uint64)[:, None]).astype(np.uint32)


@pytest.mark.parametrize("op", BY_VALUE, ids=lambda op: op.name)
def test_what_takes_values_follows_as_its_formula_says(op):
    """Values of few bits, and of many: shift counts are small, and comparisons near."""
    rng = np.random.default_rng(9)
    specs = {slot: spec for slot in SLOTS if (spec := getattr(op, slot)) and not spec.startswith(">")}
    results = {slot: getattr(op, slot).lstrip(">") for slot in ("dst", "c") if slot == "dst" or op.c[:1] == ">"}
    registers, widths = {}, [1]  # row 0 is the guard
    for slot, spec in (*specs.items(), *results.items()):
        bits = BITS[spec[0]]
        registers[slot] = tuple(range(len(widths), len(widths) + max(bits // 32, 1)))
        widths += [min(bits, 32)] * len(registers[slot])
    for mods in MODS.get(rule_of(op), [0]):
        inst = SimpleNamespace(op=op, mods=mods)
        sources = {slot: (registers[slot],) for slot in specs}
        by_value = by_value_of(inst, (GUARD,), sources, {slot: (registers[slot],) for slot in results})
        before = random_bits(rng, widths)
        values = np.zeros((4, WARPS, 32), np.uint64)
        for slot, spec in specs.items():
            most = rng.choice(np.array([4, 70, (1 << BITS[spec[0]]) - 1], np.uint64), (WARPS, 32))
            values[SLOTS.index(slot)] = rng.integers(0, 1 << 63, (WARPS, 32), np.uint64) * 2 % (most + np.uint64(1) | 1)
        for place, slot in enumerate(SLOTS):
            values[place] &= np.uint64((1 << BITS[specs[slot][0]]) - 1 if slot in specs else 0)
        active, held = (rng.integers(0, 1 << 32, WARPS, np.uint32) for _ in range(2))
        held &= active
        undefined = {slot: joined(before, registers[slot]) for slot in specs}
        operands = Operands(inst, {slot: values[SLOTS.index(slot)] for slot in specs}, undefined, BITS[op.dst[0]])
        expected = before.copy()
        for slot, formula in zip(("dst", "c"), results_of(operands), strict=False):
            for place, row in enumerate(registers[slot] if slot in results else ()):
                doubt = unpacked(active) & (before[:, GUARD] != 0)
                part = (formula >> np.uint64(32 * place)).astype(np.uint32)
                part = np.where(doubt, np.uint32((1 << widths[row]) - 1), part)
                expected[:, row] = np.where(doubt | unpacked(held), part, before[:, row])
        words, changes, zeros = words_of(before), np.zeros((2, 2), np.int64), np.zeros(WARPS, np.int64)
        follow_values(words, zeros, np.arange(WARPS), active, held, values, *by_value, changes)
        assert np.array_equal(words.bits[0], expected), (op.name, mods)
        assert np.array_equal(words.is_hot[0], expected.any(axis=2))
        grown = expected.any(axis=2).sum(axis=0) - before.any(axis=2).sum(axis=0)
        rows = [row for slot in results for row in registers[slot]]
        assert changes[by_value.results >= 0].tolist() == grown[rows].tolist()


def shadow_of(rng: np.random.Generator, outside: int) -> MemoryShadow:
    """Some pages are uniform, in others some bits are undefined."""
    shadow = MemoryShadow(outside)
    shadow.define(BASE, NBYTES)
    for start in range(BASE, BASE + NBYTES, NBYTES // 4):
        shadow.undefine(start + 64, int(rng.integers(0, 600)))
        shadow.put(start, rng.choice(np.array([0, 0, 0x80, 3, 0xFF], np.uint8), 200))
    return shadow


def addresses_of(rng: np.random.Generator, nbytes: int) -> np.ndarray:
    """int64 (warps, 32): aligned, and different."""
    return BASE + nbytes * rng.permutation(NBYTES // 16)[: WARPS * 32].reshape(WARPS, 32)


@pytest.mark.parametrize("type_name, nbytes", [("u8", 1), ("s8", 1), ("u16", 2), ("s16", 2), ("b32", 4), ("b64", 8),
                                               ("b128", 16)])  # fmt: skip
def test_a_load_takes_the_bits_of_memory(type_name, nbytes):
    rng = np.random.default_rng(nbytes)
    for outside in (DEFINED, UNDEFINED):
        shadow, before = shadow_of(rng, outside), random_bits(rng, [32] * 4)
        addresses, masks = addresses_of(rng, nbytes), rng.integers(0, 1 << 32, WARPS, np.uint32)
        undefined, rows = shadow.read(addresses, masks, nbytes), np.arange(max(nbytes // 4, 1))
        expected = before.copy()
        for row, word in enumerate(of_bytes(undefined, type_name, 4)):
            expected[:, row] = np.where(unpacked(masks), word, before[:, row]).astype(np.uint32)
        words, changes, zeros = words_of(before), np.zeros(len(rows), np.int64), np.zeros(WARPS, np.int64)
        first = event_pass.load(words, shadow.pages, zeros, np.arange(WARPS), masks, addresses, 256, nbytes, rows,
                                type_name[0] == "s", 7, changes)  # fmt: skip
        assert first == np.flatnonzero(undefined.any(axis=2))[0]
        assert np.array_equal(words.bits[0], expected)
        assert changes.tolist() == [int(words.is_hot[0, :, row].sum()) - int(before[:, row].any(axis=1).sum())
                                    for row in rows]  # fmt: skip


def test_a_load_of_defined_bytes_changes_nothing():
    rng, shadow = np.random.default_rng(1), MemoryShadow(DEFINED)
    shadow.define(BASE, NBYTES)
    before, zeros = random_bits(rng, [32]), np.zeros(WARPS, np.int64)
    words, changes, row = words_of(before), np.zeros(1, np.int64), np.zeros(1, np.int64)
    masks = np.full(WARPS, 0xFFFFFFFF, np.uint32)
    first = event_pass.load(words, shadow.pages, zeros, np.arange(WARPS), masks, addresses_of(rng, 4), 256, 4, row,
                            False, 7, changes)  # fmt: skip
    assert (first, changes[0], words.bits[0].tolist()) == (-1, 0, before.tolist())


@pytest.mark.parametrize("nbytes", [1, 2, 4, 8, 16])
def test_a_store_leaves_the_bits_of_registers(nbytes):
    rng = np.random.default_rng(nbytes)
    shadow, other, bits = shadow_of(rng, DEFINED), MemoryShadow(DEFINED), random_bits(rng, [32] * 4)
    other.put(BASE, shadow.get(BASE, NBYTES))
    rows, zeros = np.arange(max(nbytes // 4, 1)), np.zeros(WARPS, np.int64)
    addresses, masks = addresses_of(rng, nbytes), rng.integers(0, 1 << 32, WARPS, np.uint32)
    stored = to_bytes([bits[:, row].astype(np.uint64) for row in rows], 4)[:, :, :nbytes]
    shadow.write(addresses, masks, stored)
    words, lanes = words_of(bits), np.zeros(WARPS, np.uint32)
    other.take_pages(addresses, masks, nbytes)
    event_pass.store(words, other.pages, zeros, np.arange(WARPS), masks, addresses, nbytes, rows)
    assert np.array_equal(other.get(BASE, NBYTES), shadow.get(BASE, NBYTES))
    every = np.full(WARPS, 0xFFFFFFFF, np.uint32)
    pages = BASE + 256 * np.arange(NBYTES // 256)
    counts = [[each.is_clean(np.full((WARPS, 32), page), every, 256) for page in pages] for each in (shadow, other)]
    assert counts[0] == counts[1]
    assert event_pass.lanes_to_store(words, zeros, np.arange(WARPS), masks, rows, nbytes, lanes)
    assert unpacked(lanes).tolist() == (stored.any(axis=2) & unpacked(masks)).tolist()


def test_padding_is_left_to_the_slow_path():
    bits = np.zeros((WARPS, 1, 32), np.uint32)
    bits[2, 0, 5] = 1
    words, lanes, row = words_of(bits), np.zeros(WARPS, np.uint32), np.zeros(1, np.int64)
    arguments = np.zeros(WARPS, np.int64), np.arange(WARPS), np.full(WARPS, 0xFFFFFFFF, np.uint32), row, 4, lanes
    words.padding[0, 2, 0] = 1 << 4
    assert event_pass.lanes_to_store(words, *arguments)
    assert lanes.tolist() == [0, 0, 1 << 5, 0]
    words.padding[0, 2, 0] = 1 << 5
    assert not event_pass.lanes_to_store(words, *arguments)
