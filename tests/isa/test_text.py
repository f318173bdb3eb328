"""Instruction text: golden lines, and the round trip over every row of the table."""

import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.isa.encoding import NEGATED, PT, RZ, Instruction, make
from gpuprof.isa.modifiers import FIELDS, pack
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.printing.text import disassemble, parse
from gpuprof.isa.special import SPECIAL_INDEX

GOLDEN = [
    (make("FFMA", guard=NEGATED, dst=4, a=2, b=3, slot="c", const=True, imm=0x10, mods=pack(rnd="rz", ftz=1, neg_b=1)),
     "@!P0 FFMA.RZ.FTZ R4, R2, -R3, c[0x10]"),
    (make("LDG.V4.32", dst=4, a=2, imm=0x10, mods=pack(addr64=1)), "LDG.V4.32 R4, [D2+0x10]"),
    (make("LDS.32", dst=4, a=RZ, imm=-4, mods=pack(sem="volatile")), "LDS.32.VOLATILE R4, [RZ-0x4]"),
    (make("STG.64", a=2, b=7, mods=pack(addr64=1, cache="cg")), "STG.64.CG [D2], D7"),
    (make("ISETP.S32", dst=0, a=1, slot="b", imm=5, e=2 | NEGATED, mods=pack(cmp="lt", bool="and")),
     "ISETP.S32.LT.AND P0, PT, R1, 0x5, !P2"),
    (make("FSETP", dst=0, c=1, a=1, b=RZ, mods=pack(cmp="nan", ftz=1)), "FSETP.NAN.FTZ P0, P1, R1, RZ, PT"),
    (make("S2R", dst=0, imm=SPECIAL_INDEX["tid.x"]), "S2R R0, tid.x"),
    (Instruction(make("MOVI.64").op, dst=3, imm=0, mods=0x7F), "MOVI.64 D3, 0x7f00000000"),
    (make("BRA", imm=0x20), "BRA .+0x20"),
    (make("CALL.IND", a=3, mods=0x48), "CALL.IND D3, frame=0x48"),
    (make("SYSCALL", dst=1, a=2, b=3, imm=1), "SYSCALL R1, D2, D3, 0x1"),
    (make("CALL", imm=-64, mods=0x30), "CALL .-0x40, frame=0x30"),
    (make("BAR.SYNC", imm=1 | 128 << 16), "BAR.SYNC 0x1, 0x80"),
    (make("BAR.RED.AND", dst=3, a=5, imm=64 << 16, c=1), "BAR.RED.AND P3, R5, 0x40, P1"),
    (make("SHFL", dst=1, a=2, imm=0xFFFFFFFF, mods=pack(shfl="down", has_lane=1, lane=16, has_clamp=1, clamp=31)),
     "SHFL.DOWN R1, R2, 0x10, 0x1f, 0xffffffff"),
    (make("VOTE.BALLOT", dst=1, a=NEGATED | 2, imm=0xFFFFFFFF), "VOTE.BALLOT R1, !P2, 0xffffffff"),
    (make("MATCH.ALL.B64", dst=1, a=2, b=3, c=0), "MATCH.ALL.B64 R1, P0, D2, R3"),
    (make("LOP3", dst=1, a=2, b=3, c=RZ, mods=pack(lut=0x96)), "LOP3 R1, R2, R3, RZ, 0x96"),
    (make("FTESTP", dst=1, a=2, mods=pack(lut=3)), "FTESTP.NOTANUMBER P1, R2"),
    (make("IADDC", dst=1, a=2, b=3, c=0, e=PT | NEGATED), "IADDC R1, P0, R2, R3, !PT"),
    (make("ATOMG.CAS.B32", dst=1, a=2, b=3, c=4, mods=pack(addr64=1, sem="relaxed", scope="gpu")),
     "ATOMG.CAS.B32.RELAXED.GPU R1, [D2], R3, R4"),
    (make("REDG.ADD.F32", a=2, b=3, mods=pack(addr64=1)), "REDG.ADD.F32 [D2], R3"),
    (make("MEMBAR", mods=pack(scope="gpu")), "MEMBAR.GPU"),
    (make("EXIT", guard=PT | NEGATED), "@!PT EXIT"),
    (make("NOP", imm=7, a=1), "NOP {a=0x1, imm=0x7}"),
    (make("FADD", dst=0, a=1, b=2, mods=FIELDS["rnd"].put(7)), "FADD.RND7 R0, R1, R2"),
]  # fmt: skip


@pytest.mark.parametrize("inst, text", GOLDEN, ids=[text for _, text in GOLDEN])
def test_golden(inst, text):
    assert disassemble(inst) == text
    assert parse(text) == inst


def test_targets():
    back = make("BRA", imm=-0x20)
    assert disassemble(back, pc=0x130) == "BRA 0x120"
    assert disassemble(back, pc=0x130, labels={0x120: "L1"}) == "BRA L1"
    assert parse("BRA 0x120", pc=0x130) == parse("BRA L1", pc=0x130, labels={"L1": 0x120}) == back


words = st.one_of(st.integers(0, 0xFFFFFFFF), st.sampled_from([0, 1, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]))
slots = st.one_of(st.integers(0, 255), st.sampled_from([0, PT, RZ, NEGATED]))
encoded = st.tuples(slots, slots, slots, slots, slots, slots, words, words)


@settings(max_examples=50)
@given(encoded, st.integers(0, 1 << 20).map(lambda i: 16 * i))
def test_every_row_round_trips_with_any_fields(fields, pc):
    for op in TABLE:
        inst = Instruction(op, *fields)
        assert parse(disassemble(inst)) == inst
        assert parse(disassemble(inst, pc), pc) == inst


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_every_modifier_value_round_trips(field):
    for op in (op for op in TABLE if field in op.fields):
        for value in range(1 << min(FIELDS[field].width, 5)):
            inst = make(op.name, mods=FIELDS[field].put(value))
            assert parse(disassemble(inst)) == inst


def test_no_instruction_that_make_builds_needs_braces():
    """Braces hold what no operand shows; an ordinary instruction has none."""
    assert [op.name for op in TABLE if "{" in disassemble(make(op.name))] == []


@pytest.mark.parametrize(
    "text, message",
    [
        ("FROB R1", "no opcode is called 'FROB'"),
        ("FADD.XX R1, R2, R3", "FADD has no modifier 'XX' here"),
        ("FADD R1, R2", "FADD has 3 operands, not 2: 'FADD R1, R2'"),
        ("FADD R1, R2, D3", "not a R register: 'D3'"),
        ("FADD R1, R2, 0x100000000", "0x100000000 does not fit into 32 bits"),
        ("LDG.32 R1, [X2]", "not an address: '[X2]'"),
        ("BRA L1", "the target 'L1' needs the address of its instruction"),
        ("S2R R1, tid.w", "not a special register: 'tid.w'"),
        ("NOP {x=1}", "no field is called 'x'"),
        ("", "not an instruction: ''"),
    ],
)
def test_what_is_not_understood(text, message):
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert str(caught.value) == message
