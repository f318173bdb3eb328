"""gpubin files whose checksum is right and whose ELF is made to do harm: each is refused, soon and in little memory."""

import random
import struct
import tracemalloc
import zlib

import numpy as np
import pytest

from gpuprof.errors import FileFormatError
from gpuprof.isa.gpubin import layout
from gpuprof.isa.gpubin.reader import read_gpubin
from tests.isa.test_gpubin_damage import THOROUGH, WHOLE, read_or_refuse, sealed, with_bytes
from tests.support.gpubin_programs import assert_equal, small_program
from tests.support.work import n_calls

CODE, RELA, NOTE = (f".{kind}._Z4scanILi256EEvPfi" for kind in ("text", "rela.text", "note.gpuprof"))
ELF_FIELDS = ("ident", "type", "machine", "version", "entry", "phoff", "shoff", "flags", "ehsize", "phentsize",
              "phnum", "shentsize", "shnum", "shstrndx")  # fmt: skip
ELF = dict(zip(ELF_FIELDS, layout.ELF_HEADER.unpack_from(WHOLE), strict=True))
HEADERS = np.frombuffer(WHOLE, layout.SECTION_DTYPE, ELF["shnum"], ELF["shoff"])
NAMES = WHOLE[HEADERS[-1]["offset"] :]
NUMBERS = {NAMES[row["name"] :].split(b"\0")[0].decode(): number for number, row in enumerate(HEADERS)}
BODY = WHOLE[: ELF["shoff"]]
U32, U64 = (1 << 32) - 1, (1 << 64) - 1


def with_elf(data: bytes = WHOLE, **changes: int) -> bytes:
    """The file with other values in its ELF header."""
    return layout.ELF_HEADER.pack(*(ELF | changes).values()) + data[layout.ELF_HEADER.size :]


def row_of(section: str, /, **changes: int) -> np.ndarray:
    """A section's header with other values."""
    row = HEADERS[[NUMBERS[section]]].copy()
    for field, value in changes.items():
        row[field] = value
    return row


def with_section(section: str, data: bytes = WHOLE, /, **changes: int) -> bytes:
    """The file with other values in a section's header."""
    return with_bytes(data, ELF["shoff"] + NUMBERS[section] * HEADERS.itemsize, row_of(section, **changes).tobytes())


def with_content(name: str, offset: int, new: bytes, data: bytes = WHOLE) -> bytes:
    """The file with other bytes at an offset of a section."""
    return with_bytes(data, start(name) + offset, new)


def start(name: str) -> int:
    return int(row_of(name)["offset"][0])


def with_headers(more: bytes, headers: np.ndarray) -> bytes:
    """The file with `more` behind its sections, and other section headers behind that."""
    return with_elf(BODY + more + headers.tobytes(), shoff=len(BODY + more), shnum=len(headers))


BOMB = struct.pack("<IIQQ", 1, 0, 1 << 40, 1) + zlib.compress(bytes(1 << 24))  # ELFCOMPRESS_ZLIB, "1 TB"
LONG = b"a" * 1_000_000 + b"\0"


def with_bomb(section: str) -> bytes:
    """The file with a section of 16 MB in 16 kB."""
    headers = HEADERS.copy()
    headers[NUMBERS[section]] = row_of(section, offset=len(BODY), nbytes=len(BOMB), flags=0x800)[0]
    return with_headers(BOMB, headers)


def with_long_section_names() -> bytes:
    """Ten thousand empty sections, whose names are a million letters, all but the first, all but the first two, ..."""
    more = np.repeat(row_of(".gpuprof.const"), 10_000)
    more["name"] = len(NAMES) + np.arange(len(more))
    names = row_of(".shstrtab", offset=len(BODY), nbytes=len(NAMES + LONG))
    return with_headers(NAMES + LONG, np.concatenate([HEADERS[:-1], names, more]))


def with_long_symbol_names() -> bytes:
    """Ten thousand relocations of as many symbols, with such names."""
    symbols = np.zeros(10_000, layout.SYMBOL_DTYPE)
    symbols["name"] = np.arange(len(symbols))
    relocations = np.zeros(len(symbols), layout.RELA_DTYPE)
    relocations["symbol"] = np.arange(len(symbols))
    headers, more = HEADERS.copy(), b""
    for name, content in ((".strtab", LONG), (".symtab", symbols.tobytes()), (RELA, relocations.tobytes())):
        headers[NUMBERS[name]] = row_of(name, offset=len(BODY + more), nbytes=len(content))[0]
        more += content
    return with_headers(more, headers)


