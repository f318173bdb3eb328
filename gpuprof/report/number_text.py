"""Facts as text: shares, counts, times, names."""

import os


def percent(part: float, whole: float) -> str:
    """ "12.3%"; "-" when there is no whole."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def count(number: int, plain: bool = False) -> str:
    """A count in at most five characters ("1.25M"), or in full for programs."""
    if plain or number < 10_000:
        return str(number)
    power = next((p for p in range(1, 6) if number / 1000**p < 999.5), 6)
    return f"{number / 1000**power:.3g}{' KMGTPE'[power]}"


def rounded(value: float | None) -> float | None:
    """A share as CSV and JSON have it."""
    return None if value is None else round(value, 6)


def grouped(number: int) -> str:
    return f"{number:,}"


def nbytes(number: float) -> str:
    for suffix in ("B", "KB", "MB", "GB"):
        if number < 1000 or suffix == "GB":
            return f"{number:.0f} {suffix}" if suffix == "B" else f"{number:.3g} {suffix}"
        number /= 1000
    raise AssertionError


def duration(cycles: float, clock_mhz: float) -> str:
    """Cycles as time at a clock: "12.3 us"."""
    microseconds = cycles / clock_mhz
    for unit, factor in (("us", 1), ("ms", 1_000), ("s", 1_000_000)):
        if microseconds < 1000 * factor or unit == "s":
            return f"{microseconds / factor:.3g} {unit}"
    raise AssertionError


def product(dimensions: tuple[int, ...]) -> int:
    x, y, z = dimensions
    return x * y * z


def extent(dimensions: tuple[int, ...]) -> str:
    """(32, 8, 1) as "32x8", (1, 1, 1) as "1"."""
    parts = list(dimensions)
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return "x".join(map(str, parts))


def near_name(path: str) -> str:
    """The path as one would type it here: relative when it is below the working folder."""
    here = os.getcwd().rstrip(os.sep) + os.sep
    return path.removeprefix(here)
