"""Events worked out by hand: which lanes execute what, what they access, read and write."""

import numpy as np
import pytest

from gpuprof.device.memory import LOCAL_WINDOW, SHARED_WINDOW, AddressSpace
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import TABLE
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from tests.support.emulate_harness import ADDR64, jump, special
from tests.support.watching import Notes, Seen, watch

(PARTIAL_COPY,) = (row.name for row in TABLE if row.kind == "copy" and row.c and row.nbytes == 16)
ALL, LOW8 = 0xFFFFFFFF, 0xFF
HIGH24 = ALL & ~LOW8


def below(dst: int, register: int, bound: int):
    return make("ISETP.U32", dst=dst, a=register, imm=bound, slot="b", mods=pack(cmp="lt"))


def wide(dst: int, number: int):
    return make("MOVI.64", dst=dst, imm=number & 0xFFFFFFFF, mods=number >> 32)


class Memory(Notes):
    """Memory instructions alone."""

    kinds = ("load", "store", "atomic", "reduction", "copy")


class Values(Notes):
    """Everything, with operands after."""

    values = True


def test_both_sides_of_a_branch_and_where_they_meet():
    code = [
        special("laneid", 0),
        below(0, 0, 8),
        jump(2, 5, guard=0),
        make("MOV", dst=1, imm=100, slot="a"),  # lanes 8 to 31
        jump(4, 6),
        make("MOV", dst=1, imm=200, slot="a"),  # lanes 0 to 7
        make("EXIT"),
    ]
    notes = Notes()
    watch(code, notes, block=(40, 1, 1))
    assert [event[:6] for event in notes.events if event.warp == 0] == [
        (0, 0, 0, ALL, ALL, 0),
        (1, 0, 0, ALL, ALL, 0),
        (2, 0, 0, ALL, LOW8, 0),
        (3, 0, 0, HIGH24, HIGH24, 0),
        (4, 0, 0, HIGH24, HIGH24, 0),
        (5, 0, 0, LOW8, LOW8, 0),
        (6, 0, 0, ALL, ALL, 0),
    ]
    # The second warp has 8 threads, and all of them branch.
    assert [event[:5] for event in notes.events if event.warp == 1] == [
        (at, 0, 1, LOW8, LOW8) for at in (0, 1, 2, 5, 6)
    ]


def test_a_branch_says_who_takes_it():
    seen = []

    class Branches(TraceGenerator):
        kinds = ("branch",)

        def event(self, event: TraceEvent) -> None:
            seen.append((event.taken_masks.tolist(), event.fall_through_masks.tolist(), event.n_active, event.n_true))

    watch([special("laneid", 0), below(0, 0, 8), jump(2, 4, guard=0), make("EXIT"), make("EXIT")], Branches())
    assert seen == [([LOW8], [HIGH24], 32, 8)]


def test_calls_have_a_depth():
    code = [make("CALL", imm=16, mods=0), make("EXIT"), make("MOV", dst=1, imm=5, slot="a"), make("RET")]
    notes = Notes()
    watch(code, notes)
    assert [(event.at, event.depth) for event in notes.events] == [(0, 0), (2, 1), (3, 1), (1, 0)]


def test_a_guarded_store_has_the_addresses_of_the_lanes_that_store():
    memory = AddressSpace()
    out = memory.allocate(128, "out").address
    code = [
        special("laneid", 0),
        below(0, 0, 3),
        wide(2, out),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=4, slot="b", c=2),
        make("STG.32", a=3, b=0, imm=8, mods=ADDR64, guard=0),
        make("EXIT"),
    ]
    notes = Memory()
    watch(code, notes, memory=memory)
    stored = ("global", "store", 4, [out + 8, out + 12, out + 16])
    assert notes.events == [Seen(4, 0, 0, ALL, 7, 0, (stored,))]


def test_a_vector_load_writes_four_registers():
    memory = AddressSpace()
    address = memory.allocate(512, "in").address
    memory.write(address, np.arange(128, dtype=np.uint32))
    code = [
        special("laneid", 0),
        wide(2, address),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=16, slot="b", c=2),
        make("LDG.V4.32", dst=8, a=3, mods=ADDR64),
        make("EXIT"),
    ]
    notes = Memory()
    watch(code, notes, memory=memory)
    assert notes.events[0].accesses == (("global", "load", 16, [address + 16 * lane for lane in range(32)]),)
    assert notes.operands == [(3, ("a", "D3", address))]
    assert notes.written == [(3, ("dst", "R8", 0), ("dst", "R9", 1), ("dst", "R10", 2), ("dst", "R11", 3))]


