"""Lines and functions of an executable, on files made here: sound, damaged and none."""

import struct

import pytest

from gpuprof.program.line_table import NOWHERE, Place, Places

HEAD = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
FUNCTION = 0x12


def executable(sections: dict[str, bytes]) -> bytes:
    """An ELF file with these sections."""
    names, texts, body, heads = (*sections, ".shstrtab"), b"\0", b"", [bytes(SECTION.size)]
    for name in names:
        texts += name.encode() + b"\0"
    for name, content in (*sections.items(), (".shstrtab", texts)):
        at = texts.index(name.encode() + b"\0")
        heads.append(SECTION.pack(at, 1, 0, 0, HEAD.size + len(body), len(content), 0, 0, 1, 0))
        body += content
    n = len(heads)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = HEAD.pack(ident, 2, 62, 1, 0, 0, HEAD.size + len(body), 0, HEAD.size, 0, 0, SECTION.size, n, n - 1)
    return head + body + b"".join(heads)


def sequence(start: int, line: int) -> bytes:
    """Rows of one instruction of 16 bytes, and its end."""
    advance_line = bytes([3, line - 1])
    return b"\0\x09\x02" + struct.pack("<Q", start) + advance_line + b"\x01" + b"\x02\x10" + b"\0\x01\x01"


def line_table(program: bytes) -> bytes:
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1])
    rest = bytes([1, 1, 1, 0xFB, 14, 10]) + lengths + b"src\0\0" + b"a.cu\0\x01\0\0\0"
    body = struct.pack("<HI", 4, len(rest)) + rest + program
    return struct.pack("<I", len(body)) + body


def symbols(named: dict[str, tuple[int, int, int]]) -> dict[str, bytes]:
    texts, table = b"\0", b""
    for name, (kind, value, size) in named.items():
        table += SYMBOL.pack(len(texts), kind, 0, 1, value, size)
        texts += name.encode() + b"\0"
    return {".symtab": table, ".strtab": texts}


SOUND = executable(
    {
        ".debug_line": line_table(sequence(0x1010, 9) + sequence(0x1000, 7)),
        **symbols({"__start_gpuprof_text": (0, 0x2000, 0), "cudaFree": (FUNCTION, 0x2010, 16)}),
    }
)


def test_lines_and_functions(tmp_path):
    path = tmp_path / "app"
    path.write_bytes(SOUND)
    places = Places(path)
    assert [places.function(offset) for offset in (15, 16, 31, 32)] == ["", "cudaFree", "cudaFree", ""]
    lines = [places.line(address) for address in (0x1000, 0x1001, 0x1010, 0x1011, 0x1021)]  # of returns
    assert lines == [NOWHERE, Place("src/a.cu", 7), Place("src/a.cu", 7), Place("src/a.cu", 9), NOWHERE]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x7fELF",
        SOUND[:100],
        SOUND[:-30],
        SOUND.replace(b"\xfb\x0e\x0a", b"\xfb\x00\x0a") + b"\xff",  # lines are counted by 0
        executable({".debug_line": line_table(b"\x02" + b"\xff" * 100)}),  # a number without an end
        executable({".debug_line": line_table(b"\x04\x09\x01")}),  # a file that is not listed
        executable({".debug_line": line_table(b"\0")}),
        executable({".debug_line": b"\x01\0\0\0\0\0\0\0" + bytes(range(64))}),  # compressed
        executable({".symtab": bytes(25), ".strtab": b""}),
        executable({".symtab": SYMBOL.pack(99, FUNCTION, 0, 1, 0, 9), ".strtab": b"\0"}),
    ],
)
def test_of_a_damaged_file_nothing_is_known(content, tmp_path):
    path = tmp_path / "app"
    path.write_bytes(content)
    places = Places(path)
    assert places.line(0x5000) == NOWHERE and places.function(8) == ""


def test_of_a_file_that_has_gone_nothing_is_known(tmp_path):
    places = Places(tmp_path / "gone")
    assert places.line(1) == NOWHERE and places.function(0) == ""
