"""A debugger for kernels: `gpuprof debug`, and `Debugger` for Python.

    values/      C types and values, and expressions, as cuda-gdb takes them
    sections     the debug sections of PTX, as bytes
    symbols      from these: functions, variables, scopes, types
    positions    how far optimized code has come in the source, and what that says of a variable
    places       lines, functions and instructions of loaded code, by what users type
    thread       one thread at a stop: its frames, variables, registers, memory
    points       breakpoints and watchpoints
    plans        when to stop next: step, next, finish, until, continue
    stop         why and where everything waits
    history      checkpoints of memory at launches, and states in their midst
    player       the listener of one run of a launch: stops it as plan and points say
    timeline     runs launches under a plan, and again up to an exact event
    backward     what lay before: the last stop, line or write
    inferior     what is debugged, on a thread of its own, which waits at stops
    target       FILE as something that can be run
    debugger     all of these as one object
    commands/    cuda-gdb's commands, a table
    console      reads commands from a terminal, a pipe or a script

An event is the execution of one instruction by a group of warps. The emulator's order of events is the same in every
run, so launch L before its event E is an exact place: to go back, the debugger restores the last state of launch L that
it has kept before there, or the memory that the launch began with, and runs on up to event E. Basic blocks in which
nobody wants to stop run as they do without a debugger: of them only the number of events is known.
"""

NAMES = {"Debugger": "debugger", "Stop": "plans", "run_line": "commands.table"}


def __getattr__(name: str):
    """The interface, looked up when it is first asked for: importing the room brings nothing along."""
    if name in NAMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
