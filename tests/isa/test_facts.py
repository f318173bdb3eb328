"""Facts about a program: in a section of the gpubin, and in comments of version 5."""

import struct
import zlib
from dataclasses import replace

import pytest

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.errors import FileFormatError
from gpuprof.isa.facts import (
    NEVER_FENCED,
    NO_FACTS,
    OVERWRITTEN,
    SOMETIMES_FENCED,
    UNFENCED,
    Facts,
    MemberStore,
    PaddedCopy,
    RegisterHazard,
)
from gpuprof.isa.gpubin import layout
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.gpubin.version_5 import facts_in_comments
from tests.support.gpubin_programs import small_program

COMMENTS = """.version 8.6
// gpuprof: a.cu:12:15 copies 24 bytes; padding: bits 8-32 144-192
// gpuprof: a b:1.cu:13:15 stores 2 bytes at 16 of 24; padding: bits 8-32; fields: none
// gpuprof: line 52 multiplies %f5 of line 48, with no wgmma.fence between
// gpuprof: line 61 writes %r7, which line 52 may still read
// gpuprof: line 70 multiplies with no wgmma.fence before it
// gpuprof: line 75 multiplies with no wgmma.fence before it on some way
"""
FACTS = Facts(
    padded_copies=(PaddedCopy("a.cu", 12, 15, 24, ((8, 32), (144, 192))),),
    member_stores=(MemberStore("a b:1.cu", 13, 15, 2, 16, 24, ((8, 32),), ()),),
    register_hazards=(
        RegisterHazard(UNFENCED, 52, 48, "%f5"),
        RegisterHazard(OVERWRITTEN, 61, 52, "%r7"),
        RegisterHazard(NEVER_FENCED, 70),
        RegisterHazard(SOMETIMES_FENCED, 75),
    ),
)


def test_comments_of_version_5():
    assert facts_in_comments(COMMENTS) == FACTS


@pytest.mark.parametrize(
    "text",
    ["0 bytes; padding: bits 1-2", "8 bytes; padding: bits 1-2-3", "8 bytes; padding: bits 4", "8 bytes; padding: 1-2",
     f"{'9' * 5000} bytes; padding: bits 1-2"],
)  # fmt: skip
def test_other_comments_are_no_facts(text):
    assert facts_in_comments(f"// gpuprof: a.cu:1:1 copies {text}\n") == NO_FACTS


def as_version(version: int, data: bytes) -> bytes:
    data = bytearray(data)
    struct.pack_into("<I", data, layout.DESCRIPTION_OFFSET, version)
    struct.pack_into("<I", data, layout.CRC_OFFSET, 0)
    struct.pack_into("<I", data, layout.CRC_OFFSET, zlib.crc32(data))
    return bytes(data)


def test_a_file_of_version_5_is_read():
    old = as_version(5, without_raised_registers(write_gpubin(replace(small_program(), ptx=COMMENTS, facts=NO_FACTS))))
    assert read_gpubin(old, "k.gpubin").facts == FACTS


def without_raised_registers(data: bytes) -> bytes:
    """The notes of functions as they were before version 7; blanks keep the sections where they are."""
    field = b',"raised_registers":0'
    assert field in data
    return data.replace(field, b" " * len(field))


def test_a_file_of_version_6_is_read():
    program = small_program()
    old = as_version(6, without_raised_registers(write_gpubin(program)))
    assert read_gpubin(old, "k.gpubin").functions == program.functions


def test_a_file_of_version_4_is_refused():
    message = "k.gpubin: gpubin format version 4, older than the 5 this gpuprof reads; compile it again"
    with pytest.raises(FileFormatError) as caught:
        read_gpubin(as_version(4, write_gpubin(small_program())), "k.gpubin")
    assert str(caught.value) == message


def test_comments_of_this_version_are_no_facts():
    program = replace(small_program(), ptx=COMMENTS, facts=NO_FACTS)
    data = write_gpubin(program)
    assert read_gpubin(data, "k.gpubin").facts == NO_FACTS and b".gpuprof.facts" not in data


DAMAGED = {
    "has a structure of 0 bytes": {"padded_copies": (PaddedCopy("a.cu", 1, 1, 0, ()),)},
    "has a structure of 1000000000 bytes": {"member_stores": (MemberStore("a.cu", 1, 1, 1, 0, 10**9, (), ()),)},
    "has a register hazard 'other'": {"register_hazards": (RegisterHazard("other", 1),)},
    ".register_hazards[0][1] is out of range": {"register_hazards": (RegisterHazard(UNFENCED, -1),)},
    ".padded_copies[0] has 4 items, not 5": {"padded_copies": (("a.cu", 1, 1, 4),)},
    ".variables does not have the fields of VariableFacts": {"variables": {}},
}


@pytest.mark.parametrize("message", DAMAGED)
def test_damaged_facts_are_refused(message):
    data = write_gpubin(replace(small_program(), facts=replace(NO_FACTS, **DAMAGED[message])))
    with pytest.raises(FileFormatError) as caught:
        read_gpubin(data, "k.gpubin")
    space = "" if message.startswith(".") else " "
    assert str(caught.value) == f"k.gpubin: damaged gpubin: .gpuprof.facts{space}{message}; compile it again"
