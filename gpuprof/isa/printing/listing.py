"""A function's instructions as lines of text, with the source or PTX lines they came from between them."""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import INSTRUCTION_NBYTES, Instruction, decode
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.printing.text import disassemble
from gpuprof.isa.program import Function, Location, Param, Program

BRANCH = BY_NAME["BRA"].number


class Line(NamedTuple):
    """`kind` is "header", "label", "instruction", "source" or "ptx"; `text` holds no control characters."""

    kind: str
    text: str


def listing(program: Program, function: Function, *, source: bool = False, ptx: bool = False) -> Iterator[Line]:
    """The lines of one function: a summary of what it needs, then its instructions with their addresses.

    source: before each instruction whose source line differs from the one before, that line and the calls that inlined
    it.
    ptx: likewise the PTX line.
    """
    yield from _header(function)
    labels = branch_labels(program, function)
    names = {f.first * INSTRUCTION_NBYTES: f.display for f in program.functions} | labels
    relocations = {r.index: f"{r.symbol}{r.addend:+#x}" if r.addend else r.symbol for r in program.relocations}
    # Lines as compilers count them: str.splitlines would also end one at a form feed.
    sources = Sources(
        {path: text.split("\n") for path, text in program.sources.items()} if source else {},
        {f.name: f.display for f in program.functions},
        function,
    )
    ptx_text = program.ptx.split("\n") if ptx else []
    shown_location, shown_ptx = None, 0
    for index in range(function.first, function.first + function.count):
        pc = index * INSTRUCTION_NBYTES
        location, ptx_line = program.locations[index], int(program.ptx_lines[index])
        if pc in labels:
            yield Line("label", f"{labels[pc]}:")
        if source and location is not None and _place(location) != shown_location:
            yield from sources.lines(location)
            shown_location = _place(location)
        if ptx and ptx_line and ptx_line != shown_ptx:
            yield Line("ptx", f"  // PTX {ptx_line}: {_text_of(ptx_text, ptx_line)}".rstrip())
            shown_ptx = ptx_line
        inst = decode(program.code[index])
        remark = relocations.get(index) or _float_immediate(inst)
        text = f"  {pc:#06x}  {disassemble(inst, pc, names)}" + (f"  // {remark}" if remark else "")
        yield Line("instruction", printable(text))


def branch_labels(program: Program, function: Function) -> dict[int, str]:
    """L0, L1... for the code addresses that the function's branches lead to, in the order of the addresses."""
    body = program.code[function.first : function.first + function.count]
    at = np.flatnonzero(body["opcode"] == BRANCH)
    targets = (function.first + at + 1) * INSTRUCTION_NBYTES + body["imm"][at].astype(np.int32)
    return {int(target): f"L{number}" for number, target in enumerate(np.unique(targets))}


def _float_immediate(inst: Instruction) -> str:
    """The value of an immediate that is a floating-point number; "" for any other."""
    if not inst.imm_slot or inst.reads_constant_bank or not inst.op.types:
        return ""
    match inst.op.types[-1]:
        case "f32":
            return f"{struct.unpack('<f', struct.pack('<I', inst.imm))[0]:.9g}"
        case "f64":  # the immediate is the upper half
            return f"{struct.unpack('<d', struct.pack('<Q', inst.imm << 32))[0]:.17g}"
    return ""


def _header(function: Function) -> Iterator[Line]:
    kind = "kernel" if function.is_kernel else "function"
    params = ", ".join(_param(p) for p in function.params)
    yield Line("header", printable(f"{kind} {function.display}({params})"))
    if function.name != function.display:
        yield Line("header", printable(f"  symbol {function.name}"))
    uniform = f", {function.uniform_words} uniform" if function.uniform_words else ""
    raised = f" ({function.raised_registers} after setmaxnreg)" if function.raised_registers else ""
    yield Line("header", f"  {function.registers} registers{raised}{uniform}, {function.p_count} predicates")
    yield Line(
        "header",
        f"  {function.shared_nbytes} bytes shared, {function.local_nbytes} bytes local, {function.spill_nbytes} bytes "
        "spilled,"
        f" {function.barriers} barriers, {function.count} instructions",
    )
    bounds = _launch_bounds(function)
    if bounds:
        yield Line("header", f"  launch bounds: {bounds}")


def _param(param: Param) -> str:
    if param.is_pointer:
        return f"{param.element or 'void'}* {param.name}"
    size = f"[{param.nbytes}]" if param.type == "b8" else ""
    return f"{param.type}{size} {param.name}"


def _launch_bounds(function: Function) -> str:
    bounds = []
    if function.required_threads:
        bounds.append(f"exactly {' x '.join(str(n) for n in function.required_threads)} threads")
    if function.max_threads:
        bounds.append(f"at most {function.max_threads} threads")
    if function.min_blocks:
        bounds.append(f"at least {function.min_blocks} blocks per multiprocessor")
    if function.required_cluster:
        bounds.append(f"clusters of exactly {' x '.join(str(n) for n in function.required_cluster)} blocks")
    if function.max_cluster:
        bounds.append(f"clusters of at most {function.max_cluster} blocks")
    return ", ".join(bounds)


def _place(location: Location) -> tuple:
    """The part of a source position that a listing shows: lines, not columns, of all inlined calls."""
    caller = location.inlined_at
    return (location.file, location.line, location.function, _place(caller) if caller else None)


class Sources(NamedTuple):
    """The texts and places that the source lines of a listing are made of."""

    texts: Mapping[str, list[str]]  # lines by path
    display: Mapping[str, str]  # symbol -> name in the source
    function: Function  # the one that is listed

    def lines(self, location: Location) -> Iterator[Line]:
        """The source line, then the call sites that it was inlined through."""
        yield Line("source", self._line(location, ""))
        caller = location.inlined_at
        while caller is not None:
            yield Line("source", self._line(caller, "inlined at "))
            caller = caller.inlined_at

    def _line(self, location: Location, how: str) -> str:
        is_own = location.function in ("", self.function.name, self.function.display)
        within = "" if is_own else f" in {self.display.get(location.function, location.function)}"
        text = _text_of(self.texts.get(location.file, []), location.line)
        return printable(f"// {how}{location.file}:{location.line}{within}") + (f": {text}" if text else "")


def _text_of(lines: list[str], number: int) -> str:
    """A line by its number from 1, without its indentation; "" when the text does not have it."""
    return printable(lines[number - 1].expandtabs().strip()) if 0 < number <= len(lines) else ""
