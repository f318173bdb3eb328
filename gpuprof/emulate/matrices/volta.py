"""HMMA.884: four multiplications of 8 x 4 by 4 x 8 matrices, one for each quad pair: lanes 4p to 4p+3 and 16 more. See
PTX ISA, m8n8k4.

With low = lane % 4, upper = lane >= 16 and element i of a lane's registers:

    A, row:   row low + 4 * upper, column i            A, col:  row i + 4 * upper, column low
    B, row:   row low, column i + 4 * upper            B, col:  row i, column low + 4 * upper
    C, f16:   row low + 4 * upper, column i
    C, f32:   row (lane & 1) + (i & 2) + 4 * upper, column (i & 4) + (lane & 2) + (i & 1)
"""

import numpy as np

from gpuprof.emulate.scalar.half_formats import narrow, widen

LANE = np.arange(32)
QUAD, LOW, UPPER = LANE % 16 // 4, LANE % 4, LANE // 16
FOUR, EIGHT = np.arange(4)[:, None], np.arange(8)[:, None]


def _places(row, column) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(quad pair, row, column) of each element of each lane, arrays (elements, 32)."""
    return tuple(np.broadcast_arrays(QUAD, row, column))


A_PLACES = {"row": _places(LOW + 4 * UPPER, FOUR), "col": _places(FOUR + 4 * UPPER, LOW)}
B_PLACES = {"row": _places(LOW, FOUR + 4 * UPPER), "col": _places(FOUR, LOW + 4 * UPPER)}
C_PLACES = {
    "f16": _places(LOW + 4 * UPPER, EIGHT),
    "f32": _places((LANE & 1) + (EIGHT & 2) + 4 * UPPER, (EIGHT & 4) + (LANE & 2) + (EIGHT & 1)),
}


def elements_of(words: np.ndarray, type_name: str) -> np.ndarray:
    """float64 (warps, elements, 32) of registers (R, n)."""
    if type_name == "f32":
        values = words.view(np.float32)
    else:
        values = np.stack(
            [widen(words & np.uint32(0xFFFF), "f16"), widen(words >> np.uint32(16), "f16")], axis=1
        ).reshape(-1, words.shape[1])
    return values.astype(np.float64).reshape(len(values), -1, 32).transpose(1, 0, 2)


def matrices(elements: np.ndarray, positions, shape: tuple[int, int]) -> np.ndarray:
    """Gathers matrices of a shape from elements: (warps, 4, *shape)."""
    result = np.empty((len(elements), 4, *shape))
    result[:, *positions] = elements
    return result


def words_of(values: np.ndarray, type_name: str) -> np.ndarray:
    """float64 (warps, 8, 32) to registers (R, n), each value rounded to nearest."""
    rows = values.transpose(1, 0, 2).reshape(8, -1)
    if type_name == "f16":
        bits = narrow(rows, "f16")
        return bits[::2] | bits[1::2] << np.uint32(16)
    with np.errstate(over="ignore"):
        bits = rows.astype(np.float32).view(np.uint32)
    return np.where(np.isnan(rows), np.uint32(0x7FFFFFFF), bits)


def multiply_quads(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, layouts: tuple[str, str], accumulators: tuple[str, str]
) -> np.ndarray:
    """Registers of D, uint32 (R, n); `accumulators` are the types of C and D. The rule of accumulation is
    `matrix`'s.
    """
    left = matrices(elements_of(a, "f16"), A_PLACES[layouts[0]], (8, 4))
    right = matrices(elements_of(b, "f16"), B_PLACES[layouts[1]], (4, 8))
    sums = matrices(elements_of(c, accumulators[0]), C_PLACES[accumulators[0]], (8, 8))
    with np.errstate(invalid="ignore"):
        for k in range(4):
            sums += left[:, :, :, k : k + 1] * right[:, :, k : k + 1, :]
    return words_of(sums[:, *C_PLACES[accumulators[1]]], accumulators[1])
