"""Matrix instructions in plain numpy, written from the tables of the PTX ISA manual; shares no code with the emulator.

Elements are kept as numbers (float64 or int64 arrays of matrices); fragments as registers, uint32 or uint64 (registers,
32).
"""

import ml_dtypes
import numpy as np

NBITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "s32": 32,
    "f64": 64,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}
LANE = np.arange(32)
GROUP, PLACE = LANE >> 2, LANE & 3
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def decode(bits: np.ndarray, t: str) -> np.ndarray:
    """Patterns of elements to numbers, exactly."""
    if t in FLOATS:
        return bits.astype(f"u{NBITS[t] // 8}").view(FLOATS[t]).astype(np.float64)
    if t in ("tf32", "f32"):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return (
                (bits.astype(np.uint32) & np.uint32(0xFFFFE000 if t == "tf32" else 0xFFFFFFFF))
                .view(np.float32)
                .astype(np.float64)
            )
    if t == "f64":
        return bits.view(np.float64)
    bits = bits.astype(np.int64)
    if t[0] == "s":
        return bits - ((bits >> (NBITS[t] - 1)) << NBITS[t])
    return bits


def encode(values: np.ndarray, t: str) -> np.ndarray:
    """Numbers to patterns, rounded to nearest once; NaN is the GPU's."""
    if t == "f64":
        return values.view(np.uint64)
    if t == "s32":
        return (values & 0xFFFFFFFF).astype(np.uint32)
    with np.errstate(over="ignore"):
        if t == "f32":
            return np.where(np.isnan(values), 0x7FFFFFFF, values.astype(np.float32).view(np.uint32)).astype(np.uint32)
        return np.where(np.isnan(values), 0x7FFF, values.astype(np.float16).view(np.uint16)).astype(np.uint32)


def unpack(registers: np.ndarray, t: str) -> np.ndarray:
    """(registers, 32) to the elements of each lane in order, patterns (elements, 32)."""
    if NBITS[t] >= 32:
        return registers
    per_word = 32 // NBITS[t]
    shifts = NBITS[t] * np.arange(per_word)[None, :, None]
    return (registers[:, None, :] >> shifts & ((1 << NBITS[t]) - 1)).reshape(-1, 32)


def pack(elements: np.ndarray, t: str) -> np.ndarray:
    if NBITS[t] >= 32:
        return elements
    per_word = 32 // NBITS[t]
    shifts = NBITS[t] * np.arange(per_word)[None, :, None]
    return np.bitwise_or.reduce(
        elements.reshape(-1, per_word, 32).astype(np.uint32) << shifts.astype(np.uint32), axis=1
    )


# -- where element i of a lane is, from the manual's figures
# -----------------------------------------------------------------


