"""The places at which clang's IR copies structures whole, and the bits of these that are padding.

    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %12, ptr align 8 %8, i64 24, i1 false), !dbg !607, !tbaa.struct !608
    !608 = !{i64 0, i64 1, !609, i64 4, i64 4, !549, i64 8, i64 8, !610, i64 16, i64 2, !611}

One of the pointers is made of the structure's type. Where that is not to be seen, the second line has the members:
offset, bytes, type. At -O0 there is none. `memcpy` itself is a function of the headers.
"""

import re
from collections.abc import Iterable

from gpuprof.compile.layouts.structures import NAME, Layouts, Taken, padding_between
from gpuprof.compile.llvm.functions import functions
from gpuprof.compile.llvm.metadata import Metadata
from gpuprof.isa.facts import PaddedCopy, Range

_COPY = re.compile(
    r"^  .*?call \w+ @(?:llvm\.memcpy\S*|_ZL6memcpyPvPKvm)"
    r"\(ptr[^,]*? (%[\w.$]+), ptr[^,]*? ([%@][\w.$]+), i64 (\d+)(?:, i1 false)?\)(.*)$",
    re.MULTILINE,
)
_POINTER = re.compile(rf"^  (%[\w.$]+) = (?:alloca|getelementptr)[^%]*?({NAME})", re.MULTILINE)
_AT = re.compile(r", !dbg !(\d+)")
_MEMBERS = re.compile(r", !tbaa\.struct !(\d+)")
_MEMBER = re.compile(r"i64 (\d+), i64 (\d+)")


def padded_copies_of(ir: str, metadata: Metadata, layout_of: Layouts) -> list[PaddedCopy]:
    """Ascending."""
    padded = set()
    for function in functions(ir):
        copies = _COPY.findall(function)
        pointers = dict(_POINTER.findall(function)) if copies else {}
        for to, source, size, rest in copies:
            location, nbytes = _AT.search(rest), int(size)
            names = sorted({pointers[each] for each in (to, source) if each in pointers})
            padding = _padding(names, nbytes, layout_of) or _by_members(rest, nbytes, metadata)
            if location is not None and padding:
                node = metadata.nodes[int(location[1])]
                file = metadata.file_of(metadata.follow(node, "scope"))
                padded.add(PaddedCopy(file, node.number("line"), node.number("column"), nbytes, padding))
    return sorted(padded)


def _padding(names: Iterable[str], nbytes: int, layout_of: Layouts) -> tuple[Range, ...]:
    return next((layout.padding for layout in map(layout_of, names) if layout.nbytes == nbytes), ())


def _by_members(rest: str, nbytes: int, metadata: Metadata) -> tuple[Range, ...]:
    if not (members := _MEMBERS.search(rest)):
        return ()
    pairs = _MEMBER.findall(metadata.tuples[int(members[1])])
    return padding_between((Taken(8 * int(first), 8 * (int(first) + int(length))) for first, length in pairs), nbytes)
