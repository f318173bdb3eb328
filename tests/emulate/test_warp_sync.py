"""Warp operations that the lanes of their member mask reach at different instructions."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from tests.references.warp_threads import BITS, Operation, run_warp
from tests.support.emulate_harness import jump, run, special
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

ALL = 0xFFFFFFFF
HEAD = """\
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<20>; .reg .b32 %r<60>; .reg .b64 %rd<4>;
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 31;
    mov.u32 %r2, %lanemask_eq;
    mov.u32 %r3, 0;
    setp.lt.u32 %p0, %r1, 16;
    setp.lt.u32 %p1, %r1, 8;
    setp.lt.u32 %p2, %r1, 24;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p3, %r4, 1;
    mad.lo.u32 %r5, %r0, 7, 3;
"""
TAIL = """
    ld.param.u64 %rd0, [out];
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r3;
    ret;
}
"""


def outcome(body: str, block: int = 64, grid: int = 1) -> np.ndarray:
    """uint32 (threads,): what %r3 holds at the end. %r1 the lane, %r2 its bit, %r5 = 7 tid + 3; %p0 to %p2: lanes below
    16, 8, 24; %p3: odd ones.
    """
    text = PREAMBLE + HEAD + body + TAIL
    (found,) = run_kernel(assemble_text(text), "k", [np.zeros(block * grid, np.uint32)], grid=grid, block=block)
    return np.frombuffer(found, np.uint32)


def two_sides(then: str, otherwise: str, predicate: str = "%p0") -> str:
    return f"@!{predicate} bra ELSE;\n{then}\nbra DONE;\nELSE:\n{otherwise}\nDONE:\n"


T = np.arange(64)
LANE = T % 32
V = 7 * T + 3


def ballot(held: np.ndarray) -> int:
    return sum(1 << lane for lane in range(32) if held[lane])


def test_the_pattern_of_the_programming_guide():
    """if (tid % 32 < 16) s = __shfl_xor_sync(~0, v, 16); else s = __shfl_xor_sync(~0, v, 16);"""
    one = "shfl.sync.bfly.b32 %r3, %r5, 16, 31, -1;"
    other = "add.u32 %r6, %r5, 0; shfl.sync.bfly.b32 %r7, %r6, 16, 31, -1; add.u32 %r3, %r7, 1;"
    np.testing.assert_array_equal(outcome(two_sides(one, other)), V[T ^ 16] + (LANE >= 16))


def test_lane_and_clamp_are_each_lanes_own():
    one = "shfl.sync.idx.b32 %r3, %r5, 20, 31, -1;"
    # within segments of eight
    other = "and.b32 %r6, %r1, 3; mov.u32 %r7, 0x181f; shfl.sync.idx.b32 %r3, %r5, %r6, %r7, -1;"
    expected = np.where(LANE < 16, V[T - LANE + 20], V[T & ~7 | LANE & 3])
    np.testing.assert_array_equal(outcome(two_sides(one, other)), expected)


def test_a_shuffle_with_a_predicate_meets_one_without():
    one = "shfl.sync.down.b32 %r3|%p9, %r5, 16, 31, -1; selp.u32 %r6, 1000, 0, %p9; add.u32 %r3, %r3, %r6;"
    other = "shfl.sync.down.b32 %r3, %r5, 1, 31, -1;"
    expected = np.where(LANE < 16, V[np.minimum(T + 16, 63)] + 1000, V[T + (LANE < 31)])
    np.testing.assert_array_equal(outcome(two_sides(one, other)), expected)


@pytest.mark.parametrize(("instruction", "expected"), [
    ("vote.sync.ballot.b32 %r3, {p}, -1;", ballot(LANE % 2 == 1)),
    ("match.any.sync.b32 %r3, %r4, -1;", np.where(LANE % 2, 0xAAAAAAAA, 0x55555555)),
    ("match.all.sync.b32 %r3|%p9, %r4, -1;", 0),
    ("redux.sync.add.u32 %r3, %r5, -1;", np.repeat([V[:32].sum(), V[32:].sum()], 32)),
    ("redux.sync.max.s32 %r3, %r5, -1;", np.repeat([V[31], V[63]], 32)),
    ("elect.sync %r3|%p9, -1; selp.u32 %r6, 100, 0, %p9; add.u32 %r3, %r3, %r6;", np.where(LANE == 0, 100, 0)),
])  # fmt: skip
def test_votes_matches_and_reductions(instruction, expected):
    then, otherwise = (
        instruction.format(p="%p3"),
        "xor.b32 %r40, %r5, 0;\n" + instruction.format(p="%p3").replace("%r5", "%r40"),
    )
    np.testing.assert_array_equal(outcome(two_sides(then, otherwise)), np.broadcast_to(expected, 64))


def test_a_negated_vote_meets_a_plain_one():
    then, otherwise = "vote.sync.ballot.b32 %r3, %p3, -1;", "vote.sync.ballot.b32 %r3, !%p3, -1;"
    np.testing.assert_array_equal(outcome(two_sides(then, otherwise)), np.full(64, 0x5555AAAA))


def test_equal_masks_of_halves_at_two_sites():
    """As nvcc -G writes it: odd and even lanes vote apart, each for the half of the warp they are in."""
    site = "selp.u32 %r6, 0xffff, 0xffff0000, %p0; vote.sync.ballot.b32 %r3, %p0, %r6;"
    np.testing.assert_array_equal(
        outcome(two_sides(site, "add.u32 %r8, %r1, 1;" + site, "%p3")), np.where(LANE < 16, 0xFFFF, 0)
    )


def test_masks_of_halves_do_not_wait_for_the_other_half():
    """Lanes 8 to 15 have to go on from the first vote, with 0 to 7, before the second can be complete for 16 to 31."""
    body = """
    @%p1 bra A; @%p0 bra B; @%p2 bra C;
    selp.u32 %r6, 0xffff, 0xffff00, %p1; vote.sync.ballot.b32 %r3, %p3, 0xffff0000; bra DONE;
    A: vote.sync.ballot.b32 %r3, %p3, 0xffff; bra DONE;
    B: add.u32 %r7, %r5, 1; vote.sync.ballot.b32 %r3, %p3, 0xffff; bra DONE;
    C: vote.sync.ballot.b32 %r3, !%p3, 0xffff0000;
    DONE:
    """
    np.testing.assert_array_equal(outcome(body), np.where(LANE < 16, 0xAAAA, 0xAA550000))


def test_three_sites_in_a_loop():
    sites = "\n".join(
        f"S{k}: shfl.sync.bfly.b32 %r{10 + k}, %r3, %r20, 31, -1; add.u32 %r3, %r3, %r{10 + k}; bra NEXT;"
        for k in range(3)
    )
    body = f"""
    mov.u32 %r3, %r5; mov.u32 %r20, 16;
    rem.u32 %r21, %r1, 3; setp.eq.u32 %p10, %r21, 0; setp.eq.u32 %p11, %r21, 1;
    LOOP:
    @%p10 bra S0; @%p11 bra S1; bra S2;
    {sites}
    NEXT:
    shr.u32 %r20, %r20, 1; setp.ne.u32 %p12, %r20, 0; @%p12 bra LOOP;
    """
    np.testing.assert_array_equal(outcome(body), np.repeat([V[:32].sum(), V[32:].sum()], 32))


def test_lanes_with_a_false_guard_take_part_elsewhere():
    """@p shfl; @!p shfl: the first waits for lanes that reach the second."""
    body = "@%p0 shfl.sync.bfly.b32 %r3, %r5, 16, 31, -1;\n@!%p0 shfl.sync.bfly.b32 %r3, %r5, 17, 31, -1;"
    np.testing.assert_array_equal(outcome(body), np.where(LANE < 16, V[T ^ 16], V[T ^ 17]))


def test_a_guard_that_holds_for_all_members():
    body = "@%p0 redux.sync.add.u32 %r3, %r5, 0xffff;"
    np.testing.assert_array_equal(outcome(body), np.where(LANE < 16, np.repeat([V[:16].sum(), V[32:48].sum()], 32), 0))


def test_a_guard_leaves_members_out():
    with pytest.raises(
        KernelFault,
        match="deadlock: the member mask 0xffffffff names lanes 0xffff0000, which have not exited and never come here",
    ):
        outcome(
            "@%p0 redux.sync.add.u32 %r3, %r5, -1;\nAGAIN: bar.sync 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p9, %r9, 3; "
            "@%p9 bra AGAIN;"
        )


@pytest.mark.parametrize(("one", "other"), [
    ("shfl.sync.bfly.b32 %r3, %r5, 16, 31, -1;", "shfl.sync.idx.b32 %r3, %r5, 16, 31, -1;"),  # another mode
    ("redux.sync.add.u32 %r3, %r5, -1;", "redux.sync.min.u32 %r3, %r5, -1;"),
    ("vote.sync.ballot.b32 %r3, %p3, -1;", "vote.sync.ballot.b32 %r3, %p3, 0xffff0001;"),  # another mask
    ("shfl.sync.bfly.b32 %r3, %r5, 16, 31, -1;", "bar.sync 0;"),
])  # fmt: skip
def test_what_does_not_fit_together_is_a_deadlock(one, other):
    with pytest.raises(
        KernelFault,
        match=r"PTX line \d+\), thread \(0, 0, 0\) of block \(0, 0, 0\): deadlock: the member mask 0xffffffff names "
        r"lanes 0xffff0000",
    ):
        outcome(two_sides(one, other) + "@%p3 add.u32 %r3, %r3, 1;")


def test_warp_synchronisations_at_different_places():
    """Both halves wait at once, each with a mask of its own and at two places."""
    body = """
    .shared .b32 s[64];
    mov.u32 %r10, s; shl.b32 %r11, %r0, 2; add.u32 %r12, %r10, %r11; xor.b32 %r13, %r11, 4; add.u32 %r13, %r10, %r13;
    selp.u32 %r14, 0xffff, 0xffff0000, %p0;
    @%p3 bra ODD;
    st.shared.u32 [%r12], %r5; bar.warp.sync %r14; ld.shared.u32 %r3, [%r13]; bra DONE;
    ODD: mov.u32 %r15, %r5; st.shared.u32 [%r12], %r15; bar.warp.sync %r14; ld.shared.u32 %r3, [%r13];
    DONE:
    """
    np.testing.assert_array_equal(outcome(body), V[T ^ 1])


def test_warps_come_to_barriers_of_their_own_at_once():
    """Three pairs of warps, each at the barrier that a register names; a warp reads what its partner wrote before."""
    body = """
    .shared .b32 s[192];
    shr.u32 %r10, %r0, 6; add.u32 %r10, %r10, 1;
    mov.u32 %r11, s; shl.b32 %r12, %r0, 2; add.u32 %r13, %r11, %r12; xor.b32 %r14, %r12, 128; add.u32 %r14, %r11, %r14;
    st.shared.u32 [%r13], %r5; bar.sync %r10, 64; ld.shared.u32 %r3, [%r14];
    """
    np.testing.assert_array_equal(outcome(body, block=192), 7 * (np.arange(192) ^ 32) + 3)


def test_others_that_spin_do_not_keep_lanes_from_meeting():
    """Warp 1 waits for a word that warp 0 writes after its two halves have met."""
    body = """
    .shared .b32 flag;
    setp.ge.u32 %p10, %r0, 32;
    @%p10 bra SPIN;
    @%p0 bra A;
    shfl.sync.bfly.b32 %r3, %r5, 16, 31, -1; bra SET;
    A: add.u32 %r8, %r5, 0; shfl.sync.bfly.b32 %r3, %r8, 16, 31, -1;
    SET: st.volatile.shared.u32 [flag], 1; bra DONE;
    SPIN: ld.volatile.shared.u32 %r9, [flag]; setp.eq.u32 %p11, %r9, 0; @%p11 bra SPIN;
    mov.u32 %r3, 5;
    DONE:
    """
    np.testing.assert_array_equal(outcome(body), np.where(T < 32, V[T ^ 16], 5))


def test_calls_from_different_depths_meet():
    """A function that shuffles, called by one half directly and by the other through another function."""
    functions = """
