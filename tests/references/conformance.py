"""Runs all variants of one opcode on rows of operands and compares every lane with a reference written from the PTX ISA
manual.

A reference takes (types, mods, operands...) as plain Python values, operands as unsigned bit patterns, and gives a bit
pattern for each result; it shares no code with the emulator.
"""

import itertools
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import AddressSpace
from gpuprof.isa.encoding import Instruction, make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.row import Opcode
from tests.references.conformance_floats import ANY_NAN
from tests.support.emulate_harness import global_index, load_or_store, run

LANES = 512
BLOCK = 128
OLD32, OLD64 = 0xDEADBEEF, 0x0123456789ABCDEF  # in a result's register before a guarded instruction

INTEGERS_32 = (
    0, 1, 2, 3, 31, 32, 33, 63, 64, 127, 128, 255, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000,
    0x80000001, 0xFFFFFF80, 0xFFFFFFFF,
)  # fmt: skip
INTEGERS_64 = (
    *INTEGERS_32,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    (1 << 53) + 1,
    0xFFFFFFFF80000000,
    (1 << 64) - 1,
)
COUNTS = (0, 1, 5, 31, 32, 33, 63, 64, 65, 255, 256, 0x101, 0x80000000, 0xFFFFFFFF)
FLOATS = {
    "f16": (0, 1, 0x3FF, 0x400, 0x3800, 0x3BFF, 0x3C00, 0x3C01, 0x4000, 0x4900, 0x5BFF, 0x7BFF, 0x7C00, 0x7C01, 0x7E00,
        0x7FFF),
    "bf16": (0, 1, 0x7F, 0x80, 0x3F00, 0x3F7F, 0x3F80, 0x3F81, 0x4000, 0x4120, 0x437F, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0,
        0x7FFF),
    "f32": (
        0, 1, 0x7FFFFF, 0x800000, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x40200000, 0x41200000, 0x477FE000,
        0x4F000000,
        0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF,
    ),
    "f64": (
        0, 1, (1 << 52) - 1, 1 << 52, 0x3FE0 << 48, (0x3FF0 << 48) - 1, 0x3FF0 << 48, (0x3FF0 << 48) + 1, 0x4004 << 48,
        0x41E0 << 48,
        0x43E0 << 48, (0x7FF0 << 48) - 1, 0x7FF0 << 48, (0x7FF0 << 48) + 1, 0x7FF8 << 48, (1 << 63) - 1,
    ),
}  # fmt: skip


class Variant(NamedTuple):
    """One form of an opcode: its modifiers by name, and a source that is an immediate."""

    mods: Mapping[str, int | str] = MappingProxyType({})
    slot: str = ""
    imm: int = 0


def read_slots(op: Opcode) -> list[str]:
    return [slot for slot in ("a", "b", "c", "e") if getattr(op, slot) and not getattr(op, slot).startswith(">")]


def written_slots(op: Opcode) -> list[str]:
    return [
        slot for slot in ("dst", "c", "e") if getattr(op, slot) and (slot == "dst" or getattr(op, slot).startswith(">"))
    ]


def every(**choices) -> list[Variant]:
    """All combinations of modifier values."""
    return [Variant(dict(zip(choices, values, strict=True))) for values in itertools.product(*choices.values())]


def operand_rows(op: Opcode, kinds: dict[str, str], lanes: int = LANES) -> dict[str, np.ndarray]:
    """Rows for the slots that are read: special values against each other, then random ones.

    kinds: slot -> a float format, "count", or "int"; packed formats end in x2.
    """
    rng = np.random.default_rng(zlib.crc32(op.name.encode()))
    slots = read_slots(op)
    specials = {slot: _specials(getattr(op, slot), kinds.get(slot, "int")) for slot in slots}
    rows = {}
    n_pairs = lanes * 3 // 4
    first, *others = slots
    for slot in slots:
        values = specials[slot]
        if slot == first:
            chosen = np.resize(values, n_pairs)
        elif len(others) == 1:  # all pairs, as far as there is room
            chosen = np.resize(np.repeat(values, len(specials[first])), n_pairs)
        else:
            chosen = rng.choice(values, n_pairs)
        rows[slot] = np.concatenate([chosen, _random(rng, chosen.dtype, kinds.get(slot, "int"), lanes - n_pairs)])
    return rows


