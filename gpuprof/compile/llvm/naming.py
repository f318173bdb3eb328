"""Names and types as the source writes them, from debug info."""

from gpuprof.compile.llvm.metadata import Metadata, Node

_NAMED = ("DINamespace", "DICompositeType", "DISubprogram")
_TAG_POINTER = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&", "DW_TAG_rvalue_reference_type": "&&"}
_TAG_QUALIFIER = {"DW_TAG_const_type": "const", "DW_TAG_volatile_type": "volatile"}
_TAG_TRANSPARENT = ("DW_TAG_typedef", "DW_TAG_restrict_type", "DW_TAG_atomic_type")


def symbol_of(subprogram: Node) -> str:
    """The name the linker sees. `extern "C"` functions have no separate one."""
    return subprogram.text("linkageName") or subprogram.text("name")


def qualified_name(metadata: Metadata, node: Node) -> str:
    """ "ns::scan<256>"; members of an unnamed namespace are named as the source refers to them, without it."""
    parts = [node.text("name")]
    scope = metadata.follow(node, "scope")
    while scope is not None:
        if scope.kind in _NAMED:
            parts.append(_scope_name(scope))
        scope = metadata.follow(scope, "scope")
    return "::".join(part for part in reversed(parts) if part)


def _scope_name(scope: Node) -> str:
    if scope.kind == "DINamespace":  # an inline namespace (std::__1) is not written either
        return "" if scope.fields.get("exportSymbols") == "true" else scope.text("name")
    return scope.text("name") or "(lambda)"


def display_names(metadata: Metadata) -> dict[str, str]:
    """symbol -> name in the source, for every function the debug info knows."""
    names = {
        symbol_of(each): qualified_name(metadata, each)
        for each in metadata.of_kind("DISubprogram")
        if "unit" in each.fields
    }
    return dict(sorted(names.items()))


def type_name(metadata: Metadata, number: int | None) -> str:
    """A type as C++ writes it, typedefs resolved: "const float *", "unsigned int", "ns::Params"."""
    if number is None:
        return "void"
    node = metadata.nodes[number]
    if node.kind == "DISubroutineType":
        return "function"
    if node.kind != "DIDerivedType":
        return qualified_name(metadata, node)
    tag, base = node.fields["tag"], node.reference("baseType")
    if tag in _TAG_TRANSPARENT:
        return type_name(metadata, base)
    inner = type_name(metadata, base)
    if tag in _TAG_QUALIFIER:
        word = _TAG_QUALIFIER[tag]
        return f"{inner}{word}" if inner.endswith(("*", "&")) else f"{word} {inner}"
    if tag in _TAG_POINTER:
        return f"{inner}{'' if inner.endswith('*') else ' '}{_TAG_POINTER[tag]}"
    return inner


def parameter_types(metadata: Metadata, kernels: list[str]) -> dict[str, tuple[str, ...]]:
    """kernel symbol -> its parameters' types."""
    by_symbol = {symbol_of(each): each for each in metadata.of_kind("DISubprogram") if "unit" in each.fields}
    types = {}
    for symbol in kernels:
        signature = metadata.follow(by_symbol[symbol], "type")
        elements = metadata.elements(signature.reference("types"))
        types[symbol] = tuple(type_name(metadata, number) for number in elements[1:])
    return types
