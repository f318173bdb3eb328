"""A kernel's parameters, and what is done with the pointers among them.

Pointers are found by following `ld.param` through `cvta` and address arithmetic to loads, stores and atomics. It is an
inference: `cvta` distinguishes a pointer from a 64-bit integer that takes part in address arithmetic, where the
compiler wrote it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.ast import TYPE_NBYTES
from gpuprof.isa.program import Param

_FOLLOWED = frozenset(["mov", "add", "sub", "cvta", "selp", "mad", "and", "or", "cvt", "min", "max"])
_BASE_TYPES = {
    "float": "f32", "double": "f64", "char": "s8", "signed char": "s8", "unsigned char": "u8", "bool": "u8",
    "short": "s16",
    "unsigned short": "u16", "int": "s32", "unsigned int": "u32", "unsigned": "u32", "long": "s64",
    "unsigned long": "u64",
    "long long": "s64", "unsigned long long": "u64", "__half": "f16", "half": "f16", "__half2": "f16x2",
    "__nv_bfloat16": "bf16",
    "int8_t": "s8", "uint8_t": "u8", "int16_t": "s16", "uint16_t": "u16", "int32_t": "s32", "uint32_t": "u32",
    "int64_t": "s64",
    "uint64_t": "u64", "size_t": "u64", "float2": "f32", "float3": "f32", "float4": "f32", "double2": "f64",
    "int2": "s32", "int3": "s32",
    "int4": "s32", "uint2": "u32", "uint3": "u32", "uint4": "u32", "uchar4": "u8", "char4": "s8", "short2": "s16",
    "ushort2": "u16",
}  # fmt: skip


class Use:
    """The kernel's use of one parameter's memory. The types of its accesses show nothing: `__int_as_float(x[i])` loads
    floats.
    """

    def __init__(self):
        self.read = self.written = self.escapes = False

    @property
    def accessed(self) -> bool:
        return self.read or self.written


def kernel_params(function: ast.Function, offsets: dict[str, int], cpp_types: tuple[str, ...]) -> tuple[Param, ...]:
    """The parameters of a kernel in order; `cpp_types` are their C++ types where known (else empty)."""
    uses = _pointer_uses(function)
    known = len(cpp_types) == len(function.params)
    result = []
    for index, param in enumerate(function.params):
        use = uses[param.name]
        text = cpp_types[index] if known else ""
        wide = not param.is_array and TYPE_NBYTES[param.type] == 8 and param.type != "f64"
        is_pointer = wide and (("*" in text or "&" in text) if known else param.is_pointer or use.accessed)
        element = _element_of_type(text) if is_pointer else ""
        read, written = (use.read or use.escapes, use.written or use.escapes) if is_pointer else (True, False)
        kind = _scalar_type(text, param.nbytes) or param.type
        result.append(
            Param(param.name, kind, offsets[param.name], param.nbytes, param.align, is_pointer, element, read, written)
        )
    return tuple(result)


def _scalar_type(text: str, nbytes: int) -> str:
    """A `__half` parameter is a structure to PTX, but a number to whoever gives it; "" for every other type."""
    name = _BASE_TYPES.get(text.removeprefix("const ").strip(), "")
    return name if name in ("f16", "bf16") and nbytes == 2 else ""


def _element_of_type(text: str) -> str:
    """Element of "const float *__restrict__" -> "f32"; "" for a type that is not a plain one."""
    if text.count("*") > 1:
        return "u64"
    base = re.sub(r"[*&]|\b(const|volatile|__restrict__|__restrict|struct)\b", " ", text)
    return _BASE_TYPES.get(" ".join(base.split()).removeprefix("std::"), "")


def _instructions(block: ast.Block) -> Iterator[ast.Instruction]:
    for statement in block.statements:
        if isinstance(statement, ast.Block):
            yield from _instructions(statement)
        elif isinstance(statement, ast.Instruction):
            yield statement


def _pointer_uses(function: ast.Function) -> dict[str, Use]:
    uses = {param.name: Use() for param in function.params}
    if function.body is None:
        return uses
    instructions = list(_instructions(function.body))
    roots = _roots(instructions, set(uses))
    for inst in instructions:
        if inst.opcode in _ACCESSES:
            _note_access(inst, roots, uses)
    return uses


# A root is (parameter, whether it went through cvta).
_Roots = dict[str, set[tuple[str, bool]]]


def _roots(instructions: list[ast.Instruction], params: set[str]) -> _Roots:
    """The parameters each register's value may come from."""
    roots: _Roots = defaultdict(set)
    users: dict[str, list[ast.Instruction]] = defaultdict(list)
    todo: list[ast.Instruction] = []
    for inst in instructions:
        if inst.opcode == "ld" and "param" in inst.modifiers and len(inst.operands) == 2:
            memory = inst.operands[1]
            if isinstance(memory, ast.Memory) and memory.base and memory.base.text in params:
                for name in _registers(inst.operands[0]):
                    roots[name].add((memory.base.text, False))
        elif inst.opcode in _FOLLOWED:
            for operand in inst.operands[1:]:
                for name in _registers(operand):
                    users[name].append(inst)
            todo.append(inst)
    while todo:
        inst = todo.pop()
        sources = {root for operand in inst.operands[1:] for name in _registers(operand) for root in roots[name]}
        if inst.opcode == "cvta":
            sources = {(param, True) for param, _ in sources}
        for name in _registers(inst.operands[0]) if inst.operands else ():
            if not sources <= roots[name]:
                roots[name] |= sources
                todo += users[name]
    return roots


def _registers(operand) -> Iterator[str]:
    if isinstance(operand, ast.Name):
        yield operand.text
    elif isinstance(operand, ast.Vector):
        for element in operand.elements:
            yield from _registers(element)


_ACCESSES = {
    "ld": (True, False), "ldu": (True, False), "st": (False, True), "atom": (True, True), "red": (True, True),
    "cp": (True, True),
    "wmma": (True, True),
}  # fmt: skip


def _note_access(inst: ast.Instruction, roots: _Roots, uses: dict[str, Use]):
    reads, writes = _ACCESSES[inst.opcode]
    if inst.opcode == "cp" and "global" in inst.modifiers and "bulk" not in inst.modifiers:
        writes = False  # to shared memory
    elif inst.opcode == "wmma":
        reads, writes = "load" in inst.modifiers, "store" in inst.modifiers
    for operand in inst.operands:
        if isinstance(operand, ast.Indexed):
            operand = operand.memory
        if isinstance(operand, ast.Memory) and operand.base:
            for param in _pointers(roots[operand.base.text]):
                uses[param].read |= reads
                uses[param].written |= writes
        elif inst.opcode == "st":  # the pointer itself is stored, or passed to a function
            for name in _registers(operand):
                for param, _ in roots[name]:
                    uses[param].escapes = True


def _pointers(roots: set[tuple[str, bool]]) -> set[str]:
    """The pointers among the parameters of one address: those that went through cvta, or all if none did."""
    converted = {param for param, through_cvta in roots if through_cvta}
    return converted or {param for param, _ in roots}
