"""C types and values, and their text.

A value consists of its bytes (little endian), its type, and its storage, if it is in memory.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gpuprof.errors import DebugError

MOST_ELEMENTS = 200  # of an array or string that is shown, as in gdb


class Member(NamedTuple):
    """`bits`: for a bit-field, its first bit after `offset`, and its number of bits. A base class has its type's name;
    an anonymous struct or union has none.
    """

    name: str
    offset: int  # bytes
    type: "CType"
    bits: tuple[int, int] | None = None
    is_base: bool = False


@dataclass(frozen=True)
class CType:
    """`kind`: int, bool, char, float, pointer, array, struct, enum, void. `element`: of pointers and arrays."""

    kind: str
    name: str
    nbytes: int
    is_signed: bool = False
    element: "CType | None" = field(default=None, compare=False, repr=False)
    count: int = 0
    members: tuple[Member, ...] = field(default=(), compare=False, repr=False)
    names: tuple[tuple[int, str], ...] = ()  # of an enum's values
    is_brain: bool = False  # a float of 2 bytes with the exponent of one of 4
    is_union: bool = False  # a struct whose members share one offset

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "bool", "char", "enum")

    @property
    def is_reference(self) -> bool:
        return self.kind == "pointer" and self.name.endswith("&")


INT = CType("int", "int", 4, True)
UNSIGNED = CType("int", "unsigned int", 4)
LONG = CType("int", "long", 8, True)
UNSIGNED_LONG = CType("int", "unsigned long", 8)
CHAR = CType("char", "char", 1, True)
BOOL = CType("bool", "bool", 1)
FLOAT = CType("float", "float", 4)
DOUBLE = CType("float", "double", 8)
VOID = CType("void", "void", 0)
BASIC = {
    each.name: each
    for each in (
        INT, UNSIGNED, LONG, UNSIGNED_LONG, CHAR, BOOL, FLOAT, DOUBLE, VOID,
        CType("int", "short", 2, True), CType("int", "unsigned short", 2), CType("char", "unsigned char", 1),
        CType("int", "long long", 8, True), CType("int", "unsigned long long", 8),
        CType("char", "signed char", 1, True),
    )
}  # fmt: skip
BASIC |= {"unsigned": UNSIGNED, "size_t": UNSIGNED_LONG}
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def pointer_to(element: CType) -> CType:
    return CType("pointer", f"{element.name}{'' if element.name.endswith('*') else ' '}*", 8, False, element)


def renamed(type: CType, name: str) -> CType:
    """A type with another name."""
    return replace(type, name=name, element=type.element, members=type.members)


def arrays_of(element: CType, counts: Sequence[int]) -> CType:
    """`float [2][3]` of `float`; an element that is an array has the innermost brackets."""
    for count in reversed(counts):
        base, _, rest = element.name.partition(" [")
        suffix = f"[{count}]" + ("[" + rest.removeprefix("[") if rest else "")
        element = CType("array", f"{base} {suffix}", count * element.nbytes, False, element, count)
    return element


def pointer_shell() -> CType:
    """A pointer whose target is not known yet: a struct may point to itself."""
    return CType("pointer", "", 8)


def fill_pointer(made: CType, sign: str, target: CType) -> None:
    """`sign`: `*`, or `&` of a reference."""
    object.__setattr__(made, "element", target)
    object.__setattr__(made, "name", pointer_to(target).name if sign == "*" else f"{target.name} &")


def fill_struct(made: CType, members: Sequence[Member]) -> None:
    object.__setattr__(made, "members", tuple(members))


def array_of(element: CType, count: int) -> CType:
    return CType("array", f"{element.name} [{count}]", count * element.nbytes, False, element, count)


class Storage(NamedTuple):
    """Bytes in a state space from an address on; addresses are those of accesses."""

    space: str
    address: int


class Value(NamedTuple):
    type: CType
    data: bytes
    storage: Storage | None = None

    @property
    def number(self) -> int | float:
        """Raises DebugError for a struct or an array."""
        kind = self.type.kind
        if kind == "float":
            if len(self.data) not in _FLOATS:
                raise DebugError(f"a {self.type.name} is not a number")
            if self.type.is_brain:
                return struct.unpack("<f", b"\0\0" + self.data)[0]
            return struct.unpack(_FLOATS[len(self.data)], self.data)[0]
        if self.type.is_integer or kind in ("pointer", "function"):
            return int.from_bytes(self.data, "little", signed=self.type.is_signed)
        raise DebugError(f"a {self.type.name or kind} is not a number")


def value_of(type: CType, number: int | float) -> Value:
    """A number converted to a type, as C does."""
    if type.is_brain:
        return Value(type, _brain(number))
    if type.kind == "float":
        try:
            return Value(type, struct.pack(_FLOATS[type.nbytes], number))
        except OverflowError:
            return Value(type, struct.pack(_FLOATS[type.nbytes], float("inf") if number > 0 else float("-inf")))
    if type.kind == "bool":
        return Value(type, bytes([number != 0]))
    if type.is_integer or type.kind == "pointer":
        if number != number or number in (float("inf"), float("-inf")):
            raise DebugError(f"{number} is not a {type.name}")
        return Value(type, (int(number) & (1 << 8 * type.nbytes) - 1).to_bytes(type.nbytes, "little"))
    raise DebugError(f"a number is not a {type.name}")


def _brain(number: int | float) -> bytes:
    """A bfloat16, rounded to nearest, ties to even."""
    word = struct.unpack("<I", value_of(FLOAT, number).data)[0]
    if number != number:
        return struct.pack("<H", word >> 16 | 0x40)
    return struct.pack("<H", (word + 0x7FFF + (word >> 16 & 1)) >> 16)


def shown(value: Value, form: str = "") -> str:
    """A value in gdb's form. `form`: a letter of its formats, "" for the type's own."""
    type = value.type
    if type.kind == "array":
        return _array(value, form)
    if type.kind == "struct":
        parts = (f"{_head(member)}{shown(member_of(value, member), form)}" for member in type.members)
        return "{" + ", ".join(parts) + "}"
    if type.kind == "void":
        return "void"
    return in_form(value, form) if form else _plain(value)


def in_lines(value: Value, form: str = "", indent: int = 0) -> str:
    """A value in the form of gdb's `set print pretty on`: a struct's members have a line each."""
    if value.type.kind != "struct":
        return shown(value, form)
    inner = "  " * (indent + 1)
    parts = (f"{inner}{_head(each)}{in_lines(member_of(value, each), form, indent + 1)}" for each in value.type.members)
    return "{\n" + ",\n".join(parts) + "\n" + "  " * indent + "}"


def _head(member: Member) -> str:
    """The text before a member's value, as in gdb."""
    if member.is_base:
        return f"<{member.name}> = "
    return f"{member.name} = " if member.name else ""


