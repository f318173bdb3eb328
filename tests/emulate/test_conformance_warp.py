"""Operations between lanes, against the pseudocode of the PTX ISA manual (9.7.9.6 shfl, 9.7.13 vote, match, redux,
elect), warp by warp.
"""

from functools import reduce

import numpy as np
import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME, TABLE
from tests.references.conformance import FLOATS, LANES, Variant, every, execute
from tests.references.conformance_floats import extremum
from tests.references.conformance_integers import MASK32, signed
from tests.references.shuffles import shuffled
from tests.support.emulate_harness import ADDR64, run, special

RNG = np.random.default_rng(17)
ALL = MASK32
PLAIN = Variant()
SHUFFLES = [op.name for op in TABLE if op.semantics in ("shuffle", "shuffle_valid")]
VOTES = [op.name for op in TABLE if op.semantics.startswith("vote_")]
MATCHES = [op.name for op in TABLE if op.semantics.startswith("match_")]
REDUCTIONS = [op.name for op in TABLE if op.semantics.startswith("redux_") and op.types != ("f32",)]
FLOAT_REDUCTIONS = [op.name for op in TABLE if op.semantics.startswith("redux_") and op.types == ("f32",)]
OTHERS = ["ELECT", "ACTIVEMASK"]


def warps(row) -> list[list[int]]:
    return np.asarray(row).reshape(-1, 32).tolist()


@pytest.mark.parametrize("name", SHUFFLES)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffle(name, mode):
    """Lane and clamp from registers, different in every lane, and as immediates."""
    a = RNG.integers(0, 1 << 32, LANES, np.uint32)
    b = np.concatenate([np.resize([0, 1, 2, 16, 31, 32, 33], 256), RNG.integers(0, 32, 256)]).astype(np.uint32)
    segments = RNG.choice([0, 16, 24, 28, 30, 31], LANES)
    c = (segments << 8 | RNG.choice([0, 31, 15, 7], LANES)).astype(np.uint32)
    masks = np.full(LANES, ALL, np.uint32)
    fixed = [(1, 0x1F), (5, 0x181F), (16, 0), (31, 0x1F), (3, 0x1C03)]
    variants = [
        Variant({"shfl": mode}),
        *(Variant({"shfl": mode, "has_lane": 1, "lane": n, "has_clamp": 1, "clamp": k}) for n, k in fixed),
    ]
    outcomes, _ = execute(name, variants, {"a": a, "b": b, "c": c, "e": masks})
    for variant, outcome in zip(variants, outcomes, strict=True):
        for first in range(0, LANES, 32):
            for lane in range(32):
                at = first + lane
                given = (
                    (variant.mods["lane"], variant.mods["clamp"])
                    if "lane" in variant.mods
                    else (int(b[at]), int(c[at]))
                )
                source, valid = shuffled(mode, lane, *given)
                wanted = int(a[first + source]) if name == "SHFL" else int(valid)
                assert outcome.rows["dst"][at] == wanted, (variant, lane, given)


