"""How many blocks fit an SM, what would have to change for one more, and how blocks fill the GPU wave by wave."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuprof.chips.residency import NUMBERS, block_limits

MOST_THREADS = 1024  # of a block, where the chip does not say


class Block(NamedTuple):
    threads: int
    registers: int  # of a thread
    shared_nbytes: int  # that it asks for


class Step(NamedTuple):
    """One more block fits an SM, or more warps with other blocks, when `what` goes from `now` to `needed`, and `also`
    changes with it. `theoretical`: share of the warp slots then, 0 to 1.
    """

    what: str
    now: int
    needed: int
    blocks_per_sm: int
    theoretical: float
    also: str


REGISTERS, SHARED, THREADS = "registers a thread", "bytes of shared memory a block", "threads a block"
WHAT = {"registers": REGISTERS, "shared": SHARED}


def numbers_of(chip: Mapping[str, Any]) -> dict[str, int] | None:
    """The numbers of a chip's description that decide how many blocks fit; None where it lacks one."""
    numbers = {name: chip[name] for name in NUMBERS if isinstance(chip.get(name), int)}
    if len(numbers) < len(NUMBERS):
        return None
    return numbers | {"max_threads_per_block": chip.get("max_threads_per_block", MOST_THREADS)}


def fits(chip: Mapping[str, int], block: Block) -> dict[str, int]:
    """Blocks that fit on an SM by each resource, if only that one is limited."""
    return block_limits(chip, block.threads, block.registers, block.shared_nbytes)


def occupied(chip: Mapping[str, int], block: Block) -> float:
    """The share of an SM's warp slots that its blocks fill, 0 to 1."""
    return min(fits(chip, block).values()) * -(-block.threads // chip["warp_lanes"]) / chip["warp_slots"]


def next_steps(chip: Mapping[str, int], block: Block) -> Iterator[Step]:
    """The registers and the shared memory with which one more block fits, where these run out first; and the nearest
    sizes of a block, smaller and larger, that fill more warp slots with the registers and shared memory of this one.
    """
    limits = fits(chip, block)
    now = min(limits.values())
    short = [name for name, n in limits.items() if n == now]
    if now and occupied(chip, block) < 1:
        if not {"warps", "blocks"} & set(short):
            needed = {name: _most(chip, block, name, now + 1) for name in short}
            if all(needed.values()):
                changed = block._replace(**{_field(name): n for name, n in needed.items()})
                for name in short:
                    others = [f"{needed[other]:,} {WHAT[other]}" for other in short if other != name]
                    step = WHAT[name], getattr(block, _field(name)), needed[name]
                    yield Step(*step, now + 1, occupied(chip, changed), " and ".join(others))
        yield from _sizes(chip, block)


def _field(name: str) -> str:
    return {"registers": "registers", "shared": "shared_nbytes"}[name]


def _most(chip: Mapping[str, int], block: Block, name: str, blocks: int) -> int:
    """The most of a resource that each of so many blocks can have; 0 where none is little enough."""
    low, high = 0, getattr(block, _field(name))
    while high - low > 1:
        middle = (low + high) // 2
        if fits(chip, block._replace(**{_field(name): middle}))[name] >= blocks:
            low = middle
        else:
            high = middle
    return low


def _sizes(chip: Mapping[str, int], block: Block) -> Iterator[Step]:
    lanes, share = chip["warp_lanes"], occupied(chip, block)
    smaller = range((block.threads - 1) // lanes * lanes, 0, -lanes)
    larger = range((block.threads // lanes + 1) * lanes, chip["max_threads_per_block"] + 1, lanes)
    for sizes in (smaller, larger):
        for threads in sizes:
            other = block._replace(threads=threads)
            if (more := occupied(chip, other)) > share:
                yield Step(THREADS, block.threads, threads, min(fits(chip, other).values()), more, "")
                break


def waves(blocks: int, blocks_per_wave: int) -> tuple[float, float]:
    """(waves, share of the room in all waves, the last included, that blocks fill)."""
    if not blocks_per_wave:
        return 0.0, 0.0
    whole = -(-blocks // blocks_per_wave)
    return blocks / blocks_per_wave, blocks / (whole * blocks_per_wave) if whole else 0.0