def described(type: CType) -> str:
    """A type in the form of gdb's `ptype`, with the members of a struct and the names of an enum."""
    if type.kind == "struct":
        bases = ", ".join(each.name for each in type.members if each.is_base)
        head = " ".join(filter(None, ("union" if type.is_union else "struct", type.name, bases and f": {bases}")))
        lines = (f"    {_declared(each)};" for each in type.members if not each.is_base)
        return "\n".join([f"{head} {{", *lines, "}"])
    if type.kind == "enum":
        return f"enum {type.name} {{{', '.join(f'{name} = {number}' for number, name in type.names)}}}"
    if type.kind == "pointer" and type.element is not None and type.element.kind == "struct":
        return f"{described(type.element)} {'&' if type.is_reference else '*'}"
    return type.name


def _declared(member: Member) -> str:
    if not member.name:
        return described(member.type).replace("\n", "\n    ")
    base, bracket, count = member.type.name.partition(" [")
    space = "" if base.endswith(("*", "&")) else " "
    return f"{base}{space}{member.name}{bracket[1:]}{count}{f' : {member.bits[1]}' if member.bits else ''}"


def member_of(value: Value, member: Member) -> Value:
    if member.bits is not None:
        return _bit_field(value, member)
    storage = value.storage and Storage(value.storage.space, value.storage.address + member.offset)
    return Value(member.type, value.data[member.offset : member.offset + member.type.nbytes], storage)


