"""The time of a program as JSON and CSV have it."""

from gpuprof.report.number_text import rounded
from gpuprof.report.tasks.program_time import IDLE, Engine, ProgramTime


def program_object(program: ProgramTime) -> dict:
    """Cycles, and shares of the whole from 0 to 1."""
    whole = program.cycles or 1
    return {
        "host": program.host,
        "is_estimate": True,
        "begin_cycle": program.begin,
        "end_cycle": program.end,
        "shares": {name: rounded(cycles / whole) for name, cycles in program.works.items()},
        "copies_with_kernels": rounded(program.overlap / whole),
        "idle": rounded(program.idle / whole),
        "idle_for": {cause: rounded(program.waited(cause) / whole) for cause in IDLE if program.waited(cause)},
        "engines": [engine_object(engine, program.clock_mhz) for engine in program.engines],
    }


def engine_object(engine: Engine, clock_mhz: float) -> dict:
    return {
        "engine": engine.name,
        "operations": len(engine.operations),
        "busy_cycles": engine.busy,
        "nbytes": engine.nbytes,
        "pinned_nbytes": engine.pinned_nbytes,
        "gbytes_per_s": rounded(engine.gbytes_per_s(clock_mhz)),
    }
