"""A second opinion on programs that check nothing, or know the results of other sizes alone.

HeCBench has many a program for OpenMP, too. Built for the host, where its loops run one after the other, it prints the
same numbers.
"""

import math
import re
from pathlib import Path

from tests.programs_survey.draw import SUFFIX

MAKEFILES = ("Makefile.aomp", "Makefile")
NUMBER = re.compile(r"[-+]?(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")
# What differs from run to run, or from device to device.
MEASURED = re.compile(
    r"time|second|took|\b[mun]?s\b|/s\b|flop|bandwidth|throughput|speed|rate\b|performance|device|GPU|platform", re.I
)
TOLERANCE = 1e-4  # sums of f32 in another order


def twin_of(folder: Path) -> tuple[Path, str] | None:
    """The folder of a program's twin and its Makefile."""
    twin = folder.with_name(folder.name.removesuffix(SUFFIX) + "-omp")
    return next(((twin, name) for name in MAKEFILES if (twin / name).is_file()), None)


def results(output: str) -> dict[str, list[float]]:
    """The numbers that a program prints of its results, by the text around them."""
    found: dict[str, list[float]] = {}
    for line in output.splitlines():
        if not MEASURED.search(line) and (numbers := NUMBER.findall(line)):
            found.setdefault(NUMBER.sub("#", line).strip(), []).extend(map(float, numbers))
    return found


def agrees(output: str, other: str) -> bool:
    """Whether two outputs have results in common, and all that they have in common are the same."""
    ours, theirs = results(output), results(other)
    shared = [text for text in ours if text in theirs]
    return bool(shared) and all(_close(ours[text], theirs[text]) for text in shared)


def _close(ours: list[float], theirs: list[float]) -> bool:
    return len(ours) == len(theirs) and all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(ours, theirs, strict=True)
    )
