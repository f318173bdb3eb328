"""Which lane a shuffle reads (PTX ISA 9.7.9.6, shfl)."""


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Source lane and the predicate, as the manual's pseudocode has them."""
    b_value, clamp, segment = b & 31, c & 31, c >> 8 & 31
    highest = lane & segment | clamp & ~segment & 31
    lowest = lane & segment
    j, valid = {
        "up": (lane - b_value, lane - b_value >= highest),
        "down": (lane + b_value, lane + b_value <= highest),
        "bfly": (lane ^ b_value, (lane ^ b_value) <= highest),
        "idx": (lowest | b_value & ~segment & 31, (lowest | b_value & ~segment & 31) <= highest),
    }[mode]
    return (j if valid else lane), valid
