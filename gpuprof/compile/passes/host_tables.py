"""Tables of the host that clang puts into device code, too: every `const` array of a source that has external linkage,
since a kernel might read it. Those that none reads go, as nvcc has none of them: they would fill constant memory.
"""

import re

from gpuprof.compile.metadata import Metadata, Node

_TABLE = re.compile(
    r'^@("?)(?P<name>[^"\s]+)\1 = [^\n@]*addrspace\(4\) externally_initialized constant '
    r"[^\n]*!dbg !(?P<node>\d+)[^\n]*\n",
    re.MULTILINE,
)


def drop_host_tables(ir: str, metadata: Metadata) -> str:
    """The IR without the constants that nothing names and that the source calls `const`."""

    def replace(match: re.Match) -> str:
        name = match["name"]
        is_named = len(re.findall(rf'@"?{re.escape(name)}"?(?![\w$.])', ir)) > 1
        return match[0] if is_named or not _is_const(metadata, int(match["node"])) else ""

    return _TABLE.sub(replace, ir)


def _is_const(metadata: Metadata, expression: int) -> bool:
    """Whether the variable of a debug-info expression, or each of its elements, is const."""
    node: Node | None = metadata.nodes.get(expression)
    variable = metadata.follow(node, "var") if node is not None else None
    kind = metadata.follow(variable, "type") if variable is not None else None
    while kind is not None and kind.fields.get("tag") in ("DW_TAG_array_type", "DW_TAG_typedef"):
        kind = metadata.follow(kind, "baseType")
    return kind is not None and kind.fields.get("tag") == "DW_TAG_const_type"