.func (.reg .b32 %out) f(.reg .b32 %in)
{ shfl.sync.bfly.b32 %out, %in, 16, 31, -1; ret; }
.func (.reg .b32 %out) g(.reg .b32 %in)
{ .reg .b32 %t; call (%t), f, (%in); add.u32 %out, %t, 1; ret; }
"""
    text = PREAMBLE + functions + HEAD + two_sides("call (%r3), f, (%r5);", "call (%r3), g, (%r5);") + TAIL
    (found,) = run_kernel(assemble_text(text), "k", [np.zeros(64, np.uint32)], block=64)
    np.testing.assert_array_equal(np.frombuffer(found, np.uint32), V[T ^ 16] + (LANE >= 16))


# -- random programs -------------------------------------------------------------------------------

KINDS = ("shfl.idx", "shfl.bfly", "shfl.up", "shfl.down", "vote.ballot", "vote.all", "vote.any", "match.any",
    "redux.add", "redux.min", "redux.xor", "bar.warp")  # fmt: skip


class Section(NamedTuple):
    """Lanes choose one of `sites` (by masks), each of which does the same kinds of operations: (kind, mask by lane,
    lane operand).
    """

    sites: tuple[int, ...]
    operations: tuple[tuple[str, tuple[int, ...], int], ...]
    guarded: bool
    joins: bool


@st.composite
def parts_of_a_warp(draw, most: int) -> list[int]:
    """Disjoint masks that cover the warp."""
    count = draw(st.integers(1, most))
    owner = draw(st.lists(st.integers(0, count - 1), min_size=32, max_size=32))
    masks = [sum(1 << lane for lane in range(32) if owner[lane] == k) for k in range(count)]
    return [mask for mask in masks if mask]


@st.composite
def operations(draw):
    members = draw(parts_of_a_warp(3))
    mask_of = tuple(next(mask for mask in members if mask >> lane & 1) for lane in range(32))
    return draw(st.sampled_from(KINDS)), mask_of, draw(st.integers(0, 31))


@st.composite
def sections(draw):
    found = draw(st.lists(operations(), min_size=1, max_size=3))
    return Section(tuple(draw(parts_of_a_warp(3))), tuple(found), draw(st.booleans()), draw(st.booleans()))


def as_ptx(program: list[Section], rounds: int, exiting: int) -> str:
    """%r3 is the lane's state, %r20 + o the mask of operation o, from a table in constant memory."""
    tables, lines = (
        [],
        [
            f"mov.u32 %r3, %r5; and.b32 %r10, %r2, {exiting}; setp.ne.u32 %p10, %r10, 0; @%p10 bra DONE; mov.u32 %r19, "
            f"{rounds}; LOOP:"
        ],
    )
    for s, section in enumerate(program):
        for o, (_, masks, _) in enumerate(section.operations):
            tables.append(f".const .align 4 .b32 m{s}_{o}[32] = {{{', '.join(map(str, masks))}}};")
            lines.append(
                f"mov.u32 %r11, m{s}_{o}; shl.b32 %r12, %r1, 2; add.u32 %r11, %r11, %r12; ld.const.u32 %r{20 + o}, "
                "[%r11];"
            )
        for k, site in enumerate(section.sites):
            lines.append(f"and.b32 %r10, %r2, {site}; setp.ne.u32 %p10, %r10, 0;")
            guard = "@%p10 " if section.guarded else ""
            if not guard:
                lines.append(f"@!%p10 bra N{s}_{k};")
            for o, (kind, _, by) in enumerate(section.operations):
                lines += [guard + line for line in operation_lines(kind, o, by, k)]
            if not guard:
                lines.append(f"bra J{s};" if section.joins else "")
                lines.append(f"N{s}_{k}:")
        lines.append(f"J{s}:")
    lines.append("sub.u32 %r19, %r19, 1; setp.ne.u32 %p12, %r19, 0; @%p12 bra LOOP;\nDONE:")
    return PREAMBLE + "\n".join(tables) + HEAD + "\n".join(lines) + TAIL


