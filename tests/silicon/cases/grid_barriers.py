"""Barriers of the grid: one alone by the number of blocks (A100, RTX 3090), and with a small step (gpu-small-kernels).

The published time is that of one turn. Runs have few turns, of which the step from the fewer to the more counts, so
launch and cold caches do not.
"""

from tests.silicon.case import Case, Run

TURNS = 1000  # that stand for those of the benchmark


def alone(id: str, card: str, blocks: int, threads: int) -> Case:
    runs = tuple(Run((f"syncs<<<{blocks}, {threads}>>>({turns})",), turns) for turns in (2, 4))
    return Case(id, "barriers", card, "grid_barriers.cu", runs, whole_size=TURNS, turns=TURNS)


def step(id: str, card: str, elements: int, threads: int, most: int, by_hand: bool = False) -> Case:
    """`most`: blocks that the card holds."""
    blocks = min(most, -(-elements // threads))
    few, many = (3, 9) if elements < 10**6 else (2, 4)

    def launch(turns: int) -> str:
        word = f"u32[{many}], " if by_hand else ""
        name = "steps_by_hand" if by_hand else "steps"
        return f"{name}<<<{blocks}, {threads}>>>(f64[{elements}], f64[{elements}], {word}{elements}, {turns})"

    runs = tuple(Run((launch(turns),), turns) for turns in (few, many))
    return Case(id, "barriers", card, "grid_barriers.cu", runs, whole_size=TURNS, turns=TURNS)


SIZES = ((4096, 32), (4096, 256), (4096, 1024), (67031, 256), (1036569, 256))


def steps(card: str, name: str, sms: int, threads_of_sm: int, by_hand: bool = False, sizes=SIZES) -> list[Case]:
    return [
        step(f"{card}-{name}-{elements}-{threads}", card, elements, threads,
             sms * min(32, threads_of_sm // threads), by_hand)
        for elements, threads in sizes
    ]  # fmt: skip


CASES = (
    *(alone(f"a100-gridsync-{blocks}-{threads}", "a100-40", blocks, threads)
      for blocks, threads in ((216, 1024), (432, 512), (864, 256), (1728, 128), (3456, 64), (3456, 32))),
    alone("rtx3090-gridsync-82-256", "rtx3090", 82, 256),
    *steps("a100-80", "gsync", 108, 2048),
    *steps("a40", "pt", 84, 1536, by_hand=True, sizes=(*SIZES[:-1], (89699, 256))),
    *steps("h200", "gsync", 132, 2048),
    *steps("h200", "pt", 132, 2048, by_hand=True),
)  # fmt: skip
