"""How structures of clang's IR lie in memory, and which of their bits are padding.

LLVM's types have members where C++ has padding, after a base class or by `alignas`, and one for several bit fields;
debug information has them as they are. Its names are those of the source; LLVM's have no template arguments.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, reduce
from operator import and_, or_
from typing import Any, NamedTuple, TypeAlias

from gpuprof.compile.llvm.metadata import Metadata, Node
from gpuprof.compile.llvm.naming import qualified_name
from gpuprof.isa.facts import Range

MOST_NBYTES = 4096  # of a structure whose padding is looked for

NAME = r'%(?:struct|class)\.[^\s,\]"]+|%"(?:struct|class)\.[^"]+"'
STRUCTURES = ("DW_TAG_structure_type", "DW_TAG_class_type")  # tags of debug information
_TYPE = re.compile(r'^(%(?:"[^"]+"|[\w.$]+)) = type (?!opaque).*$', re.MULTILINE)
_UNNAMED = "(anonymous namespace)::"
_NUMBERED = re.compile(r"\.\d+$")  # of types of the same name


class Taken(NamedTuple):
    """Bits of a structure, which a member takes; `in_union`: so do others, as they lie in a union."""

    first: int
    end: int
    is_field: bool = False
    in_union: bool = False


class Layout(NamedTuple):
    """A structure's layout: where its members are, as LLVM counts them; its bits that are padding, those of bit
    fields, and those of unions, ascending.
    """

    nbytes: int
    offsets: list[int]
    padding: tuple[Range, ...]
    fields: tuple[Range, ...]
    unions: tuple[Range, ...]

    @property
    def is_plain(self) -> bool:
        return not (self.padding or self.fields)


# By LLVM's name of a structure, or the number of its node of debug information.
Layouts: TypeAlias = Callable[[str | int], Layout]


def layouts_of(ir: str, metadata: Metadata, data: Any, parse: Callable[[str], Any]) -> Layouts:
    """`data`: how LLVM lays out data; `parse` gives IR as its module. Nothing is computed before the first use."""
    kinds = cache(lambda: _kinds(ir, parse))
    written = cache(lambda: _written_by_name(metadata))
    behind = cache(lambda: _behind_bases(metadata))

    def members_of(number: int) -> list[Taken]:
        return [*_written(metadata, metadata.nodes[number], 0, 8 * MOST_NBYTES), *behind()[number]]

    @cache
    def layout_of(which: str | int) -> Layout:
        if isinstance(which, int):
            nbytes = metadata.nodes[which].number("size") // 8
            return _layout(nbytes, [], [members_of(which)]) if nbytes <= MOST_NBYTES else Layout(nbytes, [], (), (), ())
        kind = kinds()[which]
        nbytes = data.get_abi_size(kind)
        offsets = [data.get_element_offset(kind, index) for index in range(len(list(kind.elements)))]
        if nbytes > MOST_NBYTES:
            return Layout(nbytes, offsets, (), (), ())
        candidates = written().get((_plain(which.strip('%"').split(".", 1)[1]), nbytes), [])
        members = [members_of(number) for number in candidates] or [list(_members(kind, data, 0))]
        return _layout(nbytes, offsets, members)

    return layout_of


def declared_alignments(metadata: Metadata) -> Callable[[str, int], int]:
    """By LLVM's name of a structure, and bytes: the least alignment, in bytes, that structures of that name and size
    are declared with (`alignas`). 0 where one is not, or has a base class, which may be copied without the rest.
    """
    written = cache(lambda: _written_by_name(metadata))

    def alignment_of(name: str, nbytes: int) -> int:
        numbers = written().get((_plain(name.strip('%"').split(".", 1)[1]), nbytes), [])
        return min((_declared_alignment(metadata, metadata.nodes[number]) for number in numbers), default=0)

    return alignment_of


def _declared_alignment(metadata: Metadata, node: Node) -> int:
    elements = (metadata.nodes[each] for each in metadata.elements(node.reference("elements")) if each is not None)
    has_base = any(each.fields.get("tag") == "DW_TAG_inheritance" for each in elements)
    return 0 if has_base else node.number("align") // 8


def unions_have(metadata: Metadata, nbytes: int) -> bool:
    """True where a union has a structure of so many bytes: its alignment is not that of the union."""
    unions = (node for node in metadata.nodes.values() if node.fields.get("tag") == "DW_TAG_union_type")
    members = (each for union in unions for each in metadata.elements(union.reference("elements")) if each is not None)
    return any(_is_structure_of(metadata, metadata.nodes[each], 8 * nbytes) for each in members)


def _is_structure_of(metadata: Metadata, member: Node, nbits: int) -> bool:
    node: Node | None = member
    while node is not None and node.kind == "DIDerivedType":
        node = metadata.follow(node, "baseType")
    return node is not None and node.fields.get("tag") in STRUCTURES and node.number("size") == nbits


def _layout(nbytes: int, offsets: list[int], members: list[list[Taken]]) -> Layout:
    """`members`: of several structures of the same name. What holds for all counts."""
    taken = reduce(or_, map(_mask, members))
    fields = reduce(and_, (_mask(member for member in each if member.is_field) for each in members))
    unions = reduce(and_, (_mask(member for member in each if member.in_union) for each in members))
    return Layout(nbytes, offsets, _others(taken, nbytes), _ranges(fields), _ranges(unions))


def _kinds(ir: str, parse: Callable[[str], Any]) -> dict[str, Any]:
    """LLVM's types by name."""
    types = {match[1]: match[0] for match in _TYPE.finditer(ir)}
    # A module of the types only: to parse the whole one takes long.
    users = [f"@{number} = external global {name}" for number, name in enumerate(types)]
    module = parse("\n".join((*types.values(), *users)))
    return dict(zip(types, (each.global_value_type for each in module.global_variables), strict=True))


