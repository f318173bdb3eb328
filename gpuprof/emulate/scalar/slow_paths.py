"""The lanes that take each part of a slow path (isa/slow_paths): functions of operands, a bool row for each part in its
order.

The trace gets a record with the slots that each warp takes in addition to the fast path's.
"""

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.operands import F32, source
from gpuprof.emulate.core.operation import Env, Op, full_row, read_predicate
from gpuprof.emulate.trace_log.trace_entries import access_word
from gpuprof.isa.encoding import PT, Instruction
from gpuprof.isa.opcodes import by_number
from gpuprof.isa.slow_paths import SLOW_PATHS

EXPONENT_SHIFT, ODD = 23, 255  # ODD: the exponent of infinities and NaNs; 0 is that of zeros and subnormals
EXPONENTS = 254  # of normal numbers


def exponents(row: np.ndarray) -> np.ndarray:
    """The biased exponents of an f32 row, int32, as in its bits."""
    return (row.view(np.uint32) >> EXPONENT_SHIFT & ODD).astype(np.int32)


def is_odd(row: np.ndarray) -> np.ndarray:
    exponent = exponents(row)
    return (exponent == 0) | (exponent == ODD)


def division_called(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    above, below = exponents(a), exponents(b)
    # FCHK: an operand, the quotient or a remainder may leave the range on the fast path.
    called = (below == 0) | (below >= 253) | (above >= 254) | ((above < 24) & (a != 0))
    return called | (above - below >= 126) | ((above - below <= -126) & (above > 0))


def division_parts(called: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
    special = called & (is_odd(a) | is_odd(b))
    nan = special & (np.isnan(a) | np.isnan(b))
    numbers = special & ~nan
    zeros, not_zeros = numbers & (a == 0) & (b == 0), numbers & ((a != 0) | (b != 0))
    infinities = not_zeros & np.isinf(a) & np.isinf(b)
    one_defined = not_zeros & ~infinities
    zero = one_defined & (np.isinf(b) | (a == 0))
    not_zero = one_defined & ~zero
    infinite = not_zero & (np.isinf(a) | (b == 0))
    scaled = not_zero & ~infinite
    divided = (called & ~special) | scaled
    with np.errstate(all="ignore"):
        quotient = np.abs(a.astype(np.float64) / b.astype(np.float64))
    power = np.frexp(np.where(divided, quotient, 1.0))[1]
    # The exponent of the quotient before it is rounded to its range: 1 to 254 are normal.
    exponent = power + 126
    normal = divided & (exponent >= 1) & (exponent <= EXPONENTS)
    out_of_range = divided & ~normal
    too_large = out_of_range & (exponent > EXPONENTS)
    too_small = out_of_range & ~too_large
    subnormal = too_small & (exponent >= -24)
    return (
        called, special, nan, numbers, zeros | infinities, not_zeros, one_defined, zero, not_zero, infinite, scaled,
        divided, normal, out_of_range, too_large, too_small, subnormal,
    )  # fmt: skip


def reciprocal_called(a: np.ndarray) -> np.ndarray:
    exponent = exponents(a)
    return (exponent == 0) | (exponent >= 253)


def reciprocal_parts(called: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
    exponent = exponents(a)
    large = called & (exponent != 0)
    return called, called & (exponent == 0), large, large & (exponent != ODD), large & (exponent == ODD)


def root_called(a: np.ndarray) -> np.ndarray:
    # Below 2^-101 the fast path's remainder would be subnormal; the sign makes it a large number.
    return a.view(np.uint32) - np.uint32(0x0D000000) > np.uint32(0x727FFFFF)


def root_parts(called: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
    not_zero = called & (a != 0)
    not_negative = not_zero & ~(a < 0)
    return called, not_zero, not_negative, not_negative & ~np.isnan(a)


# The lanes that take the slow path at all, and of these the lanes of each part.
TAKEN = by_number(
    {
        "FDIV": (division_called, division_parts),
        "FRCP": (reciprocal_called, reciprocal_parts),
        "FSQRT": (root_called, root_parts),
    }
)


def extra_slots(number: int, operands: list[np.ndarray], active: np.ndarray) -> np.ndarray:
    """Issue slots that each warp takes more than the row `number` has, int64: `active` bool (32 * warps,), operands f32
    and as long.
    """
    called_of, parts_of = TAKEN[number]
    called = called_of(*operands) & active
    # Operands are hardly ever near an end of the range.
    if not called.any():
        return np.zeros(len(active) // WARP, np.int64)
    path = SLOW_PATHS[number]
    parts = np.stack(parts_of(called, *operands)).reshape(len(path.parts), -1, WARP)
    left_out = parts[0].any(1) & (parts[0] == active.reshape(-1, WARP)).all(1)
    return np.array([*path.parts.values()]) @ parts.any(2) - path.fast * left_out


def with_slow_path(inst: Instruction, env: Env, run: Op) -> Op:
    """`run`, an operation that has a slow path, with a record of each warp: in `conflicts` its slots beyond those of
    the row. A warp without a lane that passes the guard has 0.
    """
    refs = [source(inst, slot, F32, env.pool) for slot in "ab" if getattr(inst.op, slot)]
    guard = None if inst.guard == PT else read_predicate(inst.guard, env)
    at = env.at

    def op(lanes: Lanes) -> None:
        chunk = lanes.chunk
        if not chunk.log.is_wanted and not chunk.tally.is_wanted:
            run(lanes)
            return
        operands = [full_row(lanes, lanes.v[kind][index]) for kind, index in refs]
        active = np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active
        held = active if guard is None else active & guard(lanes)
        slots = extra_slots(inst.op.number, operands, held)[lanes.masks != 0]
        chunk.count_slow_path(at, slots)
        if chunk.log.is_wanted:
            chunk.log.accesses(lanes.step_warps, access_word(conflicts=slots))
        run(lanes)

    return op