HEADERS_AT = f"at offset {len(BODY)} do not fit"
ENDLESS = "its ELF sections take more than 4 times its length to read"
ATTACKS = {
    "2^31 sections, where section 0 has the number": (
        with_elf(with_section("", nbytes=1 << 31), shnum=0),
        f"0 section headers of 64 bytes {HEADERS_AT}",
    ),
    "65535 sections": (with_elf(shnum=0xFFFF), f"65535 section headers of 64 bytes {HEADERS_AT}"),
    "headers of no size": (with_elf(shentsize=0), f"27 section headers of 0 bytes {HEADERS_AT}"),
    "large headers": (with_elf(shentsize=0xFFFF), f"27 section headers of 65535 bytes {HEADERS_AT}"),
    "headers outside": (with_elf(shoff=U64), f"27 section headers of 64 bytes at offset {U64} do not fit"),
    "a core dump": (with_elf(type=4), "it is an ELF of type ET_CORE"),
    "a section's name outside": (
        with_section(CODE, name=U32),
        f"a name at offset {U32} of the string table '.shstrtab' is outside of it",
    ),
    "a section's name in the headers": (
        with_section(CODE, name=433),
        "a name at offset 433 of the string table '.shstrtab' is outside of it",
    ),
    "a section's name without an end": (
        with_section(".shstrtab", nbytes=432),
        "the last name of the string table '.shstrtab' does not end",
    ),
    "two sections of one name": (with_section(".text.twice", name=15), f"two sections named {CODE!r}"),
    "names of a million letters": (with_long_section_names(), ENDLESS),
    "sections that overlap": (
        with_section(".text.twice", offset=start(CODE) + 16),
        f"sections {CODE!r} and '.text.twice' overlap at offset {start(CODE) + 16}",
    ),
    "a section around all others": (
        with_section(".gpuprof.ptx", offset=0, nbytes=len(WHOLE)),
        "sections '.gpuprof.ptx' and '.note.gpuprof' overlap at offset 64",
    ),
    "a section outside": (
        with_section(CODE, offset=U64, nbytes=0),
        f"section {CODE!r}, 0 bytes at offset {U64}, reaches beyond the file",
    ),
    "a section of 2^64 bytes": (
        with_section(CODE, nbytes=U64),
        f"section {CODE!r}, {U64} bytes at offset {start(CODE)}, reaches beyond the file",
    ),
    "code without bytes": (with_section(CODE, type=8, nbytes=1 << 40), f"it has no section {CODE!r}"),
    "a compressed section": (with_section(CODE, flags=0x800), f"section {CODE!r} is compressed"),
    "a bomb": (with_bomb(".gpuprof.ptx"), "section '.gpuprof.ptx' is compressed"),
    "a bomb among the names": (with_bomb(".shstrtab"), "section '' is compressed"),
    "a symbol table with other names": (
        with_section(".symtab", link=NUMBERS[".shstrtab"]),
        "the names of its symbols are not in '.strtab'",
    ),
    "symbols of one byte": (with_section(".symtab", entry_nbytes=1), "it has no symbol table"),
    "symbols that are none": (with_section(".symtab", type=1), "it has no symbol table"),
    "a symbol's name outside": (
        with_content(".symtab", 3 * 24, struct.pack("<I", 1 << 31)),
        f"a name at offset {1 << 31} of the string table '.strtab' is outside of it",
    ),
    "a symbol's name without an end": (
        with_section(".strtab", nbytes=58),
        "the last name of the string table '.strtab' does not end",
    ),
    "symbols' names of a million letters": (with_long_symbol_names(), ENDLESS),
    "a relocation's symbol outside": (
        with_content(RELA, 12, struct.pack("<I", U32)),
        f"a relocation speaks of symbol {U32} of 7",
    ),
    "a note's owner of 4 GB": (with_content(NOTE, 0, struct.pack("<I", U32)), f"the note {NOTE!r} is not gpuprof's"),
    "a note of 4 GB": (
        with_content(NOTE, 4, struct.pack("<I", U32)),
        f"the note {NOTE!r} says {20 + (1 << 32)} bytes and holds 640",
    ),
    "a note of another's": (with_content(NOTE, 12, b"GNU\0"), f"the note {NOTE!r} is not gpuprof's"),
    "a note of another type": (with_content(NOTE, 8, b"\1\1"), f"the note {NOTE!r} is of type 257, not 258"),
    "a note of a type of GNU's": (
        with_content(NOTE, 8, b"\5\0"),
        f"the note {NOTE!r} is of type NT_GNU_PROPERTY_TYPE_0, not 258",
    ),
    "no note in its section": (with_section(NOTE, nbytes=0), f"the note {NOTE!r} is not gpuprof's"),
    "half a note": (with_section(NOTE, nbytes=12), f"the note {NOTE!r} is not gpuprof's"),
}  # fmt: skip
# What pyelftools notices by itself, in words of its own.
NOTICED = {
    "headers over the ELF header": with_elf(shoff=0),
    "no table of names": with_elf(shstrndx=0),
    "a table of names outside": with_elf(shstrndx=0xFFFE),
    "code as the table of names": with_elf(shstrndx=NUMBERS[CODE]),
    "a compressed section outside": with_section(CODE, flags=0x800, offset=U64),
    "a compressed section at the end": with_section(CODE, flags=0x800, offset=len(WHOLE) - 4),
    "a symbol table of its own names": with_section(".symtab", link=NUMBERS[".symtab"]),
    "a symbol table without names": with_section(".symtab", link=0),
    "a symbol table with names outside": with_section(".symtab", link=U32),
    "symbols of no size": with_section(".symtab", entry_nbytes=0),
    "relocations of no size": with_section(RELA, entry_nbytes=0),
} | {
    f"a section of type {number:#x}": with_section(".debug_str", type=number)
    for number in (0, *range(5, 7), *range(9, 20), 0x6FFFFFF6, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF, 0x70000003, U32)
}


