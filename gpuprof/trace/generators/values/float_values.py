"""Registers as floating-point numbers."""

import numpy as np

SMALLEST_NORMAL = {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}


def scalar(type_name: str) -> str:
    """The element of a type: f16 for f16x2; "" for a type that is not a float here."""
    name = type_name.removesuffix("x2")
    return name if name in SMALLEST_NORMAL else ""


def numbers(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Plain bits, uint32 or uint64 (n, 32), as floats (n, 32, elements): f64 as float64, all others as float32."""
    name = scalar(type_name)
    if name == "f64":
        return bits.view(np.float64)[..., None]
    if name == "f32":
        return bits.view(np.float32)[..., None]
    halves = np.ascontiguousarray(bits).view(np.uint16).reshape(*bits.shape, 2)
    if not type_name.endswith("x2"):
        halves = halves[..., :1]
    if name == "f16":
        return halves.view(np.float16).astype(np.float32)
    return (halves.astype(np.uint32) << 16).view(np.float32)


def kinds(values: np.ndarray, type_name: str) -> dict[str, np.ndarray]:
    """Lanes that have a NaN, an infinity, a subnormal number in some element: bool (n, 32) each."""
    size = np.abs(values)
    smallest = SMALLEST_NORMAL[scalar(type_name)]
    return {
        "nan": np.isnan(values).any(axis=-1),
        "inf": np.isinf(values).any(axis=-1),
        "subnormal": ((size > 0) & (size < smallest)).any(axis=-1),
    }
