"""Data that clang adds to a module of device code and that PTX must not have.

Cluster dimensions (`__cluster_dims__`) are an annotation of the kernel; they become its `.reqnctapercluster`. LLVM
would write that directive for sm_90 and forget it for older targets, where a launch is to say that there are no
clusters.

Host tables: every `const` array of a source that has external linkage is in device code, too, since a kernel might read
it. Unused ones are dropped, as by nvcc: they would fill constant memory.
"""

import re

from gpuprof.compile.llvm.metadata import Metadata, Node

_TEXT = re.compile(r'^(@[\w.]+) = [^\n]* c"gpuprof\.cluster_dims ([^"]*)\\00"', re.MULTILINE)
_ANNOTATIONS = re.compile(r"^@llvm\.global\.annotations = .*\n", re.MULTILINE)
_ENTRY = re.compile(r'\{ ptr @("?)([^",]+)\1[^{},]*, ptr (@[\w.]+),')
_TABLE = re.compile(
    r'^@("?)(?P<name>[^"\s]+)\1 = [^\n@]*addrspace\(4\) externally_initialized constant '
    r"[^\n]*!dbg !(?P<node>\d+)[^\n]*\n",
    re.MULTILINE,
)


def take_cluster_dims(ir: str) -> tuple[str, dict[str, str]]:
    """The IR without annotations, which serve nothing else, and the cluster dimensions of kernels: symbol -> "4, 1,
    1".
    """
    texts = dict(_TEXT.findall(ir))
    dimensions = {}
    for line in _ANNOTATIONS.findall(ir):
        for _, symbol, text in _ENTRY.findall(line):
            if text in texts:
                given = [part.strip() for part in texts[text].split(",")]
                dimensions[symbol] = ", ".join(given + ["1"] * (3 - len(given)))
    return _ANNOTATIONS.sub("", ir), dimensions


def add_cluster_dims(ptx: str, dimensions: dict[str, str]) -> str:
    """The PTX with the directives after each kernel's parameters."""
    for symbol, text in dimensions.items():
        head = re.compile(rf"(\.entry {re.escape(symbol)}\([^()]*\))")
        ptx = head.sub(rf"\1\n.explicitcluster\n.reqnctapercluster {text}", ptx)
    return ptx


def drop_host_tables(ir: str, metadata: Metadata) -> str:
    """The IR without the constants that nothing names and that the source calls `const`."""

    def replace(match: re.Match) -> str:
        name = match["name"]
        is_named = len(re.findall(rf'@"?{re.escape(name)}"?(?![\w$.])', ir)) > 1
        return match[0] if is_named or not _is_const(metadata, int(match["node"])) else ""

    return _TABLE.sub(replace, ir)


def _is_const(metadata: Metadata, expression: int) -> bool:
    """True if the variable of a debug-info expression, or each of its elements, is const."""
    node: Node | None = metadata.nodes.get(expression)
    variable = metadata.follow(node, "var") if node is not None else None
    kind = metadata.follow(variable, "type") if variable is not None else None
    while kind is not None and kind.fields.get("tag") in ("DW_TAG_array_type", "DW_TAG_typedef"):
        kind = metadata.follow(kind, "baseType")
    return kind is not None and kind.fields.get("tag") == "DW_TAG_const_type"
