"""Streams, strided streams and loops of FMAs on an A100 and on an A40.

Wall clock over launches back to back, so the time is from one launch's end to the next one's; two vectors change
places from launch to launch. nvc++ compiled them; ours may have other code. A part of the chip takes its share of the
blocks. Where vectors do not fit the L2 by far, what more blocks add is the whole launch's rate.
"""

from collections.abc import Iterator
from math import ceil

from tests.silicon.case import Case, Run

SMS = {"a100": 108, "a40": 84}
CARD = {"a100": "a100-80", "a40": "a40"}
NBYTES = {"float": 4, "double": 8}
ELEMENT = {"float": "f32", "double": "f64"}
BLOCK = 256
TRIPS = 65536


def stream_runs(blocks: int, type: str) -> Run:
    """Three launches: the second brings the L2 to what launches in a row leave in it."""
    count = blocks * BLOCK
    array = f"{ELEMENT[type]}[{count}]"
    first = f"increment<{type}><<<{blocks}, {BLOCK}>>>(a: {array}, b: {array}, {count})"
    rest = [f"increment<{type}><<<{blocks}, {BLOCK}>>>({pair}, {count})" for pair in ("b, a", "a, b")]
    return Run((first, *rest), blocks)


def streams(chip: str) -> Iterator[Case]:
    """Vectors of up to 4 M elements whole, on a quarter of the chip; longer ones by what more blocks add."""
    for type in ("double", "float"):
        for elements in (2**18, 2**20, 2**22):
            blocks = elements // BLOCK // 4
            yield stream(chip, type, elements, (stream_runs(blocks, type),), 4)
        for elements in (2**24, 2**26, 2**28):
            few = 4096 * 4 // NBYTES[type]
            yield stream(chip, type, elements, tuple(stream_runs(blocks, type) for blocks in (few, 2 * few)), 12)


def stream(chip: str, type: str, elements: int, runs: tuple[Run, ...], parts: int) -> Case:
    whole = elements / BLOCK / parts
    id = f"fau-{chip}-stream-{type}-{elements}"
    return Case(id, "streams", CARD[chip], "streams.cu", runs, parts, whole, period=True)


def strided_run(blocks: int, type: str, read: int, write: int) -> Run:
    count = blocks * BLOCK
    array = f"{ELEMENT[type]}[{count * max(read, write)}]"
    first = f"increment_strided<{type}><<<{blocks}, {BLOCK}>>>(a: {array}, b: {array}, {count}, {read}, {write})"
    second = f"increment_strided<{type}><<<{blocks}, {BLOCK}>>>(b, a, {count}, {read}, {write})"
    return Run((first, second), blocks)


def strided(chip: str) -> Iterator[Case]:
    """Of 16 M elements a twelfth of the chip takes its share; the runs are long enough to fill its L2 four times."""
    parts, elements = 12, 2**24
    for type in ("double", "float"):
        for read, write in ((1, 1), (1, 2), (1, 4), (1, 8), (1, 16), (2, 1), (4, 1), (8, 1), (16, 1)):
            few = max(1024, 4096 * 4 // NBYTES[type] // max(read, write))
            runs = tuple(strided_run(blocks, type, read, write) for blocks in (few, 2 * few))
            id = f"fau-{chip}-strided-{type}-r{read}w{write}"
            yield Case(id, "strides", CARD[chip], "strides.cu", runs, parts, elements / BLOCK / parts, period=True)


def share(chip: str, blocks: int) -> tuple[int, int]:
    """Parts, and blocks of one: the whole chip where few blocks are, else four SMs with their share."""
    if blocks < SMS[chip]:
        return 1, blocks
    parts = 4 if blocks < 8 * SMS[chip] else SMS[chip] // 4
    return parts, ceil(blocks / parts)


def ladder_runs(launch: str, few: int) -> tuple[Run, ...]:
    return tuple(Run((launch.format(trips=trips),) * 2, trips) for trips in (few, 2 * few))


def ladders(chip: str) -> Iterator[Case]:
    """Loops of 65536 FMAs: what more trips add. Of 2048 trips or fewer a compiler makes no loop."""
    for type in ("double", "float"):
        for elements in (64, 1024, 16384, 65536, 2**20):
            parts, blocks = share(chip, ceil(elements / BLOCK))
            count = min(elements, blocks * BLOCK)
            launch = f"dependent<{type}, {{trips}}><<<{blocks}, {BLOCK}>>>({ELEMENT[type]}[{count}]=random, {count})"
            yield ladder(f"fau-{chip}-fma-{type}-{elements}", chip, launch, parts)
    for stride in (1, 2, 4, 8, 16, 32):
        parts, blocks = share(chip, 256 * stride)
        count = blocks * BLOCK
        launch = (
            f"dependent_strided<float, {{trips}}><<<{blocks}, {BLOCK}>>>"
            f"(f32[{count}]=random, {count // stride}, {stride})"
        )
        yield ladder(f"fau-{chip}-fmastrided-float-{stride}", chip, launch, parts)


def ladder(id: str, chip: str, launch: str, parts: int) -> Case:
    runs = ladder_runs(launch, 4096)
    return Case(id, "ladders", CARD[chip], "ladders.cu", runs, parts, TRIPS)


CASES = tuple(case for chip in SMS for rows in (streams, strided, ladders) for case in rows(chip))
