"""Variables and types of PTX that was compiled for a debugger, from its DWARF: code addresses are lines of the PTX."""

import io
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.debug.debug_sections import SYMBOL_STEP, read_sections
from gpuprof.debug.values.c_types import CType, Member, arrays_of, fill_pointer, fill_struct, pointer_shell, renamed
from gpuprof.errors import FileFormatError

# DW_AT_address_class of CUDA (the CUDA-specific DWARF of nvcc, and LLVM's NVPTX).
SPACES = {4: "const", 5: "global", 6: "local", 8: "shared"}
ENCODINGS = {2: "bool", 4: "float", 5: "int", 6: "char", 7: "int", 8: "char", 16: "char"}
SIGNED = (5, 6)
_ADDRESS, _PLUS = 0x03, 0x23  # DW_OP_addr, DW_OP_plus_uconst
MOST_NESTED = 64
NAMED = ("DW_TAG_typedef", "DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type", "DW_TAG_enumeration_type",
         "DW_TAG_base_type")  # fmt: skip
BRAIN = "__bf16"  # Clang's name of the type
TRANSPARENT = ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")


class Variable(NamedTuple):
    """A variable that is `offset` bytes after a symbol of the PTX, in a state space; "" if it is optimized out,
    "register" in optimized code, where `offset` is its number in `optimized_variables`. It is known in the lines
    [first, last) of the PTX.
    """

    name: str
    type: CType
    space: str
    symbol: str
    offset: int
    is_argument: bool
    first: int
    last: int


class Scope(NamedTuple):
    """A function's variables, in the order of the source, those of the innermost blocks last."""

    symbol: str
    name: str
    first: int
    last: int
    variables: tuple[Variable, ...]


class Symbols(NamedTuple):
    scopes: tuple[Scope, ...]
    globals: tuple[Variable, ...]
    types: dict[str, CType]

    def scope_of(self, symbol: str) -> Scope | None:
        """The scope of a function."""
        return next((scope for scope in self.scopes if scope.symbol == symbol), None)

    def visible(self, symbol: str, line: int) -> list[Variable]:
        """Variables of a function that are in scope at a line of the PTX, innermost last."""
        scope = self.scope_of(symbol)
        if scope is None:
            return []
        extent = scope.first, scope.last
        return [
            each for each in scope.variables if (each.first, each.last) == extent or each.first <= line <= each.last
        ]


NOTHING = Symbols((), (), {})


def read_symbols(ptx: str) -> Symbols:
    """NOTHING for PTX that was not compiled for a debugger. Raises FileFormatError for damaged sections."""
    if ".debug_info" not in ptx or ".debug_abbrev" not in ptx:
        return NOTHING
    sections = read_sections(ptx)
    try:
        return _Reader(sections.symbols).read(_units(sections.data))
    except FileFormatError:
        raise
    except Exception as error:  # pyelftools raises whatever a damaged section leads it to
        raise FileFormatError(f"the PTX's debug sections are damaged: {type(error).__name__}: {error}") from None


def _units(data: dict[str, bytes]) -> list:
    from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo

    config = DwarfConfig(little_endian=True, machine_arch="", default_address_size=8)
    names = DWARFInfo.__init__.__code__.co_varnames[1 : DWARFInfo.__init__.__code__.co_argcount]
    given = {}
    for name in names:
        if name == "config":
            continue
        content = data.get("." + name.removesuffix("_sec"))
        given[name] = None if content is None else DebugSectionDescriptor(io.BytesIO(content), name, 0, len(content), 0)
    return list(DWARFInfo(config, **given).iter_CUs())


