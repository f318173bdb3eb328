"""A debugger for kernels: `gpuprof debug`, and `Debugger` for Python.

    values/              C types and values, and expressions in cuda-gdb's syntax
    debug_sections       the debug sections of PTX, as bytes
    symbols              functions, variables, scopes and types from these sections
    source_positions     positions of the source that optimized code has reached, and what they imply for a variable
    assignments          registers of variables in optimized code, from the facts of the program
    optimized_variables  variables of optimized code
    code_locations       lines, functions and instructions of loaded code, by the text that users type
    thread               one thread at a stop: its frames, variables, registers, memory
    breakpoints          breakpoints and watchpoints
    plans                conditions for the next stop (step, next, finish, until, continue), and the stop
    history              checkpoints of memory at launches, and saved states within launches
    replayer             the listener of one run of a launch: stops it at breakpoints and as the plan requires
    event_timeline       runs launches under a plan, and again up to an exact event
    reverse              earlier positions: the last stop, line or write
    inferior             the debugged program, on a thread of its own, which waits at stops
    debugger             all of these as one object
    commands/            cuda-gdb's commands, and the console that reads them from a terminal, a pipe or a script

An event is the execution of one instruction by a group of warps. The emulator's order of events is the same in every
run, so launch L before its event E is an exact position: to go back, the debugger restores the last saved state of
launch L before it, or the memory with which the launch began, and runs up to event E. Basic blocks without a possible
stop run as they do without a debugger: only their number of events is known.
"""

NAMES = {"Debugger": "debugger", "Stop": "plans", "run_line": "commands.command_table"}


def __getattr__(name: str):
    """Imports a name of the interface on first use: importing the room loads nothing else."""
    if name in NAMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
