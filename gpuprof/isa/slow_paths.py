"""The slow paths of divisions, reciprocals and roots of single precision, which operands near an end of the range take.

ptxas calls a subroutine for them. Here the instruction takes more issue slots: those of each part of the subroutine
that some lane of the warp goes through. The slots are those of ptxas 13.0 for sm_80; other generations have up to three
more or fewer of 104.
"""

from typing import NamedTuple

from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import FIELDS, unpack_name
from gpuprof.isa.opcodes import by_number


class SlowPath(NamedTuple):
    """`fast`: slots of the row that only lanes on the usual path need. `parts`: slots of each part of the slow path, in
    the order in which the emulator gives the lanes that go through it.
    """

    fast: int
    parts: dict[str, int]


SLOW_PATHS: dict[int, SlowPath] = by_number(
    {
        "FDIV": SlowPath(
            0,
            {
                "called": 20,
                "special": 4,  # an operand is zero, subnormal, infinite or no number
                "nan": 1,
                "numbers": 2,
                "invalid": 2,  # 0 / 0 and inf / inf
                "not_zeros": 4,
                "one_defined": 3,
                "zero": 2,
                "not_zero": 3,
                "infinite": 3,
                "scaled": 7,  # subnormal operands are scaled up
                "divided": 24,
                "normal": 1,
                "out_of_range": 2,
                "too_large": 3,
                "too_small": 5,
                "subnormal": 22,
            },
        ),
        "FRCP": SlowPath(4, {"called": 14, "small": 10, "large": 3, "subnormal": 30, "undefined": 1}),
        "FSQRT": SlowPath(4, {"called": 11, "not_zero": 3, "not_negative": 3, "number": 10}),
    }
)
MOST_SLOTS = 255  # that an access record holds
assert all(sum(path.parts.values()) <= MOST_SLOTS for path in SLOW_PATHS.values())


def slow_path_of(instruction: Instruction) -> SlowPath | None:
    """None where there is none, and where it is not known: of directed roundings, and with .ftz."""
    path = SLOW_PATHS.get(instruction.op.number)
    if path is None or unpack_name(instruction.mods, "rnd") != "rn" or FIELDS["ftz"].get(instruction.mods):
        return None
    return path