def _bit_field(value: Value, member: Member) -> Value:
    """The value of a bit-field, which has no address."""
    first, count = member.bits
    number = int.from_bytes(value.data[member.offset :], "little") >> first & (1 << count) - 1
    if member.type.is_signed and number >> count - 1:
        number -= 1 << count
    return value_of(member.type, number)


def element_of(value: Value, index: int) -> Value:
    """An element of an array's value; the index is within the array."""
    at, element = index * value.type.element.nbytes, value.type.element
    storage = value.storage and Storage(value.storage.space, value.storage.address + at)
    return Value(element, value.data[at : at + element.nbytes], storage)


def _array(value: Value, form: str) -> str:
    element = value.type.element
    if element.kind == "char" and not form:
        return _quoted(value.data)
    texts = [shown(element_of(value, index), form) for index in range(min(value.type.count, MOST_ELEMENTS))]
    runs: list[list] = []
    for text in texts:
        if runs and runs[-1][0] == text:
            runs[-1][1] += 1
        else:
            runs.append([text, 1])
    parts = []
    for text, count in runs:
        parts += [f"{text} <repeats {count} times>"] if count > 9 else [text] * count
    return "{" + ", ".join(parts) + ("..." if value.type.count > MOST_ELEMENTS else "") + "}"


def _quoted(data: bytes) -> str:
    text = data[:MOST_ELEMENTS].rstrip(b"\0")
    return '"' + "".join(_char(byte, '"') for byte in text) + '"'


def _char(byte: int, quote: str) -> str:
    known = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
    if byte in known:
        return known[byte]
    if chr(byte) == quote:
        return "\\" + quote
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _plain(value: Value) -> str:
    type, number = value.type, value.number
    if type.kind == "float":
        return float_text(number, type.nbytes)
    if type.kind == "bool":
        return {0: "false", 1: "true"}.get(number, str(number))
    if type.kind == "char":
        return f"{number} '{_char(number & 0xFF, chr(39))}'"
    if type.kind == "pointer":
        return f"({type.name}) {number:#x}"
    if type.kind == "enum":
        return dict(type.names).get(number, str(number))
    return str(number)


def float_text(number: float, nbytes: int) -> str:
    """The nearest decimal with gdb's number of digits: 9 for a float, 17 for a double."""
    if number != number:
        return "nan"
    if number in (float("inf"), float("-inf")):
        return "inf" if number > 0 else "-inf"
    text = f"{number:.{ {2: 5, 4: 9, 8: 17}[nbytes] }g}"
    return text


def _as_float(value: Value) -> str:
    width = len(value.data)
    if value.type.kind == "float":
        return _plain(value)
    if width not in _FLOATS:
        return str(int.from_bytes(value.data, "little", signed=True))
    return float_text(struct.unpack(_FLOATS[width], value.data)[0], width)


# Letter of a format -> text of a number of so many bytes.
def in_form(value: Value, form: str) -> str:
    bits = int.from_bytes(value.data, "little")
    width = len(value.data)
    signed = int.from_bytes(value.data, "little", signed=True)
    number = value.number
    if value.type.kind == "float" and form in "du":
        return str(int(number)) if number == number and abs(number) != float("inf") else shown(value)
    shown_byte = signed if width == 1 and value.type.is_signed else bits & 0xFF
    forms = {
        "x": lambda: f"{bits:#x}",
        "z": lambda: f"0x{bits:0{2 * width}x}",
        "d": lambda: str(signed),
        "u": lambda: str(bits),
        "o": lambda: f"0{bits:o}" if bits else "0",
        "t": lambda: f"{bits:b}",
        "a": lambda: f"{bits:#x}",
        "c": lambda: f"{shown_byte} '{_char(bits & 0xFF, chr(39))}'",
        "f": lambda: _as_float(value),
    }
    if form not in forms:
        raise DebugError(f"there is no format {form!r}; there are {' '.join(forms)}")
    return forms[form]()
