"""Prints a digest of what every row of floating-point arithmetic gives on special and random operands: the same on
every machine.
"""

import hashlib

import numpy as np

from gpuprof.emulate.scalar import convert, floating, half, small_floats
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.row import FLOAT_TYPES, Opcode
from tests.references.conformance import Variant, every, execute, operand_rows, read_slots

SEMANTICS = {
    key if isinstance(key, str) else key[0]
    for family in (convert, floating, half, small_floats)
    for key in family.SEMANTICS
}
MODES = ("rn", "rz", "rm", "rp")


def float_rows() -> list[Opcode]:
    return [
        op
        for op in TABLE
        if op.semantics in SEMANTICS and all(getattr(op, slot) in ("R", "D", "P") for slot in read_slots(op))
    ]


def variants(op: Opcode) -> list[Variant]:
    """Rounding modes and flushing, as far as the row has them."""
    choices = {"rnd": ("rn", "rz", "rna") if "tf32" in op.types else MODES, "ftz": (0, 1)}
    return every(**{name: values for name, values in choices.items() if name in op.fields}) or [Variant()]


def operands(op: Opcode, lanes: int) -> dict[str, np.ndarray]:
    t = op.types[-1]
    return operand_rows(op, dict.fromkeys("abc", t) if t.removesuffix("x2") in FLOAT_TYPES else {}, lanes)


def main() -> None:
    for op in float_rows():
        outcomes, _ = execute(op.name, variants(op), operands(op, 512))
        digest = hashlib.sha256(b"".join(row.tobytes() for outcome in outcomes for row in outcome.rows.values()))
        print(op.name, digest.hexdigest()[:16])


if __name__ == "__main__":
    main()
