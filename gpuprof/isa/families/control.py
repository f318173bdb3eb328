"""Control flow, services and barriers."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

N_BARRIERS = 16  # of a block. PTX ISA, bar: "each CTA has sixteen barriers"


def rows() -> Iterator[Opcode]:
    yield row("NOP", "hint", "", "none", "alu", "nop")
    # Kernels begin with these two loads: the stack pointer, and the descriptor of global memory. Nothing reads
    # either, but each takes a slot.
    yield row("LOAD.SP", "hint", "", "alu", "alu", "nop")
    yield row("LOAD.DESC", "hint", "", "uniform", "alu", "nop")
    # Where lanes that part will meet, and do; a turn for other warps. They change nothing: see
    # `assemble.optimize.convergence`.
    yield row("BSSY", "hint", "", "none", "alu", "nop")
    yield row("BSYNC", "meet", "", "none", "alu", "nop")
    yield row("YIELD", "hint", "", "none", "alu", "nop")
    yield row("EXIT", "exit", "", "cbu", "branch", "exit")
    yield row("BRA", "branch", "", "cbu", "branch", "branch")  # imm: bytes from the next instruction
    yield row("BRX", "branch_indirect", "=D", "cbu", "branch", "branch_indirect")  # a: code address
    yield row("CALL", "call", "", "cbu", "branch", "call")  # imm: bytes from the next instruction
    yield row("CALL.IND", "call_indirect", "=D", "cbu", "branch", "call_indirect")
    yield row("RET", "return", "", "cbu", "branch", "return")
    # Local memory taken while the function runs: the lane's stack grows by a bytes, rounded up to 16 (imm: alignment),
    # and is set back. mods: as for CALL.
    yield row("ALLOCA", "stack_change", "D=D", "alu", "alu", "alloca", "b64", slots=4)
    yield row("STACKSAVE", "stack_save", "D=", "alu", "alu", "stack_save", "b64")
    yield row("STACKRESTORE", "stack_change", "=D", "alu", "alu", "stack_restore", "b64")
    # imm: the service (see emulate); a, b: its arguments
    yield row("SYSCALL", "syscall", "R=D,D", "cbu", "branch", "syscall", slots=8)
    yield row(
        "SYSCALL.64", "syscall", "D=D,D", "cbu", "branch", "syscall", "b64", slots=8
    )  # for services with a 64-bit result
    yield row("TRAP", "trap", "", "cbu", "branch", "trap")
    yield row("BRKPT", "breakpoint", "", "cbu", "branch", "breakpoint")
    yield row("NANOSLEEP", "sleep", "=,R", "none", "alu", "nanosleep")
    # Barriers. Register 255 in a or b takes the low (barrier) or high (thread count, 0 = all) half of imm instead.
    yield row("BAR.SYNC", "barrier", "=R,R", "lsu", "barrier", "bar_sync", space="barrier")
    yield row("BAR.ARRIVE", "barrier_arrive", "=R,R", "lsu", "barrier", "bar_arrive", space="barrier")
    yield row("BAR.RED.POPC", "barrier_vote", "R=R,R,P", "lsu", "barrier", "bar_red", "popc", slots=2, space="barrier")
    yield row("BAR.RED.AND", "barrier_vote", "P=R,R,P", "lsu", "barrier", "bar_red", "and", slots=2, space="barrier")
    yield row("BAR.RED.OR", "barrier_vote", "P=R,R,P", "lsu", "barrier", "bar_red", "or", slots=2, space="barrier")
    yield row("WARPSYNC", "warp_sync", "=,R", "cbu", "branch", "warpsync")  # mask: imm, or R when b is not 255
    # Programmatic dependent launch: the block lets launches start that depend on its own; wait for the launches that
    # let its own start.
    yield row("GRIDDEP.LAUNCH", "grid_signal", "", "none", "alu", "grid_launch")
    yield row("GRIDDEP.WAIT", "grid_wait", "", "none", "alu", "grid_wait")
    yield row("MEMBAR", "fence", "", "lsu", "membar", "membar", fields=("sem", "scope"), slots=1)
