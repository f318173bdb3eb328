"""How long a warp sleeps at a NANOSLEEP. PTX ISA, nanosleep: "The sleep duration is approximated"; here it is the
requested time, and for a warp the longest of its lanes'.
"""

from gpuprof.isa.encoding import PT, Instruction

MOST_SLEEP_NS = 1_000_000  # PTX ISA, nanosleep: "The maximum sleep duration is 1 millisecond"


def is_sleep_traced(instruction: Instruction) -> bool:
    """True for a sleep of which the code does not say whether and how long a warp sleeps, so that the trace does."""
    if instruction.op.kind != "sleep":
        return False
    return instruction.imm_slot != "b" or instruction.reads_constant_bank or instruction.guard != PT


def sleep_cycles(asked_ns, clock_khz):
    """Cycles of a requested time in nanoseconds, at least one. It works on integers, and in compiled code."""
    return max(1, (min(asked_ns, MOST_SLEEP_NS) * clock_khz + 500_000) // 1_000_000)


def clock_khz_of(clock_mhz: float) -> int:
    return round(clock_mhz * 1000)
