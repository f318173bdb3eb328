"""The operands of an instruction as text, and back. A part of `text`.

Each kind of operand has one pair of functions. `show` takes the encoded fields it prints out of the state, `read` puts
them back; what no operand has taken, `text` prints last.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from gpuprof.isa.encoding import INSTRUCTION_NBYTES, PT, RZ, SLOTS
from gpuprof.isa.modifiers import FIELDS, IMM_SLOT_OF
from gpuprof.isa.row import Opcode
from gpuprof.isa.special import SPECIAL, SPECIAL_INDEX

WORD = 0xFFFFFFFF
EMPTY = dict.fromkeys(SLOTS, RZ) | {"imm": 0, "mods": 0}


class Context(NamedTuple):
    """The values that the operand functions work on. `state`: the encoded fields, taken out when shown, put in when
    read.
    """

    op: Opcode
    state: dict[str, int]
    pc: int | None
    labels: Mapping  # address -> name when showing, name -> address when reading

    def take_mods(self, name: str) -> int:
        """A field of mods, which is cleared."""
        value = FIELDS[name].get(self.state["mods"])
        self.state["mods"] &= ~FIELDS[name].put(value)
        return value

    def take(self, name: str) -> int:
        value = self.state[name]
        self.state[name] = EMPTY[name]
        return value

    def set_mods(self, name: str, value: int) -> None:
        self.state["mods"] |= FIELDS[name].put(value)


def parse_number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"not a number: {text!r}") from None


def _word(text: str) -> int:
    value = parse_number(text)
    if not 0 <= value <= WORD:
        raise ValueError(f"{text} does not fit into 32 bits")
    return value


# --- operands: registers, and what may be in their place


def _file(spec: str) -> str:
    return spec.lstrip(">")[0]


def _show_index(file: str, index: int) -> str:
    return f"{file}Z" if index == RZ else f"{file}{index}"


def _read_index(file: str, text: str) -> int:
    if text == f"{file}Z":
        return RZ
    if not re.fullmatch(rf"{file}[0-9]+", text) or int(text[1:]) >= RZ:
        raise ValueError(f"not a {file} register: {text!r}")
    return int(text[1:])


def show_predicate(value: int) -> str:
    index = value & 0x7F
    return ("!" if value & 0x80 else "") + ("PT" if index == PT else f"P{index}")


def read_predicate(text: str) -> int:
    name = text.removeprefix("!")
    if name == "PT":
        index = PT
    elif re.fullmatch(r"P[0-9]+", name) and int(name[1:]) < PT:
        index = int(name[1:])
    else:
        raise ValueError(f"not a predicate: {text!r}")
    return index | (0x80 if text.startswith("!") else 0)


def _show_predicate_slot(context: Context, slot: str) -> str:
    return show_predicate(context.take(slot))


def _read_predicate_slot(context: Context, slot: str, text: str) -> None:
    context.state[slot] = read_predicate(text)


def _show_register(context: Context, slot: str) -> str:
    return _show_index(_file(getattr(context.op, slot)), context.take(slot))


def _read_register(context: Context, slot: str, text: str) -> None:
    context.state[slot] = _read_index(_file(getattr(context.op, slot)), text)


def _show_source(context: Context, slot: str) -> str:
    """A register, or the immediate or constant-bank word that replaces it; a minus sign for the negation bit."""
    sign = "-" if context.take_mods(f"neg_{slot}") else ""
    if FIELDS["imm_slot"].get(context.state["mods"]) != IMM_SLOT_OF[slot]:
        return sign + _show_register(context, slot)
    context.take_mods("imm_slot")
    is_constant, imm = context.take_mods("const"), context.take("imm")
    return f"{sign}c[{imm:#x}]" if is_constant else f"{sign}{imm:#x}"


def _read_source(context: Context, slot: str, text: str) -> None:
    context.set_mods(f"neg_{slot}", int(text.startswith("-")))
    text = text.removeprefix("-")
    if text[:1] in "RD":
        return _read_register(context, slot, text)
    context.set_mods("imm_slot", IMM_SLOT_OF[slot])
    if text.startswith("c[") and text.endswith("]"):
        context.set_mods("const", 1)
        text = text[2:-1]
    context.state["imm"] = _word(text)
    return None


def _show_address(context: Context, slot: str) -> str:
    base = _show_index("D" if context.take_mods("addr64") else "R", context.take(slot))
    offset = _signed(context.take("imm"))
    return f"[{base}{offset:+#x}]" if offset else f"[{base}]"


ADDRESS = re.compile(r"\[(?P<base>(?P<file>[RD])\w+)(?P<offset>[+-]\w+)?\]")


def _read_address(context: Context, slot: str, text: str) -> None:
    match = ADDRESS.fullmatch(text)
    if not match:
        raise ValueError(f"not an address: {text!r}")
    context.set_mods("addr64", int(match["file"] == "D"))
    context.state[slot] = _read_index(match["file"], match["base"])
    context.state["imm"] = parse_number(match["offset"] or "0") & WORD


def _signed(word: int) -> int:
    return word - (1 << 32) if word & 0x80000000 else word


def _show_mask(context: Context, slot: str) -> str:
    """The member mask of a warp-wide operation: a register, or imm where the register is 255."""
    return f"{context.take('imm'):#x}" if context.state[slot] == RZ else _show_register(context, slot)


def _read_mask(context: Context, slot: str, text: str) -> None:
    if text.startswith("R"):
        _read_register(context, slot, text)
    else:
        context.state["imm"] = _word(text)


HALF_SHIFT = {"a": 0, "b": 16}  # of a barrier's number and thread count in imm


def _show_half(context: Context, slot: str) -> str:
    if context.state[slot] != RZ:
        return _show_register(context, slot)
    value = context.state["imm"] >> HALF_SHIFT[slot] & 0xFFFF
    context.state["imm"] &= ~(0xFFFF << HALF_SHIFT[slot])
    return f"{value:#x}"


def _read_half(context: Context, slot: str, text: str) -> None:
    if text.startswith("R"):
        return _read_register(context, slot, text)
    value = parse_number(text)
    if not 0 <= value <= 0xFFFF:
        raise ValueError(f"{text} does not fit into 16 bits")
    context.state["imm"] |= value << HALF_SHIFT[slot]
    return None


SHUFFLE_FIELD = {"b": "lane", "c": "clamp"}


def _show_shuffle(context: Context, slot: str) -> str:
    field = SHUFFLE_FIELD[slot]
    if context.take_mods(f"has_{field}"):
        return f"{context.take_mods(field):#x}"
    return _show_register(context, slot)


def _read_shuffle(context: Context, slot: str, text: str) -> None:
    if text.startswith("R"):
        return _read_register(context, slot, text)
    context.set_mods(f"has_{SHUFFLE_FIELD[slot]}", 1)
    context.set_mods(SHUFFLE_FIELD[slot], parse_number(text))
    return None


# --- operands without a register


def _show_target(context: Context, slot: str) -> str:
    distance = _signed(context.take("imm"))
    if context.pc is None:
        return f".{distance:+#x}"
    target = context.pc + INSTRUCTION_NBYTES + distance
    return context.labels.get(target, f"{target:#x}")


def _read_target(context: Context, slot: str, text: str) -> None:
    if re.fullmatch(r"\.[+-]\w+", text):
        distance = parse_number(text[1:])
    elif context.pc is None:
        raise ValueError(f"the target {text!r} needs the address of its instruction")
    else:
        target = context.labels[text] if text in context.labels else parse_number(text)
        distance = target - context.pc - INSTRUCTION_NBYTES
    context.state["imm"] = distance & WORD


def _show_frame(context: Context, slot: str) -> str:
    nbytes = context.take("mods")
    return f"frame={nbytes:#x}" if nbytes else ""


def _read_frame(context: Context, slot: str, text: str) -> None:
    context.state["mods"] = _word(text.removeprefix("frame="))


def _show_special(context: Context, slot: str) -> str:
    number = context.take("imm")
    return SPECIAL[number] if number < len(SPECIAL) else f"sr{number}"


def _read_special(context: Context, slot: str, text: str) -> None:
    if text in SPECIAL_INDEX:
        context.state["imm"] = SPECIAL_INDEX[text]
    elif re.fullmatch(r"sr[0-9]+", text):
        context.state["imm"] = _word(text[2:])
    else:
        raise ValueError(f"not a special register: {text!r}")


def _show_imm(context: Context, slot: str) -> str:
    return f"{context.take('imm'):#x}"


def _read_imm(context: Context, slot: str, text: str) -> None:
    context.state["imm"] = _word(text)


def _show_imm64(context: Context, slot: str) -> str:
    return f"{context.take('imm') | context.take('mods') << 32:#x}"


def _read_imm64(context: Context, slot: str, text: str) -> None:
    value = parse_number(text)
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{text} does not fit into 64 bits")
    context.state["imm"], context.state["mods"] = value & WORD, value >> 32


def _show_lut(context: Context, slot: str) -> str:
    return f"{context.take_mods('lut'):#x}"


def _read_lut(context: Context, slot: str, text: str) -> None:
    context.set_mods("lut", parse_number(text))


class Kind(NamedTuple):
    """How one kind of operand is printed and parsed."""

    show: Callable[[Context, str], str]
    read: Callable[[Context, str, str], None]


KINDS = {
    "predicate": Kind(_show_predicate_slot, _read_predicate_slot),
    "register": Kind(_show_register, _read_register),
    "source": Kind(_show_source, _read_source),
    "address": Kind(_show_address, _read_address),
    "mask": Kind(_show_mask, _read_mask),
    "half": Kind(_show_half, _read_half),
    "shuffle": Kind(_show_shuffle, _read_shuffle),
    "target": Kind(_show_target, _read_target),
    "frame": Kind(_show_frame, _read_frame),
    "special": Kind(_show_special, _read_special),
    "imm": Kind(_show_imm, _read_imm),
    "imm64": Kind(_show_imm64, _read_imm64),
    "lut": Kind(_show_lut, _read_lut),
}
OPTIONAL = ("frame",)

# Rows by semantics whose slots are not plain registers, and rows with operands that have no slot.
SHUFFLE = {"a": "register", "b": "shuffle", "c": "shuffle", "e": "mask"}
BARRIER = {"a": "half", "b": "half"}
MASKED = {"a": "register", "b": "mask"}
MASKED_VOTE = {"b": "mask"}
REGISTERS = {"a": "register", "b": "register"}
MATRICES = {"a": "register", "b": "register", "c": "register"}
SLOT_KINDS: dict[str, dict[str, str]] = {
    "bar_sync": BARRIER, "bar_arrive": BARRIER, "bar_red": BARRIER,
    "shuffle": SHUFFLE, "shuffle_valid": SHUFFLE,
    "vote_all": MASKED_VOTE, "vote_any": MASKED_VOTE, "vote_uni": MASKED_VOTE, "vote_ballot": MASKED_VOTE,
    "warpsync": MASKED_VOTE, "elect": MASKED_VOTE,
    "match_any": MASKED, "match_all": MASKED,
    "redux_add": MASKED, "redux_min": MASKED, "redux_max": MASKED, "redux_and": MASKED, "redux_or": MASKED,
    "redux_xor": MASKED,
    "mma": MATRICES, "mma_sparse": MATRICES, "mma_group": MATRICES, "transpose_matrix": REGISTERS,
    "branch_indirect": REGISTERS, "call_indirect": REGISTERS, "syscall": REGISTERS,
    "alloca": {"a": "register"}, "stack_restore": {"a": "register"},
}  # fmt: skip
EXTRA_OPERANDS: dict[str, tuple[str, ...]] = {
    "branch": ("target",),
    "call": ("target", "frame"),
    "call_indirect": ("frame",),
    "syscall": ("imm",),
    "alloca": ("imm", "frame"),
    "stack_save": ("frame",),
    "stack_restore": ("frame",),
    "copy_wait": ("imm",),
    "group_wait": ("imm",),
    "special": ("special",),
    "mov_imm64": ("imm64",),
    "lop3": ("lut",),
    "mma_sparse": ("imm",),
    "mma_group": ("imm",),
}


@cache
def layout(op: Opcode) -> tuple[tuple[str, str], ...]:
    """The operands a row shows, in order: (kind, slot); "" for those that have no slot."""
    written = [slot for slot in SLOTS if slot == "dst" or getattr(op, slot).startswith(">")]
    read = [slot for slot in SLOTS if slot not in written]
    shown = [(_kind(op, slot), slot) for slot in written + read if getattr(op, slot)]
    return (*shown, *((kind, "") for kind in EXTRA_OPERANDS.get(op.semantics, ())))


def _kind(op: Opcode, slot: str) -> str:
    if slot in SLOT_KINDS.get(op.semantics, ()):
        return SLOT_KINDS[op.semantics][slot]
    spec = getattr(op, slot)
    if _file(spec) == "P":
        return "predicate"
    if spec == "A":
        return "address"
    is_source = slot in IMM_SLOT_OF and op.a != "A" and not spec.startswith(">")
    return "source" if is_source else "register"