def operation_lines(kind: str, o: int, by: int, k: int) -> list[str]:
    family, _, mode = kind.partition(".")
    mask = f"%r{20 + o}"
    to, number = f"%r{30 + 5 * k + o}", f"%r{45 + k}"  # each site has its registers
    before = [f"shr.u32 {number}, %r3, 3;", f"and.b32 {number}, {number}, 1;", f"setp.ne.u32 %p{13 + k}, {number}, 0;"]
    operation = {
        "shfl": [f"shfl.sync.{mode}.b32 {to}, %r3, {by}, {0 if mode == 'up' else 31}, {mask};"],
        "vote": [
            *before,
            f"vote.sync.{mode}.{'b32' if mode == 'ballot' else 'pred'} {to if mode == 'ballot' else f'%p{16 + k}'}, "
            f"%p{13 + k}, {mask};",
        ]
        + ([] if mode == "ballot" else [f"selp.u32 {to}, 1, 0, %p{16 + k};"]),
        "match": [f"and.b32 {number}, %r3, 3;", f"match.any.sync.b32 {to}, {number}, {mask};"],
        "redux": [f"redux.sync.{mode}.{'b32' if mode == 'xor' else 'u32'} {to}, %r3, {mask};"],
        "bar": [f"bar.warp.sync {mask};", f"mov.u32 {to}, 0;"],
    }[family]
    return [*operation, f"mad.lo.u32 %r3, %r3, 5, {to};", f"add.u32 %r3, %r3, {k + 1};"]