def place_a(t: str, m: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of the elements, (elements, 32). `k`: stored elements of a row."""
    per_register = {"f64": 1}.get(t, 32 // min(NBITS[t], 32))
    i = np.arange(m * k // 32)[:, None]
    row = GROUP + 8 * (i // per_register % 2) if m == 16 else GROUP + 0 * i
    registers_before = i // per_register // (2 if m == 16 else 1)
    return row, PLACE * per_register + i % per_register + 4 * per_register * registers_before


def place_b(t: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    per_register = {"f64": 1}.get(t, 32 // min(NBITS[t], 32))
    i = np.arange(k * 8 // 32)[:, None]
    return PLACE * per_register + i % per_register + 4 * per_register * (i // per_register), GROUP + 0 * i


def place_c(m: int) -> tuple[np.ndarray, np.ndarray]:
    i = np.arange(m * 8 // 32)[:, None]
    return GROUP + 8 * (i // 2), PLACE * 2 + i % 2


def volta_places(layouts: str) -> dict:
    """m8n8k4: (quad pair, row, column)."""
    quad, upper, low = LANE % 16 // 4, LANE >= 16, LANE % 4
    four, eight = np.arange(4)[:, None], np.arange(8)[:, None]
    a, b = layouts.split(".")
    return {
        "a": (quad, low + 4 * upper, four) if a == "row" else (quad, four + 4 * upper, low),
        "b": (quad, low, four + 4 * upper) if b == "row" else (quad, four, low + 4 * upper),
        "f16": (quad, low + 4 * upper, eight),
        "f32": (quad, (LANE & 1) + (eight & 2) + 4 * upper, (eight & 4) + (LANE & 2) + (eight & 1)),
    }


def matrix(values: np.ndarray, places, shape) -> np.ndarray:
    result = np.zeros(shape, values.dtype)
    result[tuple(np.broadcast_arrays(*places))] = values
    return result


# -- products --------------------------------------------------------------------------------------


def accumulate(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The documented rule: c, then the products in the order of k, in float64 (or exactly in int64)."""
    total = c.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        for k in range(a.shape[-1]):
            total = total + a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return total


def chosen(metadata: np.ndarray, selector: int, t: str, stored: int) -> np.ndarray:
    """Row of B for each stored element of A: (16, stored). metadata: uint32 (32,)."""
    result = np.zeros((16, stored), int)
    for row in range(16):
        quad = metadata[4 * (row % 8) : 4 * (row % 8) + 4].tolist()
        if t in ("f16", "bf16", "tf32"):  # half words of one row from `selector` on
            fields = [word >> 16 * (row // 8) & 0xFFFF for word in quad]
            nbits = stored * (4 if t == "tf32" else 2)
            words = max(1, nbits // 16)
            string = sum(field << 16 * i for i, field in enumerate(fields[selector * words : (selector + 1) * words]))
        else:  # words, the two rows taking turns
            words = 2 * stored * (1 if NBITS[t] == 4 else 2) // 32
            mine = quad[selector * words : (selector + 1) * words][row // 8 :: 2]
            string = sum(word << 32 * i for i, word in enumerate(mine))
        for e in range(stored):
            if t == "tf32":
                result[row, e] = 2 * e + {0b0100: 0, 0b1110: 1}[string >> 4 * e & 15]
            elif NBITS[t] == 4:
                result[row, e] = 8 * (e // 4) + 2 * (string >> 2 * (e // 2) & 3) + e % 2
            else:
                result[row, e] = 4 * (e // 2) + (string >> 2 * e & 3)
    return result


def mma(form, a, b, c, metadata=None) -> np.ndarray:
    """Registers of D for one warp's registers of A, B and C; `form` is a ptx_forms_tensor.MmaForm."""
    m, _, k = form.shape
    if form.shape == (8, 8, 4) and form.a == "f16":
        return volta(form, a, b, c)
    stored = k // 2 if form.sparse else k
    left = matrix(decode(unpack(a, form.a), form.a), place_a(form.a, m, stored), (m, stored))
    right = matrix(decode(unpack(b, form.b), form.b), place_b(form.b, k), (k, 8))
    start = matrix(decode(unpack(c, form.c), form.c), place_c(m), (m, 8))
    if form.operation:
        combine = {"xor": np.bitwise_xor, "and": np.bitwise_and}[form.operation]
        total = start + combine(left[:, :, None], right[None]).sum(axis=1)
    elif form.sparse:
        rows = chosen(metadata, form.selector, form.a, stored)
        total = np.concatenate([accumulate(left[i : i + 1], right[rows[i]], start[i : i + 1]) for i in range(16)])
    else:
        total = accumulate(left, right, start)
    if form.satfinite:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    row, column = place_c(m)
    return pack(encode(total, form.d)[row, column], form.d)


def volta(form, a, b, c) -> np.ndarray:
    places = volta_places(form.layouts)
    left = matrix(decode(unpack(a, "f16"), "f16"), places["a"], (4, 8, 4))
    right = matrix(decode(unpack(b, "f16"), "f16"), places["b"], (4, 4, 8))
    total = accumulate(left, right, matrix(decode(unpack(c, form.c), form.c), places[form.c], (4, 8, 8)))
    return pack(encode(total, form.d)[tuple(np.broadcast_arrays(*places[form.d]))], form.d)