def member_masks() -> np.ndarray:
    """A mask for every lane that holds the lane itself and agrees with those of its members: each warp is cut into
    parts.
    """
    rows = np.zeros((LANES // 32, 32), np.uint32)
    for warp, row in enumerate(rows):
        part = RNG.integers(0, 1 + warp % 5, 32)  # every fifth warp is whole
        for lane in range(32):
            row[lane] = sum(1 << other for other in range(32) if part[other] == part[lane])
    return rows.reshape(-1)


def members_of(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def check_by_warp(name: str, rows: dict[str, np.ndarray], masks: np.ndarray, wanted, variant: Variant = PLAIN) -> None:
    """wanted(values of the warp, member lanes, lane) -> the results of the lane, in the order of the slots."""
    (outcome,), _ = execute(name, [variant], {**rows, "b": masks})
    for first in range(0, LANES, 32):
        values = rows["a"][first : first + 32].tolist() if "a" in rows else []
        for lane in range(32):
            found = tuple(int(row[first + lane]) for row in outcome.rows.values())
            assert found == wanted(values, members_of(int(masks[first + lane])), lane), (name, first, lane)


BALLOTS = {
    "VOTE.ALL": lambda held: int(all(held.values())),
    "VOTE.ANY": lambda held: int(any(held.values())),
    "VOTE.UNI": lambda held: int(len(set(held.values())) == 1),
    "VOTE.BALLOT": lambda held: sum(1 << lane for lane, value in held.items() if value),
}


@pytest.mark.parametrize("name", VOTES)
def test_vote(name):
    held = np.concatenate([RNG.random(256) < 0.5, np.zeros(96, bool), np.ones(96, bool), RNG.random(64) < 0.95])
    check_by_warp(
        name,
        {"a": held},
        member_masks(),
        lambda values, members, lane: (BALLOTS[name]({m: values[m] for m in members}),),
    )


@pytest.mark.parametrize("name", MATCHES)
def test_match(name):
    dtype = np.uint64 if BY_NAME[name].a == "D" else np.uint32
    values = np.concatenate([RNG.integers(0, 3, 256), np.repeat(RNG.integers(0, 9, 8), 32)]).astype(dtype)
    if dtype == np.uint64:
        values |= values << np.uint64(40)

    def wanted(values, members, lane):
        same = sum(1 << m for m in members if values[m] == values[lane])
        if "ANY" in name:
            return (same,)
        agree = len({values[m] for m in members}) == 1
        return (same if agree else 0, int(agree))

    check_by_warp(name, {"a": values}, member_masks(), wanted)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name):
    operation, t = name.split(".")[1:]
    number = (lambda v: signed(v, 32)) if t == "S32" else int
    fold = {
        "ADD": sum, "MIN": min, "MAX": max,
        "AND": lambda vs: int(np.bitwise_and.reduce(np.array(vs, np.uint32))),
        "OR": lambda vs: int(np.bitwise_or.reduce(np.array(vs, np.uint32))),
        "XOR": lambda vs: int(np.bitwise_xor.reduce(np.array(vs, np.uint32))),
    }[operation]  # fmt: skip
    values = RNG.integers(0, 1 << 32, LANES, np.uint32)
    values[:96] = np.resize([0, 1, 0x7FFFFFFF, 0x80000000, ALL], 96)
    check_by_warp(
        name,
        {"a": values},
        member_masks(),
        lambda values, members, lane: (fold([number(values[m]) for m in members]) & ALL,),
    )


@pytest.mark.parametrize("name", FLOAT_REDUCTIONS)
@pytest.mark.parametrize("variant", every(nan=(0, 1), abs=(0, 1)))
def test_float_reduction(name, variant):
    """As min and max of two, from member to member, in exact fractions."""
    better = extremum(-1 if ".MIN." in name else 1)
    values = RNG.choice(np.array([*FLOATS["f32"], *(x | 1 << 31 for x in FLOATS["f32"])], np.uint32), LANES)
    values[32:128] = RNG.uniform(-3, 3, 96).astype(np.float32).view(np.uint32)
    values[128:160] = 0x7FC00001

    def wanted(values, members, lane):
        operands = [values[m] & (MASK32 >> variant.mods["abs"]) for m in members]
        return (reduce(lambda a, b: better("f32", variant.mods, a, b), operands, operands[0]),)

    check_by_warp(name, {"a": values}, member_masks(), wanted, variant)


def test_elect():
    check_by_warp("ELECT", {}, member_masks(), lambda values, members, lane: (members[0], int(lane == members[0])))


def test_active_mask():
    """20 threads, of which the odd ones leave: the mask is of those that are there."""
    memory = AddressSpace()
    out = memory.allocate(256, "out").address
    code = [
        special("tid.x", 0),
        make("ACTIVEMASK", dst=1),
        make("AND", dst=2, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=2, imm=1, slot="b", mods=pack(cmp="eq")),
        make("MOVI.64", dst=0, imm=out & ALL, mods=out >> 32),
        make("IMAD.WIDE.U32", dst=0, a=0, imm=8, slot="b", c=0),
        make("EXIT", guard=0),
        make("ACTIVEMASK", dst=2),
        make("STG.32", a=0, b=1, mods=ADDR64),
        make("STG.32", a=0, b=2, imm=4, mods=ADDR64),
        make("EXIT"),
    ]
    run(code, memory=memory, block=(20, 1, 1))
    found = np.frombuffer(memory.read(out, 160), np.uint32).reshape(20, 2).tolist()
    assert found == [[0xFFFFF, 0x55555] if k % 2 == 0 else [0, 0] for k in range(20)]
