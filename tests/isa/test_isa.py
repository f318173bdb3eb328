"""The instruction table, its encoding, and its page in docs/."""

import hashlib

import numpy as np
import pytest

from gpuprof.isa import describe, opcodes
from gpuprof.isa.encoding import PT, RZ, Operand, decode, encode, make, reads, writes
from gpuprof.isa.modifiers import FIELDS, pack, unpack, unpack_name
from gpuprof.isa.program import basic_block_starts
from tests.paths import ROOT

# Numbers are given in table order: a change of the table makes old gpubin files mean something else.
TABLE_OF_VERSION = {
    1: "43664ce0d5c41eaa",
    2: "045ffb173f81b7a4",
    3: "578af40343ea6213",
    4: "ab1900e573a6cc3d",
    5: "49b8604dbaf706ff",
}


def table_digest() -> str:
    """Gives the digest of all columns but `kind`, the last, which changes neither what a gpubin file means nor how long
    it takes.
    """
    return hashlib.sha256(repr([tuple(row)[:-1] for row in opcodes.TABLE]).encode()).hexdigest()[:16]


def test_a_changed_table_has_a_new_version():
    assert TABLE_OF_VERSION.get(opcodes.ISA_VERSION) == table_digest(), (
        "the table changed: raise ISA_VERSION and add its digest here"
    )


def test_every_family_is_in_the_table():
    files = {path.stem for path in (ROOT / "gpuprof" / "isa" / "families").glob("*.py")} - {"__init__"}
    assert sorted(opcodes.FAMILIES) == sorted(files)


def test_the_page_is_in_step():
    assert (ROOT / "docs" / "isa.md").read_text() == describe.describe(), "python -m gpuprof.isa.describe > docs/isa.md"


def test_bytes_of_an_instruction():
    # @!P2 FADD.RZ R1, R2, 1.0: opcode, guard, dst, a, b (replaced by imm), c, e, imm, mods
    instruction = make("FADD", guard=2 | 0x80, dst=1, a=2, imm=0x3F800000, slot="b", mods=pack(rnd="rz"))
    number = opcodes.BY_NAME["FADD"].number
    expected = (
        number.to_bytes(2, "little")
        + bytes([0x82, 1, 2, RZ, RZ, RZ])
        + bytes.fromhex("0000803f")
        + (1 << 7 | 2).to_bytes(4, "little")
    )
    assert encode([instruction]).tobytes() == expected
    assert decode(encode([instruction])[0]) == instruction


@pytest.mark.parametrize(
    "instruction, read, written",
    [
        (make("FFMA", dst=0, a=1, b=2, c=3), [("R", 1, 1), ("R", 2, 1), ("R", 3, 1)], [("R", 0, 1)]),
        (make("FFMA", dst=0, a=1, c=3, imm=0, slot="b"), [("R", 1, 1), ("R", 3, 1)], [("R", 0, 1)]),
        (make("LDG.V4.32", dst=8, a=2, mods=pack(addr64=1)), [("D", 2, 1)], [("R", 8, 4)]),
        (make("STS.V2.64", a=5, b=6), [("R", 5, 1), ("D", 6, 2)], []),
        (
            make("ISETP.S32", guard=1, dst=0, a=1, b=RZ, c=3, e=4 | 0x80),
            [("P", 1, 1), ("R", 1, 1), ("P", 4, 1)],
            [("P", 0, 1), ("P", 3, 1)],
        ),
        (make("IMAD.WIDE.S32", dst=1, a=2, b=3, c=4), [("R", 2, 1), ("R", 3, 1), ("D", 4, 1)], [("D", 1, 1)]),
        (make("EXIT"), [], []),
    ],
)
def test_reads_and_writes(instruction, read, written):
    assert list(reads(instruction)) == [Operand(*each) for each in read]
    assert list(writes(instruction)) == [Operand(*each) for each in written]


def test_modifier_fields():
    word = pack(cmp="geu", bool="and", ftz=1)
    assert (unpack_name(word, "cmp"), unpack_name(word, "bool"), unpack(word, "ftz")) == ("geu", "and", 1)
    with pytest.raises(ValueError, match="8 does not fit into 3 bits"):
        pack(rnd=8)
    with pytest.raises(ValueError, match="field rnd holds 7, which has no meaning"):
        unpack_name(7 << FIELDS["rnd"].shift, "rnd")


def test_fields_of_one_row_do_not_overlap():
    common = ("imm_slot", "const", "neg_a", "neg_b", "neg_c", "addr64")
    for row in opcodes.TABLE:
        used = 0
        for name in (*common, *row.fields):
            mask = ((1 << FIELDS[name].width) - 1) << FIELDS[name].shift
            assert not used & mask, (row.name, name)
            used |= mask


def test_basic_blocks():
    # 0 MOV; 1 @P0 BRA 4; 2 MOV; 3 BAR; 4 MOV; 5 EXIT
    code = encode(
        [
            make("MOV", dst=0),
            make("BRA", guard=0, imm=2 * 16),
            make("MOV", dst=0),
            make("BAR.SYNC"),
            make("MOV", dst=0),
            make("EXIT"),
        ]
    )
    np.testing.assert_array_equal(basic_block_starts(code), [0, 2, 4])
    assert basic_block_starts(code[:0]).tolist() == []


def test_unguarded_is_always():
    assert make("NOP").guard == PT
