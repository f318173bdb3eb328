"""How a figure is taken: the same kernel at two lengths on a fresh GPU each time; what the two differ by is what the
length adds.

Launch, fetch misses, prologues and loops cancel. Kernels come from the .cu files beside this one.
"""

import re
from itertools import pairwise
from pathlib import Path

from gpuprof.timing.state.launch_timing import LaunchTiming
from tests.support.running import run_file

FOLDER = Path(__file__).parent
BODIES = (64, 128)  # times the instruction, in the two bodies of a kernel
TRIPS = (4, 8)


def cycles(chip_name: str, file: str, *launches: str) -> list[int]:
    """Cycles of each launch, one after another on one GPU. Arrays may be named; only the first use of a name gives its
    shape.
    """
    return [timing.cycles for timing in _timings(chip_name, file, launches)]


def gaps(chip_name: str, file: str, *launches: str) -> list[int]:
    """Cycles from the end of each launch to the turn of the next one's first block."""
    timings = _timings(chip_name, file, launches)
    return [after.start_cycle - before.end_cycle for before, after in pairwise(timings)]


def _timings(chip_name: str, file: str, launches: tuple[str, ...]) -> list[LaunchTiming]:
    _, results = run_file(FOLDER / file, *_declared_once(launches), chip_name=chip_name)
    return [launch.timing for launch in results.launches]


def _declared_once(launches: tuple[str, ...]) -> list[str]:
    seen: set[str] = set()

    def name_or_declaration(match: re.Match) -> str:
        known = match[1] in seen
        seen.add(match[1])
        return match[1] if known else match[0]

    return [re.sub(r"(\w+): [^,)]*", name_or_declaration, launch) for launch in launches]


def per_instruction(chip_name: str, file: str, launch: str) -> float:
    """Cycles that one more instruction adds to a kernel whose launch has {body} and {trips} in it.

    The longest run of each body goes first, so that caches are warm for the two that count.
    """
    few, many = TRIPS
    runs = [launch.format(body=body, trips=trips) for body in BODIES for trips in (many, few, many)]
    _, short_few, short_many, _, long_few, long_many = cycles(chip_name, file, *runs)
    return ((long_many - long_few) - (short_many - short_few)) / ((many - few) * (BODIES[1] - BODIES[0]))


def per_trip(chip_name: str, file: str, launch: str, few: int, many: int) -> float:
    """Cycles that one more trip adds to a kernel whose launch has {trips} in it, each length on a GPU with cold
    caches.
    """
    short, long = (cycles(chip_name, file, launch.format(trips=trips))[0] for trips in (few, many))
    return (long - short) / (many - few)