class _Reader:
    def __init__(self, symbols: list[str]):
        self.symbols = symbols
        self.types: dict[int, CType] = {}

    def read(self, units: list) -> Symbols:
        scopes, variables, named = [], [], {}
        for unit in units:
            for prefix, die in _outer(unit.get_top_DIE()):
                if die.tag == "DW_TAG_subprogram" and "DW_AT_low_pc" in die.attributes:
                    scopes.append(self._scope(die))
                elif die.tag == "DW_TAG_variable":
                    variables += (each._replace(name=prefix + each.name) for each in self._variable(die, 0, 1 << 40))
                elif die.tag in NAMED and (name := _text(die, "DW_AT_name")):
                    named.setdefault(prefix + name, die)
        types = {name: self.type_of(die) for name, die in named.items()}
        return Symbols(tuple(scopes), tuple(each for each in variables if each.space), types)

    def _scope(self, die) -> Scope:
        first, last = _range(die)
        declared = die.get_DIE_from_attribute("DW_AT_specification") if "DW_AT_specification" in die.attributes else die
        name = _text(die, "DW_AT_name") or _text(declared, "DW_AT_name")
        symbol = _linkage_name(die) or _linkage_name(declared) or name
        variables = tuple(self._variables(die, first, last, 0))
        return Scope(symbol, name, first, last, variables)

    def _variables(self, die, first: int, last: int, depth: int) -> Iterator[Variable]:
        blocks = []
        for child in die.iter_children():
            if child.tag in ("DW_TAG_formal_parameter", "DW_TAG_variable"):
                yield from self._variable(child, first, last)
            elif child.tag == "DW_TAG_lexical_block" and depth < MOST_NESTED:
                blocks.append(child)
        for block in blocks:
            inner = _range(block) if "DW_AT_low_pc" in block.attributes else (first, last)
            yield from self._variables(block, *inner, depth + 1)

    def _variable(self, die, first: int, last: int) -> Iterator[Variable]:
        name = _text(die, "DW_AT_name")
        if not name or "DW_AT_type" not in die.attributes:
            return
        symbol, offset = self._location(die)
        space = (
            SPACES.get(die.attributes["DW_AT_address_class"].value, "")
            if "DW_AT_address_class" in die.attributes
            else ""
        )
        is_argument = die.tag == "DW_TAG_formal_parameter"
        type = self.type_of(die.get_DIE_from_attribute("DW_AT_type"))
        yield Variable(name, type, space if symbol else "", symbol, offset, is_argument, first, last)

    def _location(self, die) -> tuple[str, int]:
        """Symbol and offset; "" for a location of another form."""
        entry = die.attributes.get("DW_AT_location")
        expression = bytes(entry.value) if entry is not None and isinstance(entry.value, list | bytes) else b""
        if len(expression) < 9 or expression[0] != _ADDRESS:
            return "", 0
        number, offset = divmod(int.from_bytes(expression[1:9], "little"), SYMBOL_STEP)
        rest = expression[9:]
        if rest and rest[0] == _PLUS:
            added, shift = 0, 0
            for byte in rest[1:]:
                added |= (byte & 0x7F) << shift
                shift += 7
            offset, rest = offset + added, b""
        if rest or not 0 < number <= len(self.symbols):
            return "", 0
        return self.symbols[number - 1], offset

    def type_of(self, die, depth: int = 0) -> CType:
        if die.offset not in self.types:
            self.types[die.offset] = self._type(die, depth)
        return self.types[die.offset]

    def _target(self, die, depth: int) -> CType:
        if "DW_AT_type" not in die.attributes:
            return CType("void", "void", 0)
        if depth > MOST_NESTED:
            return CType("void", "...", 0)
        return self.type_of(die.get_DIE_from_attribute("DW_AT_type"), depth + 1)

    def _type(self, die, depth: int) -> CType:
        name, nbytes = _text(die, "DW_AT_name"), _number(die, "DW_AT_byte_size")
        if die.tag == "DW_TAG_base_type":
            encoding = _number(die, "DW_AT_encoding")
            kind = ENCODINGS.get(encoding, "int")
            return CType(kind, name, nbytes, encoding in SIGNED, is_brain=name == BRAIN)
        if die.tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"):
            return self._pointer(die, depth)
        if die.tag == "DW_TAG_array_type":
            return self._array(die, depth)
        if die.tag in ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"):
            return self._struct(die, name, nbytes, depth)
        if die.tag == "DW_TAG_enumeration_type":
            names = tuple(
                (_number(each, "DW_AT_const_value"), _text(each, "DW_AT_name")) for each in die.iter_children()
            )
            return CType("enum", name, nbytes, self._target(die, depth).is_signed, names=names)
        target = self._target(die, depth)
        if die.tag == "DW_TAG_typedef":
            return renamed(target, name)
        if die.tag in TRANSPARENT:
            return renamed(target, f"const {target.name}" if die.tag == "DW_TAG_const_type" else target.name)
        return CType("void", name or "void", 0)

    def _pointer(self, die, depth: int) -> CType:
        made = self.types[die.offset] = pointer_shell()
        fill_pointer(made, "*" if die.tag == "DW_TAG_pointer_type" else "&", self._target(die, depth))
        return made

    def _array(self, die, depth: int) -> CType:
        element = self._target(die, depth)
        counts = [_count(each) for each in die.iter_children() if each.tag == "DW_TAG_subrange_type"]
        return arrays_of(element, counts)

    def _struct(self, die, name: str, nbytes: int, depth: int) -> CType:
        made = self.types[die.offset] = CType("struct", name, nbytes, is_union=die.tag == "DW_TAG_union_type")
        members = []
        for child in die.iter_children():
            if child.tag in ("DW_TAG_member", "DW_TAG_inheritance") and "DW_AT_external" not in child.attributes:
                type = self._target(child, depth)
                member = Member(_text(child, "DW_AT_name"), _offset(child), type, _bits(child))
                is_base = child.tag == "DW_TAG_inheritance"
                members.append(member._replace(name=type.name, is_base=True) if is_base else member)
        fill_struct(made, members)
        return made


