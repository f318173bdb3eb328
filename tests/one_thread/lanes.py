"""What lanes of a warp compute together (PTX ISA 9.7.9.6 shfl, 9.7.13 vote, match, redux, elect).

A function takes the lane and what all lanes that came brought, as lane -> operands, and gives the lane's results.
"""

from functools import reduce
from operator import and_, or_, xor

from tests.one_thread.decoded import Decoded
from tests.references.conformance_floats import extremum
from tests.references.conformance_integers import MASK32, typed
from tests.references.shuffles import shuffled

Brought = dict[int, list[int]]


def shuffle_operands(inst: Decoded, operands: list[int]) -> tuple[int, int]:
    """Lane and clamp, from the modifiers or the registers b and c."""
    mods = inst.mods
    lane = mods["lane"] if mods["has_lane"] else operands[1]
    return lane, mods["clamp"] if mods["has_clamp"] else operands[2]


def shuffle(inst: Decoded, own: int, brought: Brought) -> tuple[int, ...]:
    """A lane that is not there gives 0 (docs/ptx.md)."""
    source, _ = shuffled(inst.mods["shfl"], own, *shuffle_operands(inst, brought[own]))
    return (brought[source][0] if source in brought else 0,)


def vote(fold):
    return lambda inst, own, brought: (int(fold({lane: bool(values[0]) for lane, values in brought.items()})),)


def same(own: int, brought: Brought) -> int:
    return sum(1 << lane for lane, values in brought.items() if values[0] == brought[own][0])


def match_all(inst: Decoded, own: int, brought: Brought) -> tuple[int, ...]:
    agree = len({values[0] for values in brought.values()}) == 1
    return (same(own, brought) if agree else 0, int(agree))


def reduction(fold):
    def result(inst: Decoded, own: int, brought: Brought) -> tuple[int, ...]:
        return (reduce(fold, (typed(values[0], inst.types[0]) for values in brought.values())) & MASK32,)

    return result


def float_reduction(sign: int):
    def result(inst: Decoded, own: int, brought: Brought) -> tuple[int, ...]:
        values = [values[0] & MASK32 >> bool(inst.mods["abs"]) for values in brought.values()]
        return (reduce(lambda a, b: extremum(sign)("f32", inst.mods, a, b), values, values[0]),)

    return result


TOGETHER = {
    "shuffle": shuffle,
    "vote_all": vote(lambda held: all(held.values())),
    "vote_any": vote(lambda held: any(held.values())),
    "vote_uni": vote(lambda held: len(set(held.values())) == 1),
    "vote_ballot": vote(lambda held: sum(1 << lane for lane, value in held.items() if value)),
    "match_any": lambda inst, own, brought: (same(own, brought),),
    "match_all": match_all,
    "redux_add": reduction(lambda a, b: a + b), "redux_min": reduction(min), "redux_max": reduction(max),
    "redux_and": reduction(and_), "redux_or": reduction(or_), "redux_xor": reduction(xor),
    "redux_min_float": float_reduction(-1), "redux_max_float": float_reduction(1),
    "warpsync": lambda inst, own, brought: (),
}  # fmt: skip
