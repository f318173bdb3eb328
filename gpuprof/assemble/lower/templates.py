"""Instructions of a form that was lowered before, with other registers, are lowered without their handler: most
instructions of a kernel have few forms.

This holds for arithmetic, and for plain loads and stores: what becomes of them depends only on the form.
"""

from typing import NamedTuple

from gpuprof.assemble.ir.body import Inst
from gpuprof.assemble.lower.scope import Register
from gpuprof.assemble.ptx import ast
from gpuprof.isa.row import Opcode

_OPCODES = frozenset([
    "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "neg", "abs", "mul24", "mad24", "sad",
    "and", "or", "xor", "not", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi", "popc", "clz", "brev", "cnot",
    "setp", "selp", "cvt", "mov", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "ld", "st",
])  # fmt: skip
_MEMORY = frozenset(["ld", "st"])
_SPACES = frozenset(["global", "shared"])  # whose addresses are what they are in all functions
_STATEFUL = "cc"  # a modifier: the carry is one register of the function

Form = tuple


class _Row(NamedTuple):
    """An instruction; its registers are places among those of the form and the new ones, -1 for none."""

    op: Opcode
    places: tuple[int, int, int, int, int]
    negated: str
    slot: str
    const: bool
    imm: int
    mods: int
    contracts: bool


class Template(NamedTuple):
    files: list[str]  # of the registers that it makes
    rows: list[_Row]


def has_template(inst: ast.Instruction) -> bool:
    if inst.opcode not in _OPCODES or inst.guard or _STATEFUL in inst.modifiers:
        return False
    return inst.opcode not in _MEMORY or not _SPACES.isdisjoint(inst.modifiers)


def form_of(inst: ast.Instruction, find) -> tuple[Form, list[int]] | None:
    """The form of an instruction and its registers, each once; None where it has other operands than registers, numbers
    and addresses in registers. `find(name)`: the register of that name, or None.
    """
    registers: list[int] = []
    form: list = [inst.opcode, inst.modifiers]
    for operand in inst.operands:
        kind = operand.__class__
        if kind is ast.Number:
            form.append((operand.value, operand.kind))
            continue
        if kind is ast.Memory:
            form.append((operand.offset,))
            operand = operand.base
        elif kind is not ast.Name:
            return None
        register: Register | None = operand and find(operand)
        if register is None:
            return None
        if register.number in registers:
            form.append(registers.index(register.number))
        else:
            registers.append(register.number)
        form.append(register.type)
    return tuple(form), registers


def template_of(insts: list[Inst], registers: list[int], files: list[str], first_new: int) -> Template | None:
    """The template of what was made of an instruction; None where it has something that templates do not hold.
    `files`: of the new registers, the first of which is `first_new`.
    """
    place = {register: index for index, register in enumerate([*registers, *range(first_new, first_new + len(files))])}
    place[None] = -1
    rows = []
    for inst in insts:
        operands = (inst.dst, inst.a, inst.b, inst.c, inst.e)
        if inst.guard is not None or inst.target or inst.symbol or inst.outgoing or inst.uses or inst.defs:
            return None
        if any(operand not in place for operand in operands):
            return None
        places = tuple(place[operand] for operand in operands)
        rows.append(_Row(inst.op, places, inst.negated, inst.slot, inst.const, inst.imm, inst.mods, inst.contracts))
    return Template(list(files), rows)


def apply(template: Template, registers: list[int], files: list[str], inst: ast.Instruction, insts: list[Inst]) -> None:
    """Appends what the template makes of an instruction, and the files of its new registers."""
    first_new = len(files)
    values: list[int | None] = [*registers, *range(first_new, first_new + len(template.files)), None]
    files += template.files
    line, location = inst.line, inst.location
    for op, (dst, a, b, c, e), negated, slot, const, imm, mods, contracts in template.rows:
        made = Inst(op, values[dst], values[a], values[b], values[c], values[e], None, negated, slot, const, imm, mods)
        made.line, made.location, made.contracts = line, location, contracts
        insts.append(made)