def _specials(spec: str, kind: str) -> np.ndarray:
    if spec == "P":
        return np.array([False, True])
    dtype = np.uint64 if spec == "D" else np.uint32
    if kind == "count":
        return np.array(COUNTS, dtype)
    if kind == "int":
        return np.array(INTEGERS_64 if spec == "D" else INTEGERS_32, dtype)
    scalar = kind.removesuffix("x2")
    sign = 1 << {"f64": 63, "f32": 31}.get(scalar, 15)
    width = sign.bit_length()
    signed = [*FLOATS[scalar], *(value | sign for value in FLOATS[scalar])]
    if kind.endswith("x2"):
        signed = [value | other << width for value, other in zip(signed, np.roll(signed, 5).tolist(), strict=True)]
    return np.array(signed, dtype)


def _random(rng, dtype, kind: str, count: int) -> np.ndarray:
    if dtype == np.bool_:
        return rng.random(count) < 0.5
    if kind == "count":
        return rng.integers(0, 70, count, dtype)
    values = rng.integers(0, np.iinfo(dtype).max, count, dtype, endpoint=True)
    if kind == "f32":  # exponents near each other, so that sums round
        values[::2] = values[::2] & np.uint32(0x83FFFFFF) | np.uint32(0x3C000000)
    elif kind == "f64":
        values[::2] = values[::2] & np.uint64(0x807FFFFFFFFFFFFF) | np.uint64(0x3F80 << 48)
    return values & dtype.type(0xFFFF) if kind in ("f16", "bf16") else values


class Outcome(NamedTuple):
    """What one variant wrote: slot -> row."""

    rows: dict[str, np.ndarray]