def refusal(data: bytes) -> FileFormatError:
    with pytest.raises(FileFormatError) as caught:
        read_gpubin(data, "k.gpubin")
    return caught.value


@pytest.mark.parametrize("case", ATTACKS)
def test_attacks(case):
    data, message = ATTACKS[case]
    assert str(refusal(sealed(data))) == f"k.gpubin: damaged gpubin: {message}; compile it again"


@pytest.mark.parametrize("case", NOTICED)
def test_what_pyelftools_raises_is_an_error_of_ours(case):
    error = refusal(sealed(NOTICED[case]))
    raised = error.__cause__.__cause__
    assert str(error) == (f"k.gpubin: damaged gpubin: its ELF sections cannot be read: {raised}; compile it again")


@pytest.mark.parametrize("case", [*ATTACKS, *NOTICED])
def test_an_attack_takes_few_calls_and_little_memory(case):
    data = sealed(NOTICED[case] if case in NOTICED else ATTACKS[case][0])
    read_gpubin(WHOLE, "k.gpubin")  # what is imported and kept is not the attack's doing
    assert n_calls(lambda: refusal(data)) < 20_000 + len(data)
    tracemalloc.start()
    refusal(data)
    _, most_nbytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_nbytes < (1 << 20) + 8 * len(data)


@pytest.mark.parametrize("ident", [b"\x7fELF\x01\x01\x01", b"\x7fELF\x02\x02\x01"], ids=["32 bits", "big-endian"])
def test_elf_files_of_another_kind(ident):
    assert str(refusal(sealed(with_bytes(WHOLE, 0, ident)))) == (
        "k.gpubin: not a gpubin: it starts with b'\\x7fELF', not with a 64-bit ELF header; `gpuprof compile` makes "
        "gpubin files"
    )


@pytest.mark.parametrize(
    "data",
    [
        with_section(".gpuprof.const.zero", offset=U64, nbytes=U64),  # no bytes of the file
        with_section(".debug_info", link=U32, info=U32, align=U64, entry_nbytes=U64, address=U64),
        with_elf(entry=U64, phoff=U64, phnum=0xFFFE, phentsize=1, flags=U32, ehsize=0),
    ],
    ids=["zeros", "section", "header"],
)
def test_what_a_program_does_not_need_is_not_followed(data):
    assert_equal(read_gpubin(sealed(data), "k.gpubin"), small_program())


def test_fuzz_headers_with_the_checksum_made_right():
    """Values that lead somewhere, in one to four fields of the section headers and the ELF header."""
    rng = random.Random(11)
    telling = [0, 1, 2, 3, 4, 7, 8, 24, 64, len(BODY), len(WHOLE), 1 << 31, U32, 1 << 63, U64]
    telling += [int(value) for value in {*HEADERS["offset"], *HEADERS["nbytes"], *HEADERS["name"]}]
    for _ in range(20_000 if THOROUGH else 500):
        data = WHOLE
        for _ in range(rng.randrange(1, 5)):
            field = rng.choice(HEADERS.dtype.names)
            value = rng.choice([*telling, *range(len(HEADERS))]) & (1 << 8 * HEADERS.dtype[field].itemsize) - 1
            data = with_section(rng.choice(list(NUMBERS)), data, **{field: value})
        if rng.random() < 0.2:
            field = rng.choice(("shoff", "shentsize", "shnum", "shstrndx"))
            data = with_elf(data, **{field: rng.choice(telling) & 0xFFFF})
        read_or_refuse(sealed(data))
