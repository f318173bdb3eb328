"""Where clang's IR copies structures whole, and which bytes of them are padding.

    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %12, ptr align 8 %8, i64 24, i1 false), !dbg !607, !tbaa.struct !608
    !608 = !{i64 0, i64 1, !609, i64 4, i64 4, !549, i64 8, i64 8, !610, i64 16, i64 2, !611}

The second line has the members: offset, bytes, type. At -O0 there is none; there a pointer is made of the structure's
type, whose members LLVM knows.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gpuprof.compile.metadata import Metadata
from gpuprof.isa.flow.padding import PaddedCopy, Range

_FUNCTION = re.compile(r"^define .*?^\}$", re.MULTILINE | re.DOTALL)
_COPY = re.compile(
    r"^  (?:tail )?call void @llvm\.memcpy\S*\(ptr[^,]*? (%[\w.$]+), ptr[^,]*? ([%@][\w.$]+), i64 (\d+), i1 false\)"
    r"(.*)$",
    re.MULTILINE,
)
_POINTER = re.compile(
    r'^  (%[\w.$]+) = (?:alloca|getelementptr)[^%]*?(%"(?:struct|class)\.[^"]+"|%(?:struct|class)\.[^\s,\]"]+)',
    re.MULTILINE,
)
_AT = re.compile(r", !dbg !(\d+)")
_MEMBERS = re.compile(r", !tbaa\.struct !(\d+)")
_MEMBER = re.compile(r"i64 (\d+), i64 (\d+)")


def padded_copies_of(ir: str, metadata: Metadata, data: Any, parse: Callable[[], Any]) -> list[PaddedCopy]:
    """Ascending. `data`: how LLVM lays out data; `parse` gives the IR as its module, where that is needed."""
    found, types = set(), None
    for function in _FUNCTION.findall(ir):
        copies = _COPY.findall(function)
        pointers = dict(_POINTER.findall(function)) if copies else {}
        for to, source, size, rest in copies:
            place, nbytes = _AT.search(rest), int(size)
            if place is None:
                continue
            if members := _MEMBERS.search(rest):
                pairs = _MEMBER.findall(metadata.tuples[int(members[1])])
                taken = [(int(first), int(first) + int(length)) for first, length in pairs]
            elif names := {pointers[each] for each in (to, source) if each in pointers}:
                types = _types(parse(), data) if types is None else types
                taken = next((types[name][1] for name in sorted(names) if types[name][0] == nbytes), [])
            else:
                continue
            if taken and (padding := _between(taken, nbytes)):
                node = metadata.nodes[int(place[1])]
                file = metadata.file_of(metadata.follow(node, "scope"))
                found.add(PaddedCopy(file, node.number("line"), node.number("column"), nbytes, padding))
    return sorted(found)


def _between(taken: Iterable[Range], nbytes: int) -> tuple[Range, ...]:
    """What ranges leave of the first `nbytes` bytes."""
    padding, end = [], 0
    for first, after in sorted(taken):
        if first > end:
            padding.append((end, first))
        end = max(end, after)
    return tuple(padding + ([(end, nbytes)] if end < nbytes else []))


def _types(module: Any, data: Any) -> dict[str, tuple[int, list[Range]]]:
    """By the name of a structure's type: its bytes, and those of its members."""
    found = {}
    for each in module.struct_types:
        if not each.is_opaque_struct:
            name = str(each).split(" = ")[0]
            found[name] = (data.get_abi_size(each), list(_members(each, data, 0)))
    return found


def _members(kind: Any, data: Any, start: int) -> Iterator[Range]:
    """Of a type at byte `start`. A union's are all of it, whichever member is there."""
    if kind.is_struct and not kind.name.startswith("union."):
        for index, member in enumerate(kind.elements):
            yield from _members(member, data, start + data.get_element_offset(kind, index))
    elif kind.is_array:
        (member,) = kind.elements
        for index in range(kind.element_count):
            yield from _members(member, data, start + index * data.get_abi_size(member))
    else:
        yield start, start + data.get_abi_size(kind)
