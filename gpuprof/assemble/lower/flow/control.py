"""Branches, the instructions that only wait, and the stack."""

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.lower.arithmetic.compare import compare
from gpuprof.assemble.ptx import ast

# -- branches --------------------------------------------------------------------------------------


def _target(lowering, operand) -> str:
    label = lowering.scope.label(operand.text) if isinstance(operand, ast.Name) else ""
    if not label:
        raise lowering.error(f"{getattr(operand, 'text', operand)} is not a label of this function")
    return label


def _bra(lowering):
    lowering.modifiers.flag("uni")
    lowering.count(1)
    lowering.emit("BRA", target=_target(lowering, lowering.operand(0)))


def _brx(lowering):
    """A branch table becomes a balanced tree of comparisons: the targets stay visible to everything that looks for
    blocks.
    """
    if not lowering.modifiers.flag("idx"):
        raise NoVariant("form of")
    lowering.modifiers.flag("uni")
    lowering.count(2)
    name = lowering.operand(1)
    labels = lowering.scope.find("targets", name.text) if isinstance(name, ast.Name) else None
    if not labels:
        raise lowering.error("the second operand must be a .branchtargets label")
    index = lowering.reg(lowering.src(lowering.operand(0), "u32"), "R")
    skip = branch_past(lowering)
    _branch_tree(lowering, index, [_target(lowering, ast.Name(label)) for label in labels], 0)
    if skip:
        lowering.start_block(skip)


def _branch_tree(lowering, index: int, targets: list[str], first: int):
    if len(set(targets)) == 1:
        lowering.emit("BRA", target=targets[0])
        return
    middle = len(targets) // 2
    below = lowering.temp("P")
    compare(lowering, "u32", "lt", index, Imm(first + middle), dst=below)
    left = lowering.new_label()
    lowering.emit("BRA", target=left, guard=below)
    _branch_tree(lowering, index, targets[middle:], first + middle)
    lowering.start_block(left)
    _branch_tree(lowering, index, targets[:middle], first)


# -- the rest --------------------------------------------------------------------------------------


def _plain(row: str):
    def lower(lowering):
        lowering.count(0)
        lowering.emit(row)

    return lower


def _nanosleep(lowering):
    lowering.modifiers.type()
    lowering.count(1)
    lowering.emit("NANOSLEEP", b=lowering.src(lowering.operand(0), "u32"))


def _pmevent(lowering):
    """Events are not counted."""
    lowering.modifiers.flag("mask")
    lowering.count(1)
    if not isinstance(lowering.src(lowering.operand(0), "u32"), Imm):
        raise lowering.error("the event must be a constant")
    lowering.emit("NOP")


# -- the stack -------------------------------------------------------------------------------------


def _alloca(lowering):
    """Local memory until the function returns or the stack is restored."""
    kind = _stack_type(lowering)
    n = lowering.count(2, 3)
    align = lowering.src(lowering.operand(2), "u32") if n == 3 else Imm(8)
    if not isinstance(align, Imm) or align.bits.bit_count() != 1 or align.bits > 1 << 16:
        raise lowering.error("the alignment must be a constant power of two")
    size = _address_operand(lowering, lowering.operand(1), kind)
    _emit_address(lowering, kind, "ALLOCA", a=size, imm=align.bits)


def _stacksave(lowering):
    kind = _stack_type(lowering)
    lowering.count(1)
    _emit_address(lowering, kind, "STACKSAVE")


def _stackrestore(lowering):
    kind = _stack_type(lowering)
    lowering.count(1)
    lowering.emit("STACKRESTORE", a=_address_operand(lowering, lowering.operand(0), kind))


def _stack_type(lowering) -> str:
    """Local memory has addresses of either size."""
    kind = lowering.modifiers.type()
    if kind not in ("u32", "u64"):
        raise NoVariant(f"type .{kind} of")
    return kind


def _address_operand(lowering, operand, kind: str) -> int:
    value = lowering.src(operand, kind)
    if kind == "u64" or isinstance(value, Imm):
        return lowering.reg(value, "D")
    return lowering.op("CVT.U64.U32", a=value)


def _emit_address(lowering, kind: str, op: str, **sources) -> None:
    """An instruction whose result, an address of 64 bits, is the destination as `kind`."""
    dst = lowering.dst(lowering.operand(0), kind)
    if kind == "u64":
        lowering.emit(op, dst=dst, **sources)
    else:
        lowering.emit("LO.64", dst=dst, a=lowering.op(op, **sources))


TABLE = {
    "exit": _plain("EXIT"), "bra": _bra, "brx": _brx, "trap": _plain("TRAP"),
    "brkpt": _plain("BRKPT"),
    "nanosleep": _nanosleep, "pmevent": _pmevent, "alloca": _alloca, "stacksave": _stacksave,
    "stackrestore": _stackrestore,
}  # fmt: skip


def branch_past(lowering) -> str:
    """Emits a branch past the next instruction for lanes whose guard does not hold, and drops the guard. Returns its
    label; "" for an instruction without a guard.
    """
    if lowering.guard[0] is None:
        return ""
    skip = lowering.new_label()
    guard, negated = lowering.guard
    lowering.guard = (guard, not negated)
    lowering.emit("BRA", target=skip)
    lowering.guard = (None, False)
    return skip
