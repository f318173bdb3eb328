"""Masks of warps' lanes: uint32, lane l in bit l."""

import numpy as np

WARP = 32


def unpacked(masks: np.ndarray) -> np.ndarray:
    """bool (n, 32) of uint32 (n,)."""
    bits = np.unpackbits(np.ascontiguousarray(masks).view(np.uint8), bitorder="little")
    return bits.view(np.bool_).reshape(-1, WARP)


def packed(lanes: np.ndarray) -> np.ndarray:
    """uint32 (n,) of bool (n, 32)."""
    return np.packbits(lanes, axis=1, bitorder="little").view(np.uint32).reshape(-1)
