"""The lanes of a warp as threads of their own: a slow and readable twin of `emulate`'s warp operations.

A lane is a generator that yields an Operation and is sent its result. It goes on when all lanes of its mask that have
not finished have yielded an operation of the same kind with the same mask, whatever line of the program they stand at.
"""

from typing import NamedTuple

BITS = (1 << 32) - 1


class Operation(NamedTuple):
    kind: str  # "shfl.idx", "vote.ballot", "redux.add", ...
    mask: int
    value: int = 0  # uint32, or 0 and 1 for votes
    lane: int = 0  # of a shuffle


def shuffled(mode: str):
    """Segments of the whole warp: a lane out of range gives the lane's own value."""
    source = {
        "idx": lambda own, by: by,
        "bfly": lambda own, by: own ^ by,
        "up": lambda own, by: own - by,
        "down": lambda own, by: own + by,
    }[mode]

    def result(own: int, all_of: dict[int, Operation]) -> int:
        lane = source(own, all_of[own].lane & 31)
        return all_of[lane if 0 <= lane < 32 else own].value

    return result


def folded(function):
    def result(own: int, all_of: dict[int, Operation]) -> int:
        total, *others = (operation.value for operation in all_of.values())
        for value in others:
            total = function(total, value) & BITS
        return total

    return result


RESULTS = {
    **{f"shfl.{mode}": shuffled(mode) for mode in ("idx", "bfly", "up", "down")},
    "vote.ballot": lambda own, all_of: sum(1 << lane for lane, operation in all_of.items() if operation.value),
    "vote.all": lambda own, all_of: int(all(operation.value for operation in all_of.values())),
    "vote.any": lambda own, all_of: int(any(operation.value for operation in all_of.values())),
    "match.any": lambda own, all_of: sum(
        1 << lane for lane, operation in all_of.items() if operation.value == all_of[own].value
    ),
    "redux.add": folded(lambda x, y: x + y),
    "redux.min": folded(min),
    "redux.xor": folded(lambda x, y: x ^ y),
    "bar.warp": lambda own, all_of: 0,
}


def run_warp(lanes: dict[int, object]) -> None:
    """Runs generators, by lane number, to their ends. Raises RuntimeError when none of them can go on."""
    waiting = {}
    for lane in list(lanes):
        send(lanes, waiting, lane, None)
    while lanes:
        ready = [
            lane
            for lane in waiting
            if all(same(waiting, lane, other) for other in lanes if waiting[lane].mask >> other & 1)
        ]
        if not ready:
            raise RuntimeError("deadlock")
        first = waiting[ready[0]]
        together = {lane: op for lane, op in waiting.items() if first.mask >> lane & 1}
        results = {lane: RESULTS[first.kind](lane, together) for lane in together}
        for lane in together:
            del waiting[lane]
        for lane, result in results.items():
            send(lanes, waiting, lane, result)


def same(waiting: dict[int, Operation], lane: int, other: int) -> bool:
    return other in waiting and waiting[other][:2] == waiting[lane][:2]


def send(lanes: dict, waiting: dict[int, Operation], lane: int, result) -> None:
    try:
        waiting[lane] = lanes[lane].send(result)
    except StopIteration:
        del lanes[lane]