def _outer(die, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The entries outside of all functions, with the namespaces before their names: `a::`."""
    for child in die.iter_children():
        if child.tag == "DW_TAG_namespace" and depth < MOST_NESTED:
            name = _text(child, "DW_AT_name")
            yield from _outer(child, f"{prefix}{name}::" if name else prefix, depth + 1)
        else:
            yield prefix, child


def _linkage_name(die) -> str:
    return _text(die, "DW_AT_MIPS_linkage_name") or _text(die, "DW_AT_linkage_name")


def _bits(die) -> tuple[int, int] | None:
    """For a bit-field: its first bit, from the lowest on, and how many. DWARF 2 counts from the highest one."""
    count = _number(die, "DW_AT_bit_size")
    if "DW_AT_data_bit_offset" in die.attributes:
        return _number(die, "DW_AT_data_bit_offset"), count
    return (8 * _number(die, "DW_AT_byte_size") - _number(die, "DW_AT_bit_offset") - count, count) if count else None


def _text(die, name: str) -> str:
    entry = die.attributes.get(name)
    return entry.value.decode("utf-8", "replace") if entry is not None and isinstance(entry.value, bytes) else ""


def _number(die, name: str) -> int:
    entry = die.attributes.get(name)
    return entry.value if entry is not None and isinstance(entry.value, int) else 0


def _range(die) -> tuple[int, int]:
    """The first and last line of the PTX that belong to a function or block: labels precede and follow it."""
    return _number(die, "DW_AT_low_pc"), _number(die, "DW_AT_high_pc")


def _count(die) -> int:
    if "DW_AT_count" in die.attributes:
        return _number(die, "DW_AT_count")
    return _number(die, "DW_AT_upper_bound") + 1 if "DW_AT_upper_bound" in die.attributes else 0


def _offset(die) -> int:
    """The offset of a member. DWARF 2 has an expression: DW_OP_plus_uconst, and a number."""
    attribute = die.attributes.get("DW_AT_data_member_location")
    if attribute is None or isinstance(attribute.value, int):
        return attribute.value if attribute is not None else 0
    value, shift = 0, 0
    for byte in list(attribute.value)[1:]:
        value |= (byte & 0x7F) << shift
        shift += 7
    return value