def test_atomics_give_the_old_values_in_the_order_of_lanes():
    memory = AddressSpace()
    address = memory.allocate(4, "counter").address
    code = [
        wide(2, address),
        make("MOV", dst=1, imm=10, slot="a"),
        make("ATOMG.ADD.U32", dst=4, a=2, b=1, mods=ADDR64),
        make("REDG.ADD.U32", a=2, b=1, mods=ADDR64),
        make("EXIT"),
    ]
    old = []

    class Old(Memory):
        def post_event(self, event: TraceEvent) -> None:
            old.extend(value.bits[:, :4].tolist() for value in event.results)

    notes = Old()
    watch(code, notes, memory=memory)
    assert [event.accesses for event in notes.events] == [
        (("global", "atomic", 4, [address] * 32),),
        (("global", "reduction", 4, [address] * 32),),
    ]
    assert old == [[[0, 10, 20, 30]]]


def test_shared_and_local_memory_have_addresses_of_their_own():
    code = [
        special("tid.x", 0),
        make("SHL", dst=1, a=0, imm=2, slot="b"),
        make("STS.32", a=1, b=0),
        make("STL.32", a=255, b=0, imm=4),
        make("EXIT"),
    ]
    notes = Memory()
    watch(code, notes, block=(33, 1, 1), grid=(2, 1, 1), shared_nbytes=256, local_nbytes=16)
    own = [4 * lane for lane in range(32)]
    assert [(e.at, e.block, e.warp, e.accesses) for e in notes.events] == [
        (2, 0, 0, (("shared", "store", 4, own),)),
        (2, 0, 1, (("shared", "store", 4, [128]),)),
        (2, 1, 0, (("shared", "store", 4, own),)),
        (2, 1, 1, (("shared", "store", 4, [128]),)),
        (3, 0, 0, (("local", "store", 4, [4] * 32),)),
        (3, 0, 1, (("local", "store", 4, [4]),)),
        (3, 1, 0, (("local", "store", 4, [4] * 32),)),
        (3, 1, 1, (("local", "store", 4, [4]),)),
    ]


def test_generic_addresses_are_told_apart():
    """Lanes 0 and 1 load from global memory, lane 2 from shared, the others from local memory."""
    memory = AddressSpace()
    address = memory.allocate(4, "in").address
    code = [
        special("laneid", 0),
        below(0, 0, 2),
        below(1, 0, 3),
        wide(2, address),
        wide(3, SHARED_WINDOW + 8),
        wide(4, LOCAL_WINDOW + 12),
        make("SEL.64", dst=5, a=3, b=4, e=1),
        make("SEL.64", dst=5, a=2, b=5, e=0),
        make("LD.32", dst=12, a=5, mods=ADDR64),
        make("EXIT"),
    ]
    notes = Memory()
    watch(code, notes, memory=memory, shared_nbytes=16, local_nbytes=16)
    assert notes.events[0].accesses == (
        ("global", "load", 4, [address] * 2),
        ("shared", "load", 4, [8]),
        ("local", "load", 4, [12] * 29),
    )


def test_an_asynchronous_copy_is_a_load_and_a_store():
    memory = AddressSpace()
    address = memory.allocate(512, "in").address
    code = [
        special("laneid", 0),
        wide(2, address),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=16, slot="b", c=2),
        make("SHL", dst=1, a=0, imm=4, slot="b"),
        make("CP.ASYNC.16", a=3, b=1, mods=ADDR64),
        make("EXIT"),
    ]
    notes = Memory()
    watch(code, notes, memory=memory, shared_nbytes=512)
    assert notes.events[0].accesses == (
        ("global", "load", 16, [address + 16 * lane for lane in range(32)]),
        ("shared", "store", 16, [16 * lane for lane in range(32)]),
    )


def test_an_asynchronous_copy_of_fewer_bytes():
    """Lane 0 takes no byte, lane 1 four of them; all lanes store 16."""
    memory = AddressSpace()
    address = memory.allocate(512, "in").address
    code = [
        special("laneid", 0),
        wide(2, address),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=16, slot="b", c=2),
        make("SHL", dst=1, a=0, imm=4, slot="b"),
        make("SHL", dst=6, a=0, imm=2, slot="b"),
        make(PARTIAL_COPY, a=3, b=1, c=6, mods=ADDR64),
        make("EXIT"),
    ]
    sizes = []

    class Copies(Memory):
        def post_event(self, event: TraceEvent) -> None:
            sizes.extend(access.sizes is not None and access.sizes[0, :6].tolist() for access in event.accesses)

    notes = Copies()
    watch(code, notes, memory=memory, block=(6, 1, 1), shared_nbytes=512)
    assert notes.events[0].accesses == (
        ("global", "load", 16, [address + 16 * lane for lane in range(1, 6)]),
        ("shared", "store", 16, [16 * lane for lane in range(6)]),
    )
    assert sizes == [[0, 4, 8, 12, 16, 16], False]


