"""What memory sees: sectors, lookups and bank conflicts counted by hand, every access width, faults with their whole
messages, atomics.
"""

import numpy as np
import pytest

from gpuprof.device.memory import GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW, AddressSpace
from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.trace_log.coalesce import Totals, inspect
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, MISSING_SHIFT, SECTOR_MASK
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME
from tests.support.emulate_harness import ADDR64, global_index, jump, run, special

ALL = 0xFFFFFFFF


def look(
    addresses, nbytes=4, mask=ALL, pieces=1, stride=0, atomic=False, store=False, has_sectors=True, on_chip=NO_RANGES
):
    """(sectors, lookups, wavefronts, tag passes, lanes, conflicts, uniform) and the sector list of one warp."""
    address = np.asarray(addresses, np.int64)
    masks = np.array([mask], np.uint32)
    records, sectors = np.zeros(1, np.uint64), np.zeros(32 * pieces, np.int64)
    totals = Totals(
        *inspect(address, masks, masks, nbytes, pieces, stride, has_sectors, atomic, store, on_chip, records, sectors)
    )
    return tuple(int(v) for v in records.view(ACCESS_DTYPE)[0])[:7], sectors[: totals.n_sectors].tolist()


LANE = np.arange(32)


@pytest.mark.parametrize("name,addresses,nbytes,mask,wanted,sectors", [
    ("consecutive words", 4 * LANE, 4, ALL, (4, 4, 1, 1, 32, 0, 0), [0, 1, 2, 3]),
    ("consecutive, shifted by 16 bytes", 16 + 4 * LANE, 4, ALL, (5, 5, 1, 1, 32, 0, 0), [0, 1, 2, 3, 4]),
    ("consecutive bytes", LANE, 1, ALL, (1, 4, 1, 1, 32, 0, 0), [0]),
    ("consecutive doubles: two half warps", 8 * LANE, 8, ALL, (8, 4, 2, 1, 32, 0, 0), list(range(8))),
    ("consecutive float4: four quarter warps", 16 * LANE, 16, ALL, (16, 4, 4, 1, 32, 0, 0), list(range(16))),
    ("one word for all", 0 * LANE + 64, 4, ALL, (1, 4, 1, 1, 32, 0, 1), [2]),
    ("every second word: two-way conflict", 8 * LANE, 4, ALL, (8, 4, 2, 1, 32, 0, 0), list(range(8))),
    ("a column: all lanes in one bank", 128 * LANE, 4, ALL, (32, 32, 32, 8, 32, 0, 0), list(range(0, 128, 4))),
    ("a padded column: no "
        "conflict", 132 * LANE, 4, ALL, (32, 32, 1, 8, 32, 0, 0), sorted({132 * i // 32 for i in range(32)})),
    ("reversed", 4 * (31 - LANE), 4, ALL, (4, 4, 1, 1, 32, 0, 0), [0, 1, 2, 3]),
    ("two rows of 16", np.where(LANE < 16, 4 * LANE, 1024 + 4 * (LANE - 16)), 4, ALL, (4, 4, 2, 1, 32, 0, 0),
        [0, 1, 32, 33]),
    ("half a warp", 4 * LANE, 4, 0xFFFF, (2, 2, 1, 1, 16, 0, 0), [0, 1]),
    ("one lane", 4 * LANE, 4, 1 << 31, (1, 1, 1, 1, 1, 0, 1), [3]),
    ("nobody", 4 * LANE, 4, 0, (0, 0, 0, 0, 0, 0, 0), []),
    ("one double for all: a pass for each half warp", 0 * LANE, 8, ALL, (1, 4, 2, 1, 32, 0, 1), [0]),
    ("every second double", 16 * LANE, 8, ALL, (16, 4, 4, 1, 32, 0, 0), list(range(16))),
    ("every fourth line, all in one tag bank but for their higher "
        "bits", 512 * LANE, 4, ALL, (32, 32, 32, 8, 32, 0, 0), list(range(0, 512, 16))),
])  # fmt: skip
def test_sectors_lookups_and_passes(name, addresses, nbytes, mask, wanted, sectors):
    assert look(addresses, nbytes, mask) == (wanted, sectors)


@pytest.mark.parametrize(
    ("name", "addresses", "nbytes", "wanted", "sectors"),
    [
        ("inside", 512 + 16 * LANE, 16, (0, 0, 4, 0, 32, 0, 2), []),
        ("in another range", 64 * LANE + 4096, 4, (0, 0, 16, 0, 32, 0, 2), []),
        ("one word for all", 0 * LANE + 1020, 4, (0, 0, 1, 0, 32, 0, 3), []),
        ("beyond the end", 516 + 16 * LANE, 16, (17, 8, 4, 2, 32, 0, 0), list(range(16, 33))),
        ("across two ranges", np.where(LANE < 31, 1016, 4096), 4, (2, 5, 1, 2, 32, 0, 0), [31, 128]),
    ],
)
@pytest.mark.parametrize("store", [False, True])
def test_what_stays_on_the_chip_has_no_sectors(name, addresses, nbytes, wanted, sectors, store):
    """Two ranges: 512 to 1024, and 4096 to 8192."""
    found, at = look(addresses, nbytes, store=store, on_chip=np.array([[512, 1024], [4096, 8192]]))
    assert (found, [sector & SECTOR_MASK for sector in at]) == (wanted, sectors)


@pytest.mark.parametrize("name,places,nbytes,mask,load,store", [
    ("all on one float4: each half warp", 0 * LANE, 16, ALL, 2, 4),
    ("half a warp on one float4", 0 * LANE, 16, 0xFFFF, 1, 2),
    ("neighbours agree", LANE // 2, 16, ALL, 2, 4),
    ("every second lane agrees", LANE // 4 * 2 + LANE % 2, 16, ALL, 2, 4),
    ("lanes four apart agree: no pairs", LANE % 4, 16, ALL, 4, 4),
    ("one half agrees by 1, the other by 2", np.where(LANE < 16, LANE // 2, LANE // 4 * 2 + LANE % 2), 16, ALL, 4, 4),
    ("even lanes alone", LANE, 16, 0x55555555, 4, 4),
    ("even lanes of every second float4's half", LANE // 2, 16, 0x55555555, 2, 4),
    ("neighbours agree, in the same banks", LANE // 2 % 2 * 8, 16, ALL, 4, 8),
    ("all on one double: no halves", 0 * LANE, 8, ALL, 1, 2),
    ("neighbours agree, doubles", LANE // 2, 8, ALL, 1, 2),
    ("consecutive doubles", LANE, 8, ALL, 2, 2),
    ("lanes 15 and 16 on one double", 0 * LANE, 8, 3 << 15, 1, 2),
    ("words have no halves", LANE // 2, 4, ALL, 1, 1),
])  # fmt: skip
def test_passes_of_wide_accesses_whose_lanes_agree_in_pairs(name, places, nbytes, mask, load, store):
    """A load of shared memory needs half the passes where all neighbours, or all lanes two apart, are on one address; a
    float4 never less than one for each half warp. Stores and global memory know no pairs."""
    assert look(nbytes * places, nbytes, mask, has_sectors=False)[0][2] == load
    assert look(nbytes * places, nbytes, mask, has_sectors=False, store=True)[0][2] == store
    assert look(nbytes * places, nbytes, mask)[0][2] == store


def missing(addresses, nbytes, mask=ALL):
    """{sector: words that a store of one warp leaves out}, of those it touches."""
    return {s & SECTOR_MASK: s >> MISSING_SHIFT for s in look(addresses, nbytes, mask, store=True)[1]}


@pytest.mark.parametrize("name,addresses,nbytes,mask,wanted", [
    ("whole sectors", 4 * LANE, 4, ALL, dict.fromkeys(range(4), 0)),
    ("from the third word on", 8 + 4 * LANE, 4, ALL, {0: 0b11, 1: 0, 2: 0, 3: 0, 4: 0b11111100}),
    ("every second word", 8 * LANE, 4, ALL, dict.fromkeys(range(8), 0b10101010)),
    ("one word", 4 * LANE, 4, 1 << 9, {1: 0b11111101}),
    ("bytes side by side fill words", LANE, 1, ALL, {0: 0}),
    ("bytes from 2 on: the first word is not whole", 2 + LANE, 1, ALL, {0: 1, 1: 0xFF}),
    ("the same by lanes in reverse", 2 + LANE[::-1], 1, ALL, {0: 1, 1: 0xFF}),
    ("every second byte: no word is whole", 2 * LANE, 1, ALL, {0: 0xFF, 1: 0xFF}),
    ("halves side by side, one lane off", 2 * LANE, 2, ALL ^ 1, {0: 1, 1: 0}),
    ("float4 of two lanes", 16 * LANE, 16, 0b110, {0: 0b1111, 1: 0b11110000}),
])  # fmt: skip
def test_words_that_a_store_leaves_out(name, addresses, nbytes, mask, wanted):
    assert missing(addresses, nbytes, mask) == wanted
    assert all(s < 1 << MISSING_SHIFT for s in look(addresses, nbytes, mask)[1])  # a load's sectors are never marked


def test_atomics_count_the_lanes_on_one_address():
    assert look(np.where(LANE < 5, 0, 4 * LANE), atomic=True)[0][5] == 5


def test_local_memory_is_interleaved_by_lane():
    """All lanes read offset 8 of their own memory: 32 words side by side, as if it were coalesced. 8 bytes: two such
    rows.
    """
    code = [make("STL.32", imm=8, b=255), make("LDL.64", imm=8, dst=0), make("EXIT")]
    result = run(code, local_nbytes=16)
    assert result.accesses(0) == [(4, 4, 1, 1, 32, 0, 0), (8, 8, 2, 1, 32, 0, 0)]
    first = (1 << 40) + 2 * 4
    assert result.sectors(0) == [first + k for k in (0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7)]
    assert result.counters.l2_sectors_local.tolist() == [4, 8, 0]


def address_of(base: int, scale: int, dst=201) -> list:
    """D[dst] = base + global index * scale."""
    return [
        *global_index(),
        make("MOVI.64", dst=200, imm=base & 0xFFFFFFFF, mods=base >> 32),
        make("IMAD.WIDE.U32", dst=dst, a=250, imm=scale, slot="b", c=200),
    ]


@pytest.mark.parametrize(
    "access,nbytes", [("U8", 1), ("U16", 2), ("32", 4), ("64", 8), ("V2.32", 8), ("V4.32", 16), ("V2.64", 16)]
)
def test_every_width_copies(access, nbytes):
    memory = AddressSpace()
    n = 96
    data = np.random.default_rng(1).integers(0, 256, n * nbytes, np.uint8)
    source, target = memory.allocate(n * nbytes, "source").address, memory.allocate(n * nbytes, "target").address
    memory.write(source, data)
    code = [*address_of(source, nbytes, 10), *address_of(target, nbytes, 11)]
    code += [
        make(f"LDG.{access}", dst=20, a=10, mods=ADDR64),
        make(f"STG.{access}", a=11, b=20, mods=ADDR64),
        make("EXIT"),
    ]
    result = run(code, memory=memory, block=(48, 1, 1), grid=(2, 1, 1))
    assert memory.read(target, n * nbytes) == data.tobytes()
    assert result.counters.l2_sectors_global_ideal[-3] == sum(-(-lanes * nbytes // 32) for lanes in (32, 16)) * 2


def test_signed_loads_extend():
    memory = AddressSpace()
    base = memory.allocate(128, "data").address
    memory.write(base, np.array([-1, 127, -128, 5] * 16, np.int8))
    out = memory.allocate(256, "out").address
    code = [
        *address_of(base, 1, 10),
        *address_of(out, 4, 11),
        make("LDG.S8", dst=20, a=10, mods=ADDR64),
        make("STG.32", a=11, b=20, mods=ADDR64),
        make("EXIT"),
    ]
    run(code, memory=memory)
    assert np.frombuffer(memory.read(out, 16), np.int32).tolist() == [-1, 127, -128, 5]


def test_guarded_access_touches_only_its_lanes():
    """Lanes from 16 on would read past the end; their guard says no. A record is written all the same."""
    memory = AddressSpace()
    base = memory.allocate(64, "data").address
    memory.write(base, np.arange(16, dtype=np.uint32))
    code = [
        *address_of(base, 4),
        make("ISETP.U32", dst=0, a=250, imm=16, slot="b", mods=pack(cmp="lt")),
        make("LDG.32", dst=5, a=201, mods=ADDR64, guard=0),
        make("ISETP.U32", dst=1, a=250, imm=99, slot="b", mods=pack(cmp="gt")),
        make("LDG.32", dst=5, a=201, mods=ADDR64, guard=1),
        make("EXIT"),
    ]
    result = run(code, memory=memory)
    assert result.accesses(0) == [(2, 2, 1, 1, 16, 0, 0), (0,) * 7]
    assert result.sectors(0) == [base >> 5, (base >> 5) + 1]
    assert result.counters.thread_inst_executed_pred_on[[-4, -2]].tolist() == [16, 0]


def test_highest_lane_wins_a_race():
    memory = AddressSpace()
    out = memory.allocate(4, "out").address
    code = [
        special("laneid", 0),
        make("MOVI.64", dst=0, imm=out & 0xFFFFFFFF, mods=out >> 32),
        make("STG.32", a=0, b=0, mods=ADDR64),
        make("EXIT"),
    ]
    run(code, memory=memory)
    assert memory.read(out, 4) == (31).to_bytes(4, "little")


def test_shared_memory_of_blocks_is_apart_and_starts_at_zero():
    memory = AddressSpace()
    out = memory.allocate(4 * 96, "out").address
    code = [
        special("ctaid.x", 0), special("tid.x", 1), make("SHL", dst=2, a=1, imm=2, slot="b"),
        make("ATOMS.ADD.U32", dst=3, a=2, b=0), make("LDS.32", dst=4, a=2),
        *address_of(out, 4), make("STG.32", a=201, b=4, mods=ADDR64), make("EXIT"),
    ]  # fmt: skip
    result = run(code, memory=memory, grid=(3, 1, 1), dynamic_shared_nbytes=128)
    assert np.frombuffer(memory.read(out, 384), np.uint32).tolist() == [0] * 32 + [1] * 32 + [2] * 32
    assert result.counters.l1_wavefronts_shared[[3, 4]].tolist() == [3, 3]
    assert result.accesses(0)[:2] == [(0, 0, 1, 0, 32, 1, 0), (0, 0, 1, 0, 32, 0, 0)]


def test_generic_addresses_of_three_spaces_in_one_instruction():
    """Lane 0 to 9 global, 10 to 19 shared, 20 to 31 local; each reads back what it wrote."""
    memory = AddressSpace()
    base, out = memory.allocate(128, "data").address, memory.allocate(128, "out").address

    def constant(dst, value):
        return make("MOVI.64", dst=dst, imm=value & 0xFFFFFFFF, mods=value >> 32)

    code = [
        special("laneid", 0),
        constant(0, base), constant(1, SHARED_WINDOW), constant(2, LOCAL_WINDOW),
        make("ISETP.U32", dst=0, a=0, imm=10, slot="b", mods=pack(cmp="lt")),
        make("ISETP.U32", dst=1, a=0, imm=20, slot="b", mods=pack(cmp="lt")),
        make("SEL.64", dst=3, a=1, b=2, e=1), make("SEL.64", dst=3, a=0, b=3, e=0),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=4, slot="b", c=3),
        make("ST.32", a=3, b=0, mods=ADDR64), make("LD.32", dst=4, a=3, mods=ADDR64),
        make("ISSPACEP.SHARED", dst=2, a=3),
        make("IADD", dst=4, a=4, imm=1000, slot="b", guard=2),
        *address_of(out, 4), make("STG.32", a=201, b=4, mods=ADDR64), make("EXIT"),
    ]  # fmt: skip
    result = run(code, memory=memory, dynamic_shared_nbytes=128, local_nbytes=128)
    assert np.frombuffer(memory.read(out, 128), np.uint32).tolist() == [*range(10), *range(1010, 1020), *range(20, 32)]
    # Global: 10 words in 2 sectors of one line. Shared: 1 pass. Local: lane l at offset 4 l, each in a row of its own:
    # 12 sectors.
    assert result.accesses(0)[0] == (14, 14, 3, 4, 32, 0, 0)  # tag passes: 1, and 3 for twelve lines side by side
    assert [s & SECTOR_MASK for s in result.sectors(0)[:2]] == [base >> 5, (base >> 5) + 1]
    assert np.frombuffer(memory.read(base, 40), np.uint32).tolist() == list(range(10))


def test_constants_and_parameters():
    from gpuprof.isa.program import Variable

    memory = AddressSpace()
    out = memory.allocate(128, "out").address
    variable = Variable("table", "const", 0, 128, 4, np.arange(100, 132, dtype=np.uint32).tobytes())
    code = [
        *address_of(out, 4),
        make("SHL", dst=1, a=250, imm=2, slot="b"),
        make("LDC.32", dst=2, a=1),
        make("LDP.32", dst=3, imm=4),
        make("IADD", dst=2, a=2, b=3),
        make("IADD", dst=2, a=2, imm=8, slot="b", const=True),
        make("STG.32", a=201, b=2, mods=ADDR64),
        make("EXIT"),
    ]
    params = np.array([7, 1000, 20000], np.uint32).tobytes()
    result = run(code, params, memory=memory, variables=[variable])
    assert np.frombuffer(memory.read(out, 128), np.uint32).tolist() == [21100 + i for i in range(32)]
    assert result.accesses(0) == [(4, 4, 1, 1, 32, 0, 0), (0, 0, 1, 0, 32, 0, 1), (4, 4, 1, 1, 32, 0, 0)]


# Faults


def fault_of(code, **options) -> str:
    with pytest.raises(KernelFault) as fault:
        run(code, **options)
    return str(fault.value)


def test_out_of_bounds_names_thread_and_nearest_allocation():
    memory = AddressSpace()
    base = memory.allocate(400, "x").address
    code = [*address_of(base, 4), make("LDG.32", dst=5, a=201, mods=ADDR64), make("EXIT")]
    assert fault_of(code, memory=memory, grid=(2, 1, 1), block=(64, 1, 1)) == (
        "k: k.cu:8, thread (36, 0, 0) of block (1, 0, 0): out of bounds read of 4 bytes in global memory at "
        f"0x{base + 400:x}; "
        f"0x{base + 400:x} is just past the end of x (400 bytes at 0x{base:x})"
    )


def test_write_that_straddles_the_end():
    memory = AddressSpace()
    base = memory.allocate(100, "y").address
    code = [*address_of(base, 8), make("STG.64", a=201, b=200, mods=ADDR64), make("EXIT")]
    assert fault_of(code, memory=memory) == (
        "k: k.cu:8, thread (12, 0, 0) of block (0, 0, 0): out of bounds write of 8 bytes in global memory at "
        f"0x{base + 96:x}; "
        f"0x{base + 96:x} is byte 96 of y (100 bytes at 0x{base:x})"
    )


def test_misaligned():
    memory = AddressSpace()
    base = memory.allocate(4096, "x").address
    code = [*address_of(base + 2, 4), make("LDG.32", dst=5, a=201, mods=ADDR64), make("EXIT")]
    assert fault_of(code, memory=memory) == (
        "k: k.cu:8, thread (0, 0, 0) of block (0, 0, 0): misaligned read of 4 bytes in global memory at "
        f"0x{base + 2:x}; "
        f"0x{base + 2:x} is byte 2 of x (4096 bytes at 0x{base:x})"
    )


def test_null_pointer():
    code = [make("RED.ADD.U32", a=255, b=255, mods=ADDR64), make("EXIT")]
    assert fault_of(code) == (
        "k: k.cu:1, thread (0, 0, 0) of block (0, 0, 0): out of bounds atomic operation of 4 bytes in generic memory "
        "at 0x0; 0x0 is the null address"
    )


def test_shared_and_local_bounds():
    code = [special("tid.x", 0), make("SHL", dst=0, a=0, imm=2, slot="b"), make("STS.32", a=0, b=0), make("EXIT")]
    assert fault_of(code, dynamic_shared_nbytes=64) == (
        "k: k.cu:3, thread (16, 0, 0) of block (0, 0, 0): out of bounds write of 4 bytes in shared memory at 0x40; the "
        "block has 64 bytes of shared memory"
    )
    assert fault_of([make("LDL.32", dst=0, imm=32), make("EXIT")], local_nbytes=32) == (
        "k: k.cu:1, thread (0, 0, 0) of block (0, 0, 0): out of bounds read of 4 bytes in local memory at 0x20; the "
        "thread has 32 bytes of local memory"
    )


@pytest.mark.parametrize("address", [-4, -4096, -(1 << 63), (1 << 63) - 4, 1 << 62])
@pytest.mark.parametrize(
    "name",
    [
        "LDG.32",
        "STG.32",
        "LDS.32",
        "STS.32",
        "LDL.32",
        "STL.32",
        "LDC.32",
        "LDP.32",
        "LD.32",
        "ST.32",
        "ATOMG.ADD.U32",
        "REDS.ADD.U32",
        "REDS.POPC.INC.U32",
    ],
)
@pytest.mark.parametrize("all_lanes", [True, False])
@pytest.mark.parametrize("is_watched", [True, False])
def test_addresses_of_the_upper_half_are_outside_of_every_space(name, address, all_lanes, is_watched):
    """Also when no lane of the launch has another, so that the highest address is negative, or when an address and its
    size do not fit 64 bits; with a trace and counts, and without.
    """
    memory = AddressSpace()
    memory.allocate(64, "x")
    slots = {slot: 4 for slot in ("dst", "b") if getattr(BY_NAME[name], slot)}
    code = [
        make("MOVI.64", dst=0, imm=address & 0xFFFFFFFF, mods=address >> 32 & 0xFFFFFFFF),
        make(name, a=0, mods=ADDR64, **slots),
        make("EXIT"),
    ]
    if not all_lanes:
        code = [
            special("laneid", 8),
            make("ISETP.U32", dst=0, a=8, imm=3, slot="b", mods=pack(cmp="eq")),
            code[0],
            code[1]._replace(guard=0),
            code[2],
        ]
    text = fault_of(code, memory=memory, shared_nbytes=64, local_nbytes=64, is_watched=is_watched)
    assert "out of bounds" in text and f"at 0x{address & (1 << 64) - 1:x}" in text


# Atomics


def atomic_case(name: str, values, initial, dtype, threads=64, second=None):
    """Every thread applies the operation to element thread % len(initial); gives (memory afterwards, old values)."""
    memory = AddressSpace()
    initial = np.array(initial, dtype)
    wide = initial.dtype.itemsize == 8
    target = memory.allocate(initial.nbytes, "target").address
    memory.write(target, initial)
    given = memory.allocate(threads * initial.dtype.itemsize, "given").address
    memory.write(given, np.array(values, dtype))
    old = memory.allocate(threads * initial.dtype.itemsize, "old").address
    size = initial.dtype.itemsize
    load, put = ("LDG.64", "STG.64") if wide else ("LDG.32", "STG.32")
    code = [
        *address_of(given, size, 100), make(load, dst=1, a=100, mods=ADDR64),
        *address_of(old, size, 101),
        make("IREM.U32", dst=5, a=250, imm=len(initial), slot="b"),
        make("MOVI.64", dst=102, imm=target & 0xFFFFFFFF, mods=target >> 32),
        make("IMAD.WIDE.U32", dst=102, a=5, imm=size, slot="b", c=102),
    ]  # fmt: skip
    slots = {"c": 3} if second is not None else {}
    if second is not None:
        code.append(
            make("MOVI.64" if wide else "MOV", dst=3, **({"imm": second} if wide else {"imm": second, "slot": "a"}))
        )
    code += [make(name, dst=2, a=102, b=1, mods=ADDR64, **slots), make(put, a=101, b=2, mods=ADDR64), make("EXIT")]
    run(code, memory=memory, block=(threads, 1, 1))
    return np.frombuffer(memory.read(target, initial.nbytes), dtype), np.frombuffer(
        memory.read(old, threads * size), dtype
    )


PYTHON = {
    "ADD": lambda m, v: m + v, "MIN": min, "MAX": max, "AND": lambda m, v: m & v, "OR": lambda m, v: m | v,
    "XOR": lambda m, v: m ^ v,
    "EXCH": lambda m, v: v, "INC": lambda m, v: 0 if m >= v else m + 1, "DEC": lambda m,
    v: v if m == 0 or m > v else m - 1,
}  # fmt: skip


@pytest.mark.parametrize("name,dtype", [
    ("ADD.U32", np.uint32), ("ADD.U64", np.uint64), ("ADD.F32", np.float32), ("ADD.F64", np.float64),
    ("MIN.S32", np.int32), ("MAX.U32", np.uint32),
    ("MIN.S64", np.int64), ("AND.B32", np.uint32), ("OR.B64", np.uint64), ("XOR.B32", np.uint32),
    ("INC.U32", np.uint32), ("DEC.U32", np.uint32),
    ("EXCH.B32", np.uint32),
])  # fmt: skip
def test_atomics_take_turns_in_lane_order(name, dtype):
    rng = np.random.default_rng(3)
    values = (
        rng.random(64).astype(dtype) if dtype in (np.float32, np.float64) else rng.integers(0, 50, 64).astype(dtype)
    )
    memory = [dtype(5), dtype(9), dtype(40)]
    start = list(memory)
    olds = []
    for i, value in enumerate(values):
        olds.append(memory[i % 3])
        memory[i % 3] = dtype(PYTHON[name.split(".")[0]](memory[i % 3], value))
    found, found_olds = atomic_case(f"ATOMG.{name}", values, start, dtype)
    assert found.tolist() == [v.item() for v in memory] and found_olds.tolist() == [v.item() for v in olds]


def test_compare_and_swap():
    """Values equal to what is there are swapped for 77; only the first lane finds it."""
    found, olds = atomic_case("ATOMG.CAS.B32", [5] * 64, [5, 6], np.uint32, second=77)
    assert found.tolist() == [77, 6] and olds.tolist() == [5, 6] + [77, 6] * 31


def test_packed_half_addition():
    one, half = 0x3C003C00, 0x38003800  # (1, 1), (0.5, 0.5)
    found, olds = atomic_case("ATOMG.ADD.F16X2", [half] * 64, [one], np.uint32)
    assert found.tolist() == [0x50205020] and olds[:3].tolist() == [one, 0x3E003E00, 0x40004000]  # 33; 1, 1.5, 2


# Between lanes


def lanes_out(body: list, register: int = 5, threads: int = 32) -> list[int]:
    """What each thread has in a register after `body`; R0 is the lane."""
    memory = AddressSpace()
    out = memory.allocate(4 * threads, "out").address
    run(
        [
            special("laneid", 0),
            *body,
            *address_of(out, 4),
            make("STG.32", a=201, b=register, mods=ADDR64),
            make("EXIT"),
        ],
        memory=memory,
        block=(threads, 1, 1),
    )
    return np.frombuffer(memory.read(out, 4 * threads), np.uint32).tolist()


@pytest.mark.parametrize("mode,lane,clamp,wanted", [
    ("down", 16, 31, [i + 16 if i < 16 else i for i in range(32)]),
    ("up", 1, 0, [max(i - 1, 0) for i in range(32)]),
    ("bfly", 5, 31, [i ^ 5 for i in range(32)]),
    ("idx", 3, 31, [3] * 32),
    ("down", 1, (24 << 8) | 31, [i + 1 if i % 8 != 7 else i for i in range(32)]),
    ("idx", 2, (24 << 8) | 31, [i // 8 * 8 + 2 for i in range(32)]),
    ("up", 2, 24 << 8, [i - 2 if i % 8 >= 2 else i for i in range(32)]),
])  # fmt: skip
def test_shuffles(mode, lane, clamp, wanted):
    mods = pack(shfl=mode, has_lane=1, lane=lane, has_clamp=1, clamp=clamp)
    assert lanes_out([make("SHFL", dst=5, a=0, mods=mods)]) == wanted


def test_shuffle_by_register_and_its_predicate():
    body = [
        make("ISUB", dst=1, a=255, b=0), make("IADD", dst=1, a=1, imm=31, slot="b"),
        make("MOV", dst=2, imm=15, slot="a"),
        make("SHFL.P", dst=0, a=0, b=1, c=2, mods=pack(shfl="idx")), make("SHFL", dst=5, a=0, b=1, c=2,
            mods=pack(shfl="idx")),
        make("IADD", dst=5, a=5, imm=100, slot="b", guard=0),
    ]  # fmt: skip
    assert lanes_out(body) == [i if 31 - i > 15 else 131 - i for i in range(32)]


def test_votes_within_what_is_active():
    """Lanes below 20 vote on lane < 10."""
    body = [
        make("ISETP.U32", dst=0, a=0, imm=10, slot="b", mods=pack(cmp="lt")),
        make("ISETP.U32", dst=1, a=0, imm=20, slot="b", mods=pack(cmp="ge")),
        make("MOV", dst=5, imm=0, slot="a"),
        jump(4, 9, guard=1),
        make("VOTE.BALLOT", dst=5, a=0, imm=ALL),
        make("VOTE.ANY", dst=2, a=0, imm=ALL),
        make("IADD", dst=5, a=5, imm=1 << 20, slot="b", guard=2),
        make("ACTIVEMASK", dst=6),
    ]
    assert lanes_out(body) == [0x3FF + (1 << 20)] * 20 + [0] * 12
    assert lanes_out([*body[:3], jump(4, 9, guard=1), *body[4:8]], 6)[0] == 0xFFFFF


def test_tiles_vote_by_their_own_masks():
    """Each quarter of the warp has its own member mask in a register."""
    body = [
        make("SHR.U32", dst=1, a=0, imm=3, slot="b"), make("SHL", dst=2, a=1, imm=3, slot="b"),
        make("MOV", dst=3, imm=0xFF, slot="a"),
        make("SHL", dst=3, a=3, b=2), make("ISETP.U32", dst=0, a=0, imm=12, slot="b", mods=pack(cmp="lt")),
        make("VOTE.ALL", dst=1, a=0, b=3), make("SEL", dst=5, imm=1, slot="a", b=255, e=1),
        make("REDUX.ADD.S32", dst=6, a=0, b=3), make("IMAD", dst=5, a=6, imm=10, slot="b", c=5),
    ]  # fmt: skip
    assert lanes_out(body) == [10 * sum(range(8 * k, 8 * k + 8)) + (k == 0) for k in range(4) for _ in range(8)]


def test_match_any_and_all():
    body = [make("AND", dst=1, a=0, imm=3, slot="b"), make("MATCH.ANY.B32", dst=5, a=1, imm=ALL)]
    assert lanes_out(body) == [0x11111111 << i % 4 for i in range(32)]
    body = [
        make("MOV", dst=1, imm=9, slot="a"),
        make("MATCH.ALL.B32", dst=5, a=1, c=0, imm=ALL),
        make("MATCH.ALL.B32", dst=6, a=0, c=1, imm=ALL),
    ]
    assert lanes_out(body) == [ALL] * 32 and lanes_out(body, 6) == [0] * 32


# The runtime


def test_printf_and_assert():
    from gpuprof.isa.program import Variable

    texts = b"lane %d: %5.2f %s%%\n\0hello\0"
    memory = AddressSpace()
    variable = Variable("text", "global", 0, len(texts), 1, texts)
    base = GLOBAL_BASE  # the first allocation
    code = [
        special("tid.x", 0),
        make("STL.32", imm=0, b=0),
        make("CVT.F64.U32", dst=0, a=0), make("STL.64", imm=8, b=0),
        make("MOVI.64", dst=1, imm=base + 21 & 0xFFFFFFFF, mods=base >> 32), make("STL.64", imm=16, b=1),
        make("MOVI.64", dst=1, imm=base & 0xFFFFFFFF, mods=base >> 32),
        make("MOVI.64", dst=2, imm=0, mods=LOCAL_WINDOW >> 32),
        make("SYSCALL", dst=3, a=1, b=2, imm=1),
        make("EXIT"),
    ]  # fmt: skip
    result = run(code, memory=memory, block=(3, 1, 1), local_nbytes=32, variables=[variable])
    assert result.counters.output == [f"lane {i}: {i:5.2f} hello%\n" for i in range(3)]


@pytest.mark.parametrize("text", ["%#o", "%#8o", "%-#8o", "%#.1o", "%#.5o", "%#08o"])
@pytest.mark.parametrize("value", [0, 8, 0o777])
def test_octal_with_a_leading_zero(text, value):
    """As the C library of this machine writes it."""
    import ctypes
    from types import SimpleNamespace

    from gpuprof.emulate.collectives.services import DIRECTIVE, convert

    expected = ctypes.create_string_buffer(64)
    ctypes.CDLL(None).snprintf(expected, 64, text.encode(), ctypes.c_uint(value))
    assert convert(DIRECTIVE.match(text), SimpleNamespace(take=lambda code: value)) == expected.value.decode()


def test_assertion_names_its_text():
    from gpuprof.isa.program import Variable

    texts = b"x > 0\0a.cu\0k(int)\0"
    memory = AddressSpace()

    def constant(dst, value):
        return make("MOVI.64", dst=dst, imm=value & 0xFFFFFFFF, mods=value >> 32)

    code = [
        constant(0, GLOBAL_BASE),
        constant(1, GLOBAL_BASE + 6),
        constant(2, GLOBAL_BASE + 11),
        make("MOV", dst=0, imm=42, slot="a"),
    ]
    code += [
        make("STL.64", imm=0, b=0),
        make("STL.64", imm=8, b=1),
        make("STL.32", imm=16, b=0),
        make("STL.64", imm=24, b=2),
    ]
    code += [constant(3, LOCAL_WINDOW), make("SYSCALL", a=3, imm=4), make("EXIT")]
    assert fault_of(
        code, memory=memory, local_nbytes=40, variables=[Variable("text", "global", 0, len(texts), 1, texts)]
    ) == ("k: k.cu:10, thread (0, 0, 0) of block (0, 0, 0): assertion `x > 0' failed in k(int) (a.cu:42)")


def test_device_malloc_and_free():
    """Each lane allocates, writes, reads back and frees; a second free is a fault."""
    memory = AddressSpace()
    out = memory.allocate(128, "out").address
    body = [
        special("laneid", 0),
        make("MOVI.64", dst=0, imm=64),
        make("SYSCALL.64", dst=1, a=0, imm=2),
        make("ST.32", a=1, b=0, mods=ADDR64),
    ]
    body += [make("LD.32", dst=5, a=1, mods=ADDR64), make("SYSCALL", a=1, imm=3)]
    store = [*address_of(out, 4), make("STG.32", a=201, b=5, mods=ADDR64), make("EXIT")]
    run([*body, *store], memory=memory)
    assert np.frombuffer(memory.read(out, 128), np.uint32).tolist() == list(range(32)) and len(memory.allocations) == 1
    assert "was freed before" in fault_of([*body, body[-1], *store], memory=memory)


def test_results_and_traces_do_not_depend_on_the_chunking(monkeypatch):
    """The same launch in chunks of one block and in one chunk."""
    import gpuprof.emulate.run as module

    def once():
        memory = AddressSpace()
        out = memory.allocate(4 * 640, "out").address
        code = [
            *address_of(out, 4),
            make("IMUL", dst=1, a=250, b=250),
            make("STG.32", a=201, b=1, mods=ADDR64),
            make("EXIT"),
        ]
        result = run(code, memory=memory, grid=(10, 1, 1), block=(64, 1, 1))
        steps = np.concatenate([piece.steps for piece in result.pieces])
        sectors = np.concatenate([piece.sectors for piece in result.pieces])
        return memory.read(out, 2560), steps.tolist(), sectors.tolist(), len(result.pieces)

    whole = once()
    monkeypatch.setattr(module, "CHUNK_LANES", 64)
    monkeypatch.setattr(module, "FIRST_CHUNK_LANES", 64)
    apart = once()
    assert whole[:3] == apart[:3] and (whole[3], apart[3]) == (1, 10)
