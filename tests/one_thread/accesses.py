"""Loads, stores, atomics and copies of one thread: from an instruction and its operands to bytes in memory."""

from gpuprof.isa.kinds import KINDS
from tests.one_thread.decoded import Decoded
from tests.one_thread.events import Access
from tests.one_thread.memory import READ_ONLY, Memory, placed
from tests.references.atomic import apply
from tests.references.conformance_floats import ANY_NAN
from tests.references.conformance_integers import MASK32, MASK64, signed

SUM_OF_NAN = 0x7FF8 << 48  # docs/ptx.md, Numbers: of f64 in memory, so that the order of atomics does not show

Own = dict[str, bytearray]
Effect = tuple[tuple[int, ...], tuple[Access, ...]]  # results, accesses


def effective(inst: Decoded, address: int, nbytes: int, operation: str = "") -> Access:
    """The immediate is added to the register."""
    total = address + inst.inst.offset & (MASK64 if inst.is_wide else MASK32)
    return placed(inst.op.space, operation or KINDS[inst.op.kind].operation, total, nbytes)


def element_nbytes(inst: Decoded) -> int:
    """Of the types u8, s16, 32, v4.32 and so on."""
    return int(inst.types[0].rpartition(".")[2].lstrip("us")) // 8


def load(inst: Decoded, operands: list[int], memory: Memory, own: Own) -> Effect:
    access = effective(inst, operands[0], inst.op.nbytes)
    data, nbytes = bytes(memory.bytes_at(own, access)), element_nbytes(inst)
    values = [int.from_bytes(data[at : at + nbytes], "little") for at in range(0, len(data), nbytes)]
    if inst.types[0].startswith("s"):
        values = [signed(value, 8 * nbytes) & MASK32 for value in values]
    return tuple(values), (access,)


def store(inst: Decoded, operands: list[int], memory: Memory, own: Own) -> Effect:
    access, nbytes = effective(inst, operands[0], inst.op.nbytes), element_nbytes(inst)
    low = (1 << 8 * nbytes) - 1
    put(memory, own, access, b"".join((value & low).to_bytes(nbytes, "little") for value in operands[1:]))
    return (), (access,)


def put(memory: Memory, own: Own, access: Access, data: bytes) -> None:
    assert access.space not in READ_ONLY, access
    memory.bytes_at(own, access)[:] = data


def atomic(inst: Decoded, operands: list[int], memory: Memory, own: Own) -> Effect:
    """Vectors element by element; 128 bits are one number."""
    op, t = inst.op, inst.types[0]
    access = effective(inst, operands[0], op.nbytes)
    count = int(op.b[1:] or 1)
    nbytes = op.nbytes // count
    data = bytes(memory.bytes_at(own, access))
    old = [int.from_bytes(data[at : at + nbytes], "little") for at in range(0, op.nbytes, nbytes)]
    given, other = operands[1 : 1 + count], operands[1 + count :] or [0] * count
    operation = op.semantics.partition("_")[2]
    if t == "b128":
        new = given if operation == "exch" else other if old == given else old
    else:
        is_global = access.space == "global"
        new = [apply(operation, t, is_global, *each) for each in zip(old, given, other, strict=True)]
        new = [SUM_OF_NAN if value is ANY_NAN else value for value in new]
    put(memory, own, access, b"".join(value.to_bytes(nbytes, "little") for value in new))
    return tuple(old) if op.dst else (), (access,)


def copy(inst: Decoded, operands: list[int], memory: Memory, own: Own) -> Effect:
    """cp.async copies at once (isa/__init__.py). With a third operand it takes so many bytes, and zeros follow."""
    nbytes = inst.op.nbytes
    taken = min(operands[2], nbytes) if inst.op.c else nbytes
    source = effective(inst, operands[0], taken, "load")
    target = Access("shared", "store", operands[1], nbytes)
    data = bytes(memory.bytes_at(own, source)) if taken else b""
    put(memory, own, target, data.ljust(nbytes, b"\0"))
    return (), (source, target) if taken else (target,)


EFFECTS = {"load": load, "store": store, "atomic": atomic, "reduction": atomic, "copy": copy}
