"""Where stalls are shown: at the instruction that waits, and as Nsight Compute shows them."""

import subprocess
import sys

import pytest

from gpuprof.correlate.counts import Counters
from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.report.attribution import ATTRIBUTIONS, attributed
from gpuprof.report.model import Blame, ChipFacts, Cost, Ending, Instruction, Kernel, Report, Stalls

BARRIER, DRAIN, WAIT, JUMP = (INDEX[name] for name in ("barrier", "drain", "wait", "branch_resolving"))
ENDING = Ending("barrier", "last to arrive", True, False, False)


def by_reason(**cycles: int) -> tuple[int, ...]:
    found = [0] * N_REASONS
    for name, n in cycles.items():
        found[INDEX[name]] = n
    return tuple(found)


def instruction(pc: int, text: str, stalls: tuple[Stalls, ...] = (), function: str = "k", **cycles: int) -> Instruction:
    cost = Cost(samples=by_reason(**cycles), cycles=by_reason(**cycles), counters=Counters(inst_executed=1))
    return Instruction(pc, function, text, text, 0, "", "", 0, (), cost, stalls)


CODE = (
    instruction(0x00, "BAR.SYNC", (Stalls(BARRIER, 2, 9, ((8, 2),)),), barrier=17, wait=3),
    instruction(0x10, "BAR.SYNC", (Stalls(BARRIER, 1, 5, ((4, 1),)),), barrier=5, branch_resolving=6),
    instruction(0x20, "LDS", (Stalls(WAIT, 1, 4, ((4, 1),)),), wait=4),
    instruction(0x30, "EXIT", (Stalls(DRAIN, 1, 40, ((32, 1),)),), drain=40),
    instruction(0x40, "BRA", membar=0),
    instruction(0x50, "MEMBAR", function="other", membar=8),
)
REPORT = Report(
    header=None,
    chip=ChipFacts("a100"),
    kernels=(Kernel("k", "k", "m", 8, 0, 0, 0, (), CODE, "", {}, (Blame(0x00, BARRIER, 0x20, ENDING, 17, 2),)),),
    has_not_issued=False,
)


def shown(report: Report) -> dict[int, dict[str, int]]:
    """Cycles by address and reason, without zeros."""
    names = {number: name for name, number in INDEX.items()}
    return {i.pc: {names[r]: n for r, n in enumerate(i.cost.cycles) if n} for i in report.kernels[0].instructions}


def test_the_instruction_that_waits():
    assert attributed(REPORT, "waiting") is REPORT
    assert shown(REPORT) == {
        0x00: {"barrier": 17, "wait": 3},
        0x10: {"barrier": 5, "branch_resolving": 6},
        0x20: {"wait": 4},
        0x30: {"drain": 40},
        0x40: {},
        0x50: {"membar": 8},
    }


def test_as_cards_show_it():
    """Barriers, fences and ends of warps stand behind; the last instruction of a function has nothing behind it."""
    found = attributed(REPORT, "ncu")
    assert shown(found) == {
        0x00: {"wait": 3},
        0x10: {"barrier": 17, "branch_resolving": 6},
        0x20: {"barrier": 5, "wait": 4},
        0x30: {},
        0x40: {"drain": 40},
        0x50: {"membar": 8},
    }
    kernel = found.kernels[0]
    assert kernel.cost == REPORT.kernels[0].cost
    assert [i.stalls for i in kernel.instructions] == [
        (),
        (Stalls(BARRIER, 2, 9, ((8, 2),)),),
        (Stalls(WAIT, 1, 4, ((4, 1),)), Stalls(BARRIER, 1, 5, ((4, 1),))),
        (),
        (Stalls(DRAIN, 1, 40, ((32, 1),)),),
        (),
    ]
    assert [blame.pc for blame in kernel.blames] == [0x10]
    assert [i.cost.counters.inst_executed for i in kernel.instructions] == [1] * 6


def test_the_flag_has_these_names():
    done = subprocess.run(
        [sys.executable, "-m", "gpuprof", "report", "--help"], capture_output=True, text=True, check=True
    )
    assert f"[{'|'.join(ATTRIBUTIONS)}]" in done.stdout


@pytest.mark.parametrize("reason", ["barrier", "membar", "drain"])
def test_two_in_one_place(reason):
    """At the end of a function what comes to an instruction joins what stays there."""
    number = INDEX[reason]
    code = (
        instruction(0x00, "A", (Stalls(number, 2, 9, ((8, 2),)),), **{reason: 17}),
        instruction(0x10, "B", (Stalls(number, 3, 30, ((8, 1), (16, 2))),), **{reason: 60}),
    )
    kernel = Kernel("k", "k", "m", 8, 0, 0, 0, (), code, "", {})
    first, second = attributed(Report(None, ChipFacts("a100"), (kernel,), False), "ncu").kernels[0].instructions
    assert first.stalls == ()
    assert second.stalls == (Stalls(number, 5, 30, ((8, 3), (16, 2))),)
    assert second.cost.cycles[number] == 77
