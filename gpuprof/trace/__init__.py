"""Watching what a launch executes: trace generators, their events, tables and findings.

    tables      rows of a generator's tables, which `gpuprof.tables` declares like all others, and findings
    kernel      what `initialize` gets: the program as it will run, the launch, memory
    event       what `event` and `post_event` get: the warps that execute one instruction at one time
    generator   TraceGenerator, the class to derive from, and its options
    feed        hands the emulator's events to the generators of a launch that want them
    find        generators by name: built in, of an installed package, of a file
    generators  those that come with gpuprof, one a file
    checkers    those that find errors of a program, one a file
    findings    what a run has found, for the person who waits for it: counted, told, left out when known
    suppressions  the file of what is known

    kernel, events ─> generator ─> rows of tables, findings

A generator changes neither the kernel nor the application (memcheck keeps lanes from what they must not access): what
it gets is read-only and valid until its call returns.
docs/traces.md has the interface.
"""

NAMES = {
    "TraceGenerator": "gpuprof.trace.generator",
    "Option": "gpuprof.trace.generator",
    "TraceEvent": "gpuprof.trace.event",
    "WarpEvent": "gpuprof.trace.event",
    "Table": "gpuprof.tables.table",
    "Column": "gpuprof.tables.table",
    "Finding": "gpuprof.trace.tables",
    "Kernel": "gpuprof.trace.kernel",
}


def __getattr__(name: str):
    """The interface, looked up when it is first asked for: importing the room brings nothing along."""
    if name in NAMES:
        from importlib import import_module

        return getattr(import_module(NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
