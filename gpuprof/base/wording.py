"""Phrases and the version, which several rooms write alike."""

import difflib
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

LEAST_LIKENESS = 0.7  # ours, of difflib: `colect` is collect and not compile


def extent_text(extent: Sequence[int]) -> str:
    """A grid or block (x, y, z) as a launch is written: (64, 1, 1) is "64", (8, 8, 1) is "(8, 8)"."""
    x, y, z = extent
    if z != 1:
        return f"({x}, {y}, {z})"
    return f"({x}, {y})" if y != 1 else str(x)


def extent_of(text: str) -> tuple[int, int, int]:
    """A grid or block as databases have it: "64,1,1" is (64, 1, 1)."""
    x, y, z = map(int, text.split(","))
    return x, y, z


def launch_text(kernel: str, grid: Sequence[int], block: Sequence[int], *optional: str) -> str:
    """A launch as CUDA writes it, without arguments: "saxpy<<<64, 256>>>". `optional` is what follows the block."""
    return f"{kernel}<<<{', '.join([extent_text(grid), extent_text(block), *optional])}>>>"


def plural(count: int, one: str, many: str) -> str:
    """1 with "launch", "launches" is "1 launch", 1000 is "1,000 launches"."""
    return f"{count:,} {one if count == 1 else many}"


def percent0(share: float) -> str:
    return f"{100 * share:.0f}%"


def suggestion(word: str, known: Iterable[str], most: int = 3) -> str:
    """ "did you mean collect?" for a word that resembles known ones, in any case; "" where none is."""
    spelled = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(word.lower(), sorted(spelled), n=most, cutoff=LEAST_LIKENESS)
    return f"did you mean {' or '.join(spelled[candidate] for candidate in near)}?" if near else ""


def base_name(path: str) -> str:
    """The file's name without its folders, whichever way the compiler wrote them."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def installed_version() -> str:
    """The version of the installed gpuprof; "0" for a checkout that was never installed."""
    try:
        return version("gpuprof")
    except PackageNotFoundError:
        return "0"