def test_operands_are_those_before_and_results_those_after():
    code = [
        make("MOV", dst=1, imm=7, slot="a"),
        make("IADD", dst=1, a=1, imm=3, slot="b"),
        make("IADD", dst=1, a=1, b=255),
        make("EXIT"),
    ]
    after = []

    class After(Values):
        def post_event(self, event: TraceEvent) -> None:
            pairs = [(value.name, int(value.bits[0, 0])) for value in (*event.operands, *event.results)]
            after.append((event.instruction.number, *pairs))

    notes = After()
    watch(code, notes)
    assert notes.operands == [
        (0, ("a", "", 7)),
        (1, ("a", "R1", 7), ("b", "", 3)),
        (2, ("a", "R1", 10), ("b", "", 0)),
        (3,),
    ]
    assert after[:3] == [
        (0, ("", 7), ("R1", 7)),
        (1, ("R1", 7), ("", 3), ("R1", 10)),
        (2, ("R1", 10), ("", 0), ("R1", 10)),
    ]


def test_a_guard_that_its_instruction_changes_is_the_one_before():
    code = [
        special("laneid", 0),
        below(0, 0, 4),
        make("ISETP.U32", dst=0, a=0, imm=100, slot="b", mods=pack(cmp="gt"), guard=0),
        make("EXIT"),
    ]
    masks = []

    class Guards(TraceGenerator):
        def post_event(self, event: TraceEvent) -> None:
            masks.append(int(event.true_masks[0]))

    watch(code, Guards())
    assert masks == [ALL, ALL, 0xF, ALL]


def test_addresses_after_a_load_into_its_own_address_register():
    memory = AddressSpace()
    address = memory.allocate(8, "in").address
    memory.write(address, np.array([99], np.uint64))
    places = []

    class Loads(TraceGenerator):
        kinds = ("load",)

        def post_event(self, event: TraceEvent) -> None:
            places.append((int(event.addresses[0, 0]), int(event.results[0].bits[0, 0])))

    watch([wide(2, address), make("LDG.64", dst=2, a=2, mods=ADDR64), make("EXIT")], Loads(), memory=memory)
    assert places == [(address, 99)]


def test_lanes_that_meet_at_two_places_are_two_events():
    """Both sides of a branch hold the same vote: the lanes do it together, each at its own instruction."""
    vote = {"dst": 1, "e": 0, "imm": ALL, "slot": "b"}
    code = [
        special("laneid", 0),
        below(0, 0, 8),
        jump(2, 5, guard=0),
        make("VOTE.BALLOT", **vote),  # lanes 8 to 31
        jump(4, 6),
        make("VOTE.BALLOT", **vote),  # lanes 0 to 7
        make("EXIT"),
    ]

    class Votes(Notes):
        kinds = ("vote",)

    notes = Votes()
    watch(code, notes)
    assert [event[:5] for event in notes.events] == [(3, 0, 0, HIGH24, HIGH24), (5, 0, 0, LOW8, LOW8)]
    assert sorted(number for number, *_ in notes.written) == [3, 5]


def test_one_warp_at_a_time():
    memory = AddressSpace()
    out = memory.allocate(256, "out").address
    code = [
        special("tid.x", 0),
        wide(2, out),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=4, slot="b", c=2),
        make("STG.32", a=3, b=0, mods=ADDR64),
        make("EXIT"),
    ]
    seen = []

    class Stores(TraceGenerator):
        kinds = ("store",)

        def event(self, event: TraceEvent) -> None:
            seen.extend(event.warps())

    watch(code, Stores(), memory=memory, block=(34, 1, 1))
    assert [tuple(warp[:4]) for warp in seen] == [(0, 0, ALL, ALL), (0, 1, 3, 3)]
    assert seen[1].lanes == (0, 1) and seen[1].threads == (32, 33)
    assert seen[1].addresses == (out + 128, out + 132)


def test_whole_basic_blocks():
    code = [special("laneid", 0), below(0, 0, 8), jump(2, 4, guard=0), make("MOV", dst=1, b=255), make("EXIT")]
    code[3] = make("MOV", dst=1, imm=1, slot="a")
    runs = []

    class Blocks(TraceGenerator):
        blocks = True

        def event(self, event: TraceEvent) -> None:
            numbers = [instruction.number for instruction in event.basic_block.instructions]
            runs.append((numbers, event.n_warps, event.active_masks.tolist(), event.basic_block.successors))

    watch(code, Blocks())
    assert runs == [
        ([0, 1, 2], 1, [ALL], (2, 1)),
        ([3], 1, [HIGH24], (2,)),
        ([4], 1, [ALL], ()),
    ]


def test_what_a_generator_gets_cannot_be_changed():
    memory = AddressSpace()
    out = memory.allocate(4, "out").address

    class Meddler(TraceGenerator):
        kinds = ("store",)

        def event(self, event: TraceEvent) -> None:
            for array in (event.addresses, event.active_masks, event.true_masks, event.block, event.operands[0].bits):
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 0

    watch([wide(2, out), make("STG.32", a=2, b=255, mods=ADDR64), make("EXIT")], Meddler(), memory=memory)