def in_python(program: list[Section], rounds: int, exiting: int) -> list[int]:
    state = [7 * lane + 3 for lane in range(32)]

    def thread(lane: int):
        for _ in range(rounds):
            for section in program:
                k = next(k for k, site in enumerate(section.sites) if site >> lane & 1)
                for kind, masks, by in section.operations:
                    value = {"vote": state[lane] >> 3 & 1, "match": state[lane] & 3}.get(
                        kind.split(".")[0], state[lane]
                    )
                    result = yield Operation(kind, masks[lane], value, by)
                    state[lane] = (state[lane] * 5 + result + k + 1) & BITS

    run_warp({lane: thread(lane) for lane in range(32) if not exiting >> lane & 1})
    return state


def reads_members_alone(program: list[Section], exiting: int) -> bool:
    """PTX leaves open what a shuffle gives that reads a lane which does not take part."""
    for section in program:
        for kind, masks, by in section.operations:
            if kind.startswith("shfl"):
                step = {
                    "idx": lambda lane, by: by,
                    "bfly": lambda lane, by: lane ^ by,
                    "up": lambda lane, by: lane - by,
                    "down": lambda lane, by: lane + by,
                }[kind[5:]]
                for lane in range(32):
                    source = step(lane, by)
                    if (
                        0 <= source < 32
                        and not exiting >> lane & 1
                        and (not masks[lane] >> source & 1 or exiting >> source & 1)
                    ):
                        return False
    return True


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.lists(sections(), min_size=1, max_size=3), st.integers(1, 2), st.sampled_from([0, 0, 0x00010010, 0xFF]))
def test_random_divergent_programs(program, rounds, exiting):
    program = [
        section._replace(operations=tuple(redirect(operation, exiting) for operation in section.operations))
        for section in program
    ]
    assert reads_members_alone(program, exiting)
    (found,) = run_kernel(assemble_text(as_ptx(program, rounds, exiting)), "k", [np.zeros(32, np.uint32)], block=32)
    np.testing.assert_array_equal(np.frombuffer(found, np.uint32), in_python(program, rounds, exiting))