def execute(
    name: str, variants: list[Variant], rows: dict[str, np.ndarray], guarded: bool = False
) -> tuple[list[Outcome], np.ndarray]:
    """Runs the variants one after the other on the same operands; gives what each wrote, and the guard of every
    lane.
    """
    op = BY_NAME[name]
    n = len(next(iter(rows.values()), np.empty(LANES)))
    memory = AddressSpace()
    body = global_index()
    registers = {}
    for number, (slot, values) in enumerate(rows.items()):
        registers[slot] = 10 + number
        body += _load(memory, slot, values, registers[slot])
    held = np.arange(n) % 3 != 1
    body += _load(memory, "guard", held, 100)
    found, marks = [], []
    for variant in variants:
        results = {slot: 40 + number for number, slot in enumerate(written_slots(op))}
        body += [_old(op, slot, register) for slot, register in results.items()]
        marks.append(len(body))
        slots = {slot: register for slot, register in registers.items() if slot != variant.slot}
        body.append(
            make(
                name,
                **slots,
                **results,
                slot=variant.slot,
                imm=variant.imm,
                mods=pack(**variant.mods),
                guard=100 if guarded else 127,
            )
        )
        for slot, register in results.items():
            code, address, dtype = _save(memory, op, slot, register, n)
            body += code
            found.append((len(marks) - 1, slot, address, dtype))
    body.append(make("EXIT"))
    result = run(body, memory=memory, grid=(n // BLOCK, 1, 1), block=(BLOCK, 1, 1), max_warp_instructions=10_000_000)
    assert (result.counters.inst_executed[marks] == n // 32).all()
    outcomes = [Outcome({}) for _ in variants]
    for number, slot, address, dtype in found:
        outcomes[number].rows[slot] = np.frombuffer(memory.read(address, n * dtype.itemsize), dtype)
    return outcomes, held


def _load(memory: AddressSpace, slot: str, values: np.ndarray, register: int) -> list[Instruction]:
    stored = values.astype(np.uint32) if values.dtype == np.bool_ else values
    address = memory.allocate(stored.nbytes, slot).address
    memory.write(address, stored)
    code = load_or_store("LDG", address, register, stored.dtype.itemsize == 8, 0)
    if values.dtype == np.bool_:
        code.append(make("ISETP.U32", dst=register, a=register, imm=0, slot="b", mods=pack(cmp="ne")))
    return code


def _old(op: Opcode, slot: str, register: int) -> Instruction:
    file = getattr(op, slot).lstrip(">")[0]
    if file == "P":
        return make("ISETP.U32", dst=register, a=255, b=255, mods=pack(cmp="eq"))
    if file == "D":
        return make("MOVI.64", dst=register, imm=OLD64 & 0xFFFFFFFF, mods=OLD64 >> 32)
    return make("MOV", dst=register, imm=OLD32, slot="a")


def _save(memory: AddressSpace, op: Opcode, slot: str, register: int, n: int):
    file = getattr(op, slot).lstrip(">")[0]
    wide = file == "D"
    dtype = np.dtype(np.uint64 if wide else np.uint32)
    address = memory.allocate(n * dtype.itemsize, slot).address
    if file == "P":
        return (
            [make("SEL", dst=60, imm=1, slot="a", b=255, e=register), *load_or_store("STG", address, 60, False, 0)],
            address,
            dtype,
        )
    return load_or_store("STG", address, register, wide, 0), address, dtype


def with_immediates(op: Opcode, variants: list[Variant], values=(7, 0xFFFFFFFE)) -> list[Variant]:
    """The variants, and the first of them with each of its register sources as an immediate."""
    slots = [slot for slot in ("a", "b", "c") if getattr(op, slot) in ("R", "D")]
    return [*variants, *(variants[0]._replace(slot=slot, imm=value) for slot in slots for value in values)]


def immediate_bits(op: Opcode, slot: str, imm: int) -> int:
    """64-bit integer sources extend imm's sign; f64 sources take it as the upper word."""
    if getattr(op, slot) == "R":
        return imm
    if "f64" in op.types:
        return imm << 32
    return imm if imm < 1 << 31 else imm | 0xFFFFFFFF << 32


Reference = Callable[..., object]


def check(name: str, reference: Reference, variants: list[Variant], rows: dict[str, np.ndarray]) -> None:
    """Every variant of an opcode on every lane, without a guard; the first one also under a guard."""
    op = BY_NAME[name]
    outcomes, _ = execute(name, variants, rows)
    for variant, outcome in zip(variants, outcomes, strict=True):
        wanted = expected(op, reference, variant, rows)
        for slot, row in outcome.rows.items():
            assert_lanes(name, variant, slot, row.tolist(), wanted[slot], rows)
    (outcome,), held = execute(name, variants[:1], rows, guarded=True)
    wanted = expected(op, reference, variants[0], rows)
    for slot, row in outcome.rows.items():
        old = {"R": OLD32, "D": OLD64, "P": 1}[getattr(op, slot).lstrip(">")[0]]
        kept = [value if holds else old for value, holds in zip(wanted[slot], held, strict=True)]
        assert_lanes(f"guarded {name}", variants[0], slot, row.tolist(), kept, rows)


def expected(op: Opcode, reference: Reference, variant: Variant, rows: dict[str, np.ndarray]) -> dict[str, list]:
    n = len(next(iter(rows.values())))
    columns = [
        [immediate_bits(op, slot, variant.imm)] * n if slot == variant.slot else row.tolist()
        for slot, row in rows.items()
    ]
    slots = written_slots(op)
    results = [reference(op.types, variant.mods, *values) for values in zip(*columns, strict=True)]
    if len(slots) == 1:
        return {slots[0]: results}
    return {slot: [result[k] for result in results] for k, slot in enumerate(slots)}


def assert_lanes(
    name: str, variant: Variant, slot: str, found: list[int], wanted: list, rows: dict[str, np.ndarray]
) -> None:
    bad = [lane for lane, (value, want) in enumerate(zip(found, wanted, strict=True)) if not _agrees(value, want)]
    shown = [
        f"{ {s: hex(int(row[lane])) for s, row in rows.items()} }: {found[lane]:#x}, not "
        f"{wanted[lane] if isinstance(wanted[lane], str) else hex(wanted[lane])}"
        for lane in bad[:4]
    ]
    assert not bad, f"{name} {variant} {slot}, {len(bad)} lanes: " + "; ".join(shown)


def _agrees(value: int, want) -> bool:
    return value & ((1 << 63) - 1) > 0x7FF0 << 48 if want is ANY_NAN else value == want
