"""Undefined bits of operations of a complete warp: shuffles, votes, and fragments of matrices.

Arrays are those of `instruction_rules`, uint64 (n, 32); `lanes` are bool (n, 32), those that take part.
"""

import numpy as np

from gpuprof.isa.encoding import Instruction
from gpuprof.isa.families.tensor import form_of
from gpuprof.isa.flow.definedness import vote_of
from gpuprof.isa.modifiers import unpack, unpack_name
from gpuprof.trace.checkers.shadow_bits.instruction_rules import U64, ZERO, ones

LANE = np.arange(32)
MATRIX_ROW_NBYTES = 16


def source_lanes(inst: Instruction, lane: np.ndarray, clamp: np.ndarray) -> np.ndarray:
    """int64 (n, 32): the lanes that provide a shuffle's values. lane, clamp: operands b and c, int64 (n, 32). If both
    are those of all warps, (1, 32), so is the result. The computation is the pseudocode of PTX ISA, shfl.
    """
    lane, clamp = lane & 31, clamp & 0x1FFF
    segment, last = clamp >> 8 & 31, clamp & 31
    most = LANE & segment | last & ~segment
    mode = unpack_name(inst.mods, "shfl")
    source = {
        "up": LANE - lane,
        "down": LANE + lane,
        "bfly": LANE ^ lane,
        "idx": LANE & segment | lane & ~segment,
    }[mode]
    valid = source >= most if mode == "up" else source <= most
    return np.where(valid, source, LANE)


def shuffled(values: np.ndarray, source: np.ndarray) -> np.ndarray:
    """(n, 32): the values, (n, 32), of the lanes `source`, int64 (n or 1, 32)."""
    return values[:, source[0]] if len(source) == 1 else np.take_along_axis(values, source, axis=1)


def fixed(inst: Instruction, name: str) -> int | None:
    """A shuffle's lane or clamp, if it is an immediate; otherwise None."""
    return unpack(inst.mods, name) if unpack(inst.mods, f"has_{name}") else None


def voted(inst: Instruction, value: np.ndarray, undefined: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Undefined bits of a vote, uint64 (n, 1): defined if the lanes with defined values decide."""
    unknown, held = lanes & (undefined != 0), lanes & (undefined == 0) & (value != 0)
    failed = lanes & (undefined == 0) & (value == 0)
    doubt, some, none = (lanes_of_kind.any(axis=1, keepdims=True) for lanes_of_kind in (unknown, held, failed))
    bits = (unknown.astype(U64) << LANE.astype(U64)).sum(axis=1, keepdims=True, dtype=U64)
    return {
        "defined": lambda: np.zeros_like(bits),
        "ballot": lambda: bits,
        "any": lambda: (doubt & ~some).astype(U64),
        "all": lambda: (doubt & ~none).astype(U64),
        "uniform": lambda: (doubt & ~(some & none)).astype(U64),
    }[vote_of(inst.op)]()


def multiplied(inst: Instruction, a: list, b: list, c: list, n_results: int) -> list[np.ndarray]:
    """Undefined bits of a product of fragments, one array for each register of D. A row of A affects that row of D, a
    column of B that column, an element of C its own. For Volta's and other forms everything affects everything.
    """
    form = form_of(inst.op)
    if form.is_volta:
        doubtful = np.bitwise_or.reduce([*a, *b, *c]).any(axis=1, keepdims=True)
        return [np.where(doubtful, ones(32), ZERO) + np.zeros(32, U64)] * n_results
    bits = 64 if inst.op.dst[0] == "D" else 32
    rows = [_joined(a[half::2], LANE // 4) for half in (0, 1)]
    rows[1] = rows[1] if form.m > 8 else rows[0]
    columns = _joined(b, LANE // 4)
    per_register = 2 if form.d == "f16" else 1
    products = []
    for register in range(n_results):
        doubtful, width = np.zeros_like(c[0]), bits // per_register
        for part in range(per_register):
            element = register * per_register + part
            column = 2 * (LANE % 4) + element % 2
            doubt = rows[element // 2 % 2][:, LANE // 4] | columns[:, column] | _of_element(form, c, element)
            doubtful |= np.where(doubt, ones(width) << U64(part * width), ZERO)
        products.append(doubtful)
    return products


def _of_element(form, c: list, element: int) -> np.ndarray:
    """True if an element of the fragment C has an undefined bit."""
    if form.c == "f16":
        return (c[element // 2] >> U64(16 * (element % 2)) & U64(0xFFFF)) != 0
    return c[element] != 0


def _joined(fragment: list, group: np.ndarray) -> np.ndarray:
    """bool (n, 8): true if a lane of each group has an undefined bit in some of the registers."""
    if not fragment:
        return np.zeros((1, 8), np.bool_)
    any_bit = np.bitwise_or.reduce(fragment) != 0
    return any_bit.reshape(len(any_bit), 8, 4).any(axis=2)


def transposed(words: np.ndarray) -> np.ndarray:
    """Words (n, 32) of a matrix of 8 x 8 elements of 16 bits in registers, with rows and columns exchanged."""
    elements = np.ascontiguousarray(words.astype(np.uint32)).view(np.uint16).reshape(len(words), 8, 8)
    return np.ascontiguousarray(elements.swapaxes(1, 2)).reshape(len(words), 64).view(np.uint32).astype(U64)


def fragment_of_rows(undefined: np.ndarray, matrix: int, is_transposed: bool) -> np.ndarray:
    """A fragment, one word per lane, of a matrix whose rows are given by lanes' addresses: uint8 (n, 32, 16), bytes of
    the rows.
    """
    rows = np.ascontiguousarray(undefined[:, 8 * matrix : 8 * matrix + 8])
    words = rows.reshape(len(rows), -1).view(np.uint32).astype(U64)
    return transposed(words) if is_transposed else words


def rows_of_fragment(words: np.ndarray, is_transposed: bool) -> np.ndarray:
    """The rows of a fragment: uint8 (n, 8, 16)."""
    words = transposed(words) if is_transposed else words
    return np.ascontiguousarray(words.astype(np.uint32)).view(np.uint8).reshape(len(words), 8, MATRIX_ROW_NBYTES)