def redirect(operation: tuple, exiting: int) -> tuple:
    """The operation, with a shuffle's lane operand changed to one that reads members alone: 0, a lane's own value."""
    kind, masks, _ = operation
    if reads_members_alone([Section((), (operation,), False, False)], exiting):
        return operation
    return (kind, masks, 0) if kind != "shfl.idx" else ("shfl.bfly", masks, 0)


# -- traces ----------------------------------------------------------------------------------------


def store(register: int) -> list:
    return [make("STS.32", a=10, b=register)]


def test_steps_and_accesses_of_lanes_that_meet():
    """Each side's run of its block is one step with its own lanes, and its accesses before and after the shuffle stay
    with it.
    """
    shuffle = make("SHFL", dst=1, a=0, imm=ALL, mods=pack(shfl="bfly", has_lane=1, lane=16, has_clamp=1, clamp=31))
    code = [
        special("laneid", 0),
        make("SHL", dst=10, a=0, imm=2, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=16, slot="b", mods=pack(cmp="lt")),
        jump(3, 8, guard=0),
        *store(0),  # block 1: lanes 16 to 31
        shuffle,
        *store(1),
        jump(7, 10),
        shuffle,  # block 2: lanes 0 to 15
        *store(1),
        make("EXIT"),
    ]
    result = run(code, shared_nbytes=128)
    assert sorted(result.steps(0)[:3]) == [(0, ALL), (1, 0xFFFF0000), (2, 0xFFFF)]
    assert result.steps(0)[3:] == [(3, ALL)]
    accesses = {1: [16, 16], 2: [16]}
    assert [access[4] for access in result.accesses(0)] == [
        lanes for block, _ in result.steps(0)[1:3] for lanes in accesses[block]
    ]
    assert result.counters.inst_executed.tolist() == [1] * 11
    assert result.counters.thread_inst_executed.tolist() == [32] * 4 + [16] * 6 + [32]


def test_lanes_that_part_within_a_block_run_it_twice():
    """The store before the guarded shuffles is made once, by all: the second run's record of it is of no lanes."""
    mods = pack(shfl="bfly", has_lane=1, lane=16, has_clamp=1, clamp=31)
    code = [
        special("laneid", 0),
        make("SHL", dst=10, a=0, imm=2, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=16, slot="b", mods=pack(cmp="lt")),
        *store(0),
        make("SHFL", dst=1, a=0, imm=ALL, mods=mods, guard=0),
        make("SHFL", dst=1, a=10, imm=ALL, mods=mods, guard=0x80),
        *store(1),
        make("EXIT"),
    ]
    result = run(code, shared_nbytes=128)
    assert sorted(result.steps(0)) == [(0, 0xFFFF), (0, 0xFFFF0000)]
    assert sorted(access[4] for access in result.accesses(0)) == [0, 16, 16, 32]
    assert result.counters.thread_inst_executed.tolist() == [32] * 8
    assert result.counters.thread_inst_executed_pred_on.tolist() == [32] * 4 + [16, 16] + [32] * 2