def _written_by_name(metadata: Metadata) -> dict[tuple[str, int], list[int]]:
    """Structures of debug information by their names, less template arguments, and bytes."""
    by_name = defaultdict(list)
    for number, node in _structures(metadata):
        by_name[_plain(qualified_name(metadata, node)), node.number("size") // 8].append(number)
    return by_name


def _behind_bases(metadata: Metadata) -> dict[int, list[Taken]]:
    """By base class: members of others that lie where it has padding. A pointer to it may be to one of these."""
    ends = defaultdict(list)
    for _, node in _structures(metadata):
        parts = [metadata.nodes[each] for each in metadata.elements(node.reference("elements")) if each is not None]
        for base in (part for part in parts if part.fields.get("tag") == "DW_TAG_inheritance"):
            number, start = base.reference("baseType"), base.number("offset")
            end = start + (metadata.nodes[number].number("size") if number is not None else 0)
            members = (each for each in parts if each.fields.get("tag") == "DW_TAG_member")
            taken = (
                each for member in members for each in _written_member(metadata, member, member.number("offset"), end)
            )
            ends[number] += [Taken(each.first - start, each.end - start) for each in taken if start <= each.first]
    return ends


def _structures(metadata: Metadata) -> Iterator[tuple[int, Node]]:
    for number, node in metadata.nodes.items():
        if node.fields.get("tag") in STRUCTURES and "elements" in node.fields:
            yield number, node


def _plain(name: str) -> str:
    return _NUMBERED.sub("", name.replace(_UNNAMED, "")).split("<")[0]


def padding_between(members: Iterable[Taken], nbytes: int) -> tuple[Range, ...]:
    """The bits of the first `nbytes` bytes that no member has."""
    return _others(_mask(members), nbytes)


def joined(*ranges: Range) -> tuple[Range, ...]:
    """Ascending."""
    return _ranges(_mask(Taken(*each) for each in ranges))


def within_unions(ranges: Iterable[Range], start: int, layout: Layout) -> tuple[Range, ...]:
    """The bits of a part of a structure, which begins at its bit `start`, that lie in a union of the structure."""
    return _ranges(_mask(Taken(*each) for each in ranges) << start & _mask(Taken(*each) for each in layout.unions))


def _others(taken: int, nbytes: int) -> tuple[Range, ...]:
    return _ranges(~taken & ((1 << 8 * nbytes) - 1))


def _mask(taken: Iterable[Taken]) -> int:
    return reduce(or_, ((1 << each.end) - (1 << each.first) for each in taken), 0)


def _ranges(mask: int) -> tuple[Range, ...]:
    """Ranges of the bits that are set."""
    text = bin(mask)[:1:-1]
    return tuple(match.span() for match in re.finditer("1+", text))


def _written(metadata: Metadata, node: Node | None, start: int, end: int) -> Iterator[Taken]:
    """The bits that a type's members take from bit `start` on, as debug information has it: those that begin before bit
    `end`, as arrays may have any number. A union's are those of all its members, whichever is there.
    """
    nbits = node.number("size")
    base, elements = metadata.follow(node, "baseType"), metadata.elements(node.reference("elements"))
    tag = node.fields.get("tag")
    if tag in STRUCTURES and "elements" in node.fields:
        for member in (metadata.nodes[number] for number in elements if number is not None):
            yield from _written_member(metadata, member, start + member.number("offset"), end)
    elif tag == "DW_TAG_union_type" and "elements" in node.fields:
        for member in (metadata.nodes[number] for number in elements if number is not None):
            for each in _written_member(metadata, member, start, end):
                yield Taken(each.first, each.end, in_union=True)
    elif tag == "DW_TAG_array_type" and (nbits_each := _nbits(metadata, base)):
        for first in range(start, min(start + nbits, end), nbits_each):
            yield from _written(metadata, base, first, end)
    elif node.kind == "DIDerivedType" and not nbits and base is not None:  # another name, or const
        yield from _written(metadata, base, start, end)
    elif start < end:
        yield Taken(start, start + nbits)


def _written_member(metadata: Metadata, member: Node, start: int, end: int) -> Iterator[Taken]:
    flags = member.fields.get("flags", "")
    if member.fields.get("tag") not in ("DW_TAG_member", "DW_TAG_inheritance") or "StaticMember" in flags:
        return
    base = metadata.follow(member, "baseType")
    if "BitField" not in flags and base is not None:
        yield from _written(metadata, base, start, end)
    elif start < end:
        yield Taken(start, start + member.number("size"), "BitField" in flags)


def _nbits(metadata: Metadata, node: Node | None) -> int:
    while node is not None and node.kind == "DIDerivedType" and not node.number("size"):
        node = metadata.follow(node, "baseType")
    return node.number("size") if node is not None else 0


def _members(kind: Any, data: Any, start: int) -> Iterator[Taken]:
    """The same of an LLVM type at byte `start`."""
    if kind.is_struct and not kind.name.startswith("union."):
        for index, member in enumerate(kind.elements):
            yield from _members(member, data, start + data.get_element_offset(kind, index))
    elif kind.is_array:
        (member,) = kind.elements
        for index in range(kind.element_count):
            yield from _members(member, data, start + index * data.get_abi_size(member))
    else:
        yield Taken(8 * start, 8 * (start + data.get_abi_size(kind)))
