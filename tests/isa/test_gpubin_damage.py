"""Damaged, cut, foreign, newer and hostile gpubin files: always FileFormatError that says what and where, never
anything else.
"""

import os
import random
import struct
import zlib
from dataclasses import replace

import pytest

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.errors import FileFormatError
from gpuprof.isa.gpubin import layout
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.opcodes import ISA_VERSION, TABLE
from tests.support.gpubin_programs import small_program

WHOLE = write_gpubin(small_program())
THOROUGH = "GPUPROF_FUZZ" in os.environ


def sealed(data: bytes) -> bytes:
    """The file with its length and checksum made right again, as someone who means harm would."""
    data = bytearray(data)
    struct.pack_into("<QI", data, layout.CRC_OFFSET - 8, len(data), 0)
    struct.pack_into("<I", data, layout.CRC_OFFSET, zlib.crc32(data))
    return bytes(data)


def with_bytes(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


def refusal(data: bytes) -> str:
    with pytest.raises(FileFormatError) as caught:
        read_gpubin(data, "k.gpubin")
    return str(caught.value)


def test_sealed_agrees_with_the_writer():
    assert sealed(WHOLE) == WHOLE


MESSAGES = {
    "empty": (
        b"",
        "k.gpubin: not a gpubin: it starts with b'', not with a 64-bit ELF header; `gpuprof compile` makes gpubin "
        "files",
    ),
    "text": (
        b"// PTX",
        "k.gpubin: not a gpubin: it starts with b'// P', not with a 64-bit ELF header; `gpuprof compile` makes gpubin "
        "files",
    ),
    "header only": (WHOLE[:70], "k.gpubin: cut off after 70 bytes, inside the gpubin header; compile it again"),
    "cut": (WHOLE[:2000], f"k.gpubin: cut off: 2000 bytes of {len(WHOLE)}; copy or compile it again"),
    "longer": (
        WHOLE + b"x",
        f"k.gpubin: longer than it says: {len(WHOLE) + 1} bytes of {len(WHOLE)}; copy or compile it again",
    ),
    "bit flip": (
        with_bytes(WHOLE, 900, b"\xff"),
        f"k.gpubin: damaged: its {len(WHOLE)} bytes do not match their checksum; copy or compile it again",
    ),
    "x86": (
        with_bytes(WHOLE, 18, b"\x3e\x00"),
        "k.gpubin: not a gpubin: an ELF for machine 62, not 190 (EM_CUDA); give a file made by `gpuprof compile`",
    ),
    "cubin": (
        # with the ABI that nvcc 13 writes
        with_bytes(with_bytes(WHOLE, layout.NOTE_OFFSET + 12, b"NVIDIA C"), 7, b"\x41\x08"),
        "k.gpubin: a CUDA ELF that gpuprof did not write (NVIDIA machine code cannot be run); give the .cu or .ptx "
        "file instead",
    ),
    "newer format": (
        with_bytes(WHOLE, layout.DESCRIPTION_OFFSET, b"\x09\0\0\0"),
        f"k.gpubin: gpubin format version 9, newer than the {layout.GPUBIN_VERSION} this gpuprof knows; update gpuprof "
        "or compile it again",
    ),
    "older instructions": (
        with_bytes(WHOLE, layout.DESCRIPTION_OFFSET + 4, b"\0\0\0\0"),
        f"k.gpubin: instruction set version 0, older than the {ISA_VERSION} this gpuprof reads; compile it again",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    data, message = MESSAGES[case]
    assert refusal(data) == message


def test_cut_at_every_byte():
    for nbytes in range(len(WHOLE)):
        assert refusal(WHOLE[:nbytes]).startswith(("k.gpubin: cut off", "k.gpubin: not a gpubin"))


def test_fuzz_every_flipped_bit_is_noticed():
    for offset in range(len(WHOLE)):
        for bit in range(8) if THOROUGH else (offset % 8,):
            refusal(with_bytes(WHOLE, offset, bytes([WHOLE[offset] ^ 1 << bit])))


# --- files whose checksum is right


def read_or_refuse(data: bytes) -> None:
    """Anything but FileFormatError fails the test."""
    try:
        read_gpubin(data, "k.gpubin")
    except FileFormatError as error:
        assert str(error).startswith("k.gpubin: ")


@pytest.mark.long
def test_fuzz_every_byte_with_the_checksum_made_right():
    for offset in range(len(WHOLE)):
        values = (
            [1 << bit ^ WHOLE[offset] for bit in range(8)] + [0, 0x7F, 0x80, 0xFF]
            if THOROUGH
            else (0xFF, WHOLE[offset] ^ 1)
        )
        for value in values:
            read_or_refuse(sealed(with_bytes(WHOLE, offset, bytes([value]))))


@pytest.mark.long
def test_fuzz_many_bytes_with_the_checksum_made_right():
    rng = random.Random(7)
    for _ in range(20_000 if THOROUGH else 1000):
        data = WHOLE
        for _ in range(rng.randrange(1, 8)):
            word = rng.choice(
                [b"\0", b"\xff" * 4, b"\xff" * 8, struct.pack("<Q", rng.randrange(len(WHOLE))), b'"', b"[" * 5, b"\x80"]
            )
            data = with_bytes(data, rng.randrange(len(WHOLE) - 8), word)
        read_or_refuse(sealed(data))


def replaced(old: bytes, new: bytes) -> bytes:
    assert old in WHOLE
    assert len(old) == len(new)
    return sealed(WHOLE.replace(old, new))


HOSTILE = {
    "a huge zero variable": (
        replaced(
            b'"align":16,"image":"","name":"weights","nbytes":16', b'"align":1,"image":"","name":"","nbytes":9999999999'
        ),
        "k.gpubin: damaged gpubin: its zero variables take more than 2147483648 bytes; compile it again",
    ),
    "a variable beyond its segment": (
        replaced(b'"name":"table","nbytes":8', b'"name":"tabl","nbytes":80'),
        "k.gpubin: damaged gpubin: program.variables[0] 'tabl' reaches beyond its segment; compile it again",
    ),
    "a number that is text": (
        replaced(b'"barriers":1,', b'"barriers":",'),
        "k.gpubin: damaged gpubin: the note '.note.gpuprof._Z4scanILi256EEvPfi' is not JSON; compile it again",
    ),
    "a missing field": (
        replaced(b'"min_blocks":2', b'"min_block":22'),
        "k.gpubin: damaged gpubin: .note.gpuprof._Z4scanILi256EEvPfi does not have the fields of Function; compile it "
        "again",
    ),
    "an unknown opcode": (
        sealed(WHOLE.replace(small_program().code[1].tobytes(), b"\xff\xff" + small_program().code[1].tobytes()[2:])),
        f"k.gpubin: damaged gpubin: opcode number 65535 at address 0x10 is not in the table of {len(TABLE)}; compile "
        "it again",
    ),
    "a branch out of the code": (
        sealed(
            WHOLE.replace(
                small_program().code[3].tobytes(), small_program().code[3].tobytes()[:8] + b"\0\0\0\x40\0\0\0\0"
            )
        ),
        "k.gpubin: damaged gpubin: the branch at address 0x30 leads to 0x40000040, outside the code; compile it again",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile(case):
    data, message = HOSTILE[case]
    assert refusal(data) == message


def test_deeply_nested_json():
    nested = write_gpubin(replace(small_program(), name="[" * 100_000)).replace(b'"[[', b"[[[")
    assert refusal(sealed(nested)) == "k.gpubin: damaged gpubin: the note '.note.gpuprof' is not JSON; compile it again"
