"""Instructions as text, and back: `parse(disassemble(i)) == i` for every instruction that can be encoded.

    @!P0 FFMA.RZ.FTZ R4, R2, -R3, c[0x10]
    ISETP.S32.LT.AND P0, PT, R1, 0x5, !P2
    LDG.V4.32 R4, [D2+0x10]

The text follows from the table's row: opcode and modifiers, then the operands: destination, second destination,
sources. `text_operands` has the operands' kinds. What an instruction holds and no operand shows is printed last, in
braces (`{imm=0x10}`), so nothing is ever lost.
"""

import re
from collections.abc import Mapping

from gpuprof.isa.encoding import PT, Instruction
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.printing.operands import (
    EMPTY,
    KINDS,
    OPTIONAL,
    Context,
    layout,
    parse_number,
    read_predicate,
    show_predicate,
)
from gpuprof.isa.row import Opcode
from gpuprof.isa.special import TESTP


def opcode_name(inst: Instruction) -> str:
    """The name of its row, to show."""
    return inst.op.name


def disassemble(inst: Instruction, pc: int | None = None, labels: Mapping[int, str] | None = None) -> str:
    """One line of text, without the address.

    A branch or call shows its target: the name `labels` has for the target's address, else the address when the
    instruction's own address `pc` is given, else the distance from the next instruction (`.+0x20`).
    """
    context = Context(inst.op, {name: getattr(inst, name) for name in EMPTY}, pc, labels or {})
    mnemonic = inst.op.name + _show_modifiers(context)
    operands = [KINDS[kind].show(context, slot) for kind, slot in layout(inst.op)]
    text = f"{_show_guard(inst.guard)}{mnemonic} {', '.join(o for o in operands if o)}".rstrip()
    rest = [f"{name}={value:#x}" for name, value in context.state.items() if value != EMPTY[name]]
    return f"{text} {{{', '.join(rest)}}}" if rest else text


def parse(text: str, pc: int | None = None, labels: Mapping[str, int] | None = None) -> Instruction:
    """The instruction of a line of text as `disassemble` writes it.

    `pc` is the instruction's own address: needed where the text gives a target as an address or as a name of `labels`.
    Raises ValueError that says which part is not understood.
    """
    match = LINE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not an instruction: {text!r}")
    op, suffixes = _opcode(match["mnemonic"])
    context = Context(op, dict(EMPTY), pc, labels or {})
    _read_modifiers(context, suffixes)
    operands = [o.strip() for o in match["operands"].split(",")] if match["operands"].strip() else []
    kinds = layout(op)
    needed = [kind for kind, _ in kinds if kind not in OPTIONAL]
    if not len(needed) <= len(operands) <= len(kinds):
        raise ValueError(f"{op.name} has {len(needed)} operands, not {len(operands)}: {text!r}")
    for (kind, slot), operand in zip(kinds, operands, strict=False):
        KINDS[kind].read(context, slot, operand)
    _read_rest(context.state, match["rest"] or "")
    return Instruction(op, _read_guard(match["guard"]), **context.state)


LINE = re.compile(
    r"(?:@(?P<guard>!?P\w+)\s+)?(?P<mnemonic>[A-Z0-9][\w.]*)(?P<operands>[^{}]*)(?:\{(?P<rest>[^{}]*)\})?"
)


# --- guard, modifiers, the rest


def _show_guard(guard: int) -> str:
    return "" if guard == PT else f"@{show_predicate(guard)} "


def _read_guard(text: str | None) -> int:
    return PT if text is None else read_predicate(text)


# Modifiers whose value 0 is a choice like the others; of the rest the value 0 is the default.
ALWAYS_SHOWN = ("cmp", "shfl", "component", "query", "opaque", "ta", "tb", "layout_a", "layout_b", "logic")
OPERAND_FIELDS = ("has_lane", "lane", "has_clamp", "clamp")  # shown with the operands of a shuffle


def _modifiers(op: Opcode) -> list[tuple[str, tuple[str, ...]]]:
    """The fields a row shows as suffixes, with the text of their values."""
    fields = [(name, FIELDS[name].names) for name in op.fields if name not in OPERAND_FIELDS]
    return [(name, TESTP if op.semantics == "testp" else names) for name, names in fields if op.semantics != "lop3"]


def _show_modifiers(context: Context) -> str:
    text = ""
    for name, names in _modifiers(context.op):
        value = context.take_mods(name)
        if value >= len(names):
            text += f".{name}{value}".upper()
        elif value or name in ALWAYS_SHOWN or names is TESTP:
            text += f".{names[value]}".upper()
    return text


def _opcode(mnemonic: str) -> tuple[Opcode, list[str]]:
    """The row of the longest opcode name that the text starts with, and the suffixes that follow it."""
    parts = mnemonic.split(".")
    for n in range(len(parts), 0, -1):
        op = BY_NAME.get(".".join(parts[:n]))
        if op:
            return op, parts[n:]
    raise ValueError(f"no opcode is called {mnemonic!r}")


def _read_modifiers(context: Context, suffixes: list[str]) -> None:
    fields = _modifiers(context.op)
    for suffix in suffixes:
        for i, (name, names) in enumerate(fields):
            number = re.fullmatch(f"{name}([0-9]+)", suffix.lower())
            if suffix.lower() in names or number:
                context.set_mods(name, int(number[1]) if number else names.index(suffix.lower()))
                fields = fields[i + 1 :]
                break
        else:
            raise ValueError(f"{context.op.name} has no modifier {suffix!r} here")


def _read_rest(state: dict[str, int], text: str) -> None:
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = item.partition("=")
        if name not in state:
            raise ValueError(f"no field is called {name!r}")
        state[name] = state[name] | parse_number(value) if name in ("imm", "mods") else parse_number(value)
