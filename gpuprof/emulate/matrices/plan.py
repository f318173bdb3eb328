"""Plans of what `matrix.multiply` does for matrix instructions that follow each other: an array of steps, which take a
factor out of its words, or multiply two that have been taken.

A factor that several instructions share is taken once, until one of its registers is written. What is taken has to fit
the processor's first cache: a segment is as many steps as that allows. A segment is done for the warps of a group, one
after the other, before the next: they have B in common.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import RZ
from gpuprof.isa.families.tensor import Form

TAKE_A, TAKE_B, MULTIPLY = range(3)
F32, F16, S32 = range(3)  # of accumulators
ACCUMULATORS = {"f32": F32, "f16": F16, "s32": S32}
NONE = -1  # for a register: zeros; for a predicate: always; for a descriptor: words in registers
DENSE = -2  # for metadata
CACHE_DOUBLES = 40 * 1024 // 8
GROUP_WARPS = 4


class Take(NamedTuple):
    """A factor's step. `register`, `count`: its first register and how many, or the index of the descriptor's row."""

    kind: int
    slot: int  # index of its first number in what is taken
    type: int
    register: int
    count: int
    descriptor: int
    sign: int  # bits of a word that change
    nbits: int
    trans: int
    first: int  # column of B


class Multiply(NamedTuple):
    """A product's step: `a` and `b` are slots, `k` the stored elements of a row of A."""

    kind: int
    a: int
    b: int
    k: int
    c: int
    c_kind: int
    c_count: int
    d: int
    d_kind: int
    d_count: int
    apart: int  # 1: D is written when all of C has been read
    accumulates: int  # index of a predicate's row
    clamp: int
    metadata: int
    selector: int
    type: int  # of A's elements, for the metadata


N_FIELDS = max(len(Take._fields), len(Multiply._fields))
(
    KIND, SLOT, TYPE, REGISTER, COUNT, DESCRIPTOR, SIGN, N_BITS, TRANS, FIRST,
) = range(len(Take._fields))  # fmt: skip
(
    _, A, B, K, C, C_KIND, C_COUNT, D, D_KIND, D_COUNT, APART, ACCUMULATES, CLAMP, METADATA, SELECTOR, A_TYPE,
) = range(len(Multiply._fields))  # fmt: skip


class Factor(NamedTuple):
    """A or B of an instruction. `register`: of file R, or of file D when it `is_described`; NONE for zeros."""

    type: int
    register: int
    count: int  # registers of the fragment
    is_described: bool = False
    sign: int = 0
    nbits: int = 0
    trans: bool = False
    first: int = 0


class Product(NamedTuple):
    """A matrix instruction, as far as its arithmetic goes. `predicate`: that of a warp group's accumulators, encoded,
    NONE for always; registers as in Multiply.
    """

    form: Form
    a: Factor
    b: Factor
    c: int
    c_count: int
    d: int
    d_count: int
    predicate: int = NONE
    clamp: bool = False
    metadata: int = DENSE
    selector: int = 0


class Plan(NamedTuple):
    """`steps`: int64 (n, N_FIELDS); `segments`: where each begins, and the end; `n_taken`: numbers held at a time;
    `registers`: those of file R that are read or written; `descriptors`: registers of file D; `predicates`: encoded.
    """

    steps: np.ndarray
    segments: np.ndarray
    n_taken: int
    registers: np.ndarray
    descriptors: tuple[int, ...]
    predicates: tuple[int, ...]


def register(number: int) -> int:
    return NONE if number == RZ else number


def make_plan(products: list[Product]) -> Plan:
    steps: list[tuple[int, ...]] = []
    segments, registers, descriptors, predicates = [0], set(), {}, {}
    taken: dict[tuple, int] = {}  # slots, by (kind, factor)
    used = most = 0
    for product in products:
        if product.d == NONE:
            continue
        sizes = {TAKE_A: 16 * product.form.a_elements, TAKE_B: 8 * product.form.k}
        factors = {TAKE_A: product.a, TAKE_B: product.b}
        if used + sum(sizes[kind] for kind in factors if (kind, factors[kind]) not in taken) > CACHE_DOUBLES and taken:
            segments.append(len(steps))
            taken.clear()
            used = 0
        for kind, factor in factors.items():
            if (kind, factor) not in taken:
                taken[kind, factor] = used
                where = descriptors.setdefault(factor.register, len(descriptors)) if factor.is_described else NONE
                steps.append(
                    Take(
                        kind, used, factor.type, factor.register, factor.count, where, factor.sign, factor.nbits,
                        factor.trans, factor.first,
                    )
                )  # fmt: skip
                used += sizes[kind]
                most = max(most, used)
                if not factor.is_described:
                    registers |= group(factor.register, factor.count)
        form = product.form
        c, d = group(product.c, product.c_count), group(product.d, product.d_count)
        condition = product.predicate
        steps.append(
            Multiply(
                MULTIPLY, taken[TAKE_A, product.a], taken[TAKE_B, product.b], form.a_elements,
                product.c, ACCUMULATORS[form.c], product.c_count, product.d, ACCUMULATORS[form.d], product.d_count,
                bool(c & d) and product.c != product.d,
                NONE if condition == NONE else predicates.setdefault(condition, len(predicates)),
                product.clamp, product.metadata, product.selector, product.a.type,
            )
        )  # fmt: skip
        registers |= c | d | group(product.metadata, 1)
        taken = {
            key: slot
            for key, slot in taken.items()
            if key[1].is_described or not d & group(key[1].register, key[1].count)
        }
    rows = np.zeros((len(steps), N_FIELDS), np.int64)
    for row, step in zip(rows, steps, strict=True):
        row[: len(step)] = step
    return Plan(
        rows, np.array([*segments, len(steps)]), most, np.array(sorted(registers), np.int64), tuple(descriptors),
        tuple(predicates),
    )  # fmt: skip


def group(first: int, count: int) -> set[int]:
    return set() if first < 0 else set(range(first, first + count))
